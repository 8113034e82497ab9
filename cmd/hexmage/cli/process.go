package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/hexmage/hexmage/internal/ansi"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/report"
)

// Exit codes are API: programs may rely on them.
const (
	ExitOK          = 0
	ExitFailed      = 1   // a step failed
	ExitUsage       = 2   // usage or configuration
	ExitEngine      = 3   // engine or infrastructure
	ExitLocked      = 4   // another process holds what this one needs
	ExitCheck       = 5   // all steps are done, and a check of severity error failed
	ExitInterrupted = 130 // by Ctrl-C
)

// Env is what the process was given: everything the command line takes from outside its arguments.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Vars           []string // KEY=value
	Dir            string   // working directory
	Self           string   // path of this program, which runs again as a built-in tool
	Terminal       bool     // Stderr is a terminal
	Width          int      // its columns
	CPULevel       string   // level of the processor's instruction set
}

// System returns the environment of this process.
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

// Var returns a variable of the environment, or "".
func (e Env) Var(name string) string {
	for i := len(e.Vars) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(e.Vars[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// exitError carries an exit code and what to say with it.
type exitError struct {
	Code int
	Err  error // nil: it was said already
}

// Error implements error.
func (e *exitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns what there is to say.
func (e *exitError) Unwrap() error { return e.Err }

// usageError is the error for what the user got wrong.
func usageError(format string, args ...any) error {
	return &exitError{Code: ExitUsage, Err: fmt.Errorf(format, args...)}
}

// engineError is the error for what went wrong below.
func engineError(err error) error { return &exitError{Code: ExitEngine, Err: err} }

// ended says what a command that returned err ends with. There is no message where all has been said.
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

// exitWith prints what has not been said, for programs as JSON too, and chooses the exit code.
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

// absolute returns path seen from dir.
func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// prefix begins the name of each variable that is hexmage's. Beside those of variables are there HEXMAGE_VAR_NAME,
// and those that it sets for others.
const prefix = "HEXMAGE_"

// variables are the names, without prefix, of variables that people set.
var variables = []string{"CACHE", "DEVICES", "DIGEST", "MIRRORS", "PROFILE", "REMOTE", "SANDBOX"}
