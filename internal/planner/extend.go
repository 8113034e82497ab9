package planner

import (
	"fmt"
	"sync"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/plan"
)

// Resolver completes the parts of a plan that wait for values or listings. The Resolver keeps the planner in memory
// only if the plan has such parts.
type Resolver struct {
	mu        sync.Mutex // the planner answers one question at a time
	planner   *planner   // nil: no part waits
	instances map[addrs.Instance]*instance
	outputs   map[string]*waitingOutput
	checks    map[string]*checkIn
}

// waitingOutput is an output whose literal depends on values.
type waitingOutput struct {
	*placed
	block *config.Output
	plan  plan.Output
}

// with returns the instance planned with the values.
func (in *instance) with(values map[addrs.Output][]byte) (*instance, error) {
	if in.plan.Waits != plan.ForValues {
		return in, nil
	}
	for _, o := range in.plan.AwaitValues {
		if _, ok := values[o]; !ok {
			return nil, fmt.Errorf("%s: the value of %s is missing", in.at, o)
		}
	}
	again, diags := in.resolve(values)
	if diags.HasErrors() {
		return nil, diags
	}
	return again, nil
}

// ExtendInstance implements plan.Resolver.
func (x *Resolver) ExtendInstance(at addrs.Instance, known plan.ResolvedInputs) (*plan.Instance, error) {
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
			return nil, fmt.Errorf("%s: the list of files in %s is missing; report this bug in the step kind", at,
				tree.Path)
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

// ExtendOutput implements plan.Resolver.
func (x *Resolver) ExtendOutput(name string, known plan.ResolvedInputs) (plan.Output, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	w := x.outputs[name]
	if w == nil {
		return plan.Output{}, unasked("output " + name)
	}
	return w.resolve(known.Values)
}

// ExtendCheck implements plan.Resolver.
func (x *Resolver) ExtendCheck(at string, known plan.ResolvedInputs) (plan.Verdict, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := x.checks[at]
	if n == nil {
		return plan.Verdict{}, unasked(at)
	}
	return n.evaluate(known.Values), nil
}

// Explain returns hints for the user about a failed action, given the action's output. The hints come from the kind of
// the step. The argument known contains the values that completed the instance.
func (x *Resolver) Explain(at addrs.Instance, known plan.ResolvedInputs, spec string, output []byte) []string {
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

// Reads returns the files and environment variables that the Resolver read while completing parts. The plan's Reads
// does not include them.
func (x *Resolver) Reads() plan.Reads {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.planner == nil {
		return plan.Reads{}
	}
	r := x.planner.files.Reads()
	r.Env = sortedKeys(x.planner.env)
	return r
}

// unasked returns the error for a part that does not wait, or that is not in the plan.
func unasked(of string) error {
	return fmt.Errorf("%s: the pipeline is newer than this plan; run `hexmage plan` again", of)
}
