package steps

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/oppackage"
	"github.com/hexmage/hexmage/oppackage/opconfig"
	"github.com/hexmage/hexmage/standin/kerneltest"
	"github.com/hexmage/hexmage/standin/phone/cdsp"
)

// KernelTest is the kind "kernel_test".
type KernelTest struct{}

// emulatedHVX is the newest HVX that the emulated DSP has. It executes some newer instructions wrongly without a word, so the
// compiler is to refuse them.
const emulatedHVX = "-mhvx=v66"

// reference is the target whose build has the ops' reference branches.
const reference = "htp_aarch64"

// Schema returns the arguments and outputs.
func (KernelTest) Schema() step.Schema {
	numbers := cty.List(cty.Number)
	tensor := hcldec.ObjectSpec{
		"dtype":      &hcldec.AttrSpec{Name: "dtype", Type: cty.String, Required: true},
		"dims":       &hcldec.AttrSpec{Name: "dims", Type: numbers, Required: true},
		"scale":      &hcldec.AttrSpec{Name: "scale", Type: cty.Number},
		"zero_point": &hcldec.AttrSpec{Name: "zero_point", Type: cty.Number},
		"data":       &hcldec.AttrSpec{Name: "data", Type: numbers},
		"file":       &hcldec.AttrSpec{Name: "file", Type: cty.String},
		"low":        &hcldec.AttrSpec{Name: "low", Type: cty.Number},
		"high":       &hcldec.AttrSpec{Name: "high", Type: cty.Number},
	}
	return step.Schema{
		Summary: "Run ops' Hexagon code on an emulated DSP, and compare it with the ops' reference branches.",
		Args: withExtras(hcldec.ObjectSpec{
			"source":        &hcldec.AttrSpec{Name: "source", Type: cty.String, Required: true},
			"archs":         &hcldec.AttrSpec{Name: "archs", Type: cty.List(cty.String)},
			"package":       &hcldec.AttrSpec{Name: "package", Type: cty.String},
			"sources":       &hcldec.AttrSpec{Name: "sources", Type: cty.List(cty.String)},
			"tools_version": &hcldec.AttrSpec{Name: "tools_version", Type: cty.String},
			"case": &hcldec.BlockListSpec{TypeName: "case", MinItems: 1, Nested: hcldec.ObjectSpec{
				"op":      &hcldec.BlockLabelSpec{Index: 0, Name: "op"},
				"name":    &hcldec.AttrSpec{Name: "name", Type: cty.String},
				"seeds":   &hcldec.AttrSpec{Name: "seeds", Type: numbers},
				"max_abs": &hcldec.AttrSpec{Name: "max_abs", Type: cty.Number},
				"max_ulp": &hcldec.AttrSpec{Name: "max_ulp", Type: cty.Number},
				"input":   &hcldec.BlockListSpec{TypeName: "input", Nested: tensor},
				"output":  &hcldec.BlockListSpec{TypeName: "output", MinItems: 1, Nested: tensor},
			}},
		}),
		ArgDocs: withExtraDocs(map[string]string{
			"source":        "Folder of the package: an output of another step, or a folder of the workspace.",
			"archs":         "Hexagon archs to build for and to emulate. Default: v73, v75, v79, v81.",
			"package":       "Name of the package. Default: X of src/XInterface.cpp.",
			"sources":       "Only these sources of ops (paths in the package, which may have * and ?), with an interface made for them. Default: the whole package.",
			"tools_version": "Version of the Hexagon tools, a folder of the SDK's tools/HEXAGON_Tools. Default: toolchain.hexagon's.",
			"case":          "A call of the op that the label names, once for each of seeds (default: [1]); parameters are inputs after the others. A tensor has stored numbers: data (all of them, or one for all), a file (little-endian), or made up ones whose real values are between low and high. An element of an output may differ from the reference by max_abs, or by max_ulp steps of its type (default: 0, not at all).",
		}),
		Outputs:    []step.OutputSpec{{Name: "report", Class: action.Tree, Doc: "<arch>.txt and .json: what each call came to, with the largest errors."}},
		Toolchains: []string{"qairt", "hexagon", "ndk", "llvm", "qemu"},
	}
}

// kernels is a step of the kind.
type kernels struct {
	*build
	cases []byte
	files []action.Input // of tensors
	only  []string       // patterns of sources; none is the whole package
	qemu  action.Input
	llvm  action.Input
}

