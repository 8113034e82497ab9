// Package tool runs a Go function of hexmage as an action. The function receives its arguments as one JSON document.
//
// A domain package contains the function and its Name, such as "fetch/1". Kinds use the Name to plan actions. The
// command line has a table from names to functions, which New returns. The package does not know the tools.
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

// ArgsFile is the name of the input file that contains the arguments of a tool.
const ArgsFile = "args.json"

// maxArgs bounds a document of arguments, in bytes. The largest are those of a few thousand runs to be measured.
const maxArgs = 16 << 20

// Name is the name and version of a tool whose arguments have type S, such as "fetch/1". The version is part of cache
// keys. Change it when the tool's result for the same arguments and inputs changes.
type Name[S any] string

// String returns the name without the version.
func (n Name[S]) String() string {
	name, _, _ := strings.Cut(string(n), "/")
	return name
}

// Env is the environment of a tool's process.
type Env struct {
	Vars           []string // NAME=value
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Var returns the value of the environment variable with the given name, or "" if the variable is not set.
func (e Env) Var(name string) string {
	for i := len(e.Vars) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(e.Vars[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// ErrUnable means that a tool failed for an external reason, such as a network error. Tools return it wrapped.
var ErrUnable = errors.New("the tool could not run")

// ErrSaid means that the tool has already printed its own error message.
var ErrSaid = errors.New("the message is already printed")

// Func runs a tool. It takes the arguments after the tool's name on the command line, and returns the exit code. File
// paths are relative to the working directory.
type Func func(ctx context.Context, args []string, env Env) int

// New returns a Func that runs a tool. The only argument of the Func is the path of a JSON document with the tool's
// arguments. The exit code is 0 for success, 1 if the tool failed, 2 if the document is invalid, and
// action.UnableExitCode for ErrUnable.
func New[S any](name Name[S], run func(context.Context, S, Env) error) Func {
	return func(ctx context.Context, args []string, env Env) int {
		if len(args) != 1 {
			fmt.Fprintf(env.Stderr, "%s: expected one argument, a JSON file with the arguments\n", name)
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

// Decode decodes a JSON document with a tool's arguments. It rejects unknown fields, and content after the document.
func Decode(b []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return fmt.Errorf("read the arguments: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("read the arguments: more than one JSON document")
	}
	return nil
}

// WriteJSON writes the result of a tool to the file, as indented JSON.
func WriteJSON(file string, v any) error {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(b, '\n'), 0o644)
}

// Encode encodes the arguments of a tool as a JSON document. Equal arguments always produce the same bytes.
func Encode(args any) ([]byte, error) {
	b, err := json.MarshalIndent(args, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the arguments: %w", err)
	}
	return append(b, '\n'), nil
}
