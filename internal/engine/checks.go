package engine

import (
	"context"
	"fmt"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/plan"
)

// checks evaluates the checks with the available values. The error means that a value is missing from the store: the
// build has to start again.
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
			out[i].Message = "the check depends on a value that no step produced"
		default:
			out[i].Message = why[v.Missing[0]]
			for _, o := range v.Missing { // a step that was not selected explains more than a failed one
				if w.g.instance(o.Instance) == nil {
					out[i].Result, out[i].Message = event.CheckNotSelected, why[o]
					break
				}
			}
		}
	}
	return out, nil
}

// verdict evaluates a check with the available values.
func (w *worker) verdict(c *plan.Check, values map[addrs.Output][]byte) (plan.Verdict, error) {
	switch {
	case c.Settled != nil:
		return *c.Settled, nil
	case w.o.Resolver == nil:
		return plan.Verdict{}, fmt.Errorf("%s needs values from steps, but this build cannot evaluate checks", c.At)
	}
	return w.o.Resolver.ExtendCheck(c.At, plan.ResolvedInputs{Values: values})
}

// missing returns why the outputs of an instance are missing, or "" if they exist.
func (w *worker) missing(at addrs.Instance) string {
	n := w.g.instance(at)
	if n == nil {
		return fmt.Sprintf("%s is not part of this run", at)
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

// sent sends the results of checks and counts the failures of severity error.
func sent(sink event.Sink, checks []event.CheckFinished) (failed int) {
	for _, c := range checks {
		if sink.Send(c); c.Result == event.CheckFailed && c.Severity == plan.SeverityError {
			failed++
		}
	}
	return failed
}
