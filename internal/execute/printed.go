package execute

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/hexmage/hexmage/internal/action"
)

// Printed keeps the whole of what a command prints, up to 64 MB of each stream, where that is more than a Result holds: in
// files next to each other, which are there only then.
type Printed struct {
	path string // what the files' names start with

	mu    sync.Mutex
	files []string
}

// NewPrinted returns a Printed whose files' names start with path.
func NewPrinted(path string) *Printed { return &Printed{path: path} }

type printedKey struct{}

// WithPrinted returns a context under which executors keep in p what a command prints.
func WithPrinted(ctx context.Context, p *Printed) context.Context {
	return context.WithValue(ctx, printedKey{}, p)
}

// Outputs returns what a command's two streams are written to. Both have to be closed when the command has ended. What an
// earlier command under this context printed is gone.
func Outputs(ctx context.Context) (stdout, stderr *Capped) {
	stdout, stderr = &Capped{}, &Capped{}
	if p, ok := ctx.Value(printedKey{}).(*Printed); ok {
		p.Remove()
		stdout.whole = &wholeStream{path: p.path + stdoutName, begun: p.add}
		stderr.whole = &wholeStream{path: p.path + stderrName, begun: p.add}
	}
	return stdout, stderr
}

const (
	stdoutName = ".stdout"
	stderrName = ".stderr"
)

func (p *Printed) add(path string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files = append(p.files, path)
}

// Remove removes the files, if there are any.
func (p *Printed) Remove() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.files {
		_ = os.Remove(f)
	}
	p.files = nil
}

// CopyTo writes standard output and then standard error to w: each from its file, or else as the result has it.
func (p *Printed) CopyTo(w io.Writer, r *action.Result) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range []struct {
		path string
		kept []byte
	}{{p.path + stdoutName, r.Stdout}, {p.path + stderrName, r.Stderr}} {
		var from io.Reader = bytes.NewReader(s.kept)
		if len(p.files) > 0 {
			f, err := os.Open(s.path)
			if err == nil {
				defer f.Close()
				from = f
			} else if !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		if _, err := io.Copy(w, from); err != nil {
			return err
		}
	}
	return nil
}
