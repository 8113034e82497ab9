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

// The standard library reads zip files. archives.Zip hands out one member at a time and hides its offset.
// docs/design/0007-toolchains.md compares their speed.

// Member is an entry in a zip file's directory: a file, a folder or a link. ListZip guarantees that the member's
// content is inside the zip file and does not overlap other members. It does not check other fields.
type Member struct {
	Name   string // slash path from the directory; the name of a folder ends with a slash
	Size   int64  // bytes, unpacked
	Packed int64
	CRC32  uint32
	Mode   fs.FileMode
	Offset int64 // offset of the local header, which precedes the content
	End    int64 // offset of the next member, or of the directory

	file *zip.File
	r    io.ReaderAt
}

const (
	localMark  = "PK\x03\x04" // of the header in front of each member
	entryMark  = "PK\x01\x02" // of an entry of the directory
	endMark    = "PK\x05\x06" // of the record at the end of the file
	locateMark = "PK\x06\x07" // of the zip64 locator, which has the offset of the zip64 end record

	localSize  = 30
	endSize    = 22
	locateSize = 20
	end64Size  = 56

	maxDirectory = 128 << 20 // bytes

	flagEncrypted = 1 << 0
)

// zipSource is the io.ReaderAt of archive/zip. During listing it counts the directory's entries, since the library has
// no limit. During placing it returns an empty local header for each member: DataOffset, the library's only source of a
// member's offset, would read the header of each member, and a partial file may lack these.
type zipSource struct {
	io.ReaderAt
	listing, placing bool
	max, entries     int
	next, bytes      int64 // end of the last read, and sum of bytes read
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
	if off == z.next { // the library reads a directory sequentially
		z.entries += bytes.Count(p[:n], []byte(entryMark))
	}
	z.next = off + int64(n)
	if z.bytes += int64(n); z.bytes > maxDirectory {
		return 0, fmt.Errorf("%w: the zip directory has more than %d bytes", ErrTooLarge, maxDirectory)
	}
	if z.entries > z.max {
		return 0, fmt.Errorf("%w: more than %d entries", ErrTooLarge, z.max)
	}
	return n, err
}

// ListZip reads the directory of the zip file r, which has size bytes. It fails if the zip file has more than limit
// members.
func ListZip(r io.ReaderAt, size int64, limit int) ([]Member, error) {
	src := &zipSource{ReaderAt: r, listing: true, max: limit, next: -1}
	z, err := zip.NewReader(src, size)
	src.listing = false
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // the caller checks names
		return nil, damaged(fmt.Errorf("read the zip directory: %w", err))
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
			CRC32: f.CRC32, Mode: f.Mode(), Offset: at - localSize, file: f, r: r}
	}
	src.placing = false
	for _, m := range members {
		if err := m.check(dir); err != nil {
			return nil, err
		}
	}
	return members, setEnds(members, dir)
}

// directory returns the offset of the directory. The end record before a comment of the given length must point to it.
// The library also finds a directory elsewhere, and so accepts truncated downloads and files with trailing data.
func directory(r io.ReaderAt, size int64, comment int) (begin int64, err error) {
	le := binary.LittleEndian
	b := make([]byte, endSize)
	end := size - endSize - int64(comment)
	if _, err := r.ReadAt(b, max(end, 0)); err != nil || string(b[:4]) != endMark {
		return 0, fmt.Errorf("%w: the directory at the end of the zip file is missing", ErrTruncated)
	}
	length, at := uint64(le.Uint32(b[12:])), uint64(le.Uint32(b[16:]))
	loc, big := make([]byte, locateSize), make([]byte, end64Size)
	// zip64
	if _, err := r.ReadAt(loc, max(end-locateSize, 0)); err == nil && string(loc[:4]) == locateMark {
		end = int64(le.Uint64(loc[8:]))
		if _, err := r.ReadAt(big, max(end, 0)); err != nil {
			return 0, damaged(err)
		}
		length, at = le.Uint64(big[40:]), le.Uint64(big[48:])
	}
	if at > uint64(end) || length != uint64(end)-at {
		return 0,
			fmt.Errorf("%w: the zip directory (%d bytes at offset %d) does not end at the end record (offset %d)",
				ErrTruncated, length, at, end)
	}
	return int64(at), nil
}

// check returns an error if the member is encrypted or not within the file, whose directory starts at dir. open checks
// size and checksum.
func (m Member) check(dir int64) error {
	f := m.file
	switch {
	case max(f.UncompressedSize64, f.CompressedSize64) > math.MaxInt64/4:
		return fmt.Errorf("%w: entry %q has an implausible size of %d bytes", ErrUnsafe, m.Name,
			max(f.UncompressedSize64, f.CompressedSize64))
	case m.Offset < 0 || m.Offset > dir-localSize || m.Packed > dir-localSize-m.Offset:
		return fmt.Errorf("%w: entry %q lies outside the zip file", ErrTruncated, m.Name)
	case f.Flags&flagEncrypted != 0:
		return fmt.Errorf("%w: entry %q is encrypted", ErrFormat, m.Name)
	}
	return nil
}

