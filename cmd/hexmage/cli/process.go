package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/hexmage/hexmage/internal/ansi"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/report"
)

// Exit codes are API, so programs may rely on them.
const (
	ExitOK          = 0
	ExitFailed      = 1   // a step failed
	ExitUsage       = 2   // invalid usage or configuration
	ExitEngine      = 3   // failure of the engine or the infrastructure
	ExitLocked      = 4   // another process holds a lock
	ExitCheck       = 5   // all steps succeeded, but a check with severity error failed
	ExitInterrupted = 130 // interrupted by Ctrl-C
)

// Env holds everything that Main uses from its process, except the arguments.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Vars           []string // KEY=value
	Dir            string   // working directory
	Self           string   // path of this program, which also runs as a built-in tool
	Terminal       bool     // Stderr is a terminal
	Width          int      // columns of the terminal
	CPULevel       string   // level of the processor's instruction set
}

// System returns the Env of this process.
func System() Env {
	dir, _ := os.Getwd()
	e := Env{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Vars: os.Environ(), Dir: dir, Self: self(),
		CPULevel: cpuLevel()}
	if fd := int(os.Stderr.Fd()); term.IsTerminal(fd) {
		e.Terminal = true
		e.Width, _, _ = term.GetSize(fd)
	}
	return e
}

// self returns the path of this program, or "" if it cannot be found.
func self() string {
	if path, err := os.Executable(); err == nil {
		return path
	}
	path, err := exec.LookPath(os.Args[0]) // a system without /proc
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return ""
	}
	return path
}

// Var returns the value of a variable in the user's environment, or "" if it is not set.
func (e Env) Var(name string) string {
	value, _ := e.lookup(name)
	return value
}

// lookup returns the value of a variable, and whether it is set.
func (e Env) lookup(name string) (string, bool) {
	for _, kv := range slices.Backward(e.Vars) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v, true
		}
	}
	return "", false
}

// exitError carries an exit code and a message.
type exitError struct {
	Code int
	Err  error // nil: the message was printed already
}

// Error implements error.
func (e *exitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns the wrapped error.
func (e *exitError) Unwrap() error { return e.Err }

// usageError returns the error for a user's mistake.
func usageError(format string, args ...any) error {
	return &exitError{Code: ExitUsage, Err: fmt.Errorf(format, args...)}
}

// engineError returns the error for a failure of the engine.
func engineError(err error) error { return &exitError{Code: ExitEngine, Err: err} }

// ended returns the exit code and message for a command's error. The message is empty if it was printed already.
func ended(ctx context.Context, err error) event.Error {
	var exit *exitError
	switch {
	case err == nil:
		return event.Error{ExitCode: ExitOK}
	case errors.As(err, &exit) && exit.Err == nil:
		return event.Error{ExitCode: exit.Code}
	case exit != nil:
		return event.Error{Message: exit.Err.Error(), ExitCode: exit.Code}
	case ctx.Err() != nil:
		return event.Error{Message: "interrupted", ExitCode: ExitInterrupted}
	}
	return event.Error{Message: err.Error(), ExitCode: ExitEngine}
}

// exitWith prints the message, also as JSON, and returns the exit code.
func exitWith(ctx context.Context, err error, env Env, json bool) int {
	end := ended(ctx, err)
	if end.Message != "" {
		fmt.Fprintln(env.Stderr, "hexmage:", ansi.Visible(end.Message, false))
		if json {
			report.JSON(env.Stdout, time.Now).Send(end)
		}
	}
	return end.ExitCode
}

// absolute returns path, joined to dir if it is relative.
func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// below returns the slash path of a path in a folder, and whether the path is there.
func below(dir, at string) (string, bool) {
	rel, err := filepath.Rel(dir, at)
	return filepath.ToSlash(rel), err == nil && filepath.IsLocal(rel)
}

// prefix starts the names of hexmage's variables: variables, HEXMAGE_VAR_NAME, and those that hexmage sets for its
// children.
const prefix = "HEXMAGE_"

// variables are the names, without prefix, of variables for users.
var variables = []string{"CACHE", "DEVICES", "DIGEST", "MIRRORS", "PROFILE", "REMOTE", "SANDBOX"}
