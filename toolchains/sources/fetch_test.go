package sources_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/internal/tool/tooltest"
	"github.com/hexmage/hexmage/toolchains/sources"
	"github.com/hexmage/hexmage/toolchains/sources/deb"
	"github.com/hexmage/hexmage/toolchains/unpack"
	"github.com/hexmage/hexmage/toolchains/verify"
)

func zipOf(t *testing.T, files map[string]string) ([]byte, string) {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, body := range files {
		h := &zip.FileHeader{Name: name}
		h.SetMode(0o755)
		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b.Bytes())
	return b.Bytes(), hex.EncodeToString(sum[:])
}

// run runs the tool on the spec in a folder of its own and returns the result's path and what was printed.
func run(t *testing.T, spec sources.Spec, downloads string, vars ...string) (out, printed string, code int) {
	t.Helper()
	spec.Out = filepath.Join(t.TempDir(), "results", "tree")
	_, printed, code = tooltest.Run(t, sources.Tool, sources.Run, spec, append(vars, fetch.EnvDownloads+"="+downloads)...)
	return spec.Out, printed, code
}

func TestArchive(t *testing.T) {
	b, sum := zipOf(t, map[string]string{"sdk/1.0/bin/tool": "#!/bin/sh\necho version 1.0\n", "sdk/1.0/lib/liba.so.1": "x", "README": "y"})
	requests := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { requests++; _, _ = w.Write(b) }))
	defer srv.Close()
	s := sources.Spec{Kind: sources.KindArchive, Name: "sdk 1.0", URLs: []string{srv.URL + "/sdk.zip"}, SHA256: sum, Size: int64(len(b)),
		Layout: unpack.Layout{StripPrefix: "sdk/1.0", Links: map[string]string{"lib/liba.so": "liba.so.1"},
			Verify: verify.Checks{Layout: []string{"lib/liba.so"}, Run: []verify.Run{{Path: "bin/tool", Match: "version 1"}}}}}
	downloads := t.TempDir()
	out, printed, code := run(t, s, downloads)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, printed)
	}
	if body, err := os.ReadFile(filepath.Join(out, "lib", "liba.so")); err != nil || string(body) != "x" {
		t.Errorf("%q, %v", body, err)
	}
	line := regexp.MustCompile(`^(progress \d+ \d+ \S.*|warning: .*)$`)
	for _, l := range strings.Split(strings.TrimSpace(printed), "\n") {
		if !line.MatchString(l) {
			t.Errorf("line %q", l)
		}
	}
	if want := fmt.Sprintf("progress %d %d download\n", len(b), len(b)); !strings.Contains(printed, want) {
		t.Errorf("%q does not say %q", printed, want)
	}
	if _, _, code := run(t, s, downloads, fetch.EnvOffline+"=1"); code != 0 || requests != 1 {
		t.Errorf("again, offline: exit code %d, %d requests", code, requests)
	}
	// What does not pass the checks leaves nothing.
	s.Verify.Layout = append(s.Verify.Layout, "lib/libb.so")
	out, printed, code = run(t, s, downloads)
	if code != 1 || !strings.Contains(printed, "lib/libb.so: found nothing") {
		t.Errorf("exit code %d: %s", code, printed)
	}
	if left, _ := os.ReadDir(filepath.Dir(out)); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	out, printed, code = run(t, s, t.TempDir(), fetch.EnvOffline+"=1")
	if code != 1 || !strings.Contains(printed, "offline") {
		t.Errorf("offline with nothing kept: exit code %d: %s", code, printed)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("there is a result")
	}
}

