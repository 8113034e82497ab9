package steps

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/oppackage"
	"github.com/hexmage/hexmage/simulated/kerneltest"
	"github.com/hexmage/hexmage/simulated/phone/cdsp"
)

// KernelTest are the arguments of kind kernel_test.
type KernelTest struct {
	opSource
	Archs   []string          `arg:"archs"`
	Sources []string          `arg:"sources"`
	Tools   string            `arg:"tools_version"`
	Cases   []kerneltest.Case `block:"case,required"`
}

// reference is the target whose build has the ops' reference branches.
const reference = "htp_aarch64"

func kernelTestSchema() step.Schema {
	return step.Schema{
		Summary: "Runs ops' Hexagon code on a simulated DSP, and compares it with the ops' reference branches.",
		ArgDocs: withOpDocs(map[string]string{
			"source":        "Folder of the package: an output of another step, or a folder of the workspace.",
			"archs":         "Hexagon archs to build for and to emulate. Default: those whose HTP can run weights of 4 bits in blocks.",
			"sources":       "Only these sources of ops (paths in the package, which may have * and ?), with an interface made for them. Default: the whole package.",
			"tools_version": "Version of the Hexagon tools, a folder of the SDK's tools/HEXAGON_Tools. Default: toolchain.hexagon's.",
			"case":          "A call of the op that the label names, once for each of seeds (default: [1]); parameters are inputs after the others. A tensor has stored numbers: data (all of them, or one for all), a file (little-endian), or made up ones whose real values are between low and high. An element of an output may differ from the reference by max_abs, or by max_ulp steps of its type (default: 0, not at all).",
		}),
		Outputs:    []step.OutputSpec{{Name: "report", Class: action.Tree, Doc: "<arch>.txt and .json: what each call came to, with the largest errors, and what became of each op of the package."}},
		Toolchains: []string{"qairt", "hexagon", "ndk", "llvm", "qemu"},
		Example: `step "kernel_test" "ops" {
  source = step.patch.ops.outputs.dir
  archs  = ["v79"]

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

// kernels is a step of the kind.
type kernels struct {
	opBuild
	cases []kerneltest.Case
	files []action.Input // of tensors
	only  []string       // patterns of sources; none is the whole package
	qemu  action.Input
	llvm  action.Input

	release string // of qemu
}

// Plan checks the cases, and leaves the rest to when the sources are there.
func (t KernelTest) Plan(p *step.Plan, all oppackage.Targets) {
	var quantised []string // those on which LLMs run
	for _, a := range all {
		if slices.Contains(a.Features, "lpbq") {
			quantised = append(quantised, a.Name)
		}
	}
	targets := []string{reference}
	if len(t.Archs) == 0 {
		t.Archs = quantised
	}
	for _, a := range t.Archs {
		targets = append(targets, "htp_"+strings.TrimPrefix(a, "htp_"))
	}
	qemu := p.Toolchain("qemu")
	release, diags := step.Decode[struct {
		Version string `arg:"version"`
	}](qemu.Attrs)
	p.Report(diags...)
	k := kernels{opBuild: newBuild(p, all, t.opSource, targets, "archs", t.Tools), only: t.Sources, qemu: qemu.Input(), llvm: p.Toolchain("llvm").Input(), release: release.Version}
	for _, a := range k.arches[min(1, len(k.arches)):] {
		if a.Family != "hexagon" {
			p.Fail("archs", "Not a Hexagon arch", "%s is no arch of a DSP: say %s.", a.Target, strings.Join(quantised, ", "))
		}
	}
	k.place(p, t.Cases)
	if p.Failed() {
		return
	}
	if err := k.tests(k.preview()); err != nil {
		p.Fail("", "Kernel test cannot be planned", "%v.", err)
	}
	p.Await(k.trees(), func(p *step.Plan, l action.Listing) error {
		k := k
		k.p = p
		pkg, err := k.find(l)
		if err == nil && len(k.only) > 0 {
			err = k.choose(&pkg)
		}
		if err != nil {
			return err
		}
		return k.tests(pkg)
	})
	p.Explain(func(spec string, output []byte) []string {
		hints := explainBuild(spec, output)
		if kerneltest.HVX(k.release, "") != "" && strings.Contains(string(output), "'Q6_") {
			hints = append(hints, "the simulated DSP of qemu "+k.release+" has HVX up to v66, and the op uses newer instructions; toolchain \"qemu\" { version = \"11.1\" } has the integers of v68 and v69, too, and "+
				"says what no emulator has, which can be tested on a device only; or test the package's other ops with sources = […]")
		}
		return hints
	})
}

// place takes the cases, with the files of their tensors in the exec root.
func (k *kernels) place(p *step.Plan, cases []kerneltest.Case) {
	for _, c := range cases {
		for _, tensors := range [][]kerneltest.Tensor{c.Inputs, c.Outputs} {
			for i, t := range tensors {
				if t.File != "" {
					file := p.Path("case", t.File).As(fmt.Sprintf("in/case/%d-%s", len(k.files), path.Base(t.File)))
					k.files, tensors[i].File = append(k.files, file), file.Path
				}
			}
		}
	}
	if err := kerneltest.Validate(cases); err != nil {
		p.Fail("case", "Not a kernel test", "%v.", err)
	}
	k.cases = cases
}

// choose takes all ops out of the package but the wanted ones, and has an interface made for these.
func (k *kernels) choose(p *oppackage.Package) error {
	ops := oppackage.Ops(p.Files)
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
	p.Interface = path.Join(k.p.At.Dir(), "interface", p.Name+"Interface.cpp")
	k.config = new(string) // the op config has the other ops, too
	return p.Validate()
}

// tests plans the builds, and a test for each arch.
func (k kernels) tests(pkg oppackage.Package) error {
	pkg = k.opBuild.place(pkg)
	if pkg.Interface != "" {
		k.makeInterface(pkg)
	}
	program, err := k.reference(pkg)
	if err != nil {
		return err
	}
	shell, err := dspProgram(k.p, k.llvm)
	if err != nil {
		return err
	}
	var report []action.Input
	for _, a := range k.arches[1:] {
		hvx := kerneltest.HVX(k.release, a.Compiled)
		pkg.HVX = oppackage.HVXFlags(hvx)
		objects, sources, read := k.viaAssembly(a, pkg)
		lib := k.link(a, pkg, objects)
		lib.Path = lib.Spec.Path
		code := kerneltest.Code{Library: lib.Spec.Path, HVX: hvx, Sources: sources}
		report = append(report, k.test(a, code, shell, program, append(read, lib))...)
	}
	k.p.Tree("report", report...)
	return nil
}

// viaAssembly plans the compilation of each source for an arch by way of a text of its instructions, so that those that the emulator gets wrong are
// found before they run: it returns the objects, the sources with these texts, and what of them is read.
func (k kernels) viaAssembly(a oppackage.Arch, pkg oppackage.Package) (objects []action.Input, sources []kerneltest.Source, read []action.Input) {
	lines, _ := oppackage.Lines(a, pkg, k.roots)
	for _, c := range lines {
		text, object := c.ViaAssembly()
		assembly, source := k.compilation(a, pkg, text), k.sourceOf(pkg, c)
		act := k.p.Action(made(a, pkg, object), "assemble "+path.Base(object.Source)+" for "+a.Target, object.Args...).In(assembly).In(k.toolchains[a.Target]...)
		k.compiler(act)
		objects = append(objects, act.Out(object.Object).As(object.Object))
		sources = append(sources, kerneltest.Source{Path: source.Path, Assembly: assembly.Path})
		read = append(read, source, assembly)
	}
	return objects, sources, read
}

// reference compiles the package for the phone's processor and links it with the harness, a static program instead of the library.
func (k kernels) reference(pkg oppackage.Package) (action.Input, error) {
	a := k.arches[0]
	_, objects := k.compile(a, pkg)
	dir, out := path.Join(k.p.At.Dir(), "harness"), path.Join(k.p.At.Dir(), "build/reference")
	link := k.p.Action("reference", "link the reference branches with the harness",
		k.roots.NDK+"/toolchains/llvm/prebuilt/linux-x86_64/bin/clang", "--target=aarch64-none-linux-android21", "-std=c17", "-O1", "-ffreestanding", "-fno-builtin",
		"-ffp-contract=off", "-static", "-fPIC", "-I"+k.roots.QAIRT+"/include/QNN", "-I"+dir, "-o", out).In(k.toolchains[a.Target]...)
	k.compiler(link)
	for _, f := range []struct {
		name string
		from fs.FS
	}{{cdsp.Wire, cdsp.Sources()}, {"half.c", cdsp.Sources()}, {"harness.c", kerneltest.Harness()}, {"math.c", cdsp.Sources()}, {"shell.h", cdsp.Sources()}, {"text.c", cdsp.Sources()}} {
		data, err := fs.ReadFile(f.from, f.name)
		if err != nil {
			return action.Input{}, err
		}
		at := path.Join(dir, f.name)
		link.In(action.Input{Path: at, Content: &action.Content{Data: data}})
		if path.Ext(at) == ".c" {
			link.Args = append(link.Args, at)
		}
	}
	for _, o := range objects {
		link.In(o)
		link.Args = append(link.Args, o.Path)
	}
	return link.Out(out), nil
}

// dspProgram compiles the simulated DSP's first program.
func dspProgram(p *step.Plan, llvm action.Input) (action.Input, error) {
	sources, err := embedded(cdsp.Sources(), "")
	a := p.Action("dsp", "compile the simulated DSP's "+cdsp.Program, cdsp.Args(llvm.Path+"/usr/bin/clang-22", cdsp.Program)...)
	return a.In(llvm).In(sources...).Out(cdsp.Program).As(cdsp.Program), err
}

// test runs the cases for an arch. read is what code names.
func (k kernels) test(a oppackage.Arch, code kerneltest.Code, shell, program action.Input, read []action.Input) []action.Input {
	out := path.Join(k.p.At.Dir(), "report", a.Version)
	program.Path = program.Spec.Path
	test := step.Tool(k.p, a.Target+"/test", "run kernel tests for "+a.Version, kerneltest.Tool, kerneltest.Spec{Cases: k.cases, Arch: a.Compiled,
		Code: code, Shell: shell.Path, Reference: program.Path, Qemu: k.qemu.Path + "/usr/bin", Out: out})
	test.In(shell, program, k.qemu).In(read...).In(k.files...).SetEnv(k.p.Env)
	return []action.Input{test.Out(out + ".json").As(a.Version + ".json"), test.Out(out + ".txt").As(a.Version + ".txt")}
}
