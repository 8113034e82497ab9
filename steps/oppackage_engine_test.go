package steps_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/engine"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/execute/local"
	"github.com/hexmage/hexmage/internal/execute/worker"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/planner"
	"github.com/hexmage/hexmage/internal/statcache"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/simulated/sdk/sdktest"
	"github.com/hexmage/hexmage/steps"
)

// TestMain lets the test binary run again as a built-in tool or a worker, as the executor runs hexmage.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "tool" && os.Args[2] == worker.Tool {
		worker.Main(os.Args[3], store.MayBeLink)
		return
	}
	if len(os.Args) > 2 && os.Args[1] == "tool" {
		os.Exit(steps.Tools()[os.Args[2]](context.Background(), os.Args[3:], tool.Env{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}))
	}
	os.Exit(m.Run())
}

// sdkKind is a kind of toolchain that is a folder of this machine.
type sdkKind struct{ base, tools, qemu string }

func (sdkKind) Schema() step.Schema {
	return step.Schema{Args: hcldec.ObjectSpec{}, Outputs: []step.OutputSpec{{Name: "dir", Class: action.Tree}}}
}

func (k sdkKind) Plan(r step.Request) (step.Planned, hcl.Diagnostics) {
	attrs := map[string]cty.Value{}
	if r.At.Name == "hexagon" {
		attrs["tools_version"] = cty.StringVal(k.tools)
	}
	if r.At.Name == "qemu" {
		attrs["version"] = cty.StringVal(k.qemu)
	}
	in := action.Input{Host: &action.HostPath{Path: filepath.Join(k.base, r.At.Name)}}
	return step.Planned{Outputs: map[string]action.Artifact{"dir": {Class: action.Tree, Parts: []action.Input{in}}}, Attrs: attrs}, nil
}

const pipeline = `
pipeline {
  description = "an op package"
}

toolchain "qairt" {}
toolchain "hexagon" {}
toolchain "ndk" {}

step "patch" "ops" {
  source = "pkg"
  series = "mllm"
  sdk    = toolchain.qairt
}

step "makefile" "test" {
  source = step.patch.ops.outputs.dir
}

step "oppackage" "test" {
  source  = step.patch.ops.outputs.dir
  targets = ["htp_aarch64", "htp_v79"]
  hvx     = "v66"
  env     = { HEXMAGE_LLVM = "@llvm@" }
}

output "dir" {
  value = step.oppackage.test.outputs.dir
}

output "device" {
  value = step.oppackage.test.outputs.device
}

output "sizes" {
  value = step.oppackage.test.outputs.report
}

output "v79" {
  value = step.oppackage.test.outputs.htp_v79
}

output "commands" {
  value = step.oppackage.test.outputs.compile_commands
}

output "makefile" {
  value = step.makefile.test.outputs.dir
}

output "report" {
  value = step.patch.ops.outputs.report
}
`

// workspace is a folder with a pipeline and an op package, SDKs, and a store.
type workspace struct {
	t                   *testing.T
	dir, sdks, llvm, at string
	tools, qemu         string
}

func newWorkspace(t *testing.T) *workspace {
	t.Helper()
	w := &workspace{t: t, dir: t.TempDir(), sdks: t.TempDir(), at: t.TempDir(), tools: sdktest.ToolsVersion, qemu: "7.2"}
	_, w.llvm = sdktest.SDKs(t, w.sdks)
	w.pipeline(pipeline)
	files := sdktest.Package()
	files["src/ops/Scale.cpp"] = strings.ReplaceAll(files["src/ops/Scale.cpp"], "interface_scale", "get_interface_scale")
	sdktest.Write(t, filepath.Join(w.dir, "pkg"), files)
	return w
}

func (w *workspace) pipeline(text string) {
	sdktest.Write(w.t, w.dir, map[string]string{"pipelines/p.hcl": strings.ReplaceAll(text, "@llvm@", w.llvm)})
}

func (w *workspace) edit(name string, change func(string) string) {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, "pkg", name))
	if err != nil {
		w.t.Fatal(err)
	}
	sdktest.Write(w.t, filepath.Join(w.dir, "pkg"), map[string]string{name: change(string(data))})
}

