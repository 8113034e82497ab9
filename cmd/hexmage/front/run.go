package front

import (
	"context"
	"errors"
	"fmt"

	"github.com/hexmage/hexmage/internal/build"
	"github.com/hexmage/hexmage/internal/store"
)

// SayAgain says why a build begins again: a file changed while it read it, or something was damaged.
func (a *App) SayAgain(err error) {
	if changed := (*store.ChangedError)(nil); errors.As(err, &changed) {
		fmt.Fprintf(a.Env.Stderr, "hexmage: %s was saved while it was read; building again\n", changed.Path)
		return
	}
	fmt.Fprintf(a.Env.Stderr, "hexmage: something in the cache was damaged and is dropped; building again (%v)\n", err)
}

// Outcome is the error with which a command ends after a build, or nil. What failed in the build, the report has told.
func Outcome(ctx context.Context, res build.Result, err error) error {
	exit := &ExitError{Err: err}
	if res.Failed > 0 {
		exit.Err = nil
	}
	switch {
	case ctx.Err() != nil:
		return &ExitError{Code: ExitInterrupted, Err: ErrInterrupted}
	case errors.As(err, new(*build.InputError)):
		exit.Code = ExitUsage
	case err != nil:
		exit.Code = ExitEngine
	case res.Failed > 0:
		exit.Code = ExitFailed
	default:
		return nil
	}
	return exit
}

// Checked returns the error for what came of the checks of a run.
func Checked(res build.Result) error {
	if res.ChecksFailed > 0 {
		return &ExitError{Code: ExitCheck} // the report has said which
	}
	return nil
}
