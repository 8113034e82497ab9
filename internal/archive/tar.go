package archive

import (
	"archive/tar"
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/mholt/archives"
)

// tar unpacks a tar stream.
func (s *source) tar(ctx context.Context, w *writer, r io.Reader, kind format) error {
	plain, err := decompress(kind, bufio.NewReaderSize(&progressReader{r, w, s}, 1<<20))
	if err != nil {
		return damaged(err)
	}
	defer plain.Close()
	ahead, stop := readAhead(plain)
	defer stop()
	tail := &tailReader{r: ahead}
	buf := make([]byte, copyBuffer)
	err = archives.Tar{}.Extract(ctx, tail, func(ctx context.Context, f archives.FileInfo) error {
		h, ok := f.Header.(*tar.Header)
		if !ok {
			return ErrFormat
		}
		return s.tarEntry(ctx, w, h, f, buf)
	})
	if err != nil {
		return damaged(err)
	}
	// The tar reader stops at the end mark. Reading the rest checks the compressed stream's checksums. A stream that
	// ends without the mark was truncated between two entries.
	if err := w.copy(ctx, s, nil, tail, buf); err != nil {
		return damaged(err)
	}
	if !tail.ended() {
		return fmt.Errorf("%w: the end marker of the tar archive is missing", ErrTruncated)
	}
	return s.checkPrefix(w)
}

func (s *source) tarEntry(ctx context.Context, w *writer, h *tar.Header, f archives.FileInfo, buf []byte) error {
	name, ok, err := s.place(w, h.Name)
	if err != nil || !ok {
		return err
	}
	if h.Typeflag != tar.TypeDir && !w.keeps(name) {
		return nil
	}
	switch h.Typeflag {
	case tar.TypeReg, '\x00', tar.TypeGNUSparse:
		return s.tarFile(ctx, w, name, h, f, buf)
	case tar.TypeDir:
		return w.claim(name, s.entry(fs.ModeDir, ""))
	case tar.TypeSymlink:
		return s.symlink(w, name, h.Linkname)
	case tar.TypeLink:
		target, ok, err := s.place(w, h.Linkname)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("%w: hard link %q points to %q, which hexmage does not unpack", ErrUnsafe, name,
				h.Linkname)
		}
		if target == name {
			return nil
		}
		return w.hardLink(s, name, target)
	}
	return fmt.Errorf("%w: entry %q is a device, pipe or other special file (type %q)", ErrUnsafe,
		h.Name, h.Typeflag)
}

func (s *source) tarFile(ctx context.Context, w *writer, name string, h *tar.Header, f archives.FileInfo,
	buf []byte) error {
	if err := s.checkMode(h.Name, h.FileInfo().Mode()); err != nil {
		return err
	}
	if name == "." {
		return fmt.Errorf("%w: the root of the unpacked tree is a file, not a folder", ErrUnsafe)
	}
	if err := w.claim(name, s.entry(0, "")); err != nil {
		return err
	}
	in, err := f.Open()
	if err != nil {
		return err
	}
	if err := w.file(ctx, s, name, h.FileInfo().Mode()&0o111 != 0, in, buf); err != nil {
		return fmt.Errorf("entry %q: %w", h.Name, err)
	}
	return nil
}

func (s *source) entry(kind fs.FileMode, target string) entry {
	return entry{kind: kind, target: target, source: s.index, exact: s.exact}
}

// checkMode rejects device files, sockets and pipes. It also rejects files with setuid or setgid bits, except in a
// distribution's package: these are unpacked without the bits.
func (s *source) checkMode(name string, mode fs.FileMode) error {
	if t := mode.Type(); t != 0 && t != fs.ModeSymlink {
		return fmt.Errorf("%w: entry %q is a device, pipe or other special file", ErrUnsafe, name)
	}
	if mode&(fs.ModeSetuid|fs.ModeSetgid) != 0 && !s.trusted {
		return fmt.Errorf("%w: entry %q has a setuid or setgid bit", ErrUnsafe, name)
	}
	return nil
}

func (s *source) symlink(w *writer, name, target string) error {
	target, err := cleanTarget(name, target, w.opt.RelativeLinks)
	if err != nil {
		return err
	}
	return w.claim(name, s.entry(fs.ModeSymlink, target))
}

// place returns the destination of an entry. ok is false if the entry is outside the prefix.
func (s *source) place(w *writer, raw string) (name string, ok bool, err error) {
	name, err = cleanName(raw)
	if err != nil {
		return "", false, err
	}
	s.any = true
	rest, ok := below(name, w.opt.StripPrefix)
	if ok {
		s.matched = true
	} else if elems := splitPath(name); len(s.names) < 20 && len(elems) > 0 {
		s.names[strings.Join(elems[:min(2, len(elems))], "/")] = true
	}
	return rest, ok, nil
}

func (s *source) checkPrefix(w *writer) error {
	if s.matched || w.opt.StripPrefix == "" {
		return nil
	}
	return fmt.Errorf("no archive entry is below %q; correct strip_prefix in the catalog. Available: %s",
		w.opt.StripPrefix, strings.Join(slices.Sorted(maps.Keys(s.names)), ", "))
}

// damaged converts the format readers' errors about invalid bytes to ErrTruncated.
func damaged(err error) error {
	var pathErr *fs.PathError
	var linkErr *os.LinkError
	switch {
	case err == nil, errors.Is(err, ErrUnsafe), errors.Is(err, ErrTooLarge), errors.Is(err, ErrFormat),
		errors.Is(err, ErrTruncated),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.As(err, &pathErr),
		errors.As(err, &linkErr):
		return err
	}
	return fmt.Errorf("%w: %w", ErrTruncated, err)
}

// tailReader records whether its last 1024 bytes were zeros, tar's end mark.
type tailReader struct {
	r     io.Reader
	zeros int64 // zero bytes at the end of the last read, in a row
}

func (t *tailReader) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	i := n
	for i > 0 && p[i-1] == 0 && n-i < 1024 {
		i--
	}
	if i == 0 {
		t.zeros += int64(n)
	} else {
		t.zeros = int64(n - i)
	}
	return n, err
}

func (t *tailReader) ended() bool { return t.zeros >= 1024 }

const aheadSize = 256 << 10

// readAhead reads a decompressed stream in another goroutine, so that decompression and writing use two processors.
// stop ends the goroutine and waits for it, so that the caller can close the stream.
func readAhead(r io.Reader) (ahead io.Reader, stop func()) {
	from, to := io.Pipe()
	var reading sync.WaitGroup
	reading.Go(func() {
		buf := make([]byte, aheadSize)
		for {
			n, err := fillBuffer(r, buf)
			if _, werr := to.Write(buf[:n]); err == nil {
				err = werr
			}
			if err != nil {
				to.CloseWithError(err)
				return
			}
		}
	})
	return bufio.NewReaderSize(from, aheadSize), func() { from.Close(); reading.Wait() }
}

// fillBuffer reads until buf is full or an error occurs. It returns a decompressor's panic as an error, since invalid
// bytes must not crash hexmage.
func fillBuffer(r io.Reader, buf []byte) (n int, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: decompressor failed: %v", ErrTruncated, p)
		}
	}()
	for n < len(buf) && err == nil {
		var m int
		m, err = r.Read(buf[n:])
		n += m
	}
	return n, err
}

// progressReader counts the bytes read from the archive.
type progressReader struct {
	r io.Reader
	w *writer
	s *source
}

func (p *progressReader) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	p.s.consumed(p.w, int64(n))
	return n, err
}
