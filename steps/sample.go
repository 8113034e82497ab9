package steps

import (
	"maps"
	"path"
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/runner/agent"
	"github.com/hexmage/hexmage/runner/session"
)

// defaultSampleMS is 10 a second: enough to see a prompt being processed, and little beside what is measured.
const defaultSampleMS = 100

// sampleArgs adds the argument of kind run about samples.
func sampleArgs(args hcldec.ObjectSpec) hcldec.ObjectSpec {
	args["sample_ms"] = &hcldec.AttrSpec{Name: "sample_ms", Type: cty.Number}
	return args
}

func sampleDocs(docs map[string]string) map[string]string {
	maps.Copy(docs, map[string]string{
		"sample_ms": "milliseconds between two samples of memory, processors, clocks, temperatures and battery while the program runs (100); 0: no samples",
	})
	return docs
}

func sampleOutput() step.OutputSpec {
	return step.OutputSpec{Name: "samples", Class: action.Tree, Doc: "samples.csv and samples.json: memory, processors, clocks, temperatures and battery over time; of several runs, each in a folder VARIANT/REPETITION"}
}

// sampleOutputs has the action of a run take samples, and returns what of it is in the output samples, where dir is the run's own folder. Of
// a step that wants none, nothing.
func sampleOutputs(r step.Request, run *action.Spec, dir string) ([]action.Input, hcl.Diagnostics) {
	ms, ok := num(r.Args, "sample_ms")
	if !ok {
		ms = defaultSampleMS
	}
	least, most := agent.MinInterval.Milliseconds(), agent.MaxInterval.Milliseconds()
	n := int64(ms)
	if float64(n) != ms || n != 0 && (n < least || n > most) {
		return nil, hcl.Diagnostics{r.ArgErrorf("sample_ms", "Samples that cannot be taken", "sample_ms is %v: use a whole number of milliseconds from %d to %d, or 0 for no samples.", ms, least, most)}
	}
	if n == 0 {
		return nil, nil
	}
	run.Platform[session.PropertySampleMS] = strconv.FormatInt(n, 10)
	var parts []action.Input
	for _, p := range []string{session.SamplesCSV, session.SamplesJSON} {
		run.Outputs = append(run.Outputs, action.Output{Path: p})
		parts = append(parts, action.Input{Path: path.Join(dir, path.Base(p)), Spec: &action.SpecOutput{Spec: run.Name, Path: p}})
	}
	return parts, nil
}

// sampleInput gives the tool metrics the samples of a run, at the path to; false if there are none.
func sampleInput(run action.Spec, to string) (action.Input, bool) {
	_, ok := run.Platform[session.PropertySampleMS]
	return action.Input{Path: to, Spec: &action.SpecOutput{Spec: run.Name, Path: session.SamplesJSON}}, ok
}
