package verify

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strconv"

	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// Identity is what the header of an ELF file says of it.
type Identity struct {
	Class   int    // 32 or 64
	Machine int    // e_machine
	Flags   uint32 // e_flags: for Hexagon the arch as hexadecimal, 0x79
	Type    int    // e_type: 1 object, 2 executable, 3 shared library
}

// ErrNotELF is what ReadIdentity returns, wrapped, for a file that does not start as ELF.
var ErrNotELF = errors.New("not an ELF file")

// ReadIdentity reads an ELF header. debug/elf reads sections too, and fails on some that no loader minds.
func ReadIdentity(r io.Reader) (Identity, error) {
	id, _, err := readHeader(r)
	return id, err
}

// header has where the tables of an ELF file are: offset, size of an entry, and how many.
type header struct {
	programs, sections table
}

type table struct {
	at        uint64
	size, num uint16
}

func readHeader(r io.Reader) (Identity, header, error) {
	h := make([]byte, 64)
	if n, err := readFull(r, h); err != nil || n < 52 || !bytes.HasPrefix(h, []byte("\x7fELF")) {
		return Identity{}, header{}, ErrNotELF
	}
	if h[5] != 1 {
		return Identity{}, header{}, fmt.Errorf("%w for a little-endian machine", ErrNotELF)
	}
	le := binary.LittleEndian
	id := Identity{Machine: int(le.Uint16(h[18:])), Type: int(le.Uint16(h[16:]))}
	var t header
	switch h[4] {
	case 1:
		id.Class, id.Flags = 32, le.Uint32(h[36:])
		t.programs = table{uint64(le.Uint32(h[28:])), le.Uint16(h[42:]), le.Uint16(h[44:])}
		t.sections = table{uint64(le.Uint32(h[32:])), le.Uint16(h[46:]), le.Uint16(h[48:])}
	case 2:
		id.Class, id.Flags = 64, le.Uint32(h[48:])
		t.programs = table{le.Uint64(h[32:]), le.Uint16(h[54:]), le.Uint16(h[56:])}
		t.sections = table{le.Uint64(h[40:]), le.Uint16(h[58:]), le.Uint16(h[60:])}
	default:
		return Identity{}, header{}, fmt.Errorf("%w: class %d", ErrNotELF, h[4])
	}
	return id, t, nil
}

func readFull(r io.Reader, b []byte) (int, error) {
	n, err := io.ReadFull(r, b)
	if err == io.ErrUnexpectedEOF || err == io.EOF {
		err = nil
	}
	return n, err
}

// end returns the length that the file must have for all that its headers speak of, in bytes.
func (h header) end(r io.ReaderAt, class int) uint64 {
	end := uint64(0)
	upTo := func(at, size uint64) {
		if at+size >= at { // else it is no place in any file, which loaders find out
			end = max(end, at+size)
		}
	}
	for _, t := range []table{h.programs, h.sections} {
		upTo(t.at, uint64(t.size)*uint64(t.num))
	}
	const most = 4096 // segments; real files have a dozen
	entry := make([]byte, 56)
	for i := range min(uint64(h.programs.num), most) {
		b := entry[:min(int(h.programs.size), len(entry))]
		if n, err := r.ReadAt(b, int64(h.programs.at+i*uint64(h.programs.size))); n < len(b) || err != nil && err != io.EOF {
			break // the table itself is cut off
		}
		le := binary.LittleEndian
		if class == 32 && len(b) >= 32 {
			upTo(uint64(le.Uint32(b[4:])), uint64(le.Uint32(b[16:])))
		} else if class == 64 && len(b) >= 56 {
			upTo(le.Uint64(b[8:]), le.Uint64(b[32:]))
		}
	}
	return end
}

// MachineName returns what people call an e_machine.
func MachineName(m int) string {
	switch m {
	case 164:
		return "Hexagon"
	case 183:
		return "AArch64"
	case 62:
		return "x86-64"
	}
	return "machine " + strconv.Itoa(m)
}

var hexagonFolder = lazyregexp.New(`hexagon-v(\d+)`)

func (t *tree) elf() {
	for _, c := range t.checks.ELF {
		for _, p := range t.patterns(c.Pattern) {
			for _, name := range t.glob(p) {
				t.elfFile(c, name)
			}
		}
	}
}

func (t *tree) elfFile(c ELF, name string) {
	f, err := openFile(filepath.Join(t.root, filepath.FromSlash(name)))
	if err != nil {
		t.add(name, "a file that can't be read: "+err.Error(), "an ELF file", again)
		return
	}
	if f == nil {
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return
	}
	t.report.Checked.ELF++
	id, h, err := readHeader(f)
	if err != nil {
		t.add(name, err.Error(), "an ELF file for "+MachineName(c.Machine), again)
		return
	}
	if id.Machine != c.Machine {
		t.add(name, "ELF for "+MachineName(id.Machine), "ELF for "+MachineName(c.Machine), again)
		return
	}
	if end := h.end(f, id.Class); end > uint64(info.Size()) {
		t.add(name, fmt.Sprintf("%d bytes", info.Size()), fmt.Sprintf("%d bytes, as its headers say", end),
			"the file is cut off: an unpacking or a copy was interrupted; remove the tree and fetch it again")
		return
	}
	t.flags(c, name, id)
	t.dynamic(c, name, f)
}

func (t *tree) flags(c ELF, name string, id Identity) {
	m := hexagonFolder.FindStringSubmatch(name)
	if !c.FlagsFromFolder || m == nil {
		return
	}
	want, err := strconv.ParseUint(m[1], 16, 32)
	if err == nil && uint32(want) != id.Flags {
		t.add(name, fmt.Sprintf("code for Hexagon v%x", id.Flags), "code for Hexagon v"+m[1], "the library is in another arch's folder: the SDK is mixed, get it again")
	}
}

// dynamic checks what a library says for the loader: its name and what it needs.
func (t *tree) dynamic(c ELF, name string, r io.ReaderAt) {
	if !c.Soname && len(c.NotNeeded) == 0 {
		return
	}
	e, err := elf.NewFile(r)
	if err != nil {
		return // no loader reads sections, and so nothing is wrong with it
	}
	if so, err := e.DynString(elf.DT_SONAME); c.Soname && err == nil && len(so) > 0 && so[0] != path.Base(name) {
		t.add(name, "a library that says it is "+so[0], "one that says it is "+path.Base(name),
			"it was renamed or copied over another: QNN loads libraries by these names; get the SDK again")
	}
	needed, err := e.ImportedLibraries()
	if err != nil {
		return
	}
	for _, lib := range needed {
		for _, p := range c.NotNeeded {
			if ok, err := path.Match(p, lib); err == nil && ok {
				t.add(name, "a library that needs "+lib, "one for the system that "+path.Dir(name)+" is for",
					"it is of another target's folder of the SDK, which has the same machine: get the SDK again")
			}
		}
	}
}
