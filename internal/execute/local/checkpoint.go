package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/store"
)

// checkCheckpoint refuses a checkpoint folder that is also an input: the checkpoint would replace the input.
func checkCheckpoint(ctx context.Context, a *execute.Request, in store.Blobs) error {
	folder := a.Command.Platform[action.PropertyCheckpoint]
	if folder == "" {
		return nil
	}
	if _, err := a.Root().Lookup(ctx, in, folder); err != nil {
		return nil // it is not there, or laying out the inputs fails of the same
	}
	return &execute.Error{Op: "create the checkpoint folder", Refused: true,
		Err:    fmt.Errorf("folder %s is also an input of the step", folder),
		Remedy: "give the checkpoint folder a name that no input has"}
}

// beginCheckpoint has the action find what an earlier one of its key left. Nothing stays of an action with secrets.
func (x *Executor) beginCheckpoint(ctx context.Context, a *execute.Request, s *execRoot, folder string) error {
	if x.o.Checkpoints == nil || len(a.Secrets.Env())+len(a.Secrets.Files()) > 0 {
		return nil
	}
	if x.o.Tidy != nil {
		x.o.Tidy(ctx)
	}
	said, err := x.o.Checkpoints.Begin(ctx, a.Key(x.o.Fn), s.dir, "root/"+folder, !a.DropCheckpoint)
	if err != nil {
		return &execute.Error{Op: "restore the checkpoint", Err: err}
	}
	s.checkpoint = folder
	if said != "" {
		a.Report(0, 0, said)
	}
	return nil
}

// keepCheckpoint keeps what an action left that is not complete. What cannot be kept is lost, which costs time and
// nothing else.
func (x *Executor) keepCheckpoint(ctx context.Context, a *execute.Request, s *execRoot) {
	switch {
	case s.checkpoint == "":
		return
	case s.complete:
		_ = x.o.Checkpoints.End(s.dir)
		return
	}
	kept, err := x.o.Checkpoints.Keep(context.WithoutCancel(ctx), s.dir)
	switch {
	case err != nil:
		a.Report(0, 0, "cannot save the checkpoint: "+err.Error())
	case kept:
		a.Report(0, 0, "saves a checkpoint for the next run")
	}
}

// left tells whether the command left something in its checkpoint.
func (s *execRoot) left() bool {
	if s.checkpoint == "" {
		return false
	}
	names, err := os.ReadDir(filepath.Join(s.root(), filepath.FromSlash(s.checkpoint)))
	return err == nil && len(names) > 0
}
