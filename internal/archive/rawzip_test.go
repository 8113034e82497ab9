package archive_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"testing"

	"github.com/hexmage/hexmage/internal/archive"
)

// member is a member of a zip file as no honest program writes it: every number can be set to something else than it
// is.
type member struct {
	name string
	body string // as it is in the file

	method    uint16
	flags     uint16
	unix      uint32  // file mode as Unix has it; 0: an ordinary file
	extra     []byte  // in the directory
	crc       *uint32 // in both headers
	size      *uint32
	packed    *uint32
	offset    *uint32
	local     string // another name in the local header
	localMark string // instead of the signature
}

func ptr[T any](v T) *T { return &v }

func or[T any](p *T, v T) T {
	if p != nil {
		return *p
	}
	return v
}

// zipTail changes what comes after the members.
type zipTail struct {
	count   *uint16
	offset  *uint32
	comment string
}

func rawZip(tail zipTail, members ...member) []byte {
	var b, dir bytes.Buffer
	put := func(w *bytes.Buffer, values ...any) {
		for _, v := range values {
			if s, ok := v.(string); ok {
				w.WriteString(s)
				continue
			}
			_ = binary.Write(w, binary.LittleEndian, v)
		}
	}
	for _, m := range members {
		at := uint32(b.Len())
		crc, n := or(m.crc, crc32.ChecksumIEEE([]byte(m.body))), uint32(len(m.body))
		size, packed := or(m.size, n), or(m.packed, n)
		local, mark := m.name, "PK\x03\x04"
		if m.local != "" {
			local = m.local
		}
		if m.localMark != "" {
			mark = m.localMark
		}
		put(&b, mark, uint16(20), m.flags, m.method, uint32(0), crc, packed, size, uint16(len(local)), uint16(0), local)
		put(&b, m.body)
		mode := m.unix
		if mode == 0 {
			mode = 0o100644
		}
		put(&dir, "PK\x01\x02", uint16(3<<8|20), uint16(20), m.flags, m.method, uint32(0), crc, packed, size,
			uint16(len(m.name)),
			uint16(len(m.extra)), uint16(0), uint16(0), uint16(0), mode<<16, or(m.offset, at), m.name, string(m.extra))
	}
	at := uint32(b.Len())
	b.Write(dir.Bytes())
	put(&b, "PK\x05\x06", uint32(0), or(tail.count, uint16(len(members))), or(tail.count, uint16(len(members))),
		uint32(dir.Len()), or(tail.offset, at), uint16(len(tail.comment)), tail.comment)
	return b.Bytes()
}

// wide is an archive of one empty member whose numbers are all in zip64 records.
func wide() []byte {
	le := func(v uint64, n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(v >> (8 * i))
		}
		return b
	}
	all := func(bs ...[]byte) []byte { return bytes.Join(bs, nil) }
	local := all([]byte("PK\x03\x04"), le(45, 2), make([]byte, 20), le(1, 2), le(0, 2), []byte("a"))
	extra := all(le(1, 2), le(24, 2), le(0, 8), le(0, 8), le(0, 8))
	entry := all([]byte("PK\x01\x02"), le(45, 2), le(45, 2), make([]byte, 8), le(0, 4), le(1<<32-1, 4),
		le(1<<32-1, 4), le(1, 2), le(uint64(len(extra)), 2),
		make([]byte, 2+2+2+4), le(1<<32-1, 4), []byte("a"), extra)
	at := len(local) + len(entry)
	end64 := all([]byte("PK\x06\x06"), le(44, 8), le(45, 2), le(45, 2), le(0, 4), le(0, 4), le(1, 8), le(1, 8),
		le(uint64(len(entry)), 8), le(uint64(len(local)), 8))
	locator := all([]byte("PK\x06\x07"), le(0, 4), le(uint64(at), 8), le(1, 4))
	end := all([]byte("PK\x05\x06"), le(0, 4), le(1<<16-1, 2), le(1<<16-1, 2), le(1<<32-1, 4), le(1<<32-1, 4), le(0, 2))
	return all(local, entry, end64, locator, end)
}

// TestZip64: an archive whose numbers are in the records for large ones only.
func TestZip64(t *testing.T) {
	b := wide()
	ms, err := archive.ListZip(bytes.NewReader(b), int64(len(b)), 10)
	if err != nil || len(ms) != 1 || ms[0].Name != "a" || ms[0].Offset != 0 || ms[0].Packed != 0 {
		t.Errorf("%+v, %v", ms, err)
	}
	for _, n := range []int{0, 3, len(b) - 1, len(b) / 2} {
		if _, err := archive.ListZip(bytes.NewReader(b[:n]), int64(n), 10); !errors.Is(err, archive.ErrTruncated) {
			t.Errorf("%d of %d bytes: %v", n, len(b), err)
		}
	}
}
