package verify

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/elffile"
)

// machineName returns what people call an e_machine.
func machineName(m int) string {
	switch elf.Machine(m) {
	case qnn.MachineHexagon:
		return "Hexagon"
	case elf.EM_AARCH64:
		return "AArch64"
	case elf.EM_X86_64:
		return "x86-64"
	}
	return "machine " + strconv.Itoa(m)
}

var (
	hexagonFolder = lazyregexp.New(`hexagon-(v\d+)`)
	hexagonName   = lazyregexp.New(`(?i)/?libQnnHtp(V\d+)Skel\.so$`)
)

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
	e, err := elffile.Open(f, info.Size())
	if err == nil && e.ByteOrder != binary.LittleEndian {
		err = fmt.Errorf("%w for a little-endian machine", elffile.ErrNotELF)
	}
	if errors.Is(err, elffile.ErrCutOff) {
		t.add(name, strings.TrimPrefix(err.Error(), "it is "), "a whole ELF file",
			"an unpacking or a copy was interrupted; remove the tree and fetch it again")
		return
	}
	if err != nil {
		t.add(name, err.Error(), "an ELF file for "+machineName(c.Machine), again)
		return
	}
	if c.Machine != 0 && e.Machine != elf.Machine(c.Machine) {
		t.add(name, "ELF for "+machineName(int(e.Machine)), "ELF for "+machineName(c.Machine), again)
		return
	}
	t.flags(c, name, e.Flags)
	t.dynamic(c, name, e)
}

func (t *tree) flags(c ELF, name string, flags uint32) {
	where, remedy := hexagonFolder, "the library is in another arch's folder: the SDK is mixed, get it again"
	if c.Flags == "name" {
		where, remedy = hexagonName, "the library has another arch's name, by which the phone loads it: get the files again"
	}
	m := where.FindStringSubmatch(name)
	if c.Flags == "" || m == nil {
		return
	}
	if want := strings.ToLower(m[1]); qnn.HexagonArch(flags) != want {
		t.add(name, "code for Hexagon "+qnn.HexagonArch(flags), "code for Hexagon "+want, remedy)
	}
}

// dynamic checks what a library says for the loader: its name and what it needs.
func (t *tree) dynamic(c ELF, name string, e *elffile.File) {
	if !c.Soname && len(c.NotNeeded) == 0 {
		return
	}
	d, err := e.Dynamic()
	if err != nil {
		t.add(name, err.Error(), "a library that its loader can read", again)
		return
	}
	if c.Soname && d.Soname != "" && d.Soname != path.Base(name) {
		t.add(name, "a library that says it is "+d.Soname, "one that says it is "+path.Base(name),
			"it was renamed or copied over another: QNN loads libraries by these names; get the SDK again")
	}
	var foreign []string
	for _, lib := range d.Needed {
		if slices.ContainsFunc(c.NotNeeded, func(p string) bool { ok, err := path.Match(p, lib); return err == nil && ok }) {
			foreign = append(foreign, lib)
		}
	}
	if len(foreign) > 0 {
		t.add(name, "a library that needs "+strings.Join(foreign, ", "), "one for the system that "+path.Dir(name)+" is for",
			"it is of another target's folder of the SDK, which has the same machine: get the SDK again")
	}
}
