package lang_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/workspace"
)

// parseRef reads a reference as spelt in a pipeline file.
func parseRef(s string) (lang.Ref, hcl.Diagnostics) {
	t, diags := hclsyntax.ParseTraversalAbs([]byte(s), "reference", hcl.InitialPos)
	if diags.HasErrors() {
		return lang.Ref{}, diags
	}
	return lang.ParseRef(t)
}

func TestParseRef(t *testing.T) {
	for _, tt := range []struct{ in, object, out string }{
		{"var.x", "var.x", "var.x"},
		{`var["x"].y[0]`, "var.x", "var.x.y[0]"},
		{"local.a.b", "local.a", "local.a.b"},
		{"path.workspace", "path", "path.workspace"},
		{"target.core", "target", "target.core"},
		{"target", "target", "target"},
		{"profile.name", "profile", "profile.name"},
		{"each.value.x", "each", "each.value.x"},
		{"toolchain.llvm", "toolchain.llvm", "toolchain.llvm"},
		{"toolchain.llvm.dir", "toolchain.llvm", "toolchain.llvm.dir"},
		{"step.patch.ops", "step.patch.ops", "step.patch.ops"},
		{"step.patch.ops.outputs", "step.patch.ops", "step.patch.ops.outputs"},
		{`step.exec.gen["v12"].outputs.so`, "step.exec.gen", `step.exec.gen["v12"].outputs.so`},
		{`step.exec.gen["a b"].outputs["a b"]`, "step.exec.gen", `step.exec.gen["a b"].outputs["a b"]`},
		{`step["exec"]["gen"].outputs["so"].x[1.5]`, "step.exec.gen", "step.exec.gen.outputs.so.x[1.5]"},
		{`step.exec.gen["${"]`, "", ""},
	} {
		r, diags := parseRef(tt.in)
		if tt.out == "" {
			if !diags.HasErrors() {
				t.Errorf("%s is read as %s", tt.in, r)
			}
			continue
		}
		if diags.HasErrors() || r.Object() != tt.object || r.String() != tt.out {
			t.Errorf("%s is read as %s of %s, %v; want %s", tt.in, r, r.Object(), diags, tt.out)
		}
	}
	for _, tt := range []struct{ in, want string }{
		{"vra.x", "Did you mean var?"},
		{"nonsense", `For a string, add quotes: "nonsense"`},
		{"var", "Write var.NAME"},
		{"step.exec", "Write step.exec.NAME.outputs.OUTPUT"},
		{"step", "Write step.KIND.NAME.outputs.OUTPUT"},
		{"step.exec.a[0]", "The keys of for_each are strings"},
		{"step.exec.a.dir", "Write step.exec.a.outputs.NAME"},
		{`step.exec.a["k"].dir`, `Write step.exec.a["k"].outputs.NAME`},
		{"toolchain", "Write toolchain.NAME"},
	} {
		_, diags := parseRef(tt.in)
		if !diags.HasErrors() || !strings.Contains(diags[0].Detail, tt.want) {
			t.Errorf("%s: %v, want %s", tt.in, diags, tt.want)
		}
	}
}

// FuzzParseRef: what is read is spelt so that it is read the same again.
func FuzzParseRef(f *testing.F) {
	for _, s := range []string{"var.x", `step.exec.gen["v12"].outputs.so[0].y`, `step.a.b["\"${x}\\"]`,
		`target["x y"]`, "each.key", `toolchain["a"].b["%{"]`, "var.x[1e9]", "local.a[true]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, diags := parseRef(s)
		if diags.HasErrors() {
			return
		}
		again, diags := parseRef(r.String())
		if diags.HasErrors() || again.String() != r.String() || again.Object() != r.Object() ||
			again.Key != r.Key || again.Output != r.Output || again.Attr != r.Attr || len(again.Rest) != len(r.Rest) {
			t.Errorf("%q is spelt %q, which is read as %q, %v", s, r, again, diags)
		}
	})
}

