package archive

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"
)

// A zip file ends with its directory: a header for each member that also says where in the file the member is, with a
// header of its own; then the end record, with a comment of up to 64 KB. Large archives have a second end record in front,
// with 64-bit numbers, and a locator of it.
const (
	localHeader = "PK\x03\x04"
	dirHeader   = "PK\x01\x02"
	endRecord   = "PK\x05\x06"
	end64Record = "PK\x06\x06"
	end64Locate = "PK\x06\x07"

	localSize  = 30
	dirSize    = 46
	endSize    = 22
	end64Size  = 56
	locateSize = 20

	methodStore   = 0
	methodDeflate = 8

	flagEncrypted  = 1 << 0
	flagDescriptor = 1 << 3 // sizes and checksum are behind the content, not in the local header
)

// zipMethods are the rarer methods by number.
var zipMethods = map[uint16]format{12: formatTarBz2, 93: formatTarZst, 95: formatTarXz}

// zipEntry is a member as the directory has it.
type zipEntry struct {
	name   string
	mode   fs.FileMode
	flags  uint16
	method uint16
	crc    uint32
	packed int64
	size   int64
	offset int64 // of the local header
	limit  int64 // where the next member begins
}

// zipEnd is what the end records say.
type zipEnd struct{ count, size, offset uint64 }

// readZipDir reads the directory of a zip file. Members that overlap are an error: each byte of the file is used once.
func readZipDir(r io.ReaderAt, size int64, maxEntries int) ([]zipEntry, error) {
	end, err := readZipEnd(r, size)
	if err != nil {
		return nil, err
	}
	if end.count > uint64(maxEntries) {
		return nil, fmt.Errorf("%w: more than %d entries", ErrTooLarge, maxEntries)
	}
	if end.count > end.size/dirSize {
		return nil, fmt.Errorf("%w: its directory of %d bytes can't have %d entries", ErrTruncated, end.size, end.count)
	}
	in := bufio.NewReaderSize(io.NewSectionReader(r, int64(end.offset), int64(end.size)), 64<<10)
	entries := make([]zipEntry, 0, end.count)
	for range end.count {
		e, err := readZipEntry(in)
		if err != nil {
			return nil, err
		}
		if e.offset > int64(end.offset)-localSize || e.packed > int64(end.offset)-localSize-e.offset {
			return nil, fmt.Errorf("%w: entry %q is not within the file", ErrTruncated, e.name)
		}
		entries = append(entries, e)
	}
	if _, err := in.ReadByte(); err == nil {
		return nil, fmt.Errorf("%w: its directory has more than the %d entries it claims", ErrUnsafe, end.count)
	}
	return entries, setLimits(entries, int64(end.offset))
}

func setLimits(entries []zipEntry, end int64) error {
	order := make([]*zipEntry, len(entries))
	for i := range entries {
		order[i] = &entries[i]
	}
	slices.SortFunc(order, func(a, b *zipEntry) int { return cmp.Compare(a.offset, b.offset) })
	for i, e := range order {
		if e.limit = end; i+1 < len(order) {
			e.limit = order[i+1].offset
		}
		if e.offset+localSize+int64(len(e.name))+e.packed > e.limit {
			next := "the directory"
			if i+1 < len(order) {
				next = fmt.Sprintf("entry %q", order[i+1].name)
			}
			return fmt.Errorf("%w: entry %q overlaps %s", ErrUnsafe, e.name, next)
		}
	}
	return nil
}

