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

// machineName returns the common name of an e_machine.
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
		t.add(name, "unreadable file: "+err.Error(), "an ELF file", again)
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
		t.add(name, err.Error(), "a whole ELF file",
			"the file is incomplete; remove the tree and fetch the toolchain again")
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
	where, remedy := hexagonFolder, "the library is in the folder of another arch; get the SDK again"
	if c.Flags == "name" {
		where, remedy = hexagonName, "the library has the name of another arch; get the files again"
	}
	m := where.FindStringSubmatch(name)
	if c.Flags == "" || m == nil {
		return
	}
	if want := strings.ToLower(m[1]); qnn.HexagonArch(flags) != want {
		t.add(name, "code for Hexagon "+qnn.HexagonArch(flags), "code for Hexagon "+want, remedy)
	}
}

// dynamic checks a library's name for the loader and its dependencies.
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
		t.add(name, "a library with soname "+d.Soname, "soname "+path.Base(name),
			"the file was renamed or replaced, and QNN loads libraries by these names; get the SDK again")
	}
	var foreign []string
	for _, lib := range d.Needed {
		if slices.ContainsFunc(c.NotNeeded, func(p string) bool { ok, err := path.Match(p, lib); return err == nil && ok }) {
			foreign = append(foreign, lib)
		}
	}
	if len(foreign) > 0 {
		t.add(name, "a library that needs "+strings.Join(foreign, ", "), "a library for the system of "+path.Dir(name),
			"the file is from the folder of another target; get the SDK again")
	}
}