func TestSpecs(t *testing.T) {
	_, sum := zipOf(t, nil)
	good := sources.Spec{Kind: sources.KindArchive, Name: "x", URLs: []string{"file:///no/such"}, SHA256: sum}
	for name, c := range map[string]struct {
		change func(*sources.Spec)
		says   string
	}{
		"no digest":        {change: func(s *sources.Spec) { s.SHA256 = "" }, says: "hexmage lock"},
		"unpinned package": {change: func(s *sources.Spec) { s.Kind, s.Packages = sources.KindDeb, []deb.Package{{Name: "xx"}} }, says: "hexmage lock"},
		"link out":         {change: func(s *sources.Spec) { s.Links = map[string]string{"../x": "y"} }, says: "is outside the tree"},
		"program out": {change: func(s *sources.Spec) {
			s.Kind, s.Programs = sources.KindPrograms, []sources.Program{{Path: "/etc/x"}}
		}, says: "is outside the tree"},
		"unknown kind": {change: func(s *sources.Spec) { s.Kind = "torrent" }, says: "unknown kind"},
		"nowhere":      {change: func(s *sources.Spec) { s.URLs = nil }, says: "neither"},
		"missing file": {change: func(*sources.Spec) {}, says: "no such file"},
		"relative program": {change: func(s *sources.Spec) {
			s.Kind, s.Programs = sources.KindPrograms, []sources.Program{{Path: "bin/x", Target: "sh"}}
		}, says: "absolute path"},
		"quote in a target": {change: func(s *sources.Spec) {
			s.Kind, s.Programs = sources.KindPrograms, []sources.Program{{Path: "bin/x", Target: "/a'; rm"}}
		}, says: "absolute path"},
	} {
		t.Run(name, func(t *testing.T) {
			s := good
			c.change(&s)
			out, printed, code := run(t, s, t.TempDir())
			if code != 1 || !strings.Contains(printed, c.says) {
				t.Errorf("exit code %d: %s; want 1 and %q", code, printed, c.says)
			}
			if left, _ := os.ReadDir(filepath.Dir(out)); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
	if _, printed, code := tooltest.Run(t, sources.Tool, sources.Run, good); code != 1 || !strings.Contains(printed, "no output path") {
		t.Errorf("nothing to make: exit code %d: %s", code, printed)
	}
}

// TestGolden ties the tool's Version to what it writes: a change here needs a new one.
func TestGolden(t *testing.T) {
	if sources.Tool != "fetch/1" {
		t.Fatalf("version %s: write its golden result here", string(sources.Tool))
	}
	dir := t.TempDir()
	prog := filepath.Join(dir, "prog")
	if err := os.WriteFile(prog, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := sources.Spec{Kind: sources.KindPrograms, Name: "x", Programs: []sources.Program{{Path: "usr/bin/p", Target: prog, Identity: "id"}}}
	out, printed, code := run(t, s, t.TempDir())
	if code != 0 {
		t.Fatal(printed)
	}
	if b, err := os.ReadFile(filepath.Join(out, "usr/bin/p")); err != nil || string(b) != "#!/bin/sh\n# id\nexec '"+prog+"' \"$@\"\n" {
		t.Errorf("%q, %v", b, err)
	}
	const want = "{\n  \"kind\": \"programs\",\n  \"name\": \"x\",\n  \"programs\": [\n    {\n      \"path\": \"usr/bin/p\",\n      \"target\": \"/p\",\n      \"identity\": \"id\"\n    }\n  ]\n}\n"
	s.Programs[0].Target = "/p"
	if got, err := tool.Encode(s); err != nil || string(got) != want {
		t.Errorf("spec %s, %v, want %s", got, err, want)
	}
}

// What programs of the machine need beside their own file is told to who runs them.
func TestProgramsNeedTheHost(t *testing.T) {
	s := sources.Spec{Kind: sources.KindPrograms, Name: "x", Host: []string{"/opt/a", "/opt/b c"},
		Programs: []sources.Program{{Path: "bin/p", Target: "/opt/a/bin/p", Identity: "id"}}}
	out, printed, code := run(t, s, t.TempDir())
	if b, err := os.ReadFile(filepath.Join(out, action.HostFile)); code != 0 || err != nil || string(b) != "/opt/a\n/opt/b c\n" {
		t.Errorf("%q, %v, %s", b, err, printed)
	}
	for _, bad := range []string{"opt", "", "/a\n/"} {
		s.Host = []string{bad}
		if _, printed, code := run(t, s, t.TempDir()); code == 0 || !strings.Contains(printed, "invalid path") {
			t.Errorf("%q: %d, %s", bad, code, printed)
		}
	}
}

// No archive says what of the machine may be read by what is run with it.
func TestArchiveThatWantsTheHost(t *testing.T) {
	b, sum := zipOf(t, map[string]string{action.HostFile: "/root\n", "x": "x"})
	file := filepath.Join(t.TempDir(), "a.zip")
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
	s := sources.Spec{Kind: sources.KindArchive, Name: "x", URLs: []string{"file://" + file}, SHA256: sum}
	if out, printed, code := run(t, s, t.TempDir()); code != 1 || !strings.Contains(printed, "reserved file") {
		t.Errorf("%s: exit code %d: %s", out, code, printed)
	}
}

// A program that has to run where the machine's files are not seen is taken as it is.
func TestProgramCopied(t *testing.T) {
	prog := filepath.Join(t.TempDir(), "prog")
	if err := os.WriteFile(prog, []byte("\x7fELF of a static program"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := sources.Spec{Kind: sources.KindPrograms, Name: "x", Programs: []sources.Program{{Path: "usr/bin/p", Target: prog, Identity: "id", Copy: true}}}
	out, printed, code := run(t, s, t.TempDir())
	file := filepath.Join(out, "usr/bin/p")
	b, err := os.ReadFile(file)
	if code != 0 || err != nil || string(b) != "\x7fELF of a static program" {
		t.Fatalf("%q, %v, %s", b, err, printed)
	}
	if st, err := os.Lstat(file); err != nil || st.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", st.Mode(), err)
	}
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, []byte("hello"), 0o644); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("hello"))
	s := sources.Spec{Kind: sources.KindFile, Name: "f", URLs: []string{"file://" + file}, SHA256: hex.EncodeToString(sum[:]), Executable: true}
	out, printed, code := run(t, s, t.TempDir())
	info, err := os.Stat(out)
	if code != 0 || err != nil || info.Mode()&0o111 == 0 || info.Size() != 5 {
		t.Errorf("exit code %d: %s; %v, %v", code, printed, info, err)
	}
}

// Who unpacks what is there asks nobody, and reads no logins: in a sandbox it may not.
func TestFileThatIsThereNeedsNoLogin(t *testing.T) {
	b, _ := zipOf(t, map[string]string{"x": "x"})
	file := filepath.Join(t.TempDir(), "a.zip")
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
	netrc := fetch.EnvNetrc + "=" + t.TempDir() // a folder: to read it is an error
	s := sources.Spec{Kind: sources.KindArchive, Name: "x", File: file}
	if _, printed, code := run(t, s, t.TempDir(), netrc); code != 0 {
		t.Errorf("exit code %d: %s", code, printed)
	}
	s.File, s.URLs = "", []string{"file://" + file}
	if _, _, code := run(t, s, t.TempDir(), netrc); code == 0 {
		t.Error("logins that cannot be read are no error where they may be needed")
	}
}
