// Package execute runs actions.
//
// An Executor is given an action whose input blobs are in the store or in the action itself, and returns what came of it, with the output blobs
// in the store. Caching, limits, retries, verification and routing are decorators around it, one file each. The package
// does not know pipelines, steps or plans.
package execute

import (
	"context"
	"fmt"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/store"
)

// Executor runs actions. Execute may be called from many goroutines at once.
type Executor interface {
	// Execute returns an error only for what kept the action from running (no such program, no device, no space). A
	// command that ran and failed is a Result with its exit code, one that ran out of time a *TimeoutError. The outputs
	// named in the command that exist are in the store and in the Result; one that is missing is just not in the Result.
	Execute(ctx context.Context, a *action.Action) (*action.Result, error)
}

// TimeoutError says that an action ran longer than it may. Trying again may help.
type TimeoutError struct {
	Limit  time.Duration
	Result *action.Result // what it printed until then, without outputs; nil when that is not known
}

// Error returns the message.
func (e *TimeoutError) Error() string {
	return fmt.Sprintf("the step's timeout of %v is over", e.Limit)
}

// Error says what kept an action from running.
type Error struct {
	Op        string // what was being done: "start clang-22", "push model.bin"
	Retryable bool   // the same action may succeed when tried again
	Refused   bool   // a check of what the step brought found it cannot work: the step failed, nothing is wrong with the engine
	Remedy    string // what the user can do, if known
	Err       error
}

// Error returns the message without the remedy, which reports show on a line of its own.
func (e *Error) Error() string { return fmt.Sprintf("%s: %v", e.Op, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Inputs are the blobs that the action's inputs are read from: those of its own Directories, and of the store.
func Inputs(blobs store.Blobs, a *action.Action) store.Blobs {
	if len(a.Directories) == 0 {
		return blobs
	}
	return store.Overlay(blobs, a.Directories)
}
