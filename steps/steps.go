// Package steps defines the kinds of steps, one file per kind: the arguments, and the actions that a step plans. It
// joins the domain packages. These hold command lines, formats and protocols, and do not know each other.
//
// Kinds returns the kinds for the planner, and Tools returns the built-in programs that actions run. The package does
// not know the command line, and runs no action.
package steps

import (
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/oppackage"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/facts"
	"github.com/hexmage/hexmage/simulated/sdk"
	"github.com/hexmage/hexmage/steps/metrics"
	"github.com/hexmage/hexmage/toolchains"
)

// Catalog returns the catalog of toolchains, including the simulated SDKs, merged with workspace files.
func Catalog(files map[string][]byte) (*toolchains.Catalog, hcl.Diagnostics) {
	c, diags := toolchains.Load(files)
	if c != nil {
		c.Embedded = sdk.Embedded{World: sync.OnceValues(func() (*qnn.Facts, error) {
			if !c.Changed {
				return &c.Facts, nil
			}
			s, diags := facts.Builtin()
			if diags.HasErrors() {
				return nil, diags
			}
			return &s.Facts, nil
		})}
	}
	return c, diags
}

// Workspace holds the workspace data that step kinds need.
type Workspace struct {
	Catalog func() *toolchains.Catalog // nil: no catalog
	Lock    *toolchains.Lock
	Machine toolchains.Machine
	Dir     string            // base folder of workspace paths
	Metrics map[string][]byte // metrics files of the workspace
	Memory  func() int64      // memory of this machine in bytes; nil, or 0: unknown
	Serial  string            // the user's device for runs; "": the device in the step

	// Asked receives the catalog requests of toolchain blocks. If Asked is set, these blocks choose and plan nothing.
	Asked func(toolchains.Request)
}

// Target returns the HCL object `target` for a target block.
func (w Workspace) Target(name string, args map[string]lang.Argument) (cty.Value, hcl.Diagnostics) {
	return w.Catalog().Target(name, args)
}

// forTargets passes plan the targets that op packages can be built for, or none without a catalog.
func forTargets[A any](w Workspace, plan func(A, *step.Plan, oppackage.Targets)) func(A, *step.Plan) {
	return func(a A, p *step.Plan) {
		var targets oppackage.Targets
		if w.Catalog != nil {
			targets = w.Catalog().Arches
		}
		plan(a, p, targets)
	}
}

// Kinds returns the planner's step kinds by name. The kind addrs.Toolchain is for toolchain blocks. Each kind checks
// the catalog's compatibility rules before it plans a step.
func (w Workspace) Kinds() map[string]step.Kind {
	known := sync.OnceValues(func() (metrics.Set, hcl.Diagnostics) { return metrics.Load(w.Metrics) })
	run := func(r Run, p *step.Plan) { r.Plan(p, known, w.Serial) }
	return map[string]step.Kind{
		"hf_folder":       step.New(hfFolderSchema(), asked(w, HFFolder.facts, HFFolder.Plan)),
		"accuracy":        step.New(accuracySchema(), Accuracy.Plan),
		"audit":           step.New(auditSchema(), Audit.Plan),
		"htp_context":     step.New(htpContextSchema(), func(h HTPContext, p *step.Plan) { h.Plan(p, w) }),
		"htp_emulate":     step.New(htpEmulateSchema(), HTPEmulate.Plan),
		"npu_profile":     step.New(npuProfileSchema(), NPUProfile.Plan),
		"onnx_llm":        step.New(onnxLLMSchema(), asked(w, ONNXLLM.facts, ONNXLLM.Plan)),
		"onnx_quantize":   step.New(onnxQuantizeSchema(), ONNXQuantize.Plan),
		"onnx_run":        step.New(onnxRunSchema(), ONNXRun.Plan),
		"context":         step.New(contextSchema(), asked(w, Context.facts, Context.Plan)),
		"convert":         step.New(convertSchema(), Convert.Plan),
		"simulated_phone": step.New(simulatedPhoneSchema(), SimulatedPhone.Plan),
		"exec":            step.New(execSchema(), asked(w, Exec.facts, Exec.Plan)),
		"fetch":           step.New(fetchSchema(), Fetch.Plan),
		"git":             step.New(gitSchema(), Git.Plan),
		"kernel_test":     step.New(kernelTestSchema(), forTargets(w, KernelTest.Plan)),
		"makefile":        step.New(makefileSchema(), asked(w, Makefile.facts, forTargets(w, Makefile.Plan))),
		"toy_model":       step.New(toyModelSchema(), ToyModel.Plan),
		"sdk_matrix":      step.New(sdkMatrixSchema(), forTargets(w, SDKMatrix.Plan)),
		"oppackage":       step.New(opPackageSchema(), asked(w, OpPackage.facts, forTargets(w, OpPackage.Plan))),
		"patch":           step.New(patchSchema(), Patch.Plan),
		"python":          step.New(pythonSchema(), Python.Plan),
		"rotate_v1":       step.New(rotateV1Schema(), RotateV1.Plan),
		"quantize_v1":     step.New(quantizeV1Schema(), QuantizeV1.Plan),
		"quantize":        step.New(quantizeSchema(), asked(w, Quantize.facts, Quantize.Plan)),
		"reference":       step.New(referenceSchema(), Reference.Plan),
		"run":             step.New(runSchema(), asked(w, Run.facts, run)),
		"vocab":           step.New(vocabSchema(), Vocab.Plan),
		addrs.Toolchain:   step.New(toolchainSchema(), func(t Toolchain, p *step.Plan) { t.Plan(p, w) }),
	}
}
