package archive

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/flate"
	"golang.org/x/sync/errgroup"
)

// Zip files are read here and not through archives.Zip: that one reads a compressed member in pieces of 4 KB, makes a new
// decompressor for each, and never looks at the header in front of a member, which may contradict the directory.

// zipFile is a regular file of a zip, to be written when all names have been checked.
type zipFile struct {
	zipEntry
	to string // where it goes
}

// zip unpacks a zip file. Its directory is read first, so that a bad name, a false size or too much of anything is found
// before a byte is written; then files are written by several workers at once.
func (s *source) zip(ctx context.Context, w *writer, f *os.File) error {
	entries, err := readZipDir(f, s.packed, w.opt.MaxEntries)
	if err != nil {
		return err
	}
	var files []zipFile
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		to, ok, err := s.zipPlace(w, f, e)
		if err != nil {
			return err
		}
		if ok {
			files = append(files, zipFile{e, to})
		}
	}
	if err := s.checkPrefix(w); err != nil {
		return err
	}
	if err := s.checkSum(w, files); err != nil {
		return err
	}
	if err := w.folders(); err != nil {
		return err
	}
	if err := s.writeAll(ctx, w, f, files); err != nil {
		return err
	}
	s.consumed(w, s.packed)
	return nil
}

// zipPlace claims the place of an entry; ok is true for a file that is to be written there.
func (s *source) zipPlace(w *writer, r io.ReaderAt, e zipEntry) (to string, ok bool, err error) {
	if strings.Contains(e.name, `\`) {
		return "", false, fmt.Errorf("%w: entry %q has a backslash in its name", ErrUnsafe, e.name)
	}
	to, ok, err = s.place(w, e.name)
	if err != nil || !ok {
		return "", false, err
	}
	if e.mode.IsDir() {
		_, err := w.claim(to, s.entry(fs.ModeDir, ""))
		return "", false, err
	}
	if !w.keeps(to) {
		return "", false, nil
	}
	if err := s.checkMode(e.name, e.mode); err != nil {
		return "", false, err
	}
	if to == "." {
		return "", false, fmt.Errorf("%w: the folder to unpack is a file", ErrUnsafe)
	}
	if e.mode.Type() == fs.ModeSymlink {
		target, err := e.content(r, maxTarget)
		if err != nil {
			return "", false, err
		}
		return "", false, s.symlink(w, to, string(target))
	}
	_, err = w.claim(to, s.entry(0, ""))
	return to, err == nil, err
}

// checkSum refuses what the sizes in the directory already show to be too much. That they are true is checked for each file.
func (s *source) checkSum(w *writer, files []zipFile) error {
	var sum int64
	for _, f := range files {
		if sum += f.size; sum > w.opt.MaxBytes {
			return fmt.Errorf("%w: more than %d bytes", ErrTooLarge, w.opt.MaxBytes)
		}
	}
	if sum > ratioFloor && sum/w.opt.MaxRatio > s.packed {
		return fmt.Errorf("%w: %d bytes from an archive of %d bytes", ErrTooLarge, sum, s.packed)
	}
	return nil
}

const (
	bigFile   = 1 << 20 // bytes; from here on a file is a batch of its own
	batchSize = 64      // small files of one folder that a worker takes at once
)

// batches orders the files so that workers end at the same time: big ones first, the biggest at the very first; then small
// ones, some of one folder at a time, so that their folder is opened once.
func batches(files []zipFile) [][]zipFile {
	slices.SortStableFunc(files, func(a, b zipFile) int {
		switch {
		case a.size >= bigFile || b.size >= bigFile:
			return cmp.Compare(b.size, a.size)
		default:
			return cmp.Or(cmp.Compare(path.Dir(a.to), path.Dir(b.to)), cmp.Compare(a.offset, b.offset))
		}
	})
	var all [][]zipFile
	for len(files) > 0 {
		n := 1
		for files[0].size < bigFile && n < len(files) && n < batchSize && path.Dir(files[n].to) == path.Dir(files[0].to) {
			n++
		}
		all = append(all, files[:n])
		files = files[n:]
	}
	return all
}

func (s *source) writeAll(ctx context.Context, w *writer, r io.ReaderAt, files []zipFile) error {
	g, ctx := errgroup.WithContext(ctx)
	queue := make(chan []zipFile)
	for range w.opt.Workers {
		g.Go(func() error {
			z := newUnzipper(r)
			for batch := range queue {
				if err := s.writeBatch(ctx, w, z, batch); err != nil {
					return err
				}
			}
			return nil
		})
	}
	g.Go(func() error {
		defer close(queue)
		for _, b := range batches(files) {
			select {
			case queue <- b:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	return g.Wait()
}

func (s *source) writeBatch(ctx context.Context, w *writer, z *unzipper, batch []zipFile) error {
	dir, err := w.root.OpenRoot(path.Dir(batch[0].to))
	if err != nil {
		return err
	}
	defer dir.Close()
	for _, f := range batch {
		in, err := z.open(f.zipEntry)
		if err == nil {
			err = w.file(ctx, s, dir, f.to, f.mode&0o111 != 0, in, z.buf)
		}
		if err != nil {
			return fmt.Errorf("entry %q: %w", f.name, damaged(err))
		}
		s.consumed(w, f.packed)
	}
	return nil
}

// unzipper reads members of a zip, one after the other, with the same buffers.
type unzipper struct {
	r       io.ReaderAt
	packed  *bufio.Reader
	inflate io.Reader // of packed; nil before the first member that needs it
	buf     []byte
}

const (
	copyBuffer   = 256 << 10 // fits into a processor's own cache, and makes few system calls
	packedBuffer = 64 << 10
)

func newUnzipper(r io.ReaderAt) *unzipper {
	return &unzipper{r: r, buf: make([]byte, copyBuffer)}
}

// open returns the content of a member; reading it to the end checks size and checksum. It is valid until the next open.
func (z *unzipper) open(e zipEntry) (io.Reader, error) {
	at, err := e.checkLocal(z.r)
	if err != nil {
		return nil, err
	}
	packed := io.NewSectionReader(z.r, at, e.packed)
	plain := io.Reader(packed)
	switch e.method {
	case methodStore:
	case methodDeflate:
		if z.inflate == nil {
			z.packed = bufio.NewReaderSize(packed, packedBuffer)
			z.inflate = flate.NewReader(z.packed)
		} else {
			z.packed.Reset(packed)
			if err := z.inflate.(flate.Resetter).Reset(z.packed, nil); err != nil {
				return nil, err
			}
		}
		plain = z.inflate
	default:
		kind, ok := zipMethods[e.method]
		if !ok {
			return nil, fmt.Errorf("%w: it is compressed by method %d", ErrFormat, e.method)
		}
		if plain, err = decompress(kind, bufio.NewReaderSize(packed, 64<<10)); err != nil {
			return nil, err
		}
	}
	return &checkedReader{r: plain, left: e.size, want: e.crc}, nil
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

// content is what a small member holds.
func (e zipEntry) content(r io.ReaderAt, limit int64) ([]byte, error) {
	if e.size > limit {
		return nil, fmt.Errorf("%w: entry %q has %d bytes, at most %d make sense", ErrUnsafe, e.name, e.size, limit)
	}
	z := &unzipper{r: r}
	in, err := z.open(e)
	if err != nil {
		return nil, fmt.Errorf("entry %q: %w", e.name, damaged(err))
	}
	b, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err != nil {
		return nil, fmt.Errorf("entry %q: %w", e.name, damaged(err))
	}
	return b, nil
}
