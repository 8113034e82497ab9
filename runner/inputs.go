package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/cas"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/tree"
)

// file makes a file of the store one for the device. Its digest names it for ever, so its SHA-256 has to be found once only.
func (d *Device) file(ctx context.Context, f tree.File) File {
	return File{
		Open:       func() (io.ReadCloser, error) { return d.o.Store.Open(ctx, f.Digest) },
		Size:       f.Digest.Size(),
		Key:        f.Digest.String(),
		Executable: f.Executable,
	}
}

// streams are the standard streams of a command on the device.
type streams struct {
	stdin            io.Reader
	stdout           io.Writer
	outHead, errHead execute.Capped
	files            []io.Closer
}

// openStreams opens the standard input that the action names, and below dir the file for its standard output.
func openStreams(ctx context.Context, store cas.Store, a *action.Action, dir string) (*streams, error) {
	s := &streams{}
	s.stdout = &s.outHead
	if name := a.Command.Platform[action.PropertyStdin]; name != "" {
		e, err := tree.Ref(a.InputRoot).Lookup(ctx, store, name)
		if err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
		if e.File == nil {
			return nil, fmt.Errorf("standard input: %s is %s", name, e)
		}
		r, err := store.Open(ctx, e.File.Digest)
		if err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
		s.stdin, s.files = r, append(s.files, r)
	}
	if name := a.Command.Platform[action.PropertyStdout]; name != "" {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return nil, errors.Join(fmt.Errorf("standard output: the path %s leads out of the run's folder", name), s.close())
		}
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return nil, errors.Join(err, s.close())
		}
		f, err := os.Create(to)
		if err != nil {
			return nil, errors.Join(err, s.close())
		}
		s.stdout, s.files = io.MultiWriter(f, &s.outHead), append(s.files, f)
	}
	return s, nil
}

// close closes what is open; again it does nothing.
func (s *streams) close() error {
	var errs []error
	for _, f := range s.files {
		errs = append(errs, f.Close())
	}
	s.files = nil
	return errors.Join(errs...)
}
