package pypi_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/toolchains/sources/pypi"
)

// TestWheelNames: what a lock or a catalog may name.
func TestWheelNames(t *testing.T) {
	for _, w := range []pypi.Wheel{
		{Project: "six", Version: "1.16.0", File: "six-1.16.0-py2.py3-none-any.whl"},
		{Project: "Jinja2", Version: "3.1", File: "jinja2-3.1.0-py3-none-any.whl"},
		{Project: "ruamel.yaml", Version: "0.18", File: "ruamel_yaml-0.18-py3-none-any.whl"},
		{Project: "torch", Version: "2.6.0+cpu", File: "torch-2.6.0+cpu-cp311-cp311-linux_x86_64.whl"},
		{Project: "six", Version: "1.16.0", Tags: "py3-none-any"},
	} {
		if err := w.Check(); err != nil {
			t.Errorf("%+v: %v", w, err)
		}
	}
	for _, w := range []pypi.Wheel{
		{Project: "../six", Version: "1", Tags: "py3-none-any"},
		{Project: "six", Version: "", Tags: "py3-none-any"},
		{Project: "six", Version: "1/2", Tags: "py3-none-any"},
		{Project: "six", Version: "1"},
		{Project: "six", Version: "1", Tags: "any"},
		{Project: "six", Version: "1", Tags: "cp311-cp311-../x"},
		{Project: "six", Version: "1.16.0", File: "seven-1.16.0-py3-none-any.whl"},
		{Project: "six", Version: "1.16.0", File: "six-1.17.0-py3-none-any.whl"},
		{Project: "six", Version: "1.16.0", File: "../six-1.16.0-py3-none-any.whl"},
		{Project: "torch", Version: "2.6.0", File: "torch-2.6.0+cpu-cp311-cp311-linux_x86_64.whl"},
	} {
		if err := w.Check(); err == nil {
			t.Errorf("%+v is taken", w)
		}
	}
}

// TestParseFile: the name of a file has the project and version.
func TestParseFile(t *testing.T) {
	for name, want := range map[string][2]string{
		"six-1.16.0-py2.py3-none-any.whl":              {"six", "1.16.0"},
		"Jinja2-3.1-py3-none-any.whl":                  {"jinja2", "3.1"},
		"ruamel_yaml-0.18-py3-none-any.whl":            {"ruamel-yaml", "0.18"},
		"ruamel.yaml-0.18-1abc-py3-none-any.whl":       {"ruamel-yaml", "0.18"},
		"torch-2.6.0+cpu-cp311-cp311-linux_x86_64.whl": {"torch", "2.6.0+cpu"},
		"x-1!2.0rc1.post1-cp39-abi3-win_amd64.any.whl": {"x", "1!2.0rc1.post1"},
	} {
		w, err := pypi.ParseFile(name)
		if err != nil || w != (pypi.Wheel{Project: want[0], Version: want[1], File: name}) {
			t.Errorf("%s: %+v, %v", name, w, err)
		}
	}
	for _, name := range []string{"", "six", "six-1.16.0.tar.gz", "six-py3-none-any.whl",
		"../six-1.16.0-py3-none-any.whl",
		"six_-1.16.0-py3-none-any.whl", "six-1.16.0-py3-none-any.whl\n", "six-1.16.0 -py3-none-any.whl",
		"six-1..0-py3-none-any.whl", strings.Repeat("x", 300) + "-1-py3-none-any.whl"} {
		if w, err := pypi.ParseFile(name); err == nil {
			t.Errorf("%q is taken for %+v", name, w)
		}
	}
}