// setEnds sets the ends of members. Overlapping members are an error: they are a sign of an archive bomb.
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

// open returns the content. Reading to the end checks size and checksum. Several members may be read concurrently.
func (m Member) open() (io.ReadCloser, error) {
	if _, err := m.checkLocal(); err != nil {
		return nil, err
	}
	in, err := m.file.Open()
	if errors.Is(err, zip.ErrAlgorithm) {
		return nil, fmt.Errorf("%w: unknown compression method %d", ErrFormat, m.file.Method)
	}
	return in, err
}

// checkLocal checks the local header of a member, and returns the offset of the content. The header's name must equal
// the directory's, and the member must not overlap the next one. Otherwise a program that reads the archive from start
// to end would see other files.
func (m Member) checkLocal() (content int64, err error) {
	b := make([]byte, localSize+len(m.Name))
	if _, err := m.r.ReadAt(b, m.Offset); err != nil || string(b[:4]) != localMark {
		return 0, fmt.Errorf("%w: the offset in the zip directory does not point to an entry", ErrTruncated)
	}
	le := binary.LittleEndian
	if int(le.Uint16(b[26:])) != len(m.Name) || string(b[localSize:]) != m.Name {
		return 0, fmt.Errorf("%w: the entry's header and the zip directory have different names", ErrUnsafe)
	}
	content = m.Offset + int64(len(b)) + int64(le.Uint16(b[28:]))
	if content+m.Packed > m.End {
		return 0, fmt.Errorf("%w: the entry overlaps the next entry", ErrUnsafe)
	}
	return content, nil
}

// Stored returns a reader for the content of an uncompressed member. It does not verify the checksum.
func (m Member) Stored() (*io.SectionReader, error) {
	content, err := m.checkLocal()
	if err != nil {
		return nil, err
	}
	if m.file.Method != zip.Store {
		return nil, fmt.Errorf("%w: entry %q is compressed, not stored", ErrFormat, m.Name)
	}
	return io.NewSectionReader(m.r, content, m.Packed), nil
}

// Read returns the member's content, and verifies the size and the checksum. It fails if the content has more than
// limit bytes.
func (m Member) Read(limit int64) ([]byte, error) {
	if m.Size > limit {
		return nil, fmt.Errorf("%w: entry %q has %d bytes; the limit is %d", ErrUnsafe, m.Name, m.Size, limit)
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

// unreadable explains the library's ErrFormat of an open member.
func unreadable(err error) error {
	if errors.Is(err, zip.ErrFormat) {
		return fmt.Errorf("%w: the entry has more bytes than the zip directory says", ErrUnsafe)
	}
	return damaged(err)
}

const packedBuffer = 64 << 10

// inflater decompresses one member after another with the same buffers.
type inflater struct {
	packed *bufio.Reader
	plain  io.ReadCloser
	idle   *sync.Pool
}

func (i *inflater) Read(p []byte) (int, error) { return i.plain.Read(p) }

// Close returns the inflater to the pool.
func (i *inflater) Close() error {
	i.idle.Put(i)
	return nil
}

// decompressors registers faster decompressors: the library's inflate reads in chunks of 4 KB.
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

// zipFile is a regular file to write after all names are checked.
type zipFile struct {
	Member
	to string // destination
}

// zip unpacks a zip file. It checks the whole directory before it writes a byte, then writes files in parallel.
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

// zipPlace claims the destination of a member. ok is true for a file to write.
func (s *source) zipPlace(w *writer, m Member) (to string, ok bool, err error) {
	if strings.Contains(m.Name, `\`) {
		return "", false, fmt.Errorf("%w: entry name %q contains a backslash", ErrUnsafe, m.Name)
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
		return "", false, fmt.Errorf("%w: the root of the unpacked tree is a file, not a folder", ErrUnsafe)
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

// checkSum checks the limits by the sizes in the directory. open checks these sizes later.
func (s *source) checkSum(w *writer, files []zipFile) error {
	var sum, packed int64
	for _, f := range files {
		packed += f.Packed
		if sum += f.Size; sum > w.opt.MaxBytes {
			return fmt.Errorf("%w: more than %d bytes of content", ErrTooLarge, w.opt.MaxBytes)
		}
	}
	if sum > ratioFloor && sum/w.opt.MaxRatio > packed {
		return fmt.Errorf("%w: %d bytes of content in an archive of only %d bytes", ErrTooLarge, sum, packed)
	}
	return nil
}

const copyBuffer = 256 << 10 // bytes: fits into a processor's cache, and needs few system calls

// writeAll writes the files on all processors, the largest first, so that all end at about one time.
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