// Plan checks the cases, and leaves the rest to Expand.
func (KernelTest) Plan(r step.Request) (step.Planned, hcl.Diagnostics) {
	archs := r.Strings("archs")
	if len(archs) == 0 {
		archs = []string{"v73", "v75", "v79", "v81"}
	}
	targets := []string{reference}
	for _, a := range archs {
		targets = append(targets, "htp_"+strings.TrimPrefix(a, "htp_"))
	}
	b, diags := newBuild(r, targets, "archs", emulatedHVX)
	if diags.HasErrors() {
		return step.Planned{}, diags
	}
	k := kernels{build: b, only: r.Strings("sources")}
	for _, a := range b.arches[1:] {
		if a.Family != "hexagon" {
			return step.Planned{}, hcl.Diagnostics{r.ArgErrorf("archs", "Not a Hexagon arch", "%s is no arch of a DSP: say v73, v75, v79 or v81.", a.Target)}
		}
	}
	for name, to := range map[string]*action.Input{"qemu": &k.qemu, "llvm": &k.llvm} {
		t, diag := r.Toolchain(name)
		if diag != nil {
			return step.Planned{}, hcl.Diagnostics{diag}
		}
		*to = t.Input()
	}
	var err error
	if k.cases, k.files, err = cases(r); err != nil {
		return step.Planned{}, hcl.Diagnostics{r.ArgErrorf("case", "Not a kernel test", "%v.", err)}
	}
	specs, outs, err := k.specs(b.preview())
	if err != nil {
		return step.Planned{}, hcl.Diagnostics{r.Errorf("Kernel test cannot be planned", "%v.", err)}
	}
	return step.Planned{
		Specs: specs, Outputs: outs, Await: b.inputs, Expand: k.expand,
		Explain: func(spec string, output []byte) []string {
			hints := oppackage.Explain(spec, string(output))
			if strings.Contains(string(output), "'Q6_") {
				hints = append(hints, "the emulated DSP has HVX up to v66, and the op uses newer instructions: it can be tested on a device only; test the package's other ops with sources = […]")
			}
			return hints
		},
	}, nil
}

// cases reads the blocks. Files of tensors are placed in the exec root.
func cases(r step.Request) ([]byte, []action.Input, error) {
	var list []kerneltest.Case
	var files []action.Input
	number := func(v cty.Value, name string) float64 {
		if n := v.GetAttr(name); !n.IsNull() {
			f, _ := n.AsBigFloat().Float64()
			return f
		}
		return 0
	}
	numbers := func(v cty.Value, name string) []float64 {
		var out []float64
		if l := v.GetAttr(name); !l.IsNull() {
			for it := l.ElementIterator(); it.Next(); {
				_, n := it.Element()
				f, _ := n.AsBigFloat().Float64()
				out = append(out, f)
			}
		}
		return out
	}
	tensors := func(v cty.Value, name string) []kerneltest.Tensor {
		var out []kerneltest.Tensor
		for it := v.GetAttr(name).ElementIterator(); it.Next(); {
			_, b := it.Element()
			of := step.Request{Args: b}
			t := kerneltest.Tensor{Type: of.String("dtype"), Scale: float32(number(b, "scale")), Zero: int32(number(b, "zero_point")), Data: numbers(b, "data"), Low: number(b, "low"), High: number(b, "high")}
			for _, d := range numbers(b, "dims") {
				t.Dims = append(t.Dims, int(d))
			}
			if f := of.String("file"); f != "" {
				t.File = fmt.Sprintf("in/case/%d-%s", len(files), path.Base(f))
				files = append(files, r.Input("case", f, t.File))
			}
			out = append(out, t)
		}
		return out
	}
	for it := r.Args.GetAttr("case").ElementIterator(); it.Next(); {
		_, v := it.Element()
		of := step.Request{Args: v}
		c := kerneltest.Case{Op: of.String("op"), Name: of.String("name"), MaxAbs: number(v, "max_abs"), MaxULP: uint64(max(0, number(v, "max_ulp"))), Inputs: tensors(v, "input"), Outputs: tensors(v, "output")}
		for _, s := range numbers(v, "seeds") {
			c.Seeds = append(c.Seeds, uint64(max(0, s)))
		}
		list = append(list, c)
	}
	if err := kerneltest.Validate(list); err != nil {
		return nil, nil, err
	}
	data, err := json.Marshal(list)
	return data, files, err
}

