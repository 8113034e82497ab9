package archive

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/flate"
	"golang.org/x/sync/errgroup"
)

// Zip files are read by the standard library, and not through archives.Zip: that one hands out one member after the
// other, and does not say where they are. docs/design/0005-archives.md has what each of them costs.

// Member is a file, folder or link of a zip file, as its directory has it. It is within the file, and has none of its
// bytes in common with another one; nothing else of it has been checked.
type Member struct {
	Name   string // as it is there: with slashes, and folders with one at the end
	Size   int64  // bytes, unpacked
	Packed int64
	Mode   fs.FileMode
	Offset int64 // where its own header begins, which its content follows
	End    int64 // where the next member begins, or the directory

	file *zip.File
	r    io.ReaderAt
}

const (
	localMark  = "PK\x03\x04" // of the header in front of each member
	entryMark  = "PK\x01\x02" // of an entry of the directory
	endMark    = "PK\x05\x06" // of the record at the end of the file
	locateMark = "PK\x06\x07" // of what says where in front of it the record for large numbers is

	localSize  = 30
	endSize    = 22
	locateSize = 20
	end64Size  = 56

	maxDirectory = 128 << 20 // bytes

	flagEncrypted = 1 << 0
)

// zipSource is a zip file as archive/zip reads it. While the directory is listed its entries are counted: the library
// takes as many as there are. Then, while members are placed, each has an empty header: DataOffset, which alone tells
// where a member is, would have to read all of them otherwise, of a file of which only the end may be there.
type zipSource struct {
	io.ReaderAt
	listing, placing bool
	max, entries     int
	next, bytes      int64 // where the last read ended, and how much was read
}

func (z *zipSource) ReadAt(p []byte, off int64) (int, error) {
	if z.placing {
		clear(p)
		copy(p, localMark)
		return len(p), nil
	}
	n, err := z.ReaderAt.ReadAt(p, off)
	if !z.listing {
		return n, err
	}
	if off == z.next { // a directory is read in pieces, one after the other
		z.entries += bytes.Count(p[:n], []byte(entryMark))
	}
	z.next = off + int64(n)
	if z.bytes += int64(n); z.bytes > maxDirectory {
		return 0, fmt.Errorf("%w: its directory has more than %d bytes", ErrTooLarge, maxDirectory)
	}
	if z.entries > z.max {
		return 0, fmt.Errorf("%w: more than %d entries", ErrTooLarge, z.max)
	}
	return n, err
}

// ListZip reads the directory of the zip file of size bytes behind r. It is an error when it has more than limit
// members.
func ListZip(r io.ReaderAt, size int64, limit int) ([]Member, error) {
	src := &zipSource{ReaderAt: r, listing: true, max: limit, next: -1}
	z, err := zip.NewReader(src, size)
	src.listing = false
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // names are looked at by whoever uses them
		return nil, damaged(fmt.Errorf("its directory can't be read: %w", err))
	}
	if len(z.File) > limit {
		return nil, fmt.Errorf("%w: more than %d entries", ErrTooLarge, limit)
	}
	dir, err := directory(r, size, len(z.Comment))
	if err != nil {
		return nil, err
	}
	decompressors(z)
	members := make([]Member, len(z.File))
	src.placing = true
	for i, f := range z.File {
		at, err := f.DataOffset()
		if err != nil {
			return nil, damaged(err)
		}
		members[i] = Member{Name: f.Name, Size: int64(f.UncompressedSize64), Packed: int64(f.CompressedSize64),
			Mode: f.Mode(), Offset: at - localSize, file: f, r: r}
	}
	src.placing = false
	for _, m := range members {
		if err := m.check(dir); err != nil {
			return nil, err
		}
	}
	return members, setEnds(members, dir)
}

// directory returns the offset of the directory, by the record at the end of the file, before a comment of the length.
// The library also finds a directory elsewhere: a download that is cut off or has a second file behind it would pass.
func directory(r io.ReaderAt, size int64, comment int) (begin int64, err error) {
	le := binary.LittleEndian
	b := make([]byte, endSize)
	end := size - endSize - int64(comment)
	if _, err := r.ReadAt(b, max(end, 0)); err != nil || string(b[:4]) != endMark {
		return 0, fmt.Errorf("%w: a zip file without its directory at the end", ErrTruncated)
	}
	length, at := uint64(le.Uint32(b[12:])), uint64(le.Uint32(b[16:]))
	loc, big := make([]byte, locateSize), make([]byte, end64Size)
	// there is a record for large numbers
	if _, err := r.ReadAt(loc, max(end-locateSize, 0)); err == nil && string(loc[:4]) == locateMark {
		end = int64(le.Uint64(loc[8:]))
		if _, err := r.ReadAt(big, max(end, 0)); err != nil {
			return 0, damaged(err)
		}
		length, at = le.Uint64(big[40:]), le.Uint64(big[48:])
	}
	if at > uint64(end) || length != uint64(end)-at {
		return 0, fmt.Errorf("%w: its directory is not where the end record says (%d bytes at %d of %d)",
			ErrTruncated, length, at, end)
	}
	return int64(at), nil
}

