package steps

import (
	"context"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/qnn/facts"
	"github.com/hexmage/hexmage/runner"
	"github.com/hexmage/hexmage/standin/phone"
	"github.com/hexmage/hexmage/standin/phone/cdsp"
)

// Emulator are the arguments of kind emulator: it has none.
type Emulator struct{}

func emulatorSchema() step.Schema {
	return step.Schema{
		Summary:    "Makes the image of an emulated phone with the target's SoC: AArch64 and Hexagon programs run by qemu.",
		Outputs:    []step.OutputSpec{{Name: "image", Class: action.Tree, Doc: "What the `device` argument of a run step takes."}},
		Toolchains: []string{"llvm", "qemu", "busybox"},
		Example:    `step "emulator" "phone" {}`,
	}
}

// Plan has the DSP's protection domain compiled from the sources that hexmage carries, then the image put together.
func (Emulator) Plan(p *step.Plan) {
	if facts.TargetOf(p.Target) == nil {
		p.Fail("", "No target", "The emulated phone has the target's SoC. Add a block `target \"SM8750\" {}` to the pipeline.")
		return
	}
	llvm, qemu, busybox := p.Toolchain("llvm"), p.Toolchain("qemu"), p.Toolchain("busybox")
	if p.Failed() {
		return
	}
	dsp, err := dspProgram(p, llvm.Input())
	if err != nil {
		p.Fail("", "The DSP's sources cannot be read", "%v", err)
		return
	}
	soc, diags := step.Decode[phone.SoCProps](p.Target)
	p.Report(diags...)
	image := step.Tool(p, "image", "put the phone's image together", phone.Tool, phone.Spec{SoC: soc, Busybox: busybox.Output.Path() + "/bin/busybox",
		Qemu: qemu.Output.Path() + "/usr/bin", DSP: cdsp.Program, Out: "image"})
	p.Tree("image", image.In(qemu.Input(), busybox.Input(), dsp).OutTree("image"))
}

// EmulatePhone starts emulated phones for devices. self are program and arguments that call phone.Init.
func EmulatePhone(self ...string) func(context.Context, runner.EmulatedOptions) (runner.Emulated, error) {
	return func(ctx context.Context, o runner.EmulatedOptions) (runner.Emulated, error) {
		e, err := phone.Start(ctx, phone.Options{Self: self, Image: o.Image, Dir: o.Dir, Data: o.Data, Log: o.Log})
		if err != nil {
			return nil, err
		}
		return e, nil
	}
}
