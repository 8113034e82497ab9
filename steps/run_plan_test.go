package steps_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/runner"
	"github.com/hexmage/hexmage/runner/measure"
	"github.com/hexmage/hexmage/runner/session"
	"github.com/hexmage/hexmage/simulated/phone"
	"github.com/hexmage/hexmage/steps"
)

func toolchain(name string) step.Toolchain {
	return step.Toolchain{Output: addrs.Output{Instance: addrs.Instance{Step: addrs.Step{Kind: addrs.Toolchain, Name: name}}, Name: "dir"}}
}

func request(args map[string]cty.Value) step.Request {
	all := map[string]cty.Value{
		"argv": strs("./p", "-m"), "push": cty.MapVal(map[string]cty.Value{"model.bin": cty.StringVal("m.bin"), "lib/": cty.StringVal("libs")}),
		"pull": strs("results/tokens.json", "log"), "stdin": cty.StringVal("hello\n"), "expect": cty.StringVal("want.json"), "serial": cty.StringVal("ab12"),
	}
	for name, v := range args {
		all[name] = v
	}
	return step.Request{
		At: addrs.Instance{Step: addrs.Step{Kind: "run", Name: "qwen3"}}, Profile: "device", Args: all,
		Target:     cty.ObjectVal(map[string]cty.Value{"soc": cty.StringVal("SM8750"), "arch": cty.StringVal("v79"), "soc_model": cty.NumberIntVal(69), "vtcm_mb": cty.NumberIntVal(8), "soc_id": cty.NumberIntVal(618)}),
		Toolchains: map[string]step.Toolchain{"adb": toolchain("adb"), "llvm": toolchain("llvm"), "qemu": toolchain("qemu"), "busybox": toolchain("busybox")},
	}
}

func strs(s ...string) cty.Value {
	v := []cty.Value{cty.StringVal("")}[:0]
	for _, x := range s {
		v = append(v, cty.StringVal(x))
	}
	if len(v) == 0 {
		return cty.ListValEmpty(cty.String)
	}
	return cty.ListVal(v)
}

func TestRunOnAPhone(t *testing.T) {
	p, diags := table()["run"].Plan(request(nil))
	if diags.HasErrors() || len(p.Specs) != 2 {
		t.Fatalf("%v, %d specs", diags, len(p.Specs))
	}
	run, metrics := p.Specs[0], p.Specs[1]
	want := map[string]string{
		action.PropertyExecutor: "device", action.PropertyPool: "device=1,device ab12=1", action.PropertyStdin: "stdin.txt", action.PropertyStdout: "stdout.txt",
		runner.PropertySoC: "SM8750", runner.PropertyArch: "v79", runner.PropertySoCModel: "69", runner.PropertyVTCM: "8", runner.PropertyADB: "toolchains/adb", runner.PropertySerial: "ab12", session.PropertySampleMS: "100",
	}
	if d := cmp.Diff(want, run.Platform); d != "" {
		t.Error(d)
	}
	var inputs, outputs []string
	for _, in := range run.Inputs {
		inputs = append(inputs, in.Path)
	}
	for _, o := range run.Outputs {
		outputs = append(outputs, o.Path)
	}
	if d := cmp.Diff([]string{"toolchains/adb", "push/lib", "push/model.bin", "stdin.txt"}, inputs); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"stdout.txt", session.PhoneJSON, "results/tokens.json", "log", session.SamplesCSV, session.SamplesJSON}, outputs); d != "" {
		t.Error(d)
	}
	if argv := strings.Join(metrics.Args, " "); argv != "hexmage tool metrics args.json" {
		t.Errorf("metrics: %s", argv)
	}
	if d := cmp.Diff(measure.Spec{Title: "qwen3", Profile: "device", Out: "metrics.json", Measured: "measured.json", Runs: []measure.Run{{Repetition: 1, Stdout: "runs/stdout.txt", Phone: "runs/phone.json",
		Samples: "runs/samples.json", Tokens: "runs/tokens.json", Expect: "expected/tokens.json"}}}, readSpec(t, metrics)); d != "" {
		t.Error(d)
	}
	for _, name := range []string{"metrics", "stdout", "results", "samples"} {
		if _, ok := p.Outputs[name]; !ok {
			t.Errorf("no output %s", name)
		}
	}
}

