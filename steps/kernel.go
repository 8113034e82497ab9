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

// KernelTest are the arguments of kind kernel_test.
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
			"archs": "Hexagon archs to build for and to simulate. Default: those whose HTP runs weights of 4 " +
				"bits in blocks.",
			"sources": "Only these sources of ops (paths in the package, which may have * and ?), with a " +
				"generated interface. " +
				"Default: the whole package.",
			"tools_version": "Version of the Hexagon tools, a folder of the SDK's tools/HEXAGON_Tools. Default: " +
				"toolchain.hexagon's.",
			"case": "A call of the op that the label names, once for each of seeds (default: [1]). Parameters are " +
				"inputs after the others. " +
				"A tensor has stored numbers, data (one for each element, or one for all), or random ones with " +
				"real values between low and high. " +
				"An output's element may differ from the reference by max_abs, or by max_ulp steps of its type " +
				"(default: 0).",
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

// kernels plans a step of the kind.
type kernels struct {
	opBuild
	cases []kerneltest.Case
	only  []string // patterns of sources; empty for the whole package
	qemu  action.Input
	llvm  action.Input

	release string // of qemu
}

// Plan checks the cases, and plans the rest when the sources are known.
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
			p.Fail("archs", "Not a Hexagon arch", "%s is not a DSP's arch: use %s.", a.Target,
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
		p.Fail("", "Kernel test cannot be planned", "%v.", err)
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
			hints = append(hints, "the simulated DSP of qemu "+k.release+" has HVX up to v66, and the op uses "+
				"newer instructions: "+
				"set toolchain \"qemu\" { version = \"11.1\" }, which has the integers of v68 and v69, or test "+
				"the package's other ops with sources = […]")
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
			return fmt.Errorf("sources: no source matches %s: use one of %s", pattern, strings.Join(ops, ", "))
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

// tests plans the builds, and a test for each arch.
func (k kernels) tests(pkg oppackage.Package) error {
	pkg = k.opBuild.place(pkg)
	if pkg.Interface != "" {
		k.makeInterface(pkg)
	}
	shell, err := dspProgram(k.p, k.llvm)
	if err != nil {
		return err
	}
	reference := k.reference(pkg)
	var report []action.Input
	for _, a := range k.arches {
		report = append(report, k.test(a, pkg, shell, reference))
	}
	k.p.Tree("report", report...)
	return nil
}

// dsp returns the simulated DSP of an arch with a library.
func (k kernels) dsp(a oppackage.Arch, hvx string, shell, library action.Input) kerneltest.DSP {
	return kerneltest.DSP{Qemu: k.qemu.Path + "/usr/bin/qemu-hexagon-static", Shell: shell.Path,
		Library: library.Spec.Path, Arch: a.Compiled, HVX: hvx}
}

// library links objects. It returns the library at the path that its action writes.
func (k kernels) library(a oppackage.Arch, pkg oppackage.Package, objects []action.Input) action.Input {
	lib := k.link(a, pkg, objects)
	lib.Path = lib.Spec.Path
	return lib
}

// referenceHVX is the HVX version of all emulators.
const referenceHVX = "v66"

// reference builds the library of the ops' reference branches for the first arch.
func (k kernels) reference(pkg oppackage.Package) action.Input {
	a := k.arches[0]
	k.variant, pkg.Build = "reference", path.Join(pkg.Build, "reference")
	pkg.HVX = oppackage.HVXFlags(referenceHVX)
	pkg.Extras = append(slices.Clone(pkg.Extras), oppackage.Extra{Defines: []string{"REFERENCE_OP"}})
	_, objects := k.compile(a, pkg)
	return k.library(a, pkg, objects)
}

// test builds the library for an arch and runs the cases. It compiles by way of assembly text, in which the test
// finds instructions that qemu executes wrongly.
func (k kernels) test(a oppackage.Arch, pkg oppackage.Package, shell, reference action.Input) action.Input {
	hvx, out := kerneltest.HVX(k.release, a.Compiled), path.Join(k.p.At.Dir(), "report", a.Version+".txt")
	pkg.HVX = oppackage.HVXFlags(hvx)
	spec := kerneltest.Spec{Cases: k.cases, Reference: k.dsp(k.arches[0], referenceHVX, shell, reference), Out: out}
	read := []action.Input{shell, reference, k.qemu}
	var objects []action.Input
	lines, _ := oppackage.Lines(a, pkg, k.roots)
	for _, c := range lines {
		text, object := c.ViaAssembly()
		assembly, source := k.compilation(a, pkg, text), k.sourceOf(pkg, c)
		act := k.p.Action(k.made(a, pkg, object), "assemble "+path.Base(object.Source)+" for "+a.Target,
			object.Args...).
			In(assembly).In(k.toolchains[a.Target]...)
		k.compiler(act)
		objects = append(objects, act.Out(object.Object).As(object.Object))
		spec.Sources = append(spec.Sources, kerneltest.Source{Path: source.Path, Assembly: assembly.Path})
		read = append(read, assembly)
	}
	lib := k.library(a, pkg, objects)
	spec.Tested = k.dsp(a, hvx, shell, lib)
	test := step.Tool(k.p, a.Target+"/test", "run kernel tests for "+a.Version, kerneltest.Tool, spec)
	return test.In(append(read, lib)...).SetEnv(k.p.Env).Out(out).As(a.Version + ".txt")
}
