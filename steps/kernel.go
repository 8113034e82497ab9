package steps

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/oppackage"
	"github.com/hexmage/hexmage/oppackage/kerneltest"
)

// KernelTest holds the arguments of a kernel_test step.
type KernelTest struct {
	opSource
	Archs   []string          `arg:"archs"`
	Sources []string          `arg:"sources"`
	Tools   string            `arg:"tools_version"`
	Cases   []kerneltest.Case `block:"case,required"`
}

func kernelTestSchema() step.Schema {
	return step.Schema{
		Summary: "Runs ops' Hexagon code on the simulated DSP, and compares it with the ops' reference branches.",
		ArgDocs: withOpDocs(map[string]string{
			"source": "Folder of the package: an output of another step, or a folder of the workspace.",
			"archs": "Hexagon archs to build for and to simulate. Default: all whose HTP runs weights of 4 " +
				"bits in blocks.",
			"sources": "Sources of ops to test: paths in the package, which may contain * and ?. Their " +
				"interface is generated. Default: the whole package.",
			"tools_version": "Version of the Hexagon tools, a folder in the SDK's tools/HEXAGON_Tools. Default: the " +
				"version of toolchain.hexagon.",
			"case": "A call of the op in the label, once for each of seeds (default: [1]). Parameters " +
				"follow the inputs. A tensor has stored numbers, data (one per element, or one for all), or random " +
				"real values between low and high. An output's element may differ from the reference by max_abs, or " +
				"by max_ulp steps of its type (default: 0).",
		}),
		Outputs:    []step.OutputSpec{step.Tree("report", "<arch>.txt: each call with its largest errors.")},
		Toolchains: []string{"qairt", "hexagon", "llvm", "qemu"},
		Example: `step "kernel_test" "ops" {
  source = step.patch.ops.outputs.dir

  case "SiLU" {
    input {
      dtype = "float16"
      dims  = [1, 1, 1, 130]
    }
    output {
      dtype = "float16"
      dims  = [1, 1, 1, 130]
    }
  }
}`,
	}
}

// kernels plans a kernel_test step.
type kernels struct {
	opBuild
	cases   []kerneltest.Case
	only    []string // patterns of sources; empty for the whole package
	qemu    action.Input
	release string // of qemu
	llvm    action.Input
	shell   action.Input // first program of the simulated DSP
}

// Plan checks the cases, and plans the actions when the sources are known.
func (t KernelTest) Plan(p *step.Plan, all oppackage.Targets) {
	var quantized []string // archs that run LLMs
	for _, a := range all {
		if slices.Contains(a.Features, "lpbq") {
			quantized = append(quantized, a.Name)
		}
	}
	if len(t.Archs) == 0 {
		t.Archs = quantized
	}
	var targets []string
	for _, a := range t.Archs {
		targets = append(targets, "htp_"+strings.TrimPrefix(a, "htp_"))
	}
	qemu := p.Toolchain("qemu")
	k := kernels{opBuild: newBuild(p, all, t.opSource, targets, "archs", t.Tools, ""), cases: t.Cases, only: t.Sources,
		qemu: qemu.Input(), llvm: p.Toolchain("llvm").Input(), release: knownOf(qemu).Version}
	for _, a := range k.arches {
		if a.Family != "hexagon" {
			p.Fail("archs", "Not a Hexagon arch", "archs: %s is not a Hexagon arch. Use %s.", a.Target,
				strings.Join(quantized, ", "))
		}
	}
	if err := kerneltest.Validate(t.Cases); err != nil {
		p.Fail("case", "Invalid kernel test", "%v.", err)
	}
	if p.Failed() {
		return
	}
	if err := k.tests(k.preview()); err != nil {
		p.Fail("", "Invalid op package", "%v.", err)
	}
	k.await(func(b opBuild, pkg oppackage.Package) error {
		k := k
		k.opBuild = b
		if len(k.only) > 0 {
			if err := k.choose(&pkg); err != nil {
				return err
			}
		}
		return k.tests(pkg)
	})
	p.Explain(func(spec string, output []byte) []string {
		hints := explainBuild(spec, output)
		if kerneltest.HVX(k.release, "") != "" && strings.Contains(string(output), "'Q6_") {
			hints = append(hints, "the op uses instructions newer than HVX v66, the version of "+
				"qemu "+k.release+"'s simulated DSP: set toolchain \"qemu\" { version = \"11.1\" }, which has the "+
				"integer instructions of v68 and v69, or test the package's other ops with sources = […]")
		}
		return hints
	})
}