func (w *workspace) plan() (*plan.Plan, *planner.Resolver, hcl.Diagnostics) {
	w.t.Helper()
	return planner.Plan(w.options())
}

// options are for planning.
func (w *workspace) options() planner.Options {
	w.t.Helper()
	cfg, diags := config.Load(os.DirFS(w.dir), "p", nil)
	if diags.HasErrors() {
		w.t.Fatal(diags)
	}
	kinds := fetchWorkspace(w.t).Kinds()
	kinds[addrs.Toolchain] = sdkKind{w.sdks, w.tools, w.qemu}
	return planner.Options{Config: cfg, Workspace: w.dir, Kinds: kinds}
}

// events collects what ran and what failed, and the keys of all actions.
type events struct {
	ran      []string
	failures []*event.Failure
	keys     map[string]string
	checks   []event.CheckFinished
}

func (e *events) Send(ev event.Event) {
	if c, ok := ev.(event.CheckFinished); ok {
		e.checks = append(e.checks, c)
	}
	f, ok := ev.(event.ActionFinished)
	if !ok {
		return
	}
	name := strings.TrimSuffix(f.Step+" "+f.Name, " ")
	e.keys[name] = f.Key
	switch f.Outcome {
	case event.Executed:
		e.ran = append(e.ran, name)
	case event.Failed:
		e.failures = append(e.failures, f.Failure)
	}
}

// build builds the pipeline and returns what ran, sorted, and what failed.
func (w *workspace) build() ([]string, []*event.Failure) {
	w.t.Helper()
	p, more, diags := w.plan()
	if diags.HasErrors() {
		w.t.Fatal(diags)
	}
	done := w.run(p, more, more.Explain)
	return done.ran, done.failures
}

// run builds a plan, which x extends, and returns what came of it.
func (w *workspace) run(p *plan.Plan, x plan.Resolver, hints func(addrs.Instance, plan.ResolvedInputs, string, []byte) []string) *events {
	w.t.Helper()
	o := w.engine()
	sink := &events{keys: map[string]string{}}
	o.Sink, o.Resolver, o.Hints = sink, x, hints
	if _, err := engine.Run(w.t.Context(), p, o); err != nil {
		w.t.Fatal(err)
	}
	slices.Sort(sink.ran)
	return sink
}

