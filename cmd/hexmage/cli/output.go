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

// output is where a command prints. What names, files, programs and phones say goes through it, so what controls a
// terminal is written out here, but for colours. It remembers that writing failed.
type output struct {
	io.Writer
	terminal bool

	mu   sync.Mutex
	data bool   // for programs: as it is, unless a terminal shows it
	held string // the beginning of a character or sequence, whose end has not come
	err  error
}

// newOutput returns what a command prints with to w.
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

// whole is the length of the text without a character or a sequence at its end that may go on.
func whole(text string) int {
	const longest = 16 // bytes of a colour
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

// end prints what is held back, and returns what went wrong.
func (o *output) end() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.held != "" && o.err == nil {
		_, o.err = io.WriteString(o.Writer, ansi.Visible(o.held, false))
		o.held = ""
	}
	return o.err
}

// isData says that what is printed there is for programs, which get it as it is; a terminal does not.
func isData(outputs ...io.Writer) {
	for _, w := range outputs {
		if o, ok := w.(*output); ok {
			o.data = true
		}
	}
}

// screen is standard error for those who move the cursor themselves, and make visible what they show.
func (e Env) screen() io.Writer { return unfiltered(e.Stderr) }

// unfiltered is where what is printed to w ends up, for a program that has the terminal for itself.
func unfiltered(w io.Writer) io.Writer {
	if o, ok := w.(*output); ok {
		return o.Writer
	}
	return w
}

// written is the exit code of a command that is told when what it wrote did not arrive. A reader that goes away has
// seen enough.
func written(env Env, code int) int {
	if o, ok := env.Stderr.(*output); ok {
		_ = o.end() // there is nowhere to say so
	}
	o, ok := env.Stdout.(*output)
	if !ok {
		return code
	}
	err := o.end()
	if err == nil || errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed) {
		return code
	}
	fmt.Fprintf(env.Stderr, "hexmage: what this command prints could not be written: %v\n", err)
	if code == ExitFailed {
		return code
	}
	return ExitEngine
}
