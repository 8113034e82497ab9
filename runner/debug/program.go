package debug

import (
	"crypto/sha256"
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/hexmage/hexmage/qnn/elffile"
)

// Program describes a program or library to a debugger.
type Program struct {
	Path    string
	Info    bool     // whether it has DWARF debug information: lines, variables, arguments
	Folders []string // the compiler's working folders, from Info, sorted; "" and "." if the compiler hides them
	code    [sha256.Size]byte
}

// SameCode reports whether both programs have the same code at the same addresses, as a program and its stripped form
// do.
func (p *Program) SameCode(other *Program) bool { return p.code == other.code }

// Read reads a program for AArch64. For any other file, Read returns nil and no error.
func Read(path string) (*Program, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	head := make([]byte, 20)
	if _, err := io.ReadFull(f, head); err != nil || !IsProgram(head) {
		return nil, nil
	}
	p := &Program{Path: path}
	file, err := elffile.Open(f, st.Size())
	if err == nil {
		p.code, err = code(file.Sections, f)
	}
	if err == nil {
		err = p.readInfo(file.File)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// IsProgram reports whether a file with these first 20 bytes is a program or library for AArch64.
func IsProgram(head []byte) bool {
	return len(head) >= 20 && string(head[:6]) == elf.ELFMAG+"\x02\x01" && (head[16] == byte(elf.ET_EXEC) || head[16] == byte(elf.ET_DYN)) && head[18] == byte(elf.EM_AARCH64) && head[19] == 0
}

// code returns a digest of the executable sections and their addresses.
func code(sections []*elf.Section, r io.ReaderAt) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	for _, s := range sections {
		if s.Flags&elf.SHF_EXECINSTR == 0 {
			continue
		}
		fmt.Fprintf(h, "%#x %d\n", s.Addr, s.FileSize)
		if _, err := io.Copy(h, io.NewSectionReader(r, int64(s.Offset), int64(s.FileSize))); err != nil {
			return sum, err
		}
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// readInfo reads the folders in the debug information.
func (p *Program) readInfo(f *elf.File) error {
	info := f.Section(".debug_info")
	if p.Info = info != nil && info.FileSize > 0; !p.Info {
		return nil
	}
	d, err := f.DWARF()
	if err != nil {
		return fmt.Errorf("debug information: %w", err)
	}
	for units := d.Reader(); ; units.SkipChildren() {
		e, err := units.Next()
		if err != nil {
			return fmt.Errorf("debug information: %w", err)
		}
		if e == nil {
			break
		}
		if e.Tag == dwarf.TagCompileUnit {
			dir, _ := e.Val(dwarf.AttrCompDir).(string)
			p.Folders = append(p.Folders, dir)
		}
	}
	slices.Sort(p.Folders)
	p.Folders = slices.Compact(p.Folders)
	return nil
}

// InNDK finds LLDB for this machine and lldb-server for phones in an NDK. It returns "" for a missing file.
func InNDK(root string) (lldb, server string) {
	llvm := filepath.Join(root, "toolchains", "llvm", "prebuilt", "linux-x86_64")
	for _, name := range []string{"lldb.sh", "lldb"} { // the script sets the path of LLDB's libraries
		if at := filepath.Join(llvm, "bin", name); lldb == "" && isFile(at) {
			lldb = at
		}
	}
	found, _ := filepath.Glob(filepath.Join(llvm, "lib*", "clang", "*", "lib", "linux", "aarch64", "lldb-server"))
	if len(found) > 0 {
		server = found[len(found)-1]
	}
	return lldb, server
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}
