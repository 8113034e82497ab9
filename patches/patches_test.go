package patches_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/tool/tooltest"
	"github.com/hexmage/hexmage/patches"
)

const (
	oldOp = "// get_interface_scale() in a comment\nfloat f(const Tensor &in) { return in.get_interface_scale(); }\n"
	newOp = "// get_interface_scale() in a comment\nfloat f(const Tensor &in) { return in.interface_scale(); }\n"

	oldHeader = "class Tensor { public: float get_interface_scale() const; int get_interface_offset() const; };\n"
	newHeader = "// get_interface_scale is gone\nclass Tensor { public: float interface_scale() const; int interface_offset() const; };\n"
)

// write makes a folder of files and returns it. A file whose text begins with "-> " is a symbolic link.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if to, ok := strings.CutPrefix(text, "-> "); ok && err == nil {
			err = os.Symlink(to, path)
		} else if err == nil {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func request(t *testing.T, source map[string]string, header string) patches.Request {
	t.Helper()
	fsys, err := patches.Shipped("mllm")
	if err != nil {
		t.Fatal(err)
	}
	return patches.Request{
		Source:     write(t, source),
		SDKInclude: write(t, map[string]string{"HTP/core/tensor.h": header}),
		Series:     "mllm", SeriesFS: fsys,
		Out: filepath.Join(t.TempDir(), "out"),
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// states maps each rule to its state and number of changed places.
func states(r patches.Report) map[string]string {
	m := map[string]string{}
	for _, n := range r.Rules {
		m[n.Rule] = n.State
		for _, p := range n.Changed {
			m[n.Rule] += " " + p.String()
		}
	}
	return m
}

func TestApplyShipped(t *testing.T) {
	const notNeeded, none = patches.StateNotNeeded, patches.StateNone
	tests := []struct {
		name, op, header, want string
		states                 map[string]string
	}{
		{"old sources, new SDK", oldOp, newHeader, newOp, map[string]string{
			`rename "interface_scale"`: "applied src/ops/A.cpp:2:39", `rename "interface_offset"`: none,
			`rename "get_interface_scale"`: notNeeded, `rename "get_interface_offset"`: notNeeded}},
		{"new sources, new SDK", newOp, newHeader, newOp, map[string]string{
			`rename "interface_scale"`: "already applied", `rename "interface_offset"`: none,
			`rename "get_interface_scale"`: notNeeded, `rename "get_interface_offset"`: notNeeded}},
		{"old sources, old SDK", oldOp, oldHeader, oldOp, map[string]string{
			`rename "interface_scale"`: notNeeded, `rename "interface_offset"`: notNeeded,
			`rename "get_interface_scale"`: "already applied", `rename "get_interface_offset"`: none}},
		{"new sources, old SDK", newOp, oldHeader, oldOp, map[string]string{
			`rename "interface_scale"`: notNeeded, `rename "interface_offset"`: notNeeded,
			`rename "get_interface_scale"`: "applied src/ops/A.cpp:2:39", `rename "get_interface_offset"`: none}},
		{"an SDK with both spellings", oldOp, oldHeader + newHeader, oldOp, map[string]string{
			`rename "interface_scale"`: notNeeded, `rename "interface_offset"`: notNeeded,
			`rename "get_interface_scale"`: notNeeded, `rename "get_interface_offset"`: notNeeded}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := request(t, map[string]string{"src/ops/A.cpp": tt.op, "src/I.cpp": "int i;\n", ".git/config": "x", "l": "-> src/I.cpp"}, tt.header)
			if _, err := patches.Check(t.Context(), r); err != nil {
				t.Fatalf("Check: %v", err)
			}
			if _, err := os.Stat(r.Out); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("Check wrote %s: %v", r.Out, err)
			}
			report, err := patches.Apply(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.states, states(report)); diff != "" {
				t.Errorf("states (-want +got):\n%s", diff)
			}
			if got := read(t, r.Out, "src/ops/A.cpp"); got != tt.want {
				t.Errorf("patched source:\n%s\nwant:\n%s", got, tt.want)
			}
			if read(t, r.Out, "src/I.cpp") != "int i;\n" || read(t, r.Source, "src/ops/A.cpp") != tt.op || read(t, r.Out, "l") != "int i;\n" {
				t.Error("another file or the source changed")
			}
			if _, err := os.Stat(filepath.Join(r.Out, ".git")); err == nil {
				t.Error("version control was copied")
			}
			// Patching the patched tree changes nothing.
			r.Source, r.Out = r.Out, filepath.Join(t.TempDir(), "again")
			if report, err := patches.Apply(t.Context(), r); err != nil || len(report.Changed) != 0 {
				t.Errorf("a second Apply changed %v: %v", report.Changed, err)
			}
		})
	}
}

const own = `
rename "old" {
  from  = "old_name"
  to    = "new_name"
  files = ["*.cpp"]
  expect {
    min = 1
    max = 2
  }
}

patch "0002-b.patch" {
  description = "only for new SDKs"
  when {
    header = "a.h"
    lacks  = "old_way"
  }
}
`

func ownSeries() fstest.MapFS {
	return fstest.MapFS{
		"1-2/rules.hcl":    {Data: []byte(own)},
		"1-2/0001-a.patch": {Data: []byte("--- a/a.cpp\n+++ b/a.cpp\n@@ -1 +1 @@\n-int one;\n+int one, old_name;\n")},
		"1-2/0002-b.patch": {Data: []byte("--- a/a.cpp\n+++ b/a.cpp\n@@ -1 +1,2 @@\n int one, old_name;\n+int two;\n")},
	}
}

func TestApplySeries(t *testing.T) {
	for header, want := range map[string]string{
		"int x;":       "int one, new_name;\nint two;\n",
		"int old_way;": "int one, new_name;\n",
	} {
		r := patches.Request{
			Source: write(t, map[string]string{"a.cpp": "int one;\n"}), SDKInclude: write(t, map[string]string{"a.h": header}),
			Series: "own", SeriesFS: ownSeries(), Out: t.TempDir(),
		}
		report, err := patches.Apply(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, r.Out, "a.cpp"); got != want {
			t.Errorf("with %q: %q, want %q", header, got, want)
		}
		if len(report.Patches) != 2 || report.Patches[0].State != patches.StateApplied {
			t.Errorf("patches: %+v", report.Patches)
		}
	}
}

func TestApplyErrors(t *testing.T) {
	source := map[string]string{"src/ops/A.cpp": "int a;\n"}
	t.Run("a rule that finds nothing", func(t *testing.T) {
		r := request(t, source, newHeader)
		_, err := patches.Apply(t.Context(), r)
		if err == nil || !strings.Contains(err.Error(), `rename "interface_scale": found 0 places`) {
			t.Errorf("Apply = %v", err)
		}
		if _, err := os.Stat(r.Out); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a failed Apply wrote its copy: %v", err)
		}
	})
	t.Run("a rule that finds too much", func(t *testing.T) {
		r := request(t, map[string]string{"src/A.cpp": strings.Repeat("a = t.get_interface_scale();\n", 41)}, newHeader)
		_, err := patches.Apply(t.Context(), r)
		if err == nil || !strings.Contains(err.Error(), "41 places") || !strings.Contains(err.Error(), "src/A.cpp:41:7") {
			t.Errorf("Apply = %v", err)
		}
	})
	t.Run("a patch that does not fit", func(t *testing.T) {
		r := request(t, map[string]string{"a.cpp": "int none;\n"}, newHeader)
		r.SeriesFS, r.SDKInclude = ownSeries(), write(t, map[string]string{"a.h": ""})
		_, err := patches.Apply(t.Context(), r)
		if err == nil || !strings.Contains(err.Error(), "patch 0001-a.patch: a.cpp: hunk 1 ") {
			t.Errorf("Apply = %v", err)
		}
	})
	for name, change := range map[string]func(*patches.Request){
		"no SDK":            func(r *patches.Request) { r.SDKInclude = "" },
		"no such header":    func(r *patches.Request) { r.SDKInclude = t.TempDir() },
		"no source":         func(r *patches.Request) { r.Source = "/nowhere" },
		"no series":         func(r *patches.Request) { r.SeriesFS = fstest.MapFS{} },
		"out not empty":     func(r *patches.Request) { r.Out = write(t, map[string]string{"x": ""}) },
		"out in the source": func(r *patches.Request) { r.Out = filepath.Join(r.Source, "out") },
		"link out":          func(r *patches.Request) { r.Source = write(t, map[string]string{"src/A.cpp": oldOp, "l": "-> ../x"}) },
		"absolute link": func(r *patches.Request) {
			r.Source = write(t, map[string]string{"src/A.cpp": oldOp, "l": "-> /etc/passwd"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := request(t, map[string]string{"src/A.cpp": oldOp}, newHeader)
			change(&r)
			if _, err := patches.Apply(t.Context(), r); err == nil {
				t.Error("Apply succeeded")
			}
		})
	}
	t.Run("canceled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := patches.Apply(ctx, request(t, source, newHeader)); !errors.Is(err, context.Canceled) {
			t.Errorf("Apply = %v", err)
		}
	})
}

