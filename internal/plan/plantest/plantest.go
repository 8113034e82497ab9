// Package plantest has the conformance suite of plan.Extender, and one that answers as a test says, for builds of
// plans that no planner made. The suite is given the name of the type that it checks, as %T prints it, so that a test
// can tell who was forgotten.
//
// It does not know what pipelines there are, nor how they are planned.
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

// Extender checks a plan.Extender by the plan that it is of, and by all that the plan waits for. Some of each sort
// there must be: an instance that waits for values, and one for a listing, an output and a check that wait, and an
// instance, an output and a check that do not.
func Extender(t *testing.T, name string, p *plan.Plan, x plan.Extender, known plan.Known) {
	if is := strings.TrimPrefix(fmt.Sprintf("%T", x), "*"); is != name {
		t.Errorf("it is said to be a %s, and is a %s", name, is)
	}
	before := fmt.Sprintf("%+v", all(p))
	values := plan.Known{Values: known.Values}
	saw := map[string]bool{}
	for _, n := range p.Instances {
		saw[fmt.Sprint("instance ", n.Waits)] = true
		if n.Waits == plan.ForNothing {
			refuses(t, n.At.String(), func() error { _, err := x.ExtendInstance(n.At, plan.Known{}); return err })
			continue
		}
		if len(n.AwaitValues)+len(n.Await) > 0 {
			refuses(t, n.At.String()+" without what it waits for", func() error { _, err := x.ExtendInstance(n.At, plan.Known{}); return err })
		}
		if n.Waits == plan.ForValues {
			same(t, n.At.String()+" with values", func() (any, error) {
				got, err := x.ExtendInstance(n.At, values)
				if err == nil && (got.At != n.At || got.Waits == plan.ForValues || (got.Deferred == "") != (got.Waits == plan.ForNothing)) {
					err = fmt.Errorf("it is %+v", got)
				}
				return got, err
			})
		}
		same(t, n.At.String(), func() (any, error) {
			got, err := x.ExtendInstance(n.At, known)
			if err == nil && (got.At != n.At || got.Waits != plan.ForNothing || got.Deferred != "" || len(got.Specs) == 0) {
				err = fmt.Errorf("it is %+v", got)
			}
			return got, err
		})
	}
	for _, o := range p.Outputs {
		saw[fmt.Sprint("output ", o.Waits)] = true
		if o.Waits == plan.ForNothing {
			refuses(t, o.Name, func() error { _, err := x.ExtendOutput(o.Name, plan.Known{}); return err })
			continue
		}
		refuses(t, o.Name+" without what it waits for", func() error { _, err := x.ExtendOutput(o.Name, plan.Known{}); return err })
		same(t, o.Name, func() (any, error) {
			got, err := x.ExtendOutput(o.Name, values)
			if err == nil && (got.Name != o.Name || got.Waits != plan.ForNothing || got.Literal == "") {
				err = fmt.Errorf("it is %+v", got)
			}
			return got, err
		})
	}
	for _, c := range p.Checks {
		saw[fmt.Sprint("check ", c.Settled != nil)] = true
		if c.Settled != nil {
			refuses(t, c.At, func() error { _, err := x.ExtendCheck(c.At, plan.Known{}); return err })
			continue
		}
		if v, err := x.ExtendCheck(c.At, plan.Known{}); err != nil || v.Known || len(v.Missing) == 0 {
			t.Errorf("%s without what it waits for: %+v, %v", c.At, v, err)
		}
		same(t, c.At, func() (any, error) {
			got, err := x.ExtendCheck(c.At, values)
			if err == nil && !got.Known {
				err = fmt.Errorf("it is %+v", got)
			}
			return got, err
		})
	}
	if len(saw) != 7 {
		t.Errorf("the plan has only some of what there is to wait for: %v", saw)
	}
	elsewhere := addrs.Instance{Step: addrs.Step{Kind: "no", Name: "such"}}
	refuses(t, "an instance of another plan", func() error { _, err := x.ExtendInstance(elsewhere, plan.Known{}); return err })
	refuses(t, "an output of another plan", func() error { _, err := x.ExtendOutput("no such", plan.Known{}); return err })
	refuses(t, "a check of another plan", func() error { _, err := x.ExtendCheck("check.no_such", plan.Known{}); return err })
	if after := fmt.Sprintf("%+v", all(p)); after != before {
		t.Errorf("the plan was changed: %s", cmp.Diff(before, after))
	}
}

// all is what is in the plan.
func all(p *plan.Plan) (parts []any) {
	for _, n := range p.Instances {
		parts = append(parts, *n)
	}
	return append(parts, p.Outputs, p.Checks)
}

func refuses(t *testing.T, what string, ask func() error) {
	t.Helper()
	if err := ask(); err == nil {
		t.Errorf("%s: it has an answer where there is none", what)
	}
}

// same asks several times, at once, and wants the same answer, which is no error.
func same(t *testing.T, what string, ask func() (any, error)) {
	t.Helper()
	var answers [4]any
	var errs [4]error
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() { answers[i], errs[i] = ask() })
	}
	wg.Wait()
	for i, a := range answers {
		if errs[i] != nil {
			t.Errorf("%s: %v", what, errs[i])
		}
		if !reflect.DeepEqual(a, answers[0]) {
			t.Errorf("%s: %+v, and then %+v", what, answers[0], a)
		}
	}
}

// Fake is a plan.Extender that answers as it is told.
type Fake struct {
	Instances map[addrs.Instance]func(plan.Known) (*plan.Instance, error)
	Outputs   map[string]func(plan.Known) (plan.Output, error)
	Checks    map[string]func(plan.Known) plan.Verdict
}

var errUnasked = errors.New("nobody said what to answer")

// ExtendInstance implements plan.Extender.
func (f Fake) ExtendInstance(at addrs.Instance, known plan.Known) (*plan.Instance, error) {
	if answer := f.Instances[at]; answer != nil {
		return answer(known)
	}
	return nil, errUnasked
}

// ExtendOutput implements plan.Extender.
func (f Fake) ExtendOutput(name string, known plan.Known) (plan.Output, error) {
	if answer := f.Outputs[name]; answer != nil {
		return answer(known)
	}
	return plan.Output{}, errUnasked
}

// ExtendCheck implements plan.Extender.
func (f Fake) ExtendCheck(at string, known plan.Known) (plan.Verdict, error) {
	if answer := f.Checks[at]; answer != nil {
		return answer(known), nil
	}
	return plan.Verdict{}, errUnasked
}