// choose removes all ops from the package except the selected ones, and generates an interface for these.
func (k *kernels) choose(p *oppackage.Package) error {
	ops := oppackage.Ops(p.Files)
	matches := func(pattern, f string) bool {
		ok, err := path.Match(pattern, f)
		return err == nil && ok
	}
	for _, pattern := range k.only {
		if !slices.ContainsFunc(ops, func(f string) bool { return matches(pattern, f) }) {
			return fmt.Errorf("sources: no source matches %s; use one of %s", pattern, strings.Join(ops, ", "))
		}
	}
	p.Files = slices.DeleteFunc(slices.Clone(p.Files), func(f string) bool {
		chosen := slices.ContainsFunc(k.only, func(pattern string) bool { return matches(pattern, f) })
		return path.Ext(f) == ".cpp" && (path.Dir(f) == "src" || path.Dir(f) == "src/ops" && !chosen)
	})
	p.Interface = path.Join(k.p.At.Dir(), "interface", p.Name+"Interface.cpp")
	k.config = new(string) // the op config names the other ops too
	return p.Validate()
}

// tests plans the builds, and one test per arch.
func (k kernels) tests(pkg oppackage.Package) error {
	pkg = k.opBuild.place(pkg)
	if pkg.Interface != "" {
		k.makeInterface(pkg)
	}
	shell, err := dspProgram(k.p, k.llvm)
	if err != nil {
		return err
	}
	k.shell = shell
	reference, library := k.reference(pkg)
	var report []action.Input
	for _, a := range k.arches {
		report = append(report, k.test(a, pkg, reference, library))
	}
	k.p.Tree("report", report...)
	return nil
}

// dsp links objects. It returns a simulated DSP of the arch with the library, and the library at its action's output
// path.
func (k kernels) dsp(a oppackage.Arch, pkg oppackage.Package, hvx string, objects []action.Input) (
	kerneltest.DSP, action.Input) {
	lib := k.link(a, pkg, objects)
	lib.Path = lib.Spec.Path
	return kerneltest.DSP{Qemu: k.qemu.Path + "/usr/bin/qemu-hexagon-static", Shell: k.shell.Path,
		Library: lib.Path, Arch: a.Compiled, HVX: hvx}, lib
}

// reference builds the library of the ops' reference branches for the first arch, with the HVX version that all
// emulators support.
func (k kernels) reference(pkg oppackage.Package) (kerneltest.DSP, action.Input) {
	const hvx = "v66"
	a := k.arches[0]
	k.variant, pkg.Build = "reference", path.Join(pkg.Build, "reference")
	pkg.HVX = oppackage.HVXFlags(hvx)
	pkg.Extras = append(slices.Clone(pkg.Extras), oppackage.Extra{Defines: []string{"REFERENCE_OP"}})
	_, objects := k.compile(a, pkg)
	return k.dsp(a, pkg, hvx, objects)
}

// test builds the library for an arch and runs the cases. It compiles to assembly first, because the test searches the
// assembly for instructions that qemu executes wrongly.
func (k kernels) test(a oppackage.Arch, pkg oppackage.Package, reference kerneltest.DSP, library action.Input) action.Input {
	hvx, out := kerneltest.HVX(k.release, a.Compiled), path.Join(k.p.At.Dir(), "report", a.Version+".txt")
	pkg.HVX = oppackage.HVXFlags(hvx)
	spec := kerneltest.Spec{Cases: k.cases, Reference: reference, Out: out}
	read := []action.Input{k.shell, library, k.qemu}
	var objects []action.Input
	lines, _ := oppackage.Lines(a, pkg, k.roots)
	for _, c := range lines {
		text, object := c.ViaAssembly()
		assembly := k.compilation(a, pkg, text)
		act := k.p.Action(k.made(a, pkg, object), "assemble "+path.Base(object.Source)+" for "+a.Target,
			object.Args...).
			In(assembly).In(k.toolchains[a.Target]...)
		k.compiler(act)
		objects = append(objects, act.Out(object.Object).As(object.Object))
		spec.Sources = append(spec.Sources,
			kerneltest.Source{Path: k.sourceOf(pkg, c).Path, Assembly: assembly.Path})
		read = append(read, assembly)
	}
	tested, lib := k.dsp(a, pkg, hvx, objects)
	spec.Tested = tested
	test := step.Tool(k.p, a.Target+"/test", "run kernel tests for "+a.Version, kerneltest.Tool, spec)
	return test.In(append(read, lib)...).SetEnv(k.p.Env).Out(out).As(a.Version + ".txt")
}
