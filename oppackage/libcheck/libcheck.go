// Package libcheck checks the library of an op package: its contents, and whether a backend can load it.
//
// It reads ELF files and an SDK's build id. It runs nothing, and does not know whether ops compute correct results.
package libcheck

import (
	"bytes"
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/oppackage"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/buildid"
	"github.com/hexmage/hexmage/qnn/elffile"
)

// maxLibrary limits the size of a library. Libraries contain code, not weights.
const maxLibrary = 1 << 30

// PageSize is the required alignment of segments in a library for a phone's CPU.
const PageSize = 16 << 10

// Want describes the expected library.
type Want struct {
	Arch     oppackage.Arch
	Package  string
	Provider string   // "" for <Package>InterfaceProvider
	BuildID  string   // build id of the SDK; "" skips the check
	Ops      []string // names of the required ops
}

// Symbol is a function or object in a library.
type Symbol struct {
	Name  string `json:"name"`
	Bytes uint64 `json:"bytes"`
}

// Report describes a library.
type Report struct {
	Target   string            `json:"target"`
	Library  string            `json:"library"`
	Bytes    int64             `json:"bytes"`
	Machine  string            `json:"machine"`
	Flags    uint32            `json:"flags"`
	Page     uint64            `json:"page"` // smallest alignment of a segment
	Soname   string            `json:"soname,omitempty"`
	Needed   []string          `json:"needed"`
	BuildIDs []string          `json:"build_ids"`
	Provider string            `json:"provider"`
	Ops      []string          `json:"ops"`      // required ops in the library
	Sections map[string]uint64 `json:"sections"` // sizes of code, read-only and writable data, zeros and debug data
	Symbols  []Symbol          `json:"symbols"`  // largest first
	Exports  []string          `json:"exports"`  // defined dynamic symbols
	Imports  []string          `json:"imports"`  // undefined dynamic symbols
	Weak     []string          `json:"weak"`     // imports that may be missing
	Problems []string          `json:"problems"`
}

// machine returns the machine and flags in the ELF header of an arch's libraries.
func machine(a oppackage.Arch) (elf.Machine, uint32) {
	switch a.Family {
	case "android":
		return elf.EM_AARCH64, 0
	case "host":
		return elf.EM_X86_64, 0
	}
	return qnn.MachineHexagon, qnn.HexagonFlags(a.Compiled)
}

// Check examines a library. If it can read the library, it returns all problems in the report, not as an error.
func Check(file string, w Want) (Report, error) {
	r := Report{Target: w.Arch.Target, Library: oppackage.Library(w.Package), Provider: w.Provider}
	if r.Provider == "" {
		r.Provider = w.Package + "InterfaceProvider"
	}
	data, err := boundedfile.Read(file, maxLibrary)
	if err != nil {
		return r, err
	}
	r.Bytes = int64(len(data))
	lib, err := elffile.Open(bytes.NewReader(data), r.Bytes)
	if err != nil {
		return r, fmt.Errorf("%s: not a library: %w", file, err)
	}
	if err := r.read(lib, data); err != nil {
		return r, fmt.Errorf("%s: %w", file, err)
	}
	r.judge(lib, data, w)
	return r, nil
}