// check returns an error if the member is not within the file, whose directory begins at dir, or is encrypted. Its size
// and checksum are checked when it is read.
func (m Member) check(dir int64) error {
	f := m.file
	switch {
	case max(f.UncompressedSize64, f.CompressedSize64) > math.MaxInt64/4:
		return fmt.Errorf("%w: entry %q has a size of %d", ErrUnsafe, m.Name,
			max(f.UncompressedSize64, f.CompressedSize64))
	case m.Offset < 0 || m.Offset > dir-localSize || m.Packed > dir-localSize-m.Offset:
		return fmt.Errorf("%w: entry %q is not within the file", ErrTruncated, m.Name)
	case f.Flags&flagEncrypted != 0:
		return fmt.Errorf("%w: entry %q is encrypted", ErrFormat, m.Name)
	}
	return nil
}

// setEnds says where members end. Those that overlap are an error: each byte of the file is used once.
func setEnds(members []Member, dir int64) error {
	order := make([]*Member, len(members))
	for i := range members {
		order[i] = &members[i]
	}
	slices.SortFunc(order, func(a, b *Member) int { return cmp.Compare(a.Offset, b.Offset) })
	for i, m := range order {
		next := "the directory"
		if m.End = dir; i+1 < len(order) {
			m.End, next = order[i+1].Offset, fmt.Sprintf("entry %q", order[i+1].Name)
		}
		if m.Offset+localSize+int64(len(m.Name))+m.Packed > m.End {
			return fmt.Errorf("%w: entry %q overlaps %s", ErrUnsafe, m.Name, next)
		}
	}
	return nil
}

// open returns the content; reading it to the end checks size and checksum. Several members may be read at once.
func (m Member) open() (io.ReadCloser, error) {
	if err := m.checkLocal(); err != nil {
		return nil, err
	}
	in, err := m.file.Open()
	if errors.Is(err, zip.ErrAlgorithm) {
		return nil, fmt.Errorf("%w: it is compressed by method %d", ErrFormat, m.file.Method)
	}
	return in, err
}

// checkLocal checks the header in front of a member: its name is the directory's, and with its extra fields the member
// does not overlap the next one. Otherwise a program that reads the archive from its start would see other files.
func (m Member) checkLocal() error {
	b := make([]byte, localSize+len(m.Name))
	if _, err := m.r.ReadAt(b, m.Offset); err != nil || string(b[:4]) != localMark {
		return fmt.Errorf("%w: there is no member where the directory says", ErrTruncated)
	}
	le := binary.LittleEndian
	if int(le.Uint16(b[26:])) != len(m.Name) || string(b[localSize:]) != m.Name {
		return fmt.Errorf("%w: the member's own header gives another name than the directory", ErrUnsafe)
	}
	if m.Offset+int64(len(b))+int64(le.Uint16(b[28:]))+m.Packed > m.End {
		return fmt.Errorf("%w: it overlaps the next member", ErrUnsafe)
	}
	return nil
}

// Stored returns the content of a member that is stored as it is, where it is in the file: nobody has compared it
// with its checksum.
func (m Member) Stored() (*io.SectionReader, error) {
	if err := m.checkLocal(); err != nil {
		return nil, err
	}
	if m.file.Method != zip.Store {
		return nil, fmt.Errorf("%w: entry %q is compressed", ErrFormat, m.Name)
	}
	b := make([]byte, localSize)
	if _, err := m.r.ReadAt(b, m.Offset); err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	return io.NewSectionReader(m.r, m.Offset+localSize+int64(le.Uint16(b[26:]))+int64(le.Uint16(b[28:])), m.Packed), nil
}

// Read returns the member's content, its size and checksum checked. A member of more than limit bytes is an error.
func (m Member) Read(limit int64) ([]byte, error) {
	if m.Size > limit {
		return nil, fmt.Errorf("%w: entry %q has %d bytes, at most %d make sense", ErrUnsafe, m.Name, m.Size, limit)
	}
	in, err := m.open()
	if err != nil {
		return nil, fmt.Errorf("entry %q: %w", m.Name, unreadable(err))
	}
	defer in.Close()
	b, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err != nil {
		return nil, fmt.Errorf("entry %q: %w", m.Name, unreadable(err))
	}
	return b, nil
}

// unreadable says what the library means by ErrFormat once a member is open.
func unreadable(err error) error {
	if errors.Is(err, zip.ErrFormat) {
		return fmt.Errorf("%w: it has more bytes than the archive says", ErrUnsafe)
	}
	return damaged(err)
}

const packedBuffer = 64 << 10

// inflater decompresses one member, then another with the same buffers.
type inflater struct {
	packed *bufio.Reader
	plain  io.ReadCloser
	idle   *sync.Pool
}

func (i *inflater) Read(p []byte) (int, error) { return i.plain.Read(p) }

