package engine

import (
	"context"
	"fmt"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/plan"
)

// checks evaluates the checks with the values that are there. The error says that a value is lost: the build has to
// begin again.
func (w *worker) checks(ctx context.Context, all []plan.Check) ([]event.CheckFinished, error) {
	out := make([]event.CheckFinished, len(all))
	for i, c := range all {
		out[i] = event.CheckFinished{Check: c.At, Description: c.Description, Where: c.Where, Severity: c.Severity,
			Result: event.CheckUnknown}
		values, why := map[addrs.Output][]byte{}, map[addrs.Output]string{}
		for _, o := range c.AwaitValues {
			if why[o] = w.missing(o.Instance); why[o] != "" {
				continue
			}
			b, err := w.value(ctx, o)
			if lost(err) {
				return nil, err
			}
			if err != nil {
				why[o] = err.Error()
				continue
			}
			values[o] = b
		}
		v, err := w.verdict(&c, values)
		if err != nil {
			return nil, err
		}
		out[i].Message = v.Message
		switch {
		case v.Known && v.Passed:
			out[i].Result = event.CheckPassed
		case v.Known:
			out[i].Result = event.CheckFailed
		case v.Message != "":
		case len(v.Missing) == 0:
			out[i].Message = "it depends on a value that no step has given"
		default:
			out[i].Message = why[v.Missing[0]]
			for _, o := range v.Missing { // a step that was not asked for says more than that another one failed
				if w.g.instance(o.Instance) == nil {
					out[i].Result, out[i].Message = event.CheckLeftOut, why[o]
					break
				}
			}
		}
	}
	return out, nil
}

// verdict is what comes of a check with the values that are there.
func (w *worker) verdict(c *plan.Check, values map[addrs.Output][]byte) (plan.Verdict, error) {
	switch {
	case c.Settled != nil:
		return *c.Settled, nil
	case w.o.Extender == nil:
		return plan.Verdict{}, fmt.Errorf("%s waits for values, but this build has no planner to evaluate it", c.At)
	}
	return w.o.Extender.ExtendCheck(c.At, plan.Known{Values: values})
}

// missing says why the outputs of an instance are not there, or nothing if they are.
func (w *worker) missing(at addrs.Instance) string {
	n := w.g.instance(at)
	if n == nil {
		return fmt.Sprintf("%s is no part of this run", at)
	}
	ran := n.resolved
	for _, u := range n.specs {
		if u.state == failed {
			return fmt.Sprintf("%s failed", at)
		}
		ran = ran && u.state == done
	}
	if !ran {
		return fmt.Sprintf("%s was not run", at)
	}
	return ""
}

// sent sends what came of checks, and counts those that end a run.
func sent(sink event.Sink, checks []event.CheckFinished) (failed int) {
	for _, c := range checks {
		if sink.Send(c); c.Result == event.CheckFailed && c.Severity == plan.SeverityError {
			failed++
		}
	}
	return failed
}
