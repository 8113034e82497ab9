package planner

import (
	"fmt"
	"sync"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/plan"
)

// Extender plans the parts of a plan that wait for values or listings. It keeps the planner for these parts alone: if
// no part waits, the planner's memory is free once the plan is made.
type Extender struct {
	mu        sync.Mutex // the planner evaluates for one question at a time
	instances map[addrs.Instance]*instance
	outputs   map[string]*waitingOutput
	checks    map[string]*checkIn
}

func newExtender() *Extender {
	return &Extender{
		instances: make(map[addrs.Instance]*instance),
		outputs:   make(map[string]*waitingOutput),
		checks:    make(map[string]*checkIn),
	}
}

// waitingOutput is an output whose literal depends on values.
type waitingOutput struct {
	*placed
	block *config.Output
	plan  plan.Output
}

// with is the instance as it is when values are there.
func (in *instance) with(values map[addrs.Output][]byte) (*instance, error) {
	if in.plan.Waits != plan.ForValues {
		return in, nil
	}
	for _, o := range in.plan.AwaitValues {
		if _, ok := values[o]; !ok {
			return nil, fmt.Errorf("%s: the value of %s is not there", in.at, o)
		}
	}
	again, diags := in.resolve(values)
	if diags.HasErrors() {
		return nil, diags
	}
	return again, nil
}

// ExtendInstance implements plan.Extender.
func (x *Extender) ExtendInstance(at addrs.Instance, known plan.Known) (*plan.Instance, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	in := x.instances[at]
	if in == nil || in.plan.Waits == plan.ForNothing {
		return nil, unasked(at.String())
	}
	first := in.plan.Waits
	in, err := in.with(known.Values)
	if err != nil {
		return nil, err
	}
	if in.plan.Waits == plan.ForNothing || first == plan.ForValues && known.Listing == nil {
		return in.plan, nil
	}
	for _, tree := range in.plan.Await {
		if _, ok := known.Listing[tree.Path]; !ok {
			return nil, fmt.Errorf("%s: which files are in %s is not there", at, tree.Path)
		}
	}
	n := *in.plan
	specs, outs, err := in.answer.Expand(known.Listing)
	if err != nil {
		return nil, err
	}
	n.Specs, n.Outputs = withMeta(&n, specs), outs
	n.Waits, n.Await, n.Deferred = plan.ForNothing, nil, ""
	return &n, nil
}

// ExtendOutput implements plan.Extender.
func (x *Extender) ExtendOutput(name string, known plan.Known) (plan.Output, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	w := x.outputs[name]
	if w == nil {
		return plan.Output{}, unasked("output " + name)
	}
	return w.resolve(known.Values)
}

// ExtendCheck implements plan.Extender.
func (x *Extender) ExtendCheck(at string, known plan.Known) (plan.Verdict, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := x.checks[at]
	if n == nil {
		return plan.Verdict{}, unasked(at)
	}
	return n.evaluate(known.Values), nil
}

// Explain returns the hints of an instance's kind about what a failed action of it has printed. Known has the values
// by which the instance was extended.
func (x *Extender) Explain(at addrs.Instance, known plan.Known, spec string, output []byte) []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	in := x.instances[at]
	if in == nil {
		return nil
	}
	in, err := in.with(known.Values)
	if err != nil || in.answer.Explain == nil {
		return nil
	}
	return in.answer.Explain(spec, output)
}

// unasked is the error for a part that does not wait, or that the plan does not have.
func unasked(of string) error {
	return fmt.Errorf("%s: the pipeline has changed since this plan was made: run `hexmage plan` again", of)
}