// readZipEnd finds the directory.
func readZipEnd(r io.ReaderAt, size int64) (zipEnd, error) {
	tail := make([]byte, min(size, endSize+math.MaxUint16))
	if _, err := r.ReadAt(tail, size-int64(len(tail))); err != nil && err != io.EOF {
		return zipEnd{}, err
	}
	le := binary.LittleEndian
	at := -1
	for i := len(tail) - endSize; i >= 0 && at < 0; i-- {
		if string(tail[i:i+4]) == endRecord && i+endSize+int(le.Uint16(tail[i+20:])) == len(tail) {
			at = i
		}
	}
	if at < 0 {
		return zipEnd{}, fmt.Errorf("%w: a zip file without its directory at the end", ErrTruncated)
	}
	b := tail[at:]
	begin := size - int64(len(b)) // of the end records
	end := zipEnd{uint64(le.Uint16(b[10:])), uint64(le.Uint32(b[12:])), uint64(le.Uint32(b[16:]))}
	disks := [3]uint64{uint64(le.Uint16(b[4:])), uint64(le.Uint16(b[6:])), uint64(le.Uint16(b[8:]))}
	if end.count == math.MaxUint16 || end.size == math.MaxUint32 || end.offset == math.MaxUint32 {
		big, at, err := readZipEnd64(r, begin)
		if err != nil {
			return zipEnd{}, err
		}
		if at >= 0 {
			end, begin, disks = big, at, [3]uint64{0, 0, big.count}
		}
	}
	if disks != [3]uint64{0, 0, end.count} {
		return zipEnd{}, fmt.Errorf("%w: one part of a zip file in several parts", ErrFormat)
	}
	if end.offset > uint64(begin) || end.size != uint64(begin)-end.offset {
		return zipEnd{}, fmt.Errorf("%w: its directory is not where the end record says (%d bytes at %d of %d)", ErrTruncated, end.size, end.offset, begin)
	}
	return end, nil
}

// readZipEnd64 reads the 64-bit end record in front of the end record at begin; at is -1 when there is none.
func readZipEnd64(r io.ReaderAt, begin int64) (end zipEnd, at int64, err error) {
	var loc [locateSize]byte
	if begin < locateSize {
		return end, -1, nil
	}
	if _, err := r.ReadAt(loc[:], begin-locateSize); err != nil {
		return end, 0, err
	}
	if string(loc[:4]) != end64Locate {
		return end, -1, nil
	}
	le := binary.LittleEndian
	where := le.Uint64(loc[8:])
	if begin < locateSize+end64Size || where > uint64(begin-locateSize-end64Size) {
		return end, 0, fmt.Errorf("%w: its 64-bit end record is not within the file", ErrTruncated)
	}
	var b [end64Size]byte
	if _, err := r.ReadAt(b[:], int64(where)); err != nil {
		return end, 0, err
	}
	if string(b[:4]) != end64Record || le.Uint64(b[4:]) != uint64(begin-locateSize)-where-12 {
		return end, 0, fmt.Errorf("%w: its 64-bit end record is not one", ErrTruncated)
	}
	if le.Uint32(b[16:]) != 0 || le.Uint32(b[20:]) != 0 || le.Uint64(b[24:]) != le.Uint64(b[32:]) {
		return end, 0, fmt.Errorf("%w: one part of a zip file in several parts", ErrFormat)
	}
	return zipEnd{le.Uint64(b[32:]), le.Uint64(b[40:]), le.Uint64(b[48:])}, int64(where), nil
}

func readZipEntry(in *bufio.Reader) (zipEntry, error) {
	var b [dirSize]byte
	if _, err := io.ReadFull(in, b[:]); err != nil || string(b[:4]) != dirHeader {
		return zipEntry{}, fmt.Errorf("%w: its directory ends or is damaged within an entry", ErrTruncated)
	}
	le := binary.LittleEndian
	n, x, c := int(le.Uint16(b[28:])), int(le.Uint16(b[30:])), int(le.Uint16(b[32:]))
	rest := make([]byte, n+x)
	_, err := io.ReadFull(in, rest)
	if err == nil {
		_, err = in.Discard(c)
	}
	if err != nil {
		return zipEntry{}, fmt.Errorf("%w: its directory ends within an entry", ErrTruncated)
	}
	e := zipEntry{name: string(rest[:n]), flags: le.Uint16(b[8:]), method: le.Uint16(b[10:]), crc: le.Uint32(b[16:])}
	numbers := [3]uint64{uint64(le.Uint32(b[24:])), uint64(le.Uint32(b[20:])), uint64(le.Uint32(b[42:]))}
	if err := widen(&numbers, rest[n:]); err != nil {
		return zipEntry{}, fmt.Errorf("%w: entry %q: %w", ErrTruncated, e.name, err)
	}
	for _, v := range numbers {
		if v > math.MaxInt64/4 {
			return zipEntry{}, fmt.Errorf("%w: entry %q has a size or place of %d", ErrUnsafe, e.name, v)
		}
	}
	e.size, e.packed, e.offset = int64(numbers[0]), int64(numbers[1]), int64(numbers[2])
	e.mode = zipMode(e.name, b[5], le.Uint32(b[38:]))
	switch {
	case e.flags&flagEncrypted != 0:
		return zipEntry{}, fmt.Errorf("%w: entry %q is encrypted", ErrFormat, e.name)
	case e.mode.IsDir() && e.size > 0:
		return zipEntry{}, fmt.Errorf("%w: folder %q has content", ErrUnsafe, e.name)
	case e.method == methodStore && e.size != e.packed:
		return zipEntry{}, fmt.Errorf("%w: entry %q is stored as it is, in %d bytes, and has %d", ErrUnsafe, e.name, e.packed, e.size)
	case e.method == methodDeflate && e.size/1040 > e.packed: // deflate can't do better than 1032
		return zipEntry{}, fmt.Errorf("%w: entry %q can't have %d bytes, being packed in %d", ErrUnsafe, e.name, e.size, e.packed)
	}
	return e, nil
}

