package steps

import (
	"context"
	"io/fs"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/runner"
	"github.com/hexmage/hexmage/simulated/phone"
	"github.com/hexmage/hexmage/simulated/phone/cdsp"
	"github.com/hexmage/hexmage/simulated/phone/linux"
)

// SimulatedPhone holds the arguments of a simulated_phone step.
type SimulatedPhone struct {
	Linux bool `arg:"linux"`
}

func simulatedPhoneSchema() step.Schema {
	return step.Schema{
		Summary: "Makes the image of a simulated phone with the target's SoC: AArch64 and Hexagon programs run by " +
			"qemu.",
		ArgDocs: map[string]string{"linux": "Whether the phone also runs programs of arm64 Linux, such as " +
			"Qualcomm's QNN runtime up to loading the skel. Needs toolchain linux_arm64."},
		Outputs: []step.OutputSpec{{Name: "image", Class: action.Tree, Doc: "The phone's image, for the argument " +
			"`device` of kind run."}},
		Toolchains: []string{"llvm", "qemu", "busybox", "linux_arm64"},
		Example:    `step "simulated_phone" "phone" {}`,
	}
}

// Plan plans the compilation of the simulated DSP from embedded sources, and then the image.
func (e SimulatedPhone) Plan(p *step.Plan) {
	target(p, "The simulated phone has the target's SoC.")
	llvm, qemu, busybox := p.Toolchain("llvm"), p.Toolchain("qemu"), p.Toolchain("busybox")
	if p.Failed() {
		return
	}
	dsp, err := dspProgram(p, llvm.Input())
	if err != nil {
		p.Fail("", "Unreadable DSP sources", "%v", err)
		return
	}
	soc, diags := step.Decode[phone.SoCProps](p.Target)
	p.Report(diags...)
	spec := phone.Image{SoC: soc, Busybox: busybox.Output.Path() + "/bin/busybox",
		Qemu: qemu.Output.Path() + "/usr/bin", FastRPCShell: cdsp.Program, Out: "image"}
	in := []action.Input{qemu.Input(), busybox.Input(), dsp}
	if e.Linux {
		more, err := linuxParts(p, llvm.Input(), &spec)
		if err != nil {
			p.Fail("linux", "Unreadable sources of libcdsprpc.so", "%v", err)
		}
		if p.Failed() {
			return
		}
		in = append(in, more...)
	}
	image := step.Tool(p, "image", "assemble the phone's image", phone.Tool, spec)
	p.Tree("image", image.In(in...).OutTree("image"))
}

// dspProgram plans the compilation of the simulated DSP's first program.
func dspProgram(p *step.Plan, llvm action.Input) (action.Input, error) {
	sources, err := embedded(cdsp.Sources(), "")
	a := p.Action("dsp", "compile the simulated DSP's "+cdsp.Program, cdsp.Args(llvm.Path+"/usr/bin/clang-22", cdsp.Program)...)
	return a.In(llvm).In(sources...).Out(cdsp.Program).As(cdsp.Program), err
}

// linuxParts plans the compilation of the parts for programs of arm64 Linux, and adds them to the image's spec.
func linuxParts(p *step.Plan, llvm action.Input, spec *phone.Image) ([]action.Input, error) {
	root := p.Toolchain("linux_arm64")
	if p.Failed() {
		return nil, nil
	}
	sources, err := embedded(linux.Sources(), "")
	if err != nil {
		return nil, err
	}
	wire, err := fs.ReadFile(cdsp.Sources(), cdsp.Wire)
	if err != nil {
		return nil, err
	}
	sources = append(sources, action.Input{Path: cdsp.Wire, Content: &action.Content{Data: wire}})
	clang := llvm.Path + "/usr/bin/clang-22"
	compile := func(name string, args []string) action.Input {
		return p.Action(name, "compile the simulated phone's "+name, args...).In(llvm, root.Input()).In(sources...).Out(name).As(name)
	}
	spec.Linux = &phone.Linux{Root: root.Output.Path(), Cdsprpc: linux.Library, Load: linux.Program}
	return []action.Input{root.Input(), compile(linux.Library, linux.LibraryArgs(clang, root.Output.Path(), linux.Library)),
		compile(linux.Program, linux.ProgramArgs(clang, root.Output.Path(), linux.Program))}, nil
}

// SimulatePhone returns a function that starts simulated phones. The parameter self is a command line that calls
// phone.Init.
func SimulatePhone(self ...string) func(context.Context, runner.SimulatedOptions) (runner.Simulated, error) {
	return func(ctx context.Context, o runner.SimulatedOptions) (runner.Simulated, error) {
		e, err := phone.Start(ctx, phone.Options{Self: self, Image: o.Image, Dir: o.Dir, Data: o.Data, Log: o.Log})
		if err != nil {
			return nil, err
		}
		return e, nil
	}
}
