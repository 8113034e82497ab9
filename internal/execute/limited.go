package execute

import (
	"context"

	"github.com/hexmage/hexmage/internal/action"
)

// Limited lets at most n actions run in next at once; the others wait, or give up when ctx ends.
func Limited(next Executor, n int) Executor { return limited{next, make(chan struct{}, n)} }

type limited struct {
	next  Executor
	slots chan struct{}
}

func (l limited) Execute(ctx context.Context, a *action.Action) (*action.Result, error) {
	select {
	case l.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-l.slots }()
	return l.next.Execute(ctx, a)
}