// TestReplaceBlocks: replace rules, as a file has them, see what the rules before them did.
func TestReplaceBlocks(t *testing.T) {
	const rules = `
replace "c" {
  from   = "f($a, $$rest)"
  to     = "g($$rest, $a)"
  files  = ["*.cpp"]
  expect { max = 9 }
}
replace "d" {
  from   = "START()"
  to     = ""
  files  = ["*.cpp"]
  expect { max = 9 }
}
replace "e" {
  from   = "g($a, 4, $b)"
  to     = "h($a)"
  files  = ["*.cpp"]
  expect { max = 9 }
}
`
	r := patches.Request{
		Source: write(t, map[string]string{"a.cpp": "START()\nint x = f(1, (2, 3), 4);\n"}),
		Series: "s", SeriesFS: fstest.MapFS{"1-2/rules.hcl": {Data: []byte(rules)}}, Out: t.TempDir(),
	}
	report, err := patches.Apply(t.Context(), r)
	if err != nil || len(report.Rules) != 3 {
		t.Fatal(err)
	}
	if diff := cmp.Diff("int x = h((2, 3));\n", read(t, r.Out, "a.cpp")); diff != "" {
		t.Errorf("patched (-want +got):\n%s", diff)
	}
	r.Source, r.Out = r.Out, t.TempDir()
	if report, err := patches.Apply(t.Context(), r); err != nil || len(report.Changed) != 0 {
		t.Errorf("a second time: %v\n%s", err, report.Text())
	}
}

