// Package link is how a device is reached, whatever it is reached by: a shell on it, and files that go there and come back.
//
// The way in is Device, of which package adb has one for phones and package ssh one for boards. What is done on a device
// is done by its shell: Stat, Find and Pull, too. The package does not know what is run.
package link

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/hexmage/hexmage/runner/layout"
)

// Device is a device that can be reached. Safe for concurrent use.
type Device interface {
	Place() Place
	// Shell runs a command line with the device's shell and returns its exit code (128 + number for a signal). The shell leads a process group of
	// its own. The error is for what kept the command from running to its end; once the device can be reached again it may be an ErrDropped, and then
	// nobody knows how far the command came. When ctx ends the link to it is cut, which on most devices ends the command, but not surely: a caller
	// that must be sure kills it by another Shell. When Shell returns before Stdin is used up, a pending Read of Stdin may still be under way.
	Shell(ctx context.Context, command string, s Streams) (int, error)
	// Reconnect makes the device usable again after its link broke.
	Reconnect(ctx context.Context) error
}

// Place says which device it is, and where on it hexmage keeps its things.
type Place struct {
	Serial string // names it for people: "R5CX123", "10.0.0.7:5555", "ssh://ubuntu@10.0.0.9"
	Folder layout.Folder
}

// Streams are the standard streams of a command on a device. A nil Stdin is empty, a nil writer discards.
// The writers are called by one goroutine at a time, and not after Shell has returned.
type Streams struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// maxOutput bounds what Output holds in memory.
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

// Output runs a command and returns its standard output. A command that fails is an ExitError.
func Output(ctx context.Context, d Device, command string, stdin io.Reader) (string, error) {
	var out, errOut limited
	code, err := d.Shell(ctx, command, Streams{Stdin: stdin, Stdout: &out, Stderr: &errOut})
	if err != nil {
		return "", err
	}
	if out.over || errOut.over {
		return "", fmt.Errorf("device %s: %s: more than %d bytes of output", d.Place().Serial, short(command), maxOutput)
	}
	if code != 0 {
		return "", &ExitError{Serial: d.Place().Serial, Command: short(command), Code: code, Said: Words(errOut.String() + out.String())}
	}
	return out.String(), nil
}

// Script is Output of a script in which the folders of package layout have their names.
func Script(ctx context.Context, d Device, script string, stdin io.Reader) (string, error) {
	return Output(ctx, d, d.Place().Folder.Script(script), stdin)
}

// maxWords is how many bytes of what a device says are in an error: more is for nobody to read.
const maxWords = 4 << 10

// Words are what a device says, for people: its end, without what would do things to a terminal.
func Words(said string) string {
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

// short makes a command line fit into a message: it can be long.
func short(command string) string {
	const most = 120
	if len(command) > most {
		return command[:most] + "…"
	}
	return command
}

// Quote makes s one word of a POSIX shell's command line.
func Quote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// ErrDropped says that a connection ended before the operation on it did, or was not made: the device went away, or what leads to it did.
// The operation may be tried again once the device is back.
var ErrDropped = errors.New("the connection to the device was lost")

// Retryable tells whether err may go away once the device is connected again.
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

// ExitError says that a command of Output ended with another exit code than 0.
type ExitError struct {
	Serial  string // of the device
	Command string // shortened
	Code    int
	Said    string // what the command printed
}

// Error returns the message.
func (e *ExitError) Error() string {
	return fmt.Sprintf("device %s: %s: exit code %d: %s", e.Serial, e.Command, e.Code, e.Said)
}
