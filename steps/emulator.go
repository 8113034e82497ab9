package steps

import (
	"context"
	"io/fs"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/runner"
	"github.com/hexmage/hexmage/standin/phone"
	"github.com/hexmage/hexmage/standin/phone/cdsp"
)

type emulatorKind struct{}

// Schema of kind emulator.
func (emulatorKind) Schema() step.Schema {
	return step.Schema{
		Summary:    "makes the image of an emulated phone with the target's SoC: AArch64 and Hexagon programs run by qemu",
		Args:       hcldec.ObjectSpec{},
		Outputs:    []step.OutputSpec{{Name: "image", Class: action.Tree, Doc: "what the `device` argument of a run step takes"}},
		Toolchains: []string{"llvm", "qemu", "busybox"},
	}
}

// Plan of kind emulator: the DSP's protection domain is compiled from the sources that hexmage carries, then the image
// is put together.
func (emulatorKind) Plan(r step.Request) (step.Planned, hcl.Diagnostics) {
	if r.Target == cty.NilVal || r.Target.IsNull() {
		return step.Planned{}, hcl.Diagnostics{r.Errorf("No target", "The emulated phone has the target's SoC. Add a block `target { soc = \"SM8750\" }` to the pipeline.")}
	}
	var tc []step.Toolchain
	for _, name := range []string{"llvm", "qemu", "busybox"} {
		t, diag := r.Toolchain(name)
		if diag != nil {
			return step.Planned{}, hcl.Diagnostics{diag}
		}
		tc = append(tc, t)
	}
	llvm, qemu, busybox := tc[0], tc[1], tc[2]

	dsp := action.Spec{
		Name: "dsp", Description: "compile the emulated DSP's " + cdsp.Program,
		Args:    cdsp.Args(llvm.Output.Path()+"/usr/bin/clang-22", cdsp.Program),
		Inputs:  []action.Input{llvm.Input()},
		Outputs: []action.Output{{Path: cdsp.Program}},
	}
	err := fs.WalkDir(cdsp.Sources(), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(cdsp.Sources(), p)
		dsp.Inputs = append(dsp.Inputs, action.Input{Path: p, Content: &action.Content{Data: b}})
		return err
	})
	if err != nil {
		return step.Planned{}, hcl.Diagnostics{r.Errorf("The DSP's sources cannot be read", "%v", err)}
	}

	t := step.Request{Args: r.Target}
	args, platform := step.FlagTool("emulator-image", phone.ImageToolVersion,
		"--soc", t.String("soc"), "--arch", t.String("arch"), "--soc_model", t.String("soc_model"), "--vtcm_mb", t.String("vtcm_mb"),
		"--soc_id", t.String("soc_id"),
		"--busybox", busybox.Output.Path()+"/bin/busybox",
		"--qemu", qemu.Output.Path()+"/usr/bin", "--dsp", cdsp.Program, "--out", "image")
	image := action.Spec{
		Name: "image", Description: "put the phone's image together", Args: args, Platform: platform,
		Inputs: []action.Input{qemu.Input(), busybox.Input(),
			{Path: cdsp.Program, Spec: &action.SpecOutput{Spec: dsp.Name, Path: cdsp.Program}}},
		Outputs: []action.Output{{Path: "image", Tree: true}},
	}
	return step.Planned{
		Specs: []action.Spec{dsp, image},
		Outputs: map[string]action.Artifact{
			"image": {Class: action.Tree, Parts: []action.Input{{Spec: &action.SpecOutput{Spec: image.Name, Path: "image"}}}},
		},
	}, nil
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