func TestLoadErrors(t *testing.T) {
	rules := func(text string) fstest.MapFS { return fstest.MapFS{"1-2/rules.hcl": {Data: []byte(text)}} }
	for want, fsys := range map[string]fstest.MapFS{
		"invalid name":                          {"new/rules.hcl": {Data: []byte(own)}},
		"duplicate rule in folders 1-2 and 2-3": {"1-2/rules.hcl": {Data: []byte(strings.Split(own, "patch ")[0])}, "2-3/rules.hcl": {Data: []byte(strings.Split(own, "patch ")[0])}},
		"0002-b.patch\" is missing from":        rules(own),
		"must be C++ names":                     rules("rename \"x\" {\n from = \"\"\n to = \"b\"\n files = [\"*\"]\n expect {\n max = 1\n }\n}"),
		"Unsupported argument":                  rules("rename \"x\" {\n form = \"\"\n}"),
		"file does not exist":                   {"1-2/readme.txt": {}},
	} {
		if _, err := patches.Load(fsys); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Load = %v, want %q", err, want)
		}
	}
	if _, err := patches.Shipped("llama"); err == nil || !strings.Contains(err.Error(), "choose from mllm, mllm-aot, mllm-v1, ") {
		t.Errorf("Shipped = %v", err)
	}
}

