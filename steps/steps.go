// Package steps has the kinds of steps, a file each, named as the user spells them: what arguments a kind takes and which actions it
// plans. What a command line, a format or a protocol looks like is said in the domain folder that the kind is about; the kinds join
// those folders, which do not know each other.
//
// The way in is Kinds, the table that the planner looks a `step "<kind>"` up in, and Tools, the table of the programs of ours that
// the actions run. The package knows nothing of the command line, and nothing here runs an action.
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

// Catalogue is the catalogue of toolchains with the given files of a workspace on top. What it has embedded are the simulations.
func Catalogue(files map[string][]byte) (*toolchains.Catalogue, hcl.Diagnostics) {
	c, diags := toolchains.Load(files)
	if c != nil {
		c.Embedded = sdk.Embedded{World: func() (*qnn.Facts, error) {
			if len(files) == 0 {
				return &c.Facts, nil
			}
			s, diags := facts.Builtin()
			if diags.HasErrors() {
				return nil, diags
			}
			return &s.Facts, nil
		}}
	}
	return c, diags
}

// Workspace is what the kinds are told of the workspace that is planned.
type Workspace struct {
	Catalogue func() *toolchains.Catalogue // nil: there is none
	Lock      *toolchains.Lock
	Machine   toolchains.Machine
	Dir       string            // where paths of the workspace start
	Metrics   map[string][]byte // its files of metrics
	Memory    func() int64      // bytes that this machine has; nil, or 0: not known

	// Asked, when set, is told what toolchain blocks ask of the catalogue, and nothing is chosen or planned for them.
	Asked func(toolchains.Request)
}

// Target makes the object that `target` is of a target block.
func (w Workspace) Target(name string, args map[string]lang.Argument) (cty.Value, hcl.Diagnostics) {
	return w.Catalogue().Target(name, args)
}

// find returns the record of a SoC.
func (w Workspace) find(name string) (*qnn.SoC, error) { return w.Catalogue().FindSoC(name) }

// known are the facts, nil where there is no catalogue.
func (w Workspace) known() *qnn.Facts {
	if w.Catalogue == nil {
		return nil
	}
	return &w.Catalogue().Facts
}

// Kinds is the table of kinds that the planner gets, by the name that follows `step`; that of `toolchain` blocks is under addrs.Toolchain. Where
// there is a catalogue, its rules of what goes together are asked before a step is planned.
func (w Workspace) Kinds() map[string]step.Kind {
	targets := func() oppackage.Targets { // that op packages can be built for
		if w.Catalogue == nil {
			return nil
		}
		return w.Catalogue().Arches
	}
	known := sync.OnceValues(func() (metrics.Set, hcl.Diagnostics) { return metrics.Load(w.Metrics) })
	return map[string]step.Kind{
		"hf_folder":       step.New(hfFolderSchema(), asked(w, HFFolder.facts, HFFolder.Plan)),
		"accuracy":        step.New(accuracySchema(), Accuracy.Plan),
		"audit":           step.New(auditSchema(), Audit.Plan),
		"htp_context":     step.New(htpContextSchema(), func(h HTPContext, p *step.Plan) { h.Plan(p, w.find, w.known()) }),
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
		"kernel_test":     step.New(kernelTestSchema(), func(t KernelTest, p *step.Plan) { t.Plan(p, targets()) }),
		"makefile":        step.New(makefileSchema(), asked(w, Makefile.facts, func(m Makefile, p *step.Plan) { m.Plan(p, targets()) })),
		"toy_model":       step.New(toyModelSchema(), ToyModel.Plan),
		"sdk_matrix":      step.New(sdkMatrixSchema(), func(m SDKMatrix, p *step.Plan) { m.Plan(p, targets()) }),
		"oppackage":       step.New(opPackageSchema(), asked(w, OpPackage.facts, func(o OpPackage, p *step.Plan) { o.Plan(p, targets()) })),
		"patch":           step.New(patchSchema(), Patch.Plan),
		"python":          step.New(pythonSchema(), Python.Plan),
		"rotate_v1":       step.New(rotateV1Schema(), RotateV1.Plan),
		"quantize_v1":     step.New(quantizeV1Schema(), QuantizeV1.Plan),
		"quantize":        step.New(quantizeSchema(), asked(w, Quantize.facts, Quantize.Plan)),
		"reference":       step.New(referenceSchema(), Reference.Plan),
		"run":             step.New(runSchema(), asked(w, Run.facts, func(r Run, p *step.Plan) { r.Plan(p, known) })),
		"vocab":           step.New(vocabSchema(), Vocab.Plan),
		addrs.Toolchain:   step.New(toolchainSchema(), func(t Toolchain, p *step.Plan) { t.Plan(p, w) }),
	}
}