// engine is what the workspace's pipeline is built with.
func (w *workspace) engine() engine.Options {
	w.t.Helper()
	onDisk, err := disk.NewBlobs(w.at)
	if err != nil {
		w.t.Fatal(err)
	}
	results, err := disk.NewResults(w.at)
	if err != nil {
		w.t.Fatal(err)
	}
	fn, blobs, trees := digest.BLAKE3, store.WithHostFiles(onDisk), merkle.NewTrees(w.at)
	scratch := filepath.Join(w.at, "scratch")
	if err := os.MkdirAll(scratch, 0o755); err != nil {
		w.t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	run := local.New(local.Options{Dir: scratch, Store: blobs, Trees: trees, Fn: fn, Self: self})
	w.t.Cleanup(func() { _ = run.Close() })
	return engine.Options{
		Executor: execute.Cached(run, execute.CacheOptions{Results: results, Blobs: blobs, Fn: fn, Installed: trees.Has}), Blobs: blobs,
		Hasher: statcache.Open(filepath.Join(w.at, "stat"), fn, time.Now).Hash, Fn: fn, Workspace: w.dir,
		Out: filepath.Join(w.at, "out"), State: filepath.Join(w.at, "state"), LogDir: filepath.Join(w.at, "logs"), Jobs: 2, KeepGoing: true,
	}
}

func names(target string, objects ...string) []string {
	var out []string
	for _, o := range objects {
		out = append(out, fmt.Sprintf("oppackage.test %s/%s", target, o))
	}
	return out
}

func TestEngine(t *testing.T) {
	w := newWorkspace(t)
	const lib = "libQnnTestPackage.so"
	tools := []string{"makefile.test Makefile", "oppackage.test listed", "patch.ops"}
	sorted := func(lists ...[]string) []string {
		all := slices.Concat(lists...)
		slices.Sort(all)
		return all
	}
	objects := []string{"TestPackageInterface.o", "ops/Hvx.o", "ops/Scale.o", lib, "check"}
	all := sorted(tools, names("htp_aarch64", objects...), names("htp_v79", append(objects, "ops/v79_asm/asm.o")...))
	check := func(what string, want []string) {
		t.Helper()
		ran, failures := w.build()
		for _, f := range failures {
			t.Fatalf("%s: %s\n%s\n%s", what, f.Summary, f.Output, f.Hints)
		}
		if diff := cmp.Diff(want, ran); diff != "" {
			t.Errorf("%s (-want +ran):\n%s", what, diff)
		}
	}
	check("the first time", all)
	check("again", nil)
	w.edit("src/ops/Scale.cpp", func(s string) string { return s + "// a comment\n" })
	patch := []string{"patch.ops"}
	inOp := []string{"oppackage.test listed", "patch.ops"}
	check("a comment in an op", sorted(inOp, names("htp_aarch64", "ops/Scale.o"), names("htp_v79", "ops/Scale.o")))
	w.edit("src/ops/Scale.cpp", func(s string) string { return s + "int more() { return 1; }\n" })
	check("an op", sorted(inOp, names("htp_aarch64", "ops/Scale.o", lib, "check"), names("htp_v79", "ops/Scale.o", lib, "check")))
	w.edit("src/ops/v79_asm/asm.S", func(s string) string { return s + "\tnop\n" })
	check("assembly of one arch", sorted(patch, names("htp_v79", "ops/v79_asm/asm.o", lib, "check")))
	w.edit("config/TestPackage.xml", func(s string) string { return s + "\n" })
	check("what no compiler reads", sorted(patch, names("htp_aarch64", "check"), names("htp_v79", "check")))
	w.edit("include/scale.h", func(string) string { return "#pragma once\n#define FACTOR 5\n" })
	check("a header of one op", sorted(patch, names("htp_aarch64", "ops/Scale.o", lib, "check"), names("htp_v79", "ops/Scale.o", lib, "check")))
	w.edit("include/scale.h", func(s string) string { return s + "#include \"more.h\"\n" })
	sdktest.Write(t, filepath.Join(w.dir, "pkg"), map[string]string{"include/more.h": "// more\n"})
	// A new header may hide one that was read before: all that looks into the folder is compiled again.
	check("a new header", sorted(patch, names("htp_aarch64", "TestPackageInterface.o", "ops/Hvx.o", "ops/Scale.o"),
		names("htp_v79", "TestPackageInterface.o", "ops/Hvx.o", "ops/Scale.o", "ops/v79_asm/asm.o")))
	w.edit("include/more.h", func(s string) string { return s + "#undef FACTOR\n#define FACTOR 7\n" })
	check("a header of a header", sorted(patch, names("htp_aarch64", "ops/Scale.o", lib, "check"), names("htp_v79", "ops/Scale.o", lib, "check")))

	sdktest.Write(t, filepath.Join(w.dir, "pkg"), map[string]string{"Makefile": "their own"})
	check("a Makefile of the package's own", patch)

	out := filepath.Join(w.at, "out")
	for name, want := range map[string]string{
		"report": `"state": "applied"`, "commands": "steps/patch/ops.dir/src/ops/Scale.cpp", "v79": "\x7fELF",
		"dir/htp_aarch64/" + lib: "\x7fELF", "dir/htp_v79/" + lib: "\x7fELF",
		"device/v79/libQnnTestPackage_CPU.so": "\x7fELF", "device/v79/libQnnTestPackage_HTP.so": "\x7fELF",
		"sizes/htp_v79.json": `"exports": [`, "sizes/htp_aarch64.txt": "provider   TestPackageInterfaceProvider\n",
		"makefile/Makefile": "PACKAGE_NAME ?= TestPackage", "makefile/src/ops/Scale.cpp": "t.interface_scale()",
	} {
		data, err := os.ReadFile(filepath.Join(out, name))
		if err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s: no %q in %d bytes, %v", name, want, len(data), err)
		}
	}
}

