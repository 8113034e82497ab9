// Package plantest contains the conformance suite for implementations of plan.Resolver. The suite takes the type name
// of the implementation, as %T prints it. TestSeams in package archtest collects these names, and reports
// implementations that no suite tests.
package plantest

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/plan"
)

// Resolver tests a plan.Resolver. The argument known contains the values and the listing that the plan p waits for. The
// plan must contain instances that wait for values, for a listing and for nothing. It must also contain outputs and
// checks that wait, and outputs and checks that do not wait.
func Resolver(t *testing.T, name string, p *plan.Plan, x plan.Resolver, known plan.ResolvedInputs) {
	if got := strings.TrimPrefix(fmt.Sprintf("%T", x), "*"); got != name {
		t.Errorf("the suite expects a %s, but got a %s", name, got)
	}
	before := fmt.Sprintf("%+v", all(p))
	values := plan.ResolvedInputs{Values: known.Values}
	saw := map[string]bool{}
	for _, n := range p.Instances {
		saw[fmt.Sprint("instance ", n.Waits)] = true
		extend := func(k plan.ResolvedInputs) (*plan.Instance, error) { return x.ExtendInstance(n.At, k) }
		if n.Waits == plan.ForNothing || len(n.AwaitValues)+len(n.Await) > 0 {
			fails(t, n.At.String(), plan.ResolvedInputs{}, extend)
		}
		if n.Waits == plan.ForNothing {
			continue
		}
		if n.Waits == plan.ForValues {
			got := answer(t, n.At.String(), values, extend)
			if got.At != n.At || got.Waits == plan.ForValues || (got.Deferred == "") != (got.Waits == plan.ForNothing) {
				t.Errorf("%v: unexpected result with values: %+v", n.At, got)
			}
		}
		got := answer(t, n.At.String(), known, extend)
		if got.At != n.At || got.Waits != plan.ForNothing || got.Deferred != "" || len(got.Specs) == 0 {
			t.Errorf("%v: %+v", n.At, got)
		}
	}
	for _, o := range p.Outputs {
		saw[fmt.Sprint("output ", o.Waits)] = true
		extend := func(k plan.ResolvedInputs) (plan.Output, error) { return x.ExtendOutput(o.Name, k) }
		fails(t, o.Name, plan.ResolvedInputs{}, extend)
		if o.Waits == plan.ForNothing {
			continue
		}
		got := answer(t, o.Name, values, extend)
		if got.Name != o.Name || got.Waits != plan.ForNothing || got.Literal == "" {
			t.Errorf("%s: %+v", o.Name, got)
		}
	}
	for _, c := range p.Checks {
		saw[fmt.Sprint("check ", c.Settled != nil)] = true
		extend := func(k plan.ResolvedInputs) (plan.Verdict, error) { return x.ExtendCheck(c.At, k) }
		if c.Settled != nil {
			fails(t, c.At, plan.ResolvedInputs{}, extend)
			continue
		}
		if v := answer(t, c.At, plan.ResolvedInputs{}, extend); v.Known || len(v.Missing) == 0 {
			t.Errorf("%s: unexpected result without values: %+v", c.At, v)
		}
		if v := answer(t, c.At, values, extend); !v.Known {
			t.Errorf("%s: %+v", c.At, v)
		}
	}
	if len(saw) != 7 {
		t.Errorf("the plan has only %v, want each kind of part that can wait", saw)
	}
	elsewhere := addrs.Instance{Step: addrs.Step{Kind: "no", Name: "such"}}
	fails(t, "no.such", known, func(k plan.ResolvedInputs) (*plan.Instance, error) {
		return x.ExtendInstance(elsewhere, k)
	})
	fails(t, "no such", known, func(k plan.ResolvedInputs) (plan.Output, error) { return x.ExtendOutput("no such", k) })
	fails(t, "check.none", known, func(k plan.ResolvedInputs) (plan.Verdict, error) {
		return x.ExtendCheck("check.none", k)
	})
	if after := fmt.Sprintf("%+v", all(p)); after != before {
		t.Errorf("the resolver changed the plan: %s", cmp.Diff(before, after))
	}
}

// all returns the parts of the plan.
func all(p *plan.Plan) (parts []any) {
	for _, n := range p.Instances {
		parts = append(parts, *n)
	}
	return append(parts, p.Outputs, p.Checks)
}

func fails[T any](t *testing.T, what string, known plan.ResolvedInputs, extend func(plan.ResolvedInputs) (T, error)) {
	t.Helper()
	if got, err := extend(known); err == nil {
		t.Errorf("%s: got %+v, want an error", what, got)
	}
}

// answer asks concurrently, and returns the answer, which must be the same for all callers.
func answer[T any](t *testing.T, what string, known plan.ResolvedInputs,
	extend func(plan.ResolvedInputs) (T, error)) T {
	t.Helper()
	var answers [4]T
	var errs [4]error
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() { answers[i], errs[i] = extend(known) })
	}
	wg.Wait()
	for i, a := range answers {
		if errs[i] != nil {
			t.Fatalf("%s: %v", what, errs[i])
		}
		if !reflect.DeepEqual(a, answers[0]) {
			t.Errorf("%s: the first call returned %+v, another call %+v", what, answers[0], a)
		}
	}
	return answers[0]
}

// Fake is a plan.Resolver with fixed answers, for builds without a planner.
type Fake struct {
	Instances map[addrs.Instance]func(plan.ResolvedInputs) (*plan.Instance, error)
	Outputs   map[string]func(plan.ResolvedInputs) (plan.Output, error)
	Checks    map[string]func(plan.ResolvedInputs) plan.Verdict
}

var errNoAnswer = errors.New("the test does not define an answer")

// ExtendInstance implements plan.Resolver.
func (f Fake) ExtendInstance(at addrs.Instance, known plan.ResolvedInputs) (*plan.Instance, error) {
	if answer := f.Instances[at]; answer != nil {
		return answer(known)
	}
	return nil, errNoAnswer
}

// ExtendOutput implements plan.Resolver.
func (f Fake) ExtendOutput(name string, known plan.ResolvedInputs) (plan.Output, error) {
	if answer := f.Outputs[name]; answer != nil {
		return answer(known)
	}
	return plan.Output{}, errNoAnswer
}

// ExtendCheck implements plan.Resolver.
func (f Fake) ExtendCheck(at string, known plan.ResolvedInputs) (plan.Verdict, error) {
	if answer := f.Checks[at]; answer != nil {
		return answer(known), nil
	}
	return plan.Verdict{}, errNoAnswer
}