func TestMoreMistakes(t *testing.T) {
	push := func(names ...string) cty.Value {
		m := map[string]cty.Value{}
		for _, n := range names {
			m[n] = cty.StringVal("f")
		}
		return cty.MapVal(m)
	}
	for name, c := range map[string]struct {
		args map[string]cty.Value
		want string
	}{
		"empty argv":           {map[string]cty.Value{"argv": strs()}, "argv: empty"},
		"pulled twice":         {map[string]cty.Value{"pull": strs("a/x", "b/x"), "expect": cty.NullVal(cty.String)}, `"a/x" and "b/x" would both be stored as x`},
		"pulls stdout":         {map[string]cty.Value{"pull": strs("./stdout.txt"), "expect": cty.NullVal(cty.String)}, "the standard output"},
		"pulls all":            {map[string]cty.Value{"pull": strs("."), "expect": cty.NullVal(cty.String)}, "not a path in the run's folder"},
		"nothing to compare":   {map[string]cty.Value{"pull": strs("log")}, "pull does not list"},
		"one place twice":      {map[string]cty.Value{"push": push("a", "./a")}, "the same path on the device"},
		"all at the top, fine": {map[string]cty.Value{"push": push("./")}, ""},
	} {
		_, diags := table()["run"].Plan(request(c.args))
		if diags.HasErrors() != (c.want != "") || c.want != "" && !strings.Contains(diags.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, diags, c.want)
		}
	}
	r := request(nil)
	delete(r.Toolchains, "adb")
	if _, diags := table()["run"].Plan(r); !strings.Contains(diags.Error(), `toolchain "adb"`) {
		t.Errorf("no adb: %v", diags)
	}
}

func TestSimulatedPhone(t *testing.T) {
	p, diags := table()["simulated_phone"].Plan(request(nil))
	if diags.HasErrors() || len(p.Specs) != 2 {
		t.Fatalf("%v", diags)
	}
	var image phone.Image
	if err := tool.Decode(p.Specs[1].Inputs[0].Content.Data, &image); err != nil || image.SoC != (phone.SoCProps{Model: "SM8750", Arch: "v79", SoCModel: 69, SoCID: 618, VTCMMB: 8}) {
		t.Errorf("image: %+v, %v", image, err)
	}
	r := request(nil)
	r.Target = cty.NullVal(cty.DynamicPseudoType)
	if _, diags := table()["simulated_phone"].Plan(r); !strings.Contains(diags.Error(), "target") {
		t.Errorf("no target: %v", diags)
	}
	r = request(nil)
	delete(r.Toolchains, "qemu")
	if _, diags := table()["simulated_phone"].Plan(r); !strings.Contains(diags.Error(), `toolchain "qemu"`) {
		t.Errorf("no qemu: %v", diags)
	}
}

// The user's choice of a device counts more than the step's, also more than an image: it is in every action on a device
// and in no other.
func TestRunOnTheChosenDevice(t *testing.T) {
	for _, args := range []map[string]cty.Value{nil, {"repeat": cty.NumberIntVal(2)}} {
		p, diags := steps.Workspace{Serial: "1234"}.Kinds()["run"].Plan(request(args))
		if diags.HasErrors() || len(p.Specs) < 2 {
			t.Fatalf("%v, %d specs", diags, len(p.Specs))
		}
		for _, s := range p.Specs {
			want := ""
			if s.Platform[action.PropertyExecutor] == runner.Executor {
				want = "1234"
			}
			if got := s.Platform[runner.PropertySerial]; got != want {
				t.Errorf("%s: serial %q, want %q", s.Name, got, want)
			}
		}
	}
}