// TestConfig: pip's own configuration, as pip reads it.
func TestConfig(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	write("etc/pip/pip.conf", "[global]\nindex-url = https://machine.example/simple\n[list]\nindex-url = https://not.example\n")
	write("home/.pip/pip.conf", "[global]\nextra-index-url = https://old.example/simple\n")
	user := write("home/.config/pip/pip.conf", "# ours\n[global]\nextra_index_url =\n    https://ana:s3cret@one.example/simple/\n    ; not this\n    https://two.example/simple\n[install]\nno-index = false\n")
	venv := write("venv/pip.conf", "[install]\nindex-url = https://venv.example/simple\n[global]\nindex-url = https://under.example/simple\n")
	own := write("own.conf", "[global]\nindex-url = https://own.example/simple\nfind-links = /wheels\ncert: /etc/ca.pem\n")
	base := map[string]string{"XDG_CONFIG_DIRS": filepath.Join(dir, "etc")}
	for name, x := range map[string]struct {
		env  map[string]string
		want []string // URL and who names it
	}{
		"files":           {nil, []string{"https://machine.example/simple " + filepath.Join(dir, "etc/pip/pip.conf"), "https://one.example/simple " + user, "https://two.example/simple " + user}},
		"virtual":         {map[string]string{"VIRTUAL_ENV": filepath.Join(dir, "venv"), "PIP_EXTRA_INDEX_URL": "https://x.example/simple"}, []string{"https://venv.example/simple " + venv, "https://x.example/simple PIP_EXTRA_INDEX_URL"}},
		"own file":        {map[string]string{"PIP_CONFIG_FILE": own}, []string{"file:///wheels " + own, "https://own.example/simple " + own}}, // the user's is not read then
		"no file at all":  {map[string]string{"PIP_CONFIG_FILE": os.DevNull}, []string{"https://pypi.org/simple pip's default"}},
		"variable":        {map[string]string{"PIP_CONFIG_FILE": os.DevNull, "PIP_INDEX_URL": "https://v.example/simple"}, []string{"https://v.example/simple PIP_INDEX_URL"}},
		"no index":        {map[string]string{"PIP_CONFIG_FILE": os.DevNull, "PIP_NO_INDEX": "1"}, nil},
		"a page of links": {map[string]string{"PIP_CONFIG_FILE": os.DevNull, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "https://links.example/all.html relative/folder"}, []string{"https://links.example/all.html PIP_FIND_LINKS"}},
	} {
		env := map[string]string{}
		for _, m := range []map[string]string{base, x.env} {
			for k, v := range m {
				env[k] = v
			}
		}
		c, err := pypi.ReadConfig(func(n string) string { return env[n] }, filepath.Join(dir, "home"), "")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, i := range c.Indexes {
			got = append(got, i.URL+" "+i.From)
		}
		if diff := cmp.Diff(x.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if name == "files" && (c.Indexes[1].User.String() != "ana:s3cret") {
			t.Errorf("%s: %+v", name, c)
		}
		if name == "own file" && c.CA != "/etc/ca.pem" {
			t.Errorf("%s: certificates %s", name, c.CA)
		}
	}
	// An index that the catalog gives stands in place of all.
	c, err := pypi.ReadConfig(func(n string) string { return base[n] }, filepath.Join(dir, "home"), "https://given.example/simple")
	if err != nil || len(c.Indexes) != 1 || c.Indexes[0].URL != "https://given.example/simple" {
		t.Errorf("given: %+v, %v", c, err)
	}
	for _, bad := range []string{"[global]\nindex-url = ftp://u:s3cret@x.example", "no section = s3cret", "[global]\nwhat s3cret", "  s3cret"} {
		name := write("bad.conf", bad)
		_, err := pypi.ReadConfig(func(n string) string { return map[string]string{"PIP_CONFIG_FILE": name}[n] }, "", "")
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestHostilePages: what an index says is not believed; nothing of it leads elsewhere.
func TestHostilePages(t *testing.T) {
	sum := strings.Repeat("a", 64)
	for name, page := range map[string]string{
		"another file":   `{"meta":{"api-version":"1.0"},"files":[{"filename":"x-1-py3-none-any.whl","url":"https://f.example/y-1-py3-none-any.whl","hashes":{}}]}`,
		"this machine":   `{"meta":{"api-version":"1.0"},"files":[{"filename":"x-1-py3-none-any.whl","url":"file:///etc/x-1-py3-none-any.whl","hashes":{}}]}`,
		"http":           `<a href="http://f.example/x-1-py3-none-any.whl#sha256=` + sum + `">x</a>`,
		"base http":      `<base href="http://f.example/"><a href="x-1-py3-none-any.whl#sha256=` + sum + `">x</a>`,
		"base here":      `<base href="file:///srv/"><a href="x-1-py3-none-any.whl#sha256=` + sum + `">x</a>`,
		"base, twice":    `<base href="http://f.example/"><base href="http://g.example/"><a href="http://g.example/x-1-py3-none-any.whl">x</a>`,
		"a login":        `<a href="https://u:p@f.example/x-1-py3-none-any.whl">x</a>`,
		"a folder":       `<a href="https://f.example/x-1-py3-none-any.whl/..">x</a>`,
		"negative":       `{"meta":{"api-version":"1.0"},"files":[{"filename":"x-1-py3-none-any.whl","url":"x-1-py3-none-any.whl","size":-5}]}`,
		"a long address": `<a href="https://f.example/` + strings.Repeat("y", 5000) + `/x-1-py3-none-any.whl">x</a>`,
		"no wheel":       `<a href="x-1.tar.gz">x</a><a>y</a><a href="">z</a>`,
	} {
		files, err := pypi.ParsePage([]byte(page), "https://i.example/simple/x/")
		files = slices.DeleteFunc(files, func(f pypi.File) bool { return strings.HasPrefix(f.URL, "https://i.example/") }) // as if the base were not there
		if err != nil || len(files) != 0 {
			t.Errorf("%s: %+v, %v", name, files, err)
		}
	}
	for name, page := range map[string]string{
		"later": `{"meta":{"api-version":"2.0"},"files":[]}`, "later HTML": `<meta name="pypi:repository-version" content="2.0">`,
		"empty": ``, "text": `hello`, "half": `{"meta":{"api-version":"1.0"},"files":[{"fil`,
	} {
		if _, err := pypi.ParsePage([]byte(page), "https://i.example/simple/x/"); err == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	files, err := pypi.ParsePage([]byte(`<base href="../../files/"><A HREF='x-1-py3-none-any.whl#sha256=`+strings.ToUpper(sum)+`' data-yanked="bad\x1b[31m
	build">x</a>`), "https://ana:s3cret@i.example/simple/x/")
	if err != nil || len(files) != 1 || files[0].URL != "https://i.example/files/x-1-py3-none-any.whl" || files[0].SHA256 != sum {
		t.Errorf("%+v, %v", files, err)
	}
}

func FuzzPage(f *testing.F) {
	f.Add([]byte(`{"meta":{"api-version":"1.0"},"files":[{"filename":"x-1-py3-none-any.whl","url":"x-1-py3-none-any.whl","size":5,"hashes":{"sha256":"00"},"yanked":"y"}]}`))
	f.Add([]byte(`<!DOCTYPE html><a href="../x-1-py3-none-any.whl#sha256=00" data-yanked>x</a>`))
	f.Fuzz(func(t *testing.T, page []byte) {
		files, err := pypi.ParsePage(page, "https://i.example/simple/x/")
		if err != nil {
			return
		}
		for _, f := range files {
			if !strings.HasPrefix(f.URL, "https://") || strings.ContainsAny(f.Name, "/\\\x00") || !strings.HasSuffix(f.Name, ".whl") || f.Size < 0 {
				t.Errorf("%+v", f)
			}
		}
	})
}
