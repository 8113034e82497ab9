package inspect

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/buildid"
	"github.com/hexmage/hexmage/qnn/elffile"
)

// ELF describes a program, library or object file.
type ELF struct {
	Class   string `json:"class"`
	Machine string `json:"machine"`
	Type    string `json:"type"`
	Flags   uint32 `json:"flags"`
	Arch    string `json:"arch,omitempty"` // of Hexagon files, for example v79
	OS      string `json:"os,omitempty"`   // android or linux, if the file names a system
	Role    string `json:"role,omitempty"` // role in QNN: skel, stub, HTP backend, …

	SOName      string   `json:"soname,omitempty"`
	Needed      []string `json:"needed,omitempty"`
	RunPath     []string `json:"runpath,omitempty"`
	Interpreter string   `json:"interpreter,omitempty"`
	Exported    int      `json:"exported"`             // symbols
	Undefined   int      `json:"undefined"`            // symbols that other libraries must define, except weak ones
	PageAlign   uint64   `json:"page_align,omitempty"` // the smallest alignment of a loaded segment, in bytes

	OpPackage []string `json:"op_package,omitempty"`        // symbols that register an op package with QNN
	Entry     []string `json:"qnn_entry,omitempty"`         // symbols that open QNN's own libraries
	Providers []string `json:"qnn_providers,omitempty"`     // name that the library gives itself, for example HTP_QTI_AISW
	BuildIDs  []string `json:"qnn_build_ids,omitempty"`     // QNN build ids in the file's strings
	Versions  []string `json:"qnn_aisw_versions,omitempty"` // for example 2.45.0
	GNUID     string   `json:"gnu_build_id,omitempty"`
	Android   *Android `json:"android,omitempty"`
	Compilers []string `json:"compilers,omitempty"`

	Warnings []string `json:"warnings,omitempty"`
}

// Android holds the values in a file's NDK note.
type Android struct {
	API      uint32 `json:"api"`
	NDK      string `json:"ndk,omitempty"`       // r26c
	NDKBuild string `json:"ndk_build,omitempty"` // 11394342
}

// Limits for damaged and malicious files.
const (
	maxRoles     = 64
	maxComment   = 64 << 10 // bytes
	maxCompilers = 16
)

func describeELF(r io.ReaderAt, size int64) (*ELF, error) {
	f, err := elffile.Open(r, size)
	if err != nil {
		return nil, err
	}
	out := &ELF{Class: f.Class.String(), Machine: f.Machine.String(), Type: f.Type.String(), Flags: f.Flags, PageAlign: f.Page()}
	if f.Machine == qnn.MachineHexagon {
		out.Machine, out.Arch = "EM_HEXAGON", qnn.HexagonArch(f.Flags)
	}
	symbols := &symbols{ELF: out}
	for _, part := range []func(*elffile.File) error{out.interpreter, out.dynamic, symbols.read, out.notes, out.comment} {
		if err := part(f); err != nil && !slices.Contains(out.Warnings, err.Error()) { // the header is still useful
			out.Warnings = append(out.Warnings, err.Error())
		}
	}
	texts, err := buildid.Scan(io.NewSectionReader(r, 0, size))
	if err != nil {
		return nil, err
	}
	out.BuildIDs, out.Providers, out.Versions = texts.IDs, texts.Providers, texts.Versions
	if out.OS = qnn.System(f.Machine, out.Interpreter, out.Needed); out.Android != nil && out.Arch == "" {
		out.OS = qnn.Android
	}
	out.Role = role(out.SOName, symbols.roles, out.Providers)
	if symbols.skel && out.Arch == "" {
		out.Role = "" // FastRPC programs export this name on both sides
	}
	return out, nil
}

func (e *ELF) interpreter(f *elffile.File) error {
	name, err := f.Interpreter()
	e.Interpreter = shown(name)
	return err
}

// shown replaces invalid UTF-8 in a string of an untrusted file.
func shown(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

func (e *ELF) dynamic(f *elffile.File) error {
	d, err := f.Dynamic()
	e.SOName = shown(d.Soname)
	for _, n := range d.Needed {
		e.Needed = append(e.Needed, shown(n))
	}
	for _, n := range d.RunPath {
		e.RunPath = append(e.RunPath, shown(n))
	}
	return err
}

// symbols collects the roles that a file's symbol names imply.
type symbols struct {
	*ELF
	roles []string
	skel  bool
}

func (s *symbols) read(f *elffile.File) error {
	err := f.DynamicSymbols(func(x elf.Symbol) {
		bind := elf.ST_BIND(x.Info)
		switch {
		case x.Name == "" || bind == elf.STB_LOCAL:
		case x.Section == elf.SHN_UNDEF:
			if bind == elf.STB_GLOBAL {
				s.Undefined++
			}
		default:
			s.Exported++
			s.exported(x.Name)
		}
	})
	slices.Sort(s.OpPackage)
	slices.Sort(s.Entry)
	return err
}

// exported records the symbols that imply a role in QNN.
func (s *symbols) exported(name string) {
	r := symbolRole(name)
	if r != "" && !slices.Contains(s.roles, r) {
		s.roles = append(s.roles, r)
	}
	s.skel = s.skel || r == skelRole
	switch {
	case r == skelRole, name == backendEntry, name == systemEntry:
		if len(s.Entry) < maxRoles {
			s.Entry = append(s.Entry, shown(name))
		}
	case strings.HasSuffix(name, "InterfaceProvider") && !strings.HasPrefix(name, "_Z") && len(s.OpPackage) < maxRoles:
		s.OpPackage = append(s.OpPackage, shown(name))
	}
}

// notes reads the build id of the linker and the NDK's note.
func (e *ELF) notes(f *elffile.File) error {
	return f.Notes(func(name string, kind uint32, desc []byte) {
		switch {
		case name == "GNU" && kind == 3 && len(desc) <= 64:
			e.GNUID = fmt.Sprintf("%x", desc)
		case name == "Android" && kind == 1 && len(desc) >= 4:
			e.Android = &Android{API: f.ByteOrder.Uint32(desc)}
			if len(desc) >= 132 {
				e.Android.NDK, e.Android.NDKBuild = until0(desc[4:68]), until0(desc[68:132])
			}
		}
	})
}

func until0(b []byte) string {
	b, _, _ = bytes.Cut(b, []byte{0})
	return shown(string(b))
}

// comment reads the compilers of the file from section .comment. A file without sections does not name them.
func (e *ELF) comment(f *elffile.File) error {
	s := f.Section(".comment")
	if s == nil || s.Flags&elf.SHF_COMPRESSED != 0 {
		return nil
	}
	b := make([]byte, min(s.FileSize, maxComment))
	if _, err := s.ReadAt(b, 0); err != nil {
		return err
	}
	for line := range bytes.SplitSeq(b, []byte{0}) {
		t := strings.TrimSpace(shown(string(line)))
		if strings.Contains(t, "ersion") && !slices.Contains(e.Compilers, t) && len(e.Compilers) < maxCompilers {
			e.Compilers = append(e.Compilers, t)
		}
	}
	return nil
}
