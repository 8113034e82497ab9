package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/runner/push"
)

// file returns a push.File for a file of the store. Its key is the digest, so its SHA-256 is computed once only.
func (d *Device) file(ctx context.Context, f merkle.File) push.File {
	return push.File{
		Open: func() (io.ReadCloser, error) {
			r, err := d.o.Store.Open(ctx, f.Digest)
			if err != nil {
				return nil, err
			}
			return &content{ReadCloser: r, from: r}, nil
		},
		Size:       f.Digest.Size(),
		Key:        f.Digest.String(),
		Executable: f.Executable,
	}
}

// content is a file of the store. It is verified if it is read from its start. It is not verified after a Seek: the
// device hashes the file that it assembled, and after a mismatch the whole file is sent again.
type content struct {
	io.ReadCloser
	from io.Reader
}

func (c *content) Read(b []byte) (int, error) { return c.from.Read(b) }

// Seek implements io.Seeker if the store supports it.
func (c *content) Seek(offset int64, whence int) (int64, error) {
	s, ok := store.Unverified(c.ReadCloser)
	if !ok {
		return 0, errors.ErrUnsupported
	}
	c.from = s
	return s.Seek(offset, whence)
}

// streams are the standard streams of a command on the device.
type streams struct {
	stdin            func() (io.ReadCloser, error) // nil: empty
	stdout, stderr   io.Writer
	outHead, errHead *execute.HeadTailBuffer
	file             *os.File // nil: standard output is not an output of the action
}

// standardInput returns a function that opens the action's standard input, or nil if that is empty.
func standardInput(ctx context.Context, blobs store.Blobs, a *execute.Request) (func() (io.ReadCloser, error), error) {
	name := a.Command.Platform[action.PropertyStdin]
	if name == "" {
		return nil, nil
	}
	e, err := merkle.Ref(a.InputRoot).Lookup(ctx, execute.Inputs(blobs, a.Action), name)
	if err != nil {
		return nil, fmt.Errorf("standard input: %w", err)
	}
	if e.File == nil {
		return nil, fmt.Errorf("standard input: %s is %s, expected a file", name, e)
	}
	return func() (io.ReadCloser, error) { return blobs.Open(ctx, e.File.Digest) }, nil
}

// openStreams opens the action's standard input, and below dir the file for its standard output. Each line of output
// is reported as the action's progress.
func openStreams(ctx context.Context, blobs store.Blobs, a *execute.Request, dir string) (*streams, error) {
	in, err := standardInput(ctx, blobs, a)
	if err != nil {
		return nil, err
	}
	s := &streams{stdin: in}
	s.outHead, s.errHead = a.Streams()
	line := &lastLine{report: func(text string) { a.Report(0, 0, text) }}
	s.stdout, s.stderr = io.MultiWriter(s.outHead, line), io.MultiWriter(s.errHead, line)
	if name := a.Command.Platform[action.PropertyStdout]; name != "" {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return nil, fmt.Errorf("standard output: path %s is outside the run's folder", name)
		}
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return nil, err
		}
		if s.file, err = os.Create(to); err != nil {
			return nil, err
		}
		s.stdout = io.MultiWriter(s.file, s.stdout)
	}
	return s, nil
}

// close closes the streams. A second call does nothing.
func (s *streams) close() error {
	s.outHead.Close()
	s.errHead.Close()
	if s.file == nil {
		return nil
	}
	f := s.file
	s.file = nil
	return f.Close()
}

// lastLine reports the last line that was written to it as the action's progress. It is not safe for concurrent use.
type lastLine struct {
	report   func(text string)
	line     []byte // an incomplete line
	reported time.Time
}

// Limits of lastLine.
const (
	maxShownLine = 200                   // bytes
	lineEvery    = 50 * time.Millisecond // people cannot read faster
)

// Write never fails.
func (l *lastLine) Write(p []byte) (int, error) {
	n := len(p)
	if end := bytes.LastIndexAny(p, "\r\n"); end >= 0 {
		whole := append(l.line, p[:end]...)
		if text := strings.TrimSpace(string(whole[bytes.LastIndexAny(bytes.TrimRight(whole, "\r\n"), "\r\n")+1:])); text != "" && time.Since(l.reported) > lineEvery {
			l.reported = time.Now()
			l.report(strings.ToValidUTF8(text[:min(len(text), maxShownLine)], ""))
		}
		l.line, p = l.line[:0], p[end+1:]
	}
	l.line = append(l.line, p[:min(len(p), max(0, maxShownLine-len(l.line)))]...)
	return n, nil
}
