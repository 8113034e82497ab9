package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/hexmage/hexmage/internal/ansi"
)

// output is a stream of a command. It escapes control characters, which may come from names, files, programs and
// phones, except for colors. It records write errors.
type output struct {
	io.Writer
	terminal bool

	mu   sync.Mutex
	data bool   // for programs: unchanged, unless the stream is a terminal
	held string // incomplete character or sequence at the end
	err  error
}

// newOutput returns an output to w.
func newOutput(w io.Writer) *output {
	f, ok := w.(*os.File)
	return &output{Writer: w, terminal: ok && term.IsTerminal(int(f.Fd()))}
}

// Write implements io.Writer.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var err error
	if o.data && !o.terminal {
		_, err = o.Writer.Write(b)
	} else {
		text := o.held + string(b)
		n := whole(text)
		o.held = text[n:]
		_, err = io.WriteString(o.Writer, ansi.Visible(text[:n], true))
	}
	if err != nil {
		o.err = cmp.Or(o.err, err)
		return 0, err
	}
	return len(b), nil
}

// whole returns the length of the text without an incomplete character or sequence at its end.
func whole(text string) int {
	const longest = 16 // bytes of a color
	for i := max(0, len(text)-utf8.UTFMax+1); i < len(text); i++ {
		if utf8.RuneStart(text[i]) && !utf8.FullRuneInString(text[i:]) {
			return i
		}
	}
	if i := strings.LastIndexByte(text, 0x1b); i >= 0 && len(text)-i < longest &&
		strings.Trim(text[i+1:], "[;0123456789") == "" {
		return i
	}
	return len(strings.TrimSuffix(text, "\r"))
}

// end prints the held text, and returns the first write error.
func (o *output) end() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.held != "" && o.err == nil {
		_, o.err = io.WriteString(o.Writer, ansi.Visible(o.held, false))
		o.held = ""
	}
	return o.err
}

// isData marks outputs for programs: their text is unchanged, unless a terminal shows it.
func isData(outputs ...io.Writer) {
	for _, w := range outputs {
		if o, ok := w.(*output); ok {
			o.data = true
		}
	}
}

// print prints a text for people.
func (a *app) print(text string) { fmt.Fprint(a.Env.Stdout, ansi.Visible(text, a.colored())) }

// printf prints a text for people.
func (a *app) printf(format string, args ...any) { a.print(fmt.Sprintf(format, args...)) }

// show prints a result: its value with --json, else the text.
func (a *app) show(value any, format string, args ...any) error {
	if a.JSON {
		return writeJSON(a.Env.Stdout, value)
	}
	a.printf(format, args...)
	return nil
}

// say prints a sentence to standard error. It does not disturb a display there.
func (a *app) say(format string, args ...any) {
	text := "hexmage: " + ansi.Visible(fmt.Sprintf(format, args...), false) + "\n"
	if !a.Live || !a.interrupts.show(text) {
		fmt.Fprint(a.Env.Stderr, text)
	}
}

// screen returns standard error for displays that move the cursor and escape their text themselves.
func (e Env) screen() io.Writer {
	if o, ok := e.Stderr.(*output); ok {
		return o.Writer
	}
	return e.Stderr
}

// written returns the exit code of a command, after a check for write errors. A closed pipe is not an error.
func written(env Env, code int) int {
	if o, ok := env.Stderr.(*output); ok {
		_ = o.end() // no stream is left for an error
	}
	o, ok := env.Stdout.(*output)
	if !ok {
		return code
	}
	err := o.end()
	if err == nil || errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed) {
		return code
	}
	fmt.Fprintf(env.Stderr, "hexmage: cannot write the output: %v\n", err)
	if code == ExitFailed {
		return code
	}
	return ExitEngine
}
