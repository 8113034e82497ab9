package archive

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/bodgit/sevenzip"
	"github.com/mholt/archives"
)

const sevenMagic = "7z\xbc\xaf\x27\x1c"

// seven unpacks a 7z file. The library that reads it believes every number in it, so its header is checked before
// (sevenheader.go), and what it still panics at is an error.
func (s *source) seven(ctx context.Context, w *writer, f *os.File) (err error) {
	if err := checkSeven(f, s.packed, w.opt.MaxEntries); err != nil {
		return err
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: its reader gave up: %v", ErrTruncated, p)
		}
	}()
	buf := make([]byte, copyBuffer)
	err = archives.SevenZip{}.Extract(ctx, &countedFile{File: f, w: w, s: s}, func(ctx context.Context, e archives.FileInfo) error {
		return s.sevenEntry(ctx, w, e, buf)
	})
	if err != nil {
		return damaged(err)
	}
	s.consumed(w, s.packed)
	return s.checkPrefix(w)
}

func (s *source) sevenEntry(ctx context.Context, w *writer, e archives.FileInfo, buf []byte) error {
	h, ok := e.Header.(sevenzip.FileHeader)
	if !ok {
		return ErrFormat
	}
	if strings.Contains(h.Name, `\`) {
		return fmt.Errorf("%w: entry %q has a backslash in its name", ErrUnsafe, h.Name)
	}
	name, ok, err := s.place(w, h.Name)
	if err != nil || !ok {
		return err
	}
	if e.IsDir() {
		if err := w.claim(name, s.entry(fs.ModeDir, "")); err != nil {
			return err
		}
		return w.folder(name)
	}
	if !w.keeps(name) {
		return nil
	}
	if err := s.checkMode(h.Name, e.Mode()); err != nil {
		return err
	}
	if name == "." {
		return fmt.Errorf("%w: the folder to unpack is a file", ErrUnsafe)
	}
	opened, err := e.Open()
	if err != nil {
		return err
	}
	defer opened.Close()
	in := io.Reader(opened)
	if h.CRC32 != 0 { // some have none
		in = &checkedReader{r: opened, left: e.Size(), want: h.CRC32}
	}
	if e.Mode().Type() == fs.ModeSymlink {
		target, err := io.ReadAll(io.LimitReader(in, maxTarget+1))
		if err != nil {
			return fmt.Errorf("entry %q: %w", h.Name, damaged(err))
		}
		return s.symlink(w, name, string(target))
	}
	if err := w.claim(name, s.entry(0, "")); err != nil {
		return err
	}
	dir, err := s.folder(w, path.Dir(name))
	if err != nil {
		return err
	}
	if err := w.file(ctx, s, dir, name, e.Mode()&0o111 != 0, in, buf); err != nil {
		return fmt.Errorf("entry %q: %w", h.Name, damaged(err))
	}
	return nil
}

// countedFile counts what is read of the archive.
type countedFile struct {
	*os.File
	w *writer
	s *source
}

func (c *countedFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.File.ReadAt(p, off)
	c.s.consumed(c.w, int64(n))
	return n, err
}

// checkedReader reads what has to have a size and a checksum.
type checkedReader struct {
	r    io.Reader
	left int64
	crc  uint32
	want uint32
	done bool
}

func (c *checkedReader) Read(p []byte) (int, error) {
	if c.done {
		return 0, io.EOF
	}
	n, err := c.r.Read(p)
	c.crc = crc32.Update(c.crc, crc32.IEEETable, p[:n])
	c.left -= int64(n)
	switch {
	case c.left < 0:
		return 0, fmt.Errorf("%w: it has more bytes than the archive says", ErrUnsafe)
	case errors.Is(err, io.EOF) && c.left > 0:
		return n, io.ErrUnexpectedEOF
	case errors.Is(err, io.EOF) && c.crc != c.want:
		return n, fmt.Errorf("%w: its checksum is %08x, not %08x", ErrTruncated, c.crc, c.want)
	case errors.Is(err, io.EOF):
		c.done = true
	}
	return n, err
}