func evaluate(t *testing.T, root, src string) (cty.Value, *workspace.Files, hcl.Diagnostics) {
	t.Helper()
	files := workspace.NewFiles(root)
	out := addrs.Output{Instance: addrs.Instance{Step: addrs.Step{Kind: "patch", Name: "ops"}}, Name: "dir"}
	value := addrs.Output{Instance: out.Instance, Name: "v"}
	scope := lang.Scope{
		Vars: map[string]cty.Value{"secret": cty.StringVal("s").Mark(lang.Sensitive)},
		Steps: map[addrs.Step]cty.Value{
			out.Step: cty.ObjectVal(map[string]cty.Value{"outputs": cty.ObjectVal(map[string]cty.Value{
				"dir": cty.StringVal(out.Path()).Mark(out), "v": cty.DynamicVal.Mark(value)})})},
		Functions: lang.Functions(files),
	}
	expr, diags := hclsyntax.ParseExpression([]byte(src), "test.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatalf("%s: %v", src, diags)
	}
	refs, diags := lang.Refs(expr.Variables())
	if diags.HasErrors() {
		t.Fatalf("%s: %v", src, diags)
	}
	v, diags := expr.Value(scope.EvalContext(refs))
	return v, files, diags
}

func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"a.txt": "text\n", "src/a.c": "", "src/b.h": "", "src/deep/c.c": "",
		"bin": "\xff\xfe"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFunctions(t *testing.T) {
	dir := folder(t)
	for _, tt := range []struct{ src, want string }{
		{`join(",", ["a", "b"])`, `"a,b"`},
		{`upper("a")`, `"A"`},
		{`format("%s-%03d", "a", 7)`, `"a-007"`},
		{`basename("a/b.c")`, `"b.c"`},
		{`dirname("a/b.c")`, `"a"`},
		{`replace("a-b-c", "-", "_")`, `"a_b_c"`},
		{`regexreplace("v15", "v([0-9])", "$1.")`, `"1.5"`},
		{`trimprefix("v15", "v")`, `"15"`},
		{`alltrue([true, 1 == 1])`, `true`},
		{`alltrue([])`, `true`},
		{`alltrue([for x in [1, 2] : x > 1])`, `false`},
		{`anytrue([false, 2 > 1])`, `true`},
		{`anytrue([])`, `false`},
		{`one(["x"])`, `"x"`},
		{`one(toset(["x"]))`, `"x"`},
		{`one([]) == null`, `true`},
		{`one(tolist([])) == null`, `true`},
		{`jsonencode({ a = [1, true] })`, `"{\"a\":[1,true]}"`},
		{`jsondecode("{\"a\": 1}").a`, `1`},
		{`length(setunion(["a"], ["b"]))`, `2`},
		{`length({ a = 1, b = [2, 3] })`, `2`},
		{`length(["a"])`, `1`},
		{`length({})`, `0`},
		{`lookup({ a = "x" }, "b", "none")`, `"none"`},
		{`can(regex("^v[0-9]+$", "v15"))`, `true`},
		{`try(jsondecode("{"), "broken")`, `"broken"`},
		{`file("a.txt")`, `"text\n"`},
		{`file("./src/../a.txt")`, `"text\n"`},
		{`join(" ", fileset("src"))`, `"src/a.c src/b.h src/deep/c.c"`},
		{`join(" ", fileset("src", "*.c"))`, `"src/a.c"`},
		{`join(" ", fileset("src", "**", "!**/*.h"))`, `"src/a.c src/deep/c.c"`},
		{`join(" ", fileset(".", "src/{a,b}.*"))`, `"src/a.c src/b.h"`},
		{`length(fileset("src", "*.none"))`, `0`},
	} {
		v, _, diags := evaluate(t, dir, tt.src)
		if diags.HasErrors() {
			t.Errorf("%s: %v", tt.src, diags)
			continue
		}
		want, _, _ := evaluate(t, dir, tt.want)
		if !v.RawEquals(want) {
			t.Errorf("%s = %#v, want %s", tt.src, v, tt.want)
		}
	}
	for _, tt := range []struct{ src, want string }{
		{`one(["a", "b"])`, "the tuple has 2 elements; the limit is 1"},
		{`alltrue([true, null])`, "element 1 is null"},
		{`length("abc")`, "use strlen"},
		{`one("a")`, "a list, set or tuple is required"},
		{`file("nope")`, "nope does not exist"},
		{`file("")`, "empty path"},
		{`file("..")`, "leaves the workspace"},
		{`file("bin")`, "not UTF-8 text"},
		{`file("src")`, "src is a folder"},
		{`fileset("a.txt")`, "a.txt is a file, not a folder"},
		{`fileset("src", "[")`, "invalid pattern"},
		{`fileset("src", "/etc/*")`, "invalid pattern"},
		{`file(step.patch.ops.outputs.dir)`, "step.patch.ops.outputs.dir does not exist during planning"},
		{`timestamp()`, "no function named"},
	} {
		_, _, diags := evaluate(t, dir, tt.src)
		if !diags.HasErrors() || !strings.Contains(diags[0].Detail, tt.want) {
			t.Errorf("%s: %v, want %s", tt.src, diags, tt.want)
		}
	}
}

