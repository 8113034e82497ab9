package planner

import (
	"sync"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/plan"
)

// Later is the Extender of a plan that was not made in this process, such as one of a snapshot. The first question has the pipeline planned; in most builds
// nobody asks one.
type Later struct {
	extender func() (*Extender, error)
}

// NewLater is for the plan that plan makes again; its error is the answer to every question.
func NewLater(plan func() (*Extender, error)) *Later { return &Later{sync.OnceValues(plan)} }

// ExtendInstance implements plan.Extender.
func (l *Later) ExtendInstance(at addrs.Instance, known plan.Known) (*plan.Instance, error) {
	x, err := l.extender()
	if err != nil {
		return nil, err
	}
	return x.ExtendInstance(at, known)
}

// ExtendOutput implements plan.Extender.
func (l *Later) ExtendOutput(name string, known plan.Known) (plan.Output, error) {
	x, err := l.extender()
	if err != nil {
		return plan.Output{}, err
	}
	return x.ExtendOutput(name, known)
}

// ExtendCheck implements plan.Extender.
func (l *Later) ExtendCheck(at string, known plan.Known) (plan.Verdict, error) {
	x, err := l.extender()
	if err != nil {
		return plan.Verdict{}, err
	}
	return x.ExtendCheck(at, known)
}

// Explain returns the hints that there are for a failure; none where the pipeline cannot be planned.
func (l *Later) Explain(at addrs.Instance, known plan.Known, spec string, output []byte) []string {
	x, err := l.extender()
	if err != nil {
		return nil
	}
	return x.Explain(at, known, spec, output)
}