func (k kernels) expand(l action.Listing) ([]action.Spec, map[string]action.Artifact, error) {
	p, err := k.find(l)
	if err != nil {
		return nil, nil, err
	}
	if len(k.only) > 0 {
		if err := k.choose(&p); err != nil {
			return nil, nil, err
		}
	}
	return k.specs(p)
}

// choose takes all ops out of the package but the wanted ones, and has an interface made for these.
func (k kernels) choose(p *oppackage.Package) error {
	ops := slices.DeleteFunc(slices.Clone(p.Files), func(f string) bool { return path.Dir(f) != "src/ops" || path.Ext(f) != ".cpp" })
	wanted := map[string]bool{}
	for _, pattern := range k.only {
		some := false
		for _, f := range ops {
			if ok, err := path.Match(pattern, f); err != nil {
				return fmt.Errorf("sources: %q: %w", pattern, err)
			} else if ok {
				wanted[f], some = true, true
			}
		}
		if !some {
			return fmt.Errorf("sources: no op of the package is in %s; there is %s", pattern, strings.Join(ops, ", "))
		}
	}
	p.Files = slices.DeleteFunc(slices.Clone(p.Files), func(f string) bool {
		dir, ext := path.Dir(f), path.Ext(f)
		return ext == ".cpp" && (dir == "src" || dir == "src/ops" && !wanted[f])
	})
	p.Interface = path.Join(k.at.Dir(), "interface", p.Name+"Interface.cpp")
	return p.Validate()
}

func (k kernels) specs(p oppackage.Package) ([]action.Spec, map[string]action.Artifact, error) {
	p = k.place(p)
	var specs []action.Spec
	if p.Interface != "" {
		made, err := k.interfaceFor(p)
		if err != nil {
			return nil, nil, err
		}
		specs = append(specs, made)
	}
	host, err := k.reference(p)
	if err != nil {
		return nil, nil, err
	}
	shell, err := k.shell()
	if err != nil {
		return nil, nil, err
	}
	specs = append(append(specs, host...), shell)
	program := host[len(host)-1]
	report := action.Artifact{Class: action.Tree}
	for _, a := range k.arches[1:] {
		made, _, err := k.arch(a, p)
		if err != nil {
			return nil, nil, err
		}
		link := made[len(made)-1]
		test := k.test(a, link, shell, program)
		specs = append(append(specs, made...), test)
		for _, o := range test.Outputs {
			report.Parts = append(report.Parts, action.Input{Path: path.Base(o.Path), Spec: &action.SpecOutput{Spec: test.Name, Path: o.Path}})
		}
	}
	return specs, map[string]action.Artifact{"report": report}, nil
}

// interfaceFor makes the interface: from the op config, or for the ops that the chosen sources register.
func (k kernels) interfaceFor(p oppackage.Package) (action.Spec, error) {
	if len(k.only) == 0 {
		return k.interfaceSpec(p)
	}
	args := []string{"--package", p.Name, "--out", p.Interface}
	spec := action.Spec{Name: interfaceName, Description: "write an interface for the ops under test", Env: k.env, Outputs: []action.Output{{Path: p.Interface}}}
	for _, f := range p.Files {
		if path.Dir(f) == "src/ops" && path.Ext(f) == ".cpp" {
			in, err := k.file(f)
			if err != nil {
				return action.Spec{}, err
			}
			spec.Inputs = append(spec.Inputs, in)
			args = append(args, in.Path)
		}
	}
	spec.Args, spec.Platform = step.FlagTool(opconfig.ToolName, opconfig.ToolVersion, args...)
	return spec, nil
}

