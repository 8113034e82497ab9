package execute

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
)

// Route gives every action to the executor that its platform names (property "executor"; "local" when it names none).
func Route(by map[string]Executor) Executor { return route(by) }

type route map[string]Executor

func (r route) Execute(ctx context.Context, a *action.Action) (*action.Result, error) {
	name := a.Command.Platform[action.PropertyExecutor]
	if name == "" {
		name = action.ExecutorLocal
	}
	next, ok := r[name]
	if !ok {
		have := make([]string, 0, len(r))
		for k := range r {
			have = append(have, k)
		}
		sort.Strings(have)
		return nil, &Error{Op: "choose an executor", Err: fmt.Errorf("no executor %q; there are: %s", name, strings.Join(have, ", "))}
	}
	return next.Execute(ctx, a)
}
