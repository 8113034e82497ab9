package planner

import (
	"fmt"
	"sync"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/step"
)

// Extender plans the parts of a plan that wait for values or listings. It keeps the planner for these parts alone: if
// no part waits, the planner's memory is free once the plan is made.
type Extender struct {
	mu        sync.Mutex // the planner evaluates for one question at a time
	instances map[addrs.Instance]*waiting
	outputs   map[string]*waitingOutput
	checks    map[string]*checkIn
}

func newExtender() *Extender {
	return &Extender{
		instances: make(map[addrs.Instance]*waiting),
		outputs:   make(map[string]*waitingOutput),
		checks:    make(map[string]*checkIn),
	}
}

// waiting is an instance of which more can be said.
type waiting struct {
	plan    *plan.Instance
	expand  func(action.Listing) ([]action.Spec, map[string]action.Artifact, error)
	explain func(spec string, output []byte) []string

	of   *instance // when it waits for values, as copy
	copy *copyOf
}

// waitingOutput is an output whose literal depends on values.
type waitingOutput struct {
	p     *planner
	block *config.Output
	at    *placed
	plan  plan.Output
}

// keep notes what there is to say of an instance beside its plan.
func (p *planner) keep(in *instance, c *copyOf, planned step.Planned) {
	n := in.planned
	if n == nil || n.Waits == plan.ForNothing && !n.Explains {
		return
	}
	w := &waiting{plan: n, expand: planned.Expand, explain: planned.Explain}
	if n.Waits == plan.ForValues {
		w.of, w.copy = in, c
	}
	p.extender.instances[in.at] = w
}

// with is what there is to say of the instance when values are there.
func (w *waiting) with(values map[addrs.Output][]byte) (*waiting, error) {
	if w.plan.Waits != plan.ForValues {
		return w, nil
	}
	for _, o := range w.plan.AwaitValues {
		if _, ok := values[o]; !ok {
			return nil, fmt.Errorf("%s: the value of %s is not there", w.plan.At, o)
		}
	}
	n, planned, diags := w.copy.e.p.resolve(w.of, w.copy, values)
	if diags.HasErrors() {
		return nil, diags
	}
	return &waiting{plan: n, expand: planned.Expand, explain: planned.Explain}, nil
}

// ExtendInstance implements plan.Extender.
func (x *Extender) ExtendInstance(at addrs.Instance, known plan.Known) (*plan.Instance, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	w := x.instances[at]
	if w == nil || w.plan.Waits == plan.ForNothing {
		return nil, unasked(at.String())
	}
	first := w.plan.Waits
	w, err := w.with(known.Values)
	if err != nil {
		return nil, err
	}
	if w.plan.Waits == plan.ForNothing || first == plan.ForValues && known.Listing == nil {
		return w.plan, nil
	}
	for _, in := range w.plan.Await {
		if _, ok := known.Listing[in.Path]; !ok {
			return nil, fmt.Errorf("%s: which files are in %s is not there", at, in.Path)
		}
	}
	n := *w.plan
	specs, outs, err := w.expand(known.Listing)
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
	w := x.instances[at]
	if w == nil {
		return nil
	}
	w, err := w.with(known.Values)
	if err != nil || w.explain == nil {
		return nil
	}
	return w.explain(spec, output)
}

// unasked is the error for a part that does not wait, or that the plan does not have.
func unasked(of string) error {
	return fmt.Errorf("%s: the pipeline has changed since this plan was made: run `hexmage plan` again", of)
}
