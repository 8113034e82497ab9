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

// Program is a program or library, as far as a debugger wants to know of it.
type Program struct {
	Path    string
	Info    bool     // it has DWARF debug information: lines, variables, arguments
	Folders []string // of Info: where it was compiled, as its units say, each once, sorted; "" and "." where the compiler was told to say nothing
	code    [sha256.Size]byte
}

// SameCode tells whether the device does the same in both, and addresses of one are addresses of the other: one may be the other without its symbols.
func (p *Program) SameCode(other *Program) bool { return p.code == other.code }

// Read reads a program for a phone's processor. It returns nil, and no error, for a file that is none.
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
	sections, err := sectionsOf(f, st.Size())
	if err == nil {
		p.code, err = code(sections, f)
	}
	if err == nil {
		err = p.readInfo(sections, f)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

func sectionsOf(r io.ReaderAt, size int64) ([]elf.SectionHeader, error) {
	f, err := elffile.Open(r, size)
	if err != nil {
		return nil, err
	}
	return f.Sections()
}

// IsProgram tells by the first 20 bytes of a file whether it is a program or library for AArch64.
func IsProgram(head []byte) bool {
	return len(head) >= 20 && string(head[:6]) == elf.ELFMAG+"\x02\x01" && (head[16] == byte(elf.ET_EXEC) || head[16] == byte(elf.ET_DYN)) && head[18] == byte(elf.EM_AARCH64) && head[19] == 0
}

// code names what of the file is executed, and where.
func code(sections []elf.SectionHeader, r io.ReaderAt) (sum [sha256.Size]byte, err error) {
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

// readInfo looks for debug information.
func (p *Program) readInfo(sections []elf.SectionHeader, r io.ReaderAt) error {
	if p.Info = slices.ContainsFunc(sections, func(s elf.SectionHeader) bool { return s.Name == ".debug_info" && s.FileSize > 0 }); !p.Info {
		return nil
	}
	d, err := information(r)
	if err != nil {
		return err
	}
	err = entries(d, func(e *dwarf.Entry) bool {
		if e.Tag == dwarf.TagCompileUnit {
			dir, _ := e.Val(dwarf.AttrCompDir).(string)
			p.Folders = append(p.Folders, dir)
		}
		return false
	})
	slices.Sort(p.Folders)
	p.Folders = slices.Compact(p.Folders)
	return err
}

// names are the files that a program was compiled from, without their folders, and its functions, without what they are in; each once, sorted.
func names(path string) (files, functions []string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	d, err := information(f)
	if err != nil {
		return nil, nil, err
	}
	err = entries(d, func(e *dwarf.Entry) bool {
		name, _ := e.Val(dwarf.AttrName).(string)
		switch {
		case name == "":
		case e.Tag == dwarf.TagCompileUnit:
			files = append(files, filepath.Base(name))
		case e.Tag == dwarf.TagSubprogram:
			functions = append(functions, name)
		}
		return e.Tag != dwarf.TagSubprogram
	})
	slices.Sort(files)
	slices.Sort(functions)
	return slices.Compact(files), slices.Compact(functions), err
}

func information(r io.ReaderAt) (*dwarf.Data, error) {
	f, err := elf.NewFile(r)
	if err != nil {
		return nil, err
	}
	d, err := f.DWARF()
	if err != nil {
		return nil, fmt.Errorf("debug information: %w", err)
	}
	return d, nil
}

// entries calls each for the entries of debug information, and for those in one only if it says so.
func entries(d *dwarf.Data, each func(*dwarf.Entry) (into bool)) error {
	for r := d.Reader(); ; {
		e, err := r.Next()
		if err != nil {
			return fmt.Errorf("debug information: %w", err)
		}
		if e == nil {
			return nil
		}
		if e.Tag != 0 && !each(e) {
			r.SkipChildren()
		}
	}
}

// InNDK returns LLDB for this machine and lldb-server for phones in a folder as NDKs are; "" for what is not there.
func InNDK(root string) (lldb, server string) {
	llvm := filepath.Join(root, "toolchains", "llvm", "prebuilt", "linux-x86_64")
	for _, name := range []string{"lldb.sh", "lldb"} { // the script knows where its libraries are
		if at := filepath.Join(llvm, "bin", name); lldb == "" && isFile(at) {
			lldb = at
		}
	}
	found, _ := filepath.Glob(filepath.Join(llvm, "lib*", "clang", "*", "lib", "linux", "aarch64", "lldb-server")) // the pattern is fine
	if len(found) > 0 {
		server = found[len(found)-1]
	}
	return lldb, server
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}