func (r *Report) read(lib *elffile.File, data []byte) error {
	r.Flags, r.Page = lib.Flags, lib.Page()
	r.Machine = strings.TrimPrefix(lib.Machine.String(), "EM_")
	d, err := lib.Dynamic()
	if err != nil {
		return err
	}
	r.Soname, r.Needed = d.Soname, d.Needed
	r.sections(lib)
	sized := func(to *[]Symbol) func(elf.Symbol) {
		return func(s elf.Symbol) {
			if kind := elf.ST_TYPE(s.Info); s.Size > 0 && (kind == elf.STT_FUNC || kind == elf.STT_OBJECT) {
				*to = append(*to, Symbol{s.Name, s.Size})
			}
		}
	}
	var dynamic []Symbol // fallback for a stripped library
	also := sized(&dynamic)
	err = errors.Join(lib.Symbols(sized(&r.Symbols)), lib.DynamicSymbols(func(s elf.Symbol) {
		also(s)
		switch bind := elf.ST_BIND(s.Info); {
		case s.Name == "":
		case s.Section != elf.SHN_UNDEF:
			r.Exports = append(r.Exports, s.Name)
		case bind == elf.STB_WEAK:
			r.Weak = append(r.Weak, s.Name)
		default:
			r.Imports = append(r.Imports, s.Name)
		}
	}))
	if err != nil {
		return err
	}
	if len(r.Symbols) == 0 {
		r.Symbols = dynamic
	}
	slices.SortFunc(r.Symbols, func(a, b Symbol) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), strings.Compare(a.Name, b.Name))
	})
	for _, names := range [][]string{r.Exports, r.Imports, r.Weak} {
		slices.Sort(names)
	}
	r.BuildIDs, err = buildid.Find(bytes.NewReader(data))
	return err
}

func (r *Report) sections(lib *elffile.File) {
	r.Sections = map[string]uint64{}
	for _, s := range lib.Sections {
		switch {
		case s.Type == elf.SHT_NULL:
		case s.Flags&elf.SHF_ALLOC == 0:
			r.Sections["debug"] += s.Size
		case s.Type == elf.SHT_NOBITS:
			r.Sections["zero"] += s.Size
		case s.Flags&elf.SHF_EXECINSTR != 0:
			r.Sections["code"] += s.Size
		case s.Flags&elf.SHF_WRITE != 0:
			r.Sections["data"] += s.Size
		default:
			r.Sections["const"] += s.Size
		}
	}
}

// judge adds the problems of the library.
func (r *Report) judge(lib *elffile.File, data []byte, w Want) {
	problem := func(format string, args ...any) { r.Problems = append(r.Problems, fmt.Sprintf(format, args...)) }
	m, flags := machine(w.Arch)
	switch {
	case lib.Machine != m:
		problem("wrong machine %s, but %s is %s: build it with the target's compiler", r.Machine, w.Arch.Target, strings.TrimPrefix(m.String(), "EM_"))
	case r.Flags != flags && m == qnn.MachineHexagon:
		problem("wrong e_flags %#x, but %s has %#x: it links an object or library of another arch, which older DSPs reject", r.Flags, w.Arch.Target, flags)
	}
	if lib.Type != elf.ET_DYN {
		problem("not a shared object")
	}
	if m == elf.EM_AARCH64 && r.Page < PageSize {
		problem("a segment is aligned to %d bytes: phones with pages of 16 KiB cannot load it; link with -Wl,-z,max-page-size=16384", r.Page)
	}
	if !slices.Contains(r.Exports, r.Provider) {
		near := ""
		for _, e := range r.Exports {
			if strings.HasSuffix(e, "InterfaceProvider") {
				near = fmt.Sprintf("; it exports %s: set package = %q or provider = %q", e, strings.TrimSuffix(e, "InterfaceProvider"), e)
			}
		}
		problem("missing symbol %s, through which backends load the package%s", r.Provider, near)
	}
	if w.BuildID != "" && !slices.ContainsFunc(r.BuildIDs, func(id string) bool { return buildid.Same(id, w.BuildID) }) {
		has := "none"
		if len(r.BuildIDs) > 0 {
			has = strings.Join(r.BuildIDs, ", ")
		}
		problem("build id %[2]s instead of the SDK's %[1]s: build its interface with this SDK's headers and QNN_SDK_BUILD_ID as sdkBuildId", w.BuildID, has)
	}
	for _, op := range w.Ops {
		if bytes.Contains(data, append([]byte(op), 0)) {
			r.Ops = append(r.Ops, op)
		} else {
			problem("missing op %s of the op config: add its source and list it in the interface, or remove it from the config", op)
		}
	}
}
