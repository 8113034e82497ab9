// Package tool is how a program of ours runs as an action: a function that gets its arguments as one JSON document.
//
// A domain package has a function and, beside it, a Name: what the tool is called and the version of what it does.
// Kinds plan actions with that name and a value of its arguments; the command line finds the function in the table
// that New fills. The package knows neither the tools nor who runs them.
package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/boundedfile"
)

// ArgsFile is the input of an action that holds its tool's arguments.
const ArgsFile = "args.json"

// maxArgs bounds a document of arguments, in bytes. The largest are those of a few thousand runs to be measured.
const maxArgs = 16 << 20

// Name is a tool whose arguments are an S: its name and its behaviour version, such as "fetch/1". The version changes
// when the same arguments and inputs give another result; it is part of the keys of actions.
type Name[S any] string

// String returns the name without the version.
func (n Name[S]) String() string {
	name, _, _ := strings.Cut(string(n), "/")
	return name
}

// Env is what a tool has of its process.
type Env struct {
	Vars           []string // NAME=value
	Stdin          io.Reader
	Stdout, Stderr io.Writer
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

// ErrUnable is the error, wrapped, of a tool that something outside of it kept from its work, such as a network.
var ErrUnable = errors.New("the tool could not do its work")

// ErrSaid is the error of a tool that has printed itself what is wrong.
var ErrSaid = errors.New("said already")

// Func is a tool as a process: it takes the arguments after the tool's name and returns the exit code. It reads and
// writes files at paths relative to the working directory.
type Func func(ctx context.Context, args []string, env Env) int

// New returns the process of a tool: it reads the document that its only argument names. The exit code is 0, 1 when
// the tool failed, 2 when its arguments cannot be read, action.UnableExitCode for ErrUnable.
func New[S any](name Name[S], run func(context.Context, S, Env) error) Func {
	return func(ctx context.Context, args []string, env Env) int {
		if len(args) != 1 {
			fmt.Fprintf(env.Stderr, "%s: want one argument, the file with the arguments as JSON\n", name)
			return 2
		}
		var s S
		if err := read(args[0], &s); err != nil {
			fmt.Fprintf(env.Stderr, "%s: %v\n", name, err)
			return 2
		}
		err := run(ctx, s, env)
		switch {
		case err == nil:
			return 0
		case !errors.Is(err, ErrSaid):
			fmt.Fprintf(env.Stderr, "%s: %v\n", name, err)
		}
		if errors.Is(err, ErrUnable) {
			return action.UnableExitCode
		}
		return 1
	}
}

func read(file string, to any) error {
	b, err := boundedfile.Read(file, maxArgs)
	if err != nil {
		return err
	}
	return Decode(b, to)
}

// Decode reads a document of arguments. It refuses fields that the tool does not know, and what follows the document.
func Decode(b []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return fmt.Errorf("the arguments: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("the arguments: more than one document")
	}
	return nil
}

// WriteJSON writes a result of a tool, indented.
func WriteJSON(file string, v any) error {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(b, '\n'), 0o644)
}

// Encode is the document of a tool's arguments, the same bytes for the same value.
func Encode(args any) ([]byte, error) {
	b, err := json.MarshalIndent(args, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write down the arguments: %w", err)
	}
	return append(b, '\n'), nil
}