// docs/language.md names every function, and none that does not exist.
func TestFunctionsAreDocumented(t *testing.T) {
	b, err := os.ReadFile("../../docs/language.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(b), "\n## Functions\n")
	section, _, ok := strings.Cut(section, "\n### ") // their limits
	if !ok {
		t.Fatal("the document has no section of functions")
	}
	functions := lang.Functions(workspace.NewFiles("/"))
	for name := range functions {
		if !strings.Contains(section, "`"+name+"`") && !strings.Contains(section, "`"+name+"(") {
			t.Errorf("function %s is not documented", name)
		}
	}
	for i, word := range strings.Split(section, "`") {
		if i%2 == 1 && !strings.ContainsAny(word, "(!") && word != "dir" {
			if _, ok := functions[word]; !ok {
				t.Errorf("there is no function %s", word)
			}
		}
	}
}

func TestFilesRemembers(t *testing.T) {
	dir := folder(t)
	abs := filepath.ToSlash(filepath.Join(dir, "src"))
	_, files, diags := evaluate(t, dir,
		`[file("a.txt"), fileset("`+abs+`", "*.c"), try(file("nope"), ""), try(fileset("none/at"), []),
		try(file("bin"), ""), try(file("src"), ""), try(fileset("a.txt"), []), fileset("src", "**/*.c", "gone/x/y.c", "deep/c.c")]`)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	want := plan.Reads{
		Files:  []string{"a.txt", "bin"},
		Dirs:   []string{"src"},
		Absent: []string{"none/at", "nope"},
		Globs: []plan.Glob{
			{Dir: abs, Patterns: []string{"*.c"}, Found: []string{abs + "/a.c"}, Dirs: []string{abs}},
			{Dir: "src", Patterns: []string{"**/*.c", "gone/x/y.c", "deep/c.c"},
				Found: []string{"src/a.c", "src/deep/c.c"}, Dirs: []string{"src", "src/deep"}},
		},
	}
	got := files.Reads()
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	again, err := workspace.Fileset(dir, "src", "**/*.c", "gone/x/y.c", "deep/c.c")
	if d := cmp.Diff(want.Globs[1], again); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
	if _, err := workspace.Fileset(dir, "none"); err == nil {
		t.Error("a folder that is not there was listed")
	}
}

// Of a symbolic link both the link and what it leads to are remembered: lstat of the link alone stays the same.
func TestFilesRemembersLinks(t *testing.T) {
	dir := folder(t)
	other := filepath.Join(dir, "other")
	if err := os.CopyFS(other, os.DirFS(folder(t))); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{
		"one.txt": "two.txt", "two.txt": filepath.Join(other, "a.txt"), "gone.txt": "nowhere", "lib": other + "/src",
		"src/up.c": "../a.txt",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	_, files, diags := evaluate(t, dir,
		`[file("one.txt"), try(file("gone.txt"), ""), fileset("lib", "*.c"), fileset("src", "up.c")]`)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	want := plan.Reads{
		Files:  []string{"gone.txt", "one.txt", "other/a.txt", "two.txt"},
		Absent: []string{"nowhere"},
		Globs: []plan.Glob{
			{Dir: "lib", Patterns: []string{"*.c"}, Found: []string{"lib/a.c"}, Dirs: []string{"lib", "other/src"}},
			{Dir: "src", Patterns: []string{"up.c"}, Found: []string{"src/up.c"}, Dirs: []string{"a.txt", "src"}},
		},
	}
	if d := cmp.Diff(want, files.Reads()); d != "" {
		t.Error(d)
	}
}

// Links of the workspace that lead out of it are not followed, whatever reads them; an absolute path is what it says.
func TestFilesStayInTheWorkspace(t *testing.T) {
	dir, other := folder(t), folder(t)
	for link, to := range map[string]string{"out.txt": other + "/a.txt", "chain.txt": "src/up",
		"src/up": "../out.txt", "lib": other + "/src"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for expr, link := range map[string]string{
		`file("out.txt")`: "out.txt", `file("chain.txt")`: "out.txt", `file("lib/a.c")`: "lib",
		`fileset("lib")`: "lib", `fileset("lib/..")`: "", `fileset("src")`: "",
	} {
		v, _, diags := evaluate(t, dir, "["+expr+"]")
		if link == "" {
			if diags.HasErrors() {
				t.Errorf("%s: %v", expr, diags)
			}
		} else if !diags.HasErrors() || !strings.Contains(diags.Error(), link+" is a link to ") {
			t.Errorf("%s: %#v, %v", expr, v, diags)
		}
	}
	for _, name := range []string{"out.txt", "chain.txt", "lib", "lib/a.c"} {
		if f, err := workspace.NewFiles(dir).Open(name); err == nil {
			f.Close()
			t.Errorf("%s was opened", name)
		}
	}
	if found, err := workspace.Fileset(dir, ".", "lib/*.c", "lib/a.c"); err != nil || len(found.Found) > 0 {
		t.Errorf("%q, %v", found.Found, err)
	}
	f, err := workspace.NewFiles(dir).Open(filepath.Join(dir, "out.txt"))
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}

// What file reads is a regular file of the workspace, also by an absolute path.
func TestFileRefuses(t *testing.T) {
	dir, other := folder(t), folder(t)
	if err := os.Symlink("/dev/null", filepath.Join(dir, "null")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("loop", filepath.Join(dir, "loop")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ src, want string }{
		{`file("null")`, "null is a link to /dev/null"},
		{`file("pipe")`, "pipe is not a regular file"},
		{`file("loop")`, "cannot read loop"},
		{`file("/proc/self/environ")`, "/proc/self/environ is outside the workspace"},
		{`file("/dev/zero")`, "/dev/zero is outside the workspace"},
		{`file("` + filepath.ToSlash(other) + `/a.txt")`, "a.txt is outside the workspace"},
	} {
		v, _, diags := evaluate(t, dir, tt.src)
		if !diags.HasErrors() || !strings.Contains(diags[0].Detail, tt.want) {
			t.Errorf("%s: %#v, %v, want %s", tt.src, v, diags, tt.want)
		}
	}
	if v, _, diags := evaluate(t, dir, `file("`+filepath.ToSlash(dir)+`/a.txt")`); diags.HasErrors() ||
		v.AsString() != "text\n" {
		t.Errorf("an absolute path in the workspace: %#v, %v", v, diags)
	}
}

// Marks tell which outputs a value was made from, through everything the language has.
func TestMarks(t *testing.T) {
	for _, tt := range []struct{ src, want string }{
		{`"x"`, ""},
		{`"--src=${step.patch.ops.outputs.dir}/x"`, "dir"},
		{`[for x in ["a"] : "${step.patch.ops.outputs.dir}/${x}"]`, "dir"},
		{`upper(join(",", [step.patch.ops.outputs.dir]))`, "dir"},
		{`true ? "x" : step.patch.ops.outputs.dir`, "dir"},
		{`toset([step.patch.ops.outputs.dir])`, "dir"},
		{`"v${step.patch.ops.outputs.v}"`, "v"},
		{`[step.patch.ops.outputs.v == "1" ? step.patch.ops.outputs.dir : "x"]`, "dir v"},
		{`jsonencode({ a = step.patch.ops.outputs.v })`, "v"},
		{`dirname(step.patch.ops.outputs.dir)`, "dir"},
		{`one([step.patch.ops.outputs.dir])`, "dir"},
		// try() drops the mark of what is not known yet; plan therefore waits for what is referred to, not only for
		// marks.
		{`try(step.patch.ops.outputs.v.x, "x")`, ""},
	} {
		v, _, diags := evaluate(t, t.TempDir(), tt.src)
		if diags.HasErrors() {
			t.Errorf("%s: %v", tt.src, diags)
			continue
		}
		var names []string
		for _, o := range lang.OutputMarks(v) {
			names = append(names, o.Name)
		}
		if got := strings.Join(names, " "); got != tt.want {
			t.Errorf("%s is made from %q, want %q (%#v)", tt.src, got, tt.want, v)
		}
		if lang.IsSensitive(v) {
			t.Errorf("%s is sensitive", tt.src)
		}
	}
	if v, _, diags := evaluate(t, folder(t), `fileset("src", "${var.secret}", "*.c")`); diags.HasErrors() ||
		!lang.IsSensitive(v) {
		t.Errorf("%#v, %v", v, diags)
	}
	if v, _, _ := evaluate(t, t.TempDir(), `{ a = ["Bearer ${var.secret}"] }`); !lang.IsSensitive(v) {
		t.Errorf("%#v is not sensitive", v)
	}
}