// TestLoadOrder: the ranges of newer versions come later.
func TestLoadOrder(t *testing.T) {
	fsys := fstest.MapFS{}
	want := []string{"qairt2.9-qairt2.10", "qairt2.10-qairt2.9", "qairt2.10.1-x", "qairt2.31-qairt2.34", "qairt10-qairt11"}
	for _, name := range want {
		fsys[name+"/rules.hcl"] = &fstest.MapFile{}
	}
	ranges, err := patches.Load(fsys)
	var got []string
	for _, r := range ranges {
		got = append(got, r.Name)
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestNoSDK(t *testing.T) {
	r := request(t, map[string]string{"src/ops/A.cpp": "int a;\n"}, "")
	r.SDKInclude = filepath.Join(t.TempDir(), "nowhere")
	report, err := patches.Check(t.Context(), r)
	if err == nil || strings.Count(err.Error(), "use the include/QNN folder") != 1 || len(report.Rules) > 0 {
		t.Errorf("Check = %+v, %v; want one message and no renames", report.Rules, err)
	}
}

func TestDiagnose(t *testing.T) {
	const clang = "In file included from x\n" +
		"src/ops/IRoPE.cpp:144:86: error: no member named 'get_interface_scale' in 'Tensor'\n  144 |   x\n" +
		"\x1b[1msrc/ops/IRoPE.cpp:145:87: \x1b[0m\x1b[0;1;31merror: \x1b[0mno member named 'get_interface_scale' in 'hnnx::Tensor'; did you mean 'interface_scale'?\n"
	hints := patches.Diagnose(clang)
	if len(hints) != 1 || hints[0].Rule.Name != "interface_scale" || hints[0].Series != "mllm" {
		t.Fatalf("hints = %+v", hints)
	}
	if s := hints[0].String(); !strings.Contains(s, `"interface_scale"`) || !strings.Contains(s, `series = "mllm"`) {
		t.Errorf("hint: %s", s)
	}
	const gcc = "a.cpp:3:4: error: ‘const class Tensor’ has no member named ‘interface_offset’\n"
	if hints := patches.Diagnose(gcc); len(hints) != 1 || hints[0].Rule.Name != "get_interface_offset" {
		t.Errorf("gcc: %+v", hints)
	}
	for _, other := range []string{"", "error: no member named 'x' in 'Tensor'", "error: no member named 'get_interface_scale' in 'Quant'"} {
		if hints := patches.Diagnose(other); len(hints) != 0 {
			t.Errorf("Diagnose(%q) = %v", other, hints)
		}
	}
}

func TestRun(t *testing.T) {
	r := request(t, map[string]string{"src/A.cpp": oldOp}, newHeader)
	report := filepath.Join(t.TempDir(), "report.json")
	shipped := filepath.Join(t.TempDir(), "mllm")
	if fsys, err := patches.Shipped("mllm"); err != nil || os.CopyFS(shipped, fsys) != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := tooltest.Run(t, patches.Tool, patches.Run, patches.Spec{Source: r.Source, SDKInclude: r.SDKInclude, Series: "mllm", Rules: shipped, Out: r.Out, Report: report})
	if code != 0 || !strings.Contains(stdout, "rename \"interface_scale\": applied") ||
		!strings.Contains(stdout, "\n  src/A.cpp:2:39: get_interface_scale -> interface_scale\n") {
		t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
	}
	var rep patches.Report
	if err := json.Unmarshal([]byte(read(t, filepath.Dir(report), "report.json")), &rep); err != nil || len(rep.Changed) != 1 {
		t.Errorf("report %+v, %v", rep, err)
	}
	dir := write(t, map[string]string{"1-2/rules.hcl": strings.Split(own, "patch ")[0]})
	for want, s := range map[string]patches.Spec{
		`rename "old": found 0 places`: {Source: r.Source, Series: "own", Rules: dir, Out: filepath.Join(t.TempDir(), "o")},
		"is missing: set both":         {Series: "own", Rules: dir},
		"nowhere":                      {Source: r.Source, Series: "a", Rules: "/nowhere", Out: "o"},
	} {
		if _, stderr, code := tooltest.Run(t, patches.Tool, patches.Run, s); code != 1 || !strings.Contains(stderr, want) {
			t.Errorf("%+v: exit %d\n%s", s, code, stderr)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(own)
	f.Add("call \"x\" {\n from = \"f($a, $$b)\"\n to = \"g($$b)\"\n files = [\"*\"]\n expect {\n max = 1\n }\n}")
	f.Add("insert \"x\" {\n text = \"f()\"\n after = [\"g()\"]\n uses = [\"h\"]\n files = [\"*\"]\n expect {\n max = 1\n file \"x\" {\n max = 1\n }\n }\n}")
	f.Add("rename \"x\" {\n when {\n header = 1\n }\n}")
	f.Fuzz(func(t *testing.T, rules string) {
		fsys := fstest.MapFS{"1-2/rules.hcl": {Data: []byte(rules)}, "1-2/0002-b.patch": ownSeries()["1-2/0002-b.patch"]}
		if ranges, err := patches.Load(fsys); err == nil && len(ranges) != 1 {
			t.Errorf("%d ranges", len(ranges))
		}
	})
}

// TestToolVersion ties the tool's behavior version to what it writes. When it fails because the tool now writes
// something else on purpose, raise the version and take the new digest.
func TestToolVersion(t *testing.T) {
	r := patches.Request{
		Source:     write(t, map[string]string{"a.cpp": "int one;\n", "b.cpp": "int new_name;\n", "l": "-> a.cpp"}),
		SDKInclude: write(t, map[string]string{"a.h": "int x;"}),
		Out:        filepath.Join(t.TempDir(), "out"),
	}
	files := map[string]string{}
	for name, f := range ownSeries() {
		files[name] = string(f.Data)
	}
	report := filepath.Join(t.TempDir(), "report")
	stdout, stderr, code := tooltest.Run(t, patches.Tool, patches.Run, patches.Spec{Source: r.Source, SDKInclude: r.SDKInclude, Series: "own", Rules: write(t, files), Out: r.Out, Report: report})
	if code != 0 {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	h := sha256.New()
	for _, name := range []string{"a.cpp", "b.cpp", "l"} {
		h.Write([]byte(read(t, r.Out, name)))
	}
	h.Write([]byte(stdout))
	h.Write([]byte(read(t, filepath.Dir(report), "report")))
	const want = "patch/5 7ff468105fbd2a1f"
	if got := string(patches.Tool) + fmt.Sprintf(" %.8x", h.Sum(nil)); got != want {
		t.Errorf("version and digest are %s, were %s", got, want)
	}
}

// TestAllowFew: sources that a series was not written for may have fewer places, and no more than it allows.
func TestAllowFew(t *testing.T) {
	source := t.TempDir()
	for name, text := range map[string]string{"a.cpp": "old();\n", "b.cpp": "old(); old();\n"} {
		if err := os.WriteFile(filepath.Join(source, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const rule = "rename \"it\" {\n  from = \"old\"\n  to = \"new\"\n  files = [\"*.cpp\"]\n  expect {\n    min = 5\n" +
		"    max = 9\n    file \"b.cpp\" {\n      min = 1\n      max = %d\n    }\n  }\n}\n"
	for most, want := range map[int]string{1: "b.cpp", 2: ""} {
		r := patches.Request{Source: source, SDKInclude: t.TempDir(), Series: "own", AllowFew: true,
			SeriesFS: fstest.MapFS{"x1-x2/rules.hcl": {Data: fmt.Appendf(nil, rule, most)}}}
		rep, err := patches.Check(t.Context(), r)
		if want == "" && (err != nil || rep.Places() != 3) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("at most %d in b.cpp: %d places, %v", most, rep.Places(), err)
		}
		r.AllowFew = false
		if _, err := patches.Check(t.Context(), r); err == nil {
			t.Error("3 places are as many as 5")
		}
	}
}