// reference compiles the package for the phone's processor and links it with the harness, a static program.
func (k kernels) reference(p oppackage.Package) ([]action.Spec, error) {
	a := k.arches[0]
	specs, compiles, err := k.arch(a, p)
	if err != nil {
		return nil, err
	}
	specs = specs[:len(specs)-1] // a program instead of the library
	out := path.Join(k.at.Dir(), "build/reference")
	dir := path.Join(k.at.Dir(), "harness")
	spec := action.Spec{
		Name: "reference", Description: "link the reference branches with the harness", Env: k.environ(),
		Inputs: slices.Clone(k.toolchains[a.Target]), Outputs: []action.Output{{Path: out}},
	}
	spec.Args = []string{
		k.roots.NDK + "/toolchains/llvm/prebuilt/linux-x86_64/bin/clang", "--target=aarch64-none-linux-android21", "-std=c17", "-O1", "-ffreestanding", "-fno-builtin",
		"-ffp-contract=off", "-static", "-fPIC", "-I" + k.roots.QAIRT + "/include/QNN", "-I" + dir, "-o", out,
	}
	files, err := sourceFiles(map[string]fs.FS{"harness.c": kerneltest.Harness(), "math.c": cdsp.Sources(), "half.c": cdsp.Sources(), "text.c": cdsp.Sources(), "shell.h": cdsp.Sources(), "fastrpc_wire.h": cdsp.Sources()}, dir)
	if err != nil {
		return nil, err
	}
	for _, in := range files {
		spec.Inputs = append(spec.Inputs, in)
		if path.Ext(in.Path) == ".c" {
			spec.Args = append(spec.Args, in.Path)
		}
	}
	for _, c := range compiles {
		name := a.Target + "/" + strings.TrimPrefix(c.Object, path.Join(p.Build, a.Folder)+"/")
		spec.Inputs = append(spec.Inputs, action.Input{Path: c.Object, Spec: &action.SpecOutput{Spec: name, Path: c.Object}})
		spec.Args = append(spec.Args, c.Object)
	}
	return append(specs, spec), nil
}

// sourceFiles are inputs with files that hexmage carries, sorted.
func sourceFiles(from map[string]fs.FS, dir string) ([]action.Input, error) {
	var in []action.Input
	for name, sources := range from {
		data, err := fs.ReadFile(sources, name)
		if err != nil {
			return nil, err
		}
		in = append(in, action.Input{Path: path.Join(dir, name), Content: &action.Content{Data: data}})
	}
	slices.SortFunc(in, func(a, b action.Input) int { return strings.Compare(a.Path, b.Path) })
	return in, nil
}

// shell compiles the emulated DSP's first program.
func (k kernels) shell() (action.Spec, error) {
	spec := action.Spec{
		Name: "dsp", Description: "compile the emulated DSP's " + cdsp.Program,
		Args:   cdsp.Args(k.llvm.Path+"/usr/bin/clang-22", cdsp.Program),
		Inputs: []action.Input{k.llvm}, Outputs: []action.Output{{Path: cdsp.Program}},
	}
	names, err := fs.Glob(cdsp.Sources(), "*")
	if err != nil {
		return spec, err
	}
	from := map[string]fs.FS{}
	for _, n := range names {
		from[n] = cdsp.Sources()
	}
	files, err := sourceFiles(from, "")
	spec.Inputs = append(spec.Inputs, files...)
	return spec, err
}

// test runs the cases for an arch.
func (k kernels) test(a oppackage.Arch, link, shell, program action.Spec) action.Spec {
	const cases = "cases.json"
	lib, out := link.Outputs[0].Path, path.Join(k.at.Dir(), "report", a.Version)
	spec := action.Spec{
		Name: a.Target + "/test", Description: "run kernel tests for " + a.Version, Env: k.env,
		Inputs: slices.Concat([]action.Input{
			{Path: cases, Content: &action.Content{Data: k.cases}},
			{Path: lib, Spec: &action.SpecOutput{Spec: link.Name, Path: lib}},
			{Path: cdsp.Program, Spec: &action.SpecOutput{Spec: shell.Name, Path: cdsp.Program}},
			{Path: program.Outputs[0].Path, Spec: &action.SpecOutput{Spec: program.Name, Path: program.Outputs[0].Path}},
			k.qemu,
		}, k.files),
		Outputs: []action.Output{{Path: out + ".json"}, {Path: out + ".txt"}},
	}
	spec.Args, spec.Platform = step.FlagTool(kerneltest.ToolName, kerneltest.ToolVersion, "--cases", cases, "--arch", a.Version, "--library", lib,
		"--shell", cdsp.Program, "--reference", program.Outputs[0].Path, "--qemu", k.qemu.Path+"/usr/bin", "--out", out)
	return spec
}
