package fetch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sort"
)

// zipDirectory is where a zip archive has its central directory.
type zipDirectory struct {
	start, end int64 // in the file; the records that end the archive follow
	entries    int64
}

// zipMember is one entry of a central directory.
type zipMember struct {
	name   string
	offset int64 // of its local header
	packed int64
	link   bool // a symbolic link
}

const (
	endLen       = 22
	end64Len     = 56
	locator64Len = 20
	memberLen    = 46
	maxComment   = 1<<16 - 1
	tailLen      = endLen + maxComment + locator64Len + end64Len // the end records are within the last bytes
	maxDirectory = 128 << 20
	maxMembers   = 2_000_000
)

var errZip = errors.New("it is no whole zip archive")

func zipError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errZip, fmt.Sprintf(format, args...))
}

// findDirectory looks for the central directory of an archive of size bytes.
func findDirectory(r io.ReaderAt, size int64) (zipDirectory, error) {
	n := min(size, tailLen)
	tail := make([]byte, n)
	if _, err := r.ReadAt(tail, size-n); err != nil && !errors.Is(err, io.EOF) {
		return zipDirectory{}, err
	}
	return parseEnd(tail, size)
}

// parseEnd reads the records at the end of an archive of size bytes, of which tail are the last ones.
func parseEnd(tail []byte, size int64) (d zipDirectory, err error) {
	base := size - int64(len(tail))
	at := -1
	for i := len(tail) - endLen; i >= 0 && i >= len(tail)-endLen-maxComment; i-- {
		if bytes.HasPrefix(tail[i:], []byte("PK\x05\x06")) && i+endLen+int(binary.LittleEndian.Uint16(tail[i+20:])) <= len(tail) {
			at = i
			break
		}
	}
	if at < 0 {
		return d, zipError("it has no record of its end: it is cut off, or something else")
	}
	e := tail[at:]
	le := binary.LittleEndian
	disk, dirDisk := le.Uint16(e[4:]), le.Uint16(e[6:])
	d.entries = int64(le.Uint16(e[10:]))
	length, start := int64(le.Uint32(e[12:])), int64(le.Uint32(e[16:]))
	stop := base + int64(at)
	if at >= locator64Len && bytes.HasPrefix(tail[at-locator64Len:], []byte("PK\x06\x07")) {
		where := int64(le.Uint64(tail[at-locator64Len+8:]))
		i := where - base
		if where < 0 || i < 0 || i > int64(at-locator64Len-end64Len) || !bytes.HasPrefix(tail[i:], []byte("PK\x06\x06")) {
			return d, zipError("its zip64 record is not where it should be")
		}
		e64 := tail[i:]
		disk, dirDisk = uint16(le.Uint32(e64[16:])), uint16(le.Uint32(e64[20:]))
		d.entries, length, start = int64(le.Uint64(e64[32:])), int64(le.Uint64(e64[40:])), int64(le.Uint64(e64[48:]))
		stop = where
	}
	if disk != 0 || dirDisk != 0 {
		return d, zipError("it is one of several volumes")
	}
	if length < 0 || start < 0 || start > stop || length != stop-start || d.entries < 0 || d.entries > length/memberLen {
		return d, zipError("its central directory (%d bytes at %d, %d entries) does not end at byte %d, where its end record is", length, start, d.entries, stop)
	}
	d.start, d.end = start, stop
	return d, nil
}

// parseDirectory reads a central directory. Members are in the order of their offsets.
func parseDirectory(b []byte, d zipDirectory) ([]zipMember, error) {
	if d.entries > maxMembers {
		return nil, zipError("it has %d entries", d.entries)
	}
	le := binary.LittleEndian
	ms := make([]zipMember, 0, d.entries)
	for n := int64(0); n < d.entries; n++ {
		if len(b) < memberLen || !bytes.HasPrefix(b, []byte("PK\x01\x02")) {
			return nil, zipError("entry %d of its central directory is damaged", n)
		}
		nameLen, extraLen, commentLen := int(le.Uint16(b[28:])), int(le.Uint16(b[30:])), int(le.Uint16(b[32:]))
		whole := memberLen + nameLen + extraLen + commentLen
		if len(b) < whole {
			return nil, zipError("entry %d of its central directory is cut off", n)
		}
		m := zipMember{name: string(b[memberLen : memberLen+nameLen]), packed: int64(le.Uint32(b[20:])), offset: int64(le.Uint32(b[42:]))}
		m.link = b[5] == 3 && le.Uint32(b[38:])>>28 == 0xA
		if err := m.wide(b[memberLen+nameLen:memberLen+nameLen+extraLen], le.Uint32(b[24:]) == 1<<32-1); err != nil {
			return nil, err
		}
		if m.offset < 0 || m.packed < 0 || m.offset >= d.start || m.packed > d.start-m.offset {
			return nil, zipError("entry %.80q (%d bytes at %d) lies outside of it", m.name, m.packed, m.offset)
		}
		ms = append(ms, m)
		b = b[whole:]
	}
	if len(b) > 0 && !bytes.HasPrefix(b, []byte("PK\x05\x05")) { // a signature may follow
		return nil, zipError("its central directory has more than its %d entries", d.entries)
	}
	sort.SliceStable(ms, func(i, j int) bool { return ms[i].offset < ms[j].offset })
	return ms, nil
}

// wide takes from the zip64 field what does not fit the usual ones.
func (m *zipMember) wide(extra []byte, wideSize bool) error {
	le := binary.LittleEndian
	for len(extra) >= 4 {
		tag, n := le.Uint16(extra), int(le.Uint16(extra[2:]))
		if n > len(extra)-4 {
			return zipError("entry %.80q has a damaged extra field", m.name)
		}
		field := extra[4 : 4+n]
		extra = extra[4+n:]
		if tag != 1 {
			continue
		}
		for _, v := range []struct {
			wide bool
			to   *int64
		}{{wideSize, new(int64)}, {m.packed == 1<<32-1, &m.packed}, {m.offset == 1<<32-1, &m.offset}} {
			if !v.wide {
				continue
			}
			if len(field) < 8 {
				return zipError("entry %.80q has a short zip64 field", m.name)
			}
			*v.to = int64(le.Uint64(field))
			field = field[8:]
		}
		return nil
	}
	return nil
}

// extents are the pieces of the archive that hold the members that are kept, in order. Pieces with less than gap bytes
// between them are one. A member ends where the next one begins: so its header and what follows its data are in it.
func extents(ms []zipMember, d zipDirectory, keep func(zipMember) bool, gap, chunk int64) (segs [][2]int64, kept int) {
	for i, m := range ms {
		if !keep(m) {
			continue
		}
		kept++
		end := d.start
		for _, after := range ms[i+1:] {
			if after.offset > m.offset {
				end = after.offset
				break
			}
		}
		if last := len(segs) - 1; last >= 0 && m.offset-segs[last][1] < gap {
			segs[last][1] = max(segs[last][1], end)
		} else {
			segs = append(segs, [2]int64{m.offset, end})
		}
	}
	var cut [][2]int64
	for _, s := range segs {
		for at := s[0]; at < s[1]; at += chunk {
			cut = append(cut, [2]int64{at, min(at+chunk, s[1])})
		}
	}
	return cut, kept
}
