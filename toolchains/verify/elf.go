package verify

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
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
	h := make([]byte, 64)
	if n, err := readFull(r, h); err != nil || n < 52 || !bytes.HasPrefix(h, []byte("\x7fELF")) {
		return Identity{}, ErrNotELF
	}
	if h[5] != 1 {
		return Identity{}, fmt.Errorf("%w for a little-endian machine", ErrNotELF)
	}
	le := binary.LittleEndian
	id := Identity{Machine: int(le.Uint16(h[18:])), Type: int(le.Uint16(h[16:]))}
	switch h[4] {
	case 1:
		id.Class, id.Flags = 32, le.Uint32(h[36:])
	case 2:
		id.Class, id.Flags = 64, le.Uint32(h[48:])
	default:
		return Identity{}, fmt.Errorf("%w: class %d", ErrNotELF, h[4])
	}
	return id, nil
}

func readFull(r io.Reader, b []byte) (int, error) {
	n, err := io.ReadFull(r, b)
	if err == io.ErrUnexpectedEOF || err == io.EOF {
		err = nil
	}
	return n, err
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

var hexagonFolder = regexp.MustCompile(`hexagon-v(\d+)`)

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
	f, err := os.Open(filepath.Join(t.root, filepath.FromSlash(name)))
	if err != nil {
		t.add(name, "a file that can't be read: "+err.Error(), "an ELF file", again)
		return
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.IsDir() {
		return
	}
	id, err := ReadIdentity(f)
	if err != nil {
		t.add(name, err.Error(), "an ELF file for "+MachineName(c.Machine), again)
		return
	}
	if id.Machine != c.Machine {
		t.add(name, "ELF for "+MachineName(id.Machine), "ELF for "+MachineName(c.Machine), again)
		return
	}
	if !c.FlagsFromFolder {
		return
	}
	m := hexagonFolder.FindStringSubmatch(name)
	if m == nil {
		return
	}
	want, err := strconv.ParseUint(m[1], 16, 32)
	if err == nil && uint32(want) != id.Flags {
		t.add(name, fmt.Sprintf("code for Hexagon v%x", id.Flags), "code for Hexagon v"+m[1], "the library is in another arch's folder: the SDK is mixed, get it again")
	}
}

var buildID = regexp.MustCompile(`v\d+\.\d+\.\d+\.\d{12}(?:_\d+)?`)

// buildIDs looks for the SDK's build id in each file. Not every library holds one in plain text, so a file without one is
// passed over; but where there is one it must be the SDK's, and somewhere there must be one.
func (t *tree) buildIDs() {
	want := t.checks.BuildID
	var files []string
	for _, p := range want.Files {
		for _, q := range t.patterns(p) {
			files = append(files, t.glob(q)...)
		}
	}
	first, firstFile := "", ""
	for _, name := range files {
		id, err := findBuildID(filepath.Join(t.root, filepath.FromSlash(name)))
		switch {
		case err != nil:
			t.add(name, "a file that can't be read: "+err.Error(), "a build id", again)
		case id == "":
		case !strings.HasPrefix(id, want.Want):
			t.add(name, "build id "+id, "build id "+want.Want, "the file is of another SDK: a mixed SDK fails on the phone with \"lib id mismatch\"; get one release whole")
		case first == "":
			first, firstFile = id, name
		case id != first:
			t.add(name, "build id "+id, "build id "+first+" as in "+firstFile, "the SDK is mixed of two releases; get one release whole")
		}
	}
	if len(want.Files) > 0 && first == "" && len(t.problems) == 0 {
		t.add(strings.Join(want.Files, ", "), "no build id in any of them", "build id "+want.Want, again)
	}
}

// findBuildID returns the first build id in the file, "" when it has none. It reads in pieces that overlap.
func findBuildID(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.IsDir() {
		return "", err
	}
	const piece, overlap = 1 << 20, 64
	buf := make([]byte, 0, piece+overlap)
	for read := 0; read < maxELF; {
		n, err := readFull(f, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		read += n
		// An id at the very end may go on in the next piece; the overlap brings it back whole.
		if m := buildID.FindIndex(buf); m != nil && (m[1] < len(buf) || n == 0) {
			return string(buf[m[0]:m[1]]), nil
		}
		if err != nil || n == 0 {
			return "", err
		}
		kept := copy(buf, buf[max(0, len(buf)-overlap):])
		buf = buf[:kept]
	}
	return "", nil
}