// TestHints has sources built without the patch step: the failure names the rule that would fix it.
func TestHints(t *testing.T) {
	w := newWorkspace(t)
	w.pipeline(strings.ReplaceAll(pipeline, "step.patch.ops.outputs.dir", `"pkg"`))
	_, failures := w.build()
	if len(failures) != 2 {
		t.Fatalf("%d failures", len(failures))
	}
	for _, f := range failures {
		if len(f.Hints) != 2 || !strings.HasPrefix(f.Hints[0], "op Scale does not compile for htp_") || !strings.HasSuffix(f.Hints[0], ", first at src/ops/Scale.cpp:3:50") || !strings.Contains(f.Hints[1], `rename rule "interface_scale"`) {
			t.Errorf("hints %q of\n%s", f.Hints, f.Output)
		}
	}
}

// TestUnlistedOp takes an op out of the interface of the example with one of its own. It compiles and links, and the step fails; with the op listed it does not.
func TestUnlistedOp(t *testing.T) {
	w := newWorkspace(t)
	pkg := filepath.Join(w.dir, "pkg")
	if err := os.RemoveAll(pkg); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(pkg, os.DirFS("../examples/oppackage-only/clip")); err != nil {
		t.Fatal(err)
	}
	w.pipeline(strings.NewReplacer("@patch@", "", "@source@", `"pkg"`).Replace(othersPipeline))
	const declared = "DECLARE_PKG_OPS_OPTS_LIST(PKG_Clip)"
	w.edit("src/ClipPackageInterface.cpp", func(s string) string { return strings.Replace(s, declared, "", 1) })
	ran, failures := w.build()
	if len(failures) != 1 || !strings.Contains(string(failures[0].Output), "pkg/src/ops/Clip.cpp: the interface leaves out Clip") || !slices.Contains(ran, "oppackage.it htp_v79/check") {
		t.Fatalf("%+v; ran %v", failures, ran)
	}
	w.edit("src/ClipPackageInterface.cpp", func(s string) string { return strings.Replace(s, "\n\nEND_PKG", "\n"+declared+"\nEND_PKG", 1) })
	if _, failures = w.build(); len(failures) != 0 {
		t.Errorf("listed: %s", failures[0].Output)
	}
}

func TestPackagePlanErrors(t *testing.T) {
	for _, tt := range []struct{ name, old, new, want string }{
		{"unknown target", `"htp_v79"`, `"htp_v99"`, `target "htp_v99" (did you mean htp_v69?)`},
		{"unknown target of flags", `hvx     = "v66"`, "extra {\n    targets = [\"htp_v7\"]\n    flags = [\"-g\"]\n  }", `target "htp_v7"`},
		{"unknown HVX", `"v66"`, `"v99"`, `unknown HVX version "v99"`},
		{"unknown series", `"mllm"`, `"llama"`, `unknown patch series "llama"`},
		{"not a name", `hvx     = "v66"`, `package = "a b"`, "invalid C++ identifier"},
		{"no NDK", `toolchain "ndk" {}`, "", `needs toolchain "ndk"`},
		{"old tools", "19.0.04", "8.7.06", "htp_v79: Hexagon tools 8.8 or newer are required"},
		{"no tools", "19.0.04", "", "no known tools version"},
		{"sdk is no toolchain", "= toolchain.qairt", `= "x"`, "not a toolchain"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &workspace{t: t, dir: t.TempDir(), sdks: "/nowhere", llvm: "/nowhere", tools: strings.ReplaceAll("19.0.04", tt.old, tt.new)}
			w.pipeline(strings.Replace(pipeline, tt.old, tt.new, 1))
			if _, _, diags := w.plan(); !diags.HasErrors() || !strings.Contains(fmt.Sprint(diags.Errs()), tt.want) {
				t.Errorf("diagnostics %v, want %q", diags, tt.want)
			}
		})
	}
}
