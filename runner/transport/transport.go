// Package transport is the interface to a device: it runs shell commands and copies files. Package adb implements
// Device for phones, and package ssh for boards. Stat, Find and Pull use the device's shell. The package does not know
// the purpose of commands.
package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/hexmage/hexmage/runner/layout"
)

// Device is a reachable device. It is safe for concurrent use.
type Device interface {
	Place() Place
	// Shell runs a command line with the device's shell and returns its exit code (128 + number for a signal). The
	// shell leads its own process group.
	//
	// Shell returns an error if the command did not run to its end. After an ErrDropped, a part of the command may have
	// run. When ctx ends, Shell cuts the link, which ends the command on most devices. To be sure, call Shell again to
	// kill the command. When Shell returns, a Read call on Stdin may still be waiting.
	Shell(ctx context.Context, command string, s Streams) (int, error)
	// Reconnect makes the device usable again after its link breaks.
	Reconnect(ctx context.Context) error
}

// Place names a device, and hexmage's folder on it.
type Place struct {
	Serial string // for messages: "R5CX123", "10.0.0.7:5555", "ssh://ubuntu@10.0.0.9"
	Folder layout.Folder
}

// Streams holds the standard streams of a command on a device. A nil Stdin is empty. A nil writer discards output.
// Shell calls the writers from one goroutine at a time, and never after it returns.
type Streams struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// maxOutput bounds the memory of Output, in bytes.
const maxOutput = 16 << 20

// limited is a buffer that stops growing at maxOutput.
type limited struct {
	strings.Builder
	over bool
}

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxOutput {
		l.over = true
		return len(p), nil
	}
	return l.Builder.Write(p)
}

// Output runs a command and returns its standard output. If the command fails, the error is an ExitError.
func Output(ctx context.Context, d Device, command string, stdin io.Reader) (string, error) {
	var out, errOut limited
	code, err := d.Shell(ctx, command, Streams{Stdin: stdin, Stdout: &out, Stderr: &errOut})
	if err != nil {
		return "", err
	}
	if out.over || errOut.over {
		return "", fmt.Errorf("device %s: the command %s printed more than %d bytes", d.Place().Serial, short(command),
			maxOutput)
	}
	if code != 0 {
		return "", &ExitError{Serial: d.Place().Serial, Command: short(command), Code: code, Said: Sanitize(errOut.String() + out.String())}
	}
	return out.String(), nil
}

// Script runs a script and returns its standard output. The script may use the shell variables of package layout.
func Script(ctx context.Context, d Device, script string, stdin io.Reader) (string, error) {
	return Output(ctx, d, d.Place().Folder.Script(script), stdin)
}

// maxWords is the maximum length of a device's output in an error, in bytes.
const maxWords = 4 << 10

// Sanitize returns the end of a device's output, without characters that could control a terminal.
func Sanitize(said string) string {
	if said = strings.TrimSpace(said); len(said) > maxWords {
		said = "… " + said[len(said)-maxWords:]
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) || r == '\n' || r == '\t' {
			return r
		}
		return '.'
	}, strings.ToValidUTF8(said, "."))
}

// short shortens a command line for a message.
func short(command string) string {
	const most = 120
	if len(command) > most {
		return command[:most] + "…"
	}
	return command
}

// Quote returns s as one word of a POSIX shell's command line.
func Quote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// ErrDropped means that the link to the device did not open, or that it broke during the operation. A retry may help
// when the device is available again.
var ErrDropped = errors.New("the connection to the device was lost")

// Retryable reports whether err may disappear when the device is connected again.
func Retryable(err error) bool {
	if errors.Is(err, ErrDropped) {
		return true
	}
	passing, ok := errors.AsType[interface {
		error
		Passing() bool
	}](err)
	return ok && passing.Passing()
}

// ExitError means that a command ended with a nonzero exit code. Output returns it.
type ExitError struct {
	Serial  string // serial of the device
	Command string // shortened command
	Code    int
	Said    string // end of the command's output
}

// Error returns the message.
func (e *ExitError) Error() string {
	return fmt.Sprintf("device %s: %s: exit code %d: %s", e.Serial, e.Command, e.Code, e.Said)
}