// Close lets another member have it.
func (i *inflater) Close() error {
	i.idle.Put(i)
	return nil
}

// decompressors tells the reader how to decompress. The library's own inflate reads in pieces of 4 KB and takes
// longer.
func decompressors(z *zip.Reader) {
	var idle sync.Pool
	z.RegisterDecompressor(zip.Deflate, func(r io.Reader) io.ReadCloser {
		if i, ok := idle.Get().(*inflater); ok {
			i.packed.Reset(r)
			if i.plain.(flate.Resetter).Reset(i.packed, nil) == nil {
				return i
			}
		}
		packed := bufio.NewReaderSize(r, packedBuffer)
		return &inflater{packed: packed, plain: flate.NewReader(packed), idle: &idle}
	})
	for method, kind := range map[uint16]format{12: formatTarBz2, 93: formatTarZst, 95: formatTarXz} {
		z.RegisterDecompressor(method, func(r io.Reader) io.ReadCloser {
			plain, err := decompress(kind, bufio.NewReaderSize(r, packedBuffer))
			if err != nil {
				return io.NopCloser(failing{err})
			}
			return plain
		})
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// zipFile is a regular file of a zip, to be written when all names have been checked.
type zipFile struct {
	Member
	to string // where it goes
}

// zip unpacks a zip file. Its directory is read first, so that a bad name, a false size or too much of anything is
// found before a byte is written; then files are written by several workers at once.
func (s *source) zip(ctx context.Context, w *writer, r io.ReaderAt) error {
	members, err := ListZip(r, s.packed, w.opt.MaxEntries)
	if err != nil {
		return err
	}
	var files []zipFile
	for _, m := range members {
		if err := ctx.Err(); err != nil {
			return err
		}
		to, ok, err := s.zipPlace(w, m)
		if err != nil {
			return err
		}
		if ok {
			files = append(files, zipFile{m, to})
		}
	}
	if err := s.checkPrefix(w); err != nil {
		return err
	}
	if err := s.checkSum(w, files); err != nil {
		return err
	}
	if err := s.writeAll(ctx, w, files); err != nil {
		return err
	}
	s.consumed(w, s.packed)
	return nil
}

// zipPlace claims the place of a member; ok is true for a file that is to be written there.
func (s *source) zipPlace(w *writer, m Member) (to string, ok bool, err error) {
	if strings.Contains(m.Name, `\`) {
		return "", false, fmt.Errorf("%w: entry %q has a backslash in its name", ErrUnsafe, m.Name)
	}
	to, ok, err = s.place(w, m.Name)
	if err != nil || !ok {
		return "", false, err
	}
	if m.Mode.IsDir() {
		err := w.claim(to, s.entry(fs.ModeDir, ""))
		return "", false, err
	}
	if !w.keeps(to) {
		return "", false, nil
	}
	if err := s.checkMode(m.Name, m.Mode); err != nil {
		return "", false, err
	}
	if to == "." {
		return "", false, fmt.Errorf("%w: the folder to unpack is a file", ErrUnsafe)
	}
	if m.Mode.Type() == fs.ModeSymlink {
		target, err := m.Read(maxTarget)
		if err != nil {
			return "", false, err
		}
		return "", false, s.symlink(w, to, string(target))
	}
	err = w.claim(to, s.entry(0, ""))
	return to, err == nil, err
}

// checkSum refuses what the sizes in the directory already show to be too much. That they are true is checked for
// each file.
func (s *source) checkSum(w *writer, files []zipFile) error {
	var sum int64
	for _, f := range files {
		if sum += f.Size; sum > w.opt.MaxBytes {
			return fmt.Errorf("%w: more than %d bytes", ErrTooLarge, w.opt.MaxBytes)
		}
	}
	if sum > ratioFloor && sum/w.opt.MaxRatio > s.packed {
		return fmt.Errorf("%w: %d bytes from an archive of %d bytes", ErrTooLarge, sum, s.packed)
	}
	return nil
}

const copyBuffer = 256 << 10 // bytes: fits into a processor's own cache, and makes few system calls

// writeAll writes the files on all processors, the largest first, so that all end at about the same time.
func (s *source) writeAll(ctx context.Context, w *writer, files []zipFile) error {
	slices.SortStableFunc(files, func(a, b zipFile) int { return cmp.Compare(b.Size, a.Size) })
	g, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range runtime.GOMAXPROCS(0) {
		g.Go(func() error {
			buf := make([]byte, copyBuffer)
			for i := next.Add(1); i <= int64(len(files)); i = next.Add(1) {
				if err := s.write(ctx, w, files[i-1], buf); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

func (s *source) write(ctx context.Context, w *writer, f zipFile, buf []byte) error {
	in, err := f.open()
	if err == nil {
		err = w.file(ctx, s, f.to, f.Mode&0o111 != 0, in, buf)
		in.Close()
	}
	if err != nil {
		return fmt.Errorf("entry %q: %w", f.Name, unreadable(err))
	}
	s.consumed(w, f.Packed)
	return nil
}
