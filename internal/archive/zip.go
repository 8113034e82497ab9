package archive

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/mholt/archives"
	"golang.org/x/sync/errgroup"
)

// zipFile is a regular file of a zip, to be written when all names have been checked.
type zipFile struct {
	name       string
	executable bool
	again      bool
	open       func() (fs.File, error)
}

// zip unpacks a zip file. Its folder of entries is read first, so that a bad name is found before anything is written;
// then files are written by several workers at once.
func (s *source) zip(ctx context.Context, w *writer, f *os.File) error {
	var files []zipFile
	at := map[string]int{}
	err := archives.Zip{}.Extract(ctx, f, func(_ context.Context, e archives.FileInfo) error {
		if strings.Contains(e.NameInArchive, `\`) {
			return fmt.Errorf("%w: entry %q has a backslash in its name", ErrUnsafe, e.NameInArchive)
		}
		name, ok, err := s.place(w, e.NameInArchive)
		if err != nil || !ok {
			return err
		}
		if !e.IsDir() && !w.keeps(name) {
			return nil
		}
		switch mode := e.Mode(); mode.Type() {
		case fs.ModeDir:
			if _, err := w.claim(name, entry{kind: fs.ModeDir, source: s.index}); err != nil {
				return err
			}
			return w.folder(name)
		case fs.ModeSymlink:
			return s.symlink(w, name, e.LinkTarget)
		case 0:
			if name == "." {
				return fmt.Errorf("%w: the folder to unpack is a file", ErrUnsafe)
			}
			again, err := w.claim(name, entry{source: s.index})
			if err != nil {
				return err
			}
			zf := zipFile{name: name, executable: mode&0o111 != 0, open: e.Open}
			if again {
				files[at[name]] = zf
				return nil
			}
			at[name] = len(files)
			files = append(files, zf)
			return nil
		}
		return fmt.Errorf("%w: entry %q is a device, a pipe or something else that is no file", ErrUnsafe, e.NameInArchive)
	})
	if err != nil {
		return damaged(err)
	}
	if err := s.checkPrefix(w); err != nil {
		return err
	}
	return damaged(s.writeAll(ctx, w, files))
}

func (s *source) writeAll(ctx context.Context, w *writer, files []zipFile) error {
	g, ctx := errgroup.WithContext(ctx)
	queue := make(chan zipFile)
	for range w.opt.Workers {
		g.Go(func() error {
			buf := make([]byte, 1<<20)
			for f := range queue {
				if err := s.writeZipped(ctx, w, f, buf); err != nil {
					return err
				}
			}
			return nil
		})
	}
	g.Go(func() error {
		defer close(queue)
		for _, f := range files {
			select {
			case queue <- f:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	return g.Wait()
}

func (s *source) writeZipped(ctx context.Context, w *writer, f zipFile, buf []byte) error {
	in, err := f.open()
	if err != nil {
		return fmt.Errorf("entry %q: %w", f.name, err)
	}
	defer in.Close()
	return w.file(ctx, s, f.name, f.again, f.executable, io.Reader(in), buf)
}