// widen replaces numbers that did not fit into 32 bits by those of the extra field for them.
func widen(numbers *[3]uint64, extra []byte) error {
	le := binary.LittleEndian
	for len(extra) >= 4 {
		id, n := le.Uint16(extra), int(le.Uint16(extra[2:]))
		if extra = extra[4:]; n > len(extra) {
			return fmt.Errorf("an extra field of %d bytes, %d are there", n, len(extra))
		}
		if id == 1 {
			for i, field := 0, extra[:n]; i < 3; i++ {
				if numbers[i] != math.MaxUint32 {
					continue
				}
				if len(field) < 8 {
					return fmt.Errorf("its 64-bit sizes are missing")
				}
				numbers[i], field = le.Uint64(field), field[8:]
			}
			return nil
		}
		extra = extra[n:]
	}
	return nil
}

// zipMode is what kind of file an entry is. Only archives that were made on Unix say more than file or folder.
func zipMode(name string, maker byte, attrs uint32) fs.FileMode {
	if strings.HasSuffix(name, "/") {
		return fs.ModeDir
	}
	if maker != 3 && maker != 19 { // Unix, macOS
		if attrs&0x10 != 0 {
			return fs.ModeDir
		}
		return 0o644
	}
	unix := attrs >> 16
	mode := fs.FileMode(unix & 0o777)
	if unix&0o4000 != 0 {
		mode |= fs.ModeSetuid
	}
	if unix&0o2000 != 0 {
		mode |= fs.ModeSetgid
	}
	switch unix & 0o170000 {
	case 0, 0o100000:
		return mode
	case 0o040000:
		return fs.ModeDir
	case 0o120000:
		return mode | fs.ModeSymlink
	}
	return mode | fs.ModeIrregular
}

// checkLocal compares the header in front of a member with the directory's, and returns where the content begins. Programs
// that trust the one and programs that trust the other would unpack different files.
func (e zipEntry) checkLocal(r io.ReaderAt) (int64, error) {
	b := make([]byte, localSize+len(e.name))
	if _, err := r.ReadAt(b, e.offset); err != nil || string(b[:4]) != localHeader {
		return 0, fmt.Errorf("%w: there is no member where the directory says", ErrTruncated)
	}
	le := binary.LittleEndian
	differs := func(what string) error {
		return fmt.Errorf("%w: the member's own header gives another %s than the directory", ErrUnsafe, what)
	}
	if n := int(le.Uint16(b[26:])); n != len(e.name) || !bytes.Equal(b[localSize:], []byte(e.name)) {
		return 0, differs("name")
	}
	if le.Uint16(b[8:]) != e.method {
		return 0, differs("method")
	}
	if le.Uint16(b[6:])&flagEncrypted != 0 {
		return 0, differs("encryption")
	}
	if crc, packed, size := le.Uint32(b[14:]), le.Uint32(b[18:]), le.Uint32(b[22:]); le.Uint16(b[6:])&flagDescriptor == 0 || crc|packed|size != 0 {
		switch {
		case crc != e.crc && !(crc == 0 && e.flags&flagDescriptor != 0):
			return 0, differs("checksum")
		case packed != math.MaxUint32 && int64(packed) != e.packed, size != math.MaxUint32 && int64(size) != e.size:
			return 0, differs("size")
		}
	}
	at := e.offset + int64(len(b)) + int64(le.Uint16(b[28:]))
	if at+e.packed > e.limit {
		return 0, fmt.Errorf("%w: it overlaps the next member", ErrUnsafe)
	}
	return at, nil
}
