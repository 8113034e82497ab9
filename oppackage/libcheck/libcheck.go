// Package libcheck looks at the library that came out of an op package's build: whether a backend can load it, and what
// it is made of.
//
// It reads ELF files and an SDK's build id. It runs nothing, and cannot say whether ops compute the right thing.
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

// maxLibrary bounds the size of a library: ops are code, not weights.
const maxLibrary = 1 << 30

// PageSize is what segments of a library for the phone's processor are to be aligned to.
const PageSize = 16 << 10

// Want is what the library is to be.
type Want struct {
	Arch     oppackage.Arch
	Package  string
	Provider string   // "" is <Package>InterfaceProvider
	BuildID  string   // of the SDK; "" is not looked at
	Ops      []string // names of ops that it is to have
}

// Symbol is a function or object of a library.
type Symbol struct {
	Name  string `json:"name"`
	Bytes uint64 `json:"bytes"`
}

// Report is what a library is.
type Report struct {
	Target   string            `json:"target"`
	Library  string            `json:"library"`
	Bytes    int64             `json:"bytes"`
	Machine  string            `json:"machine"`
	Flags    uint32            `json:"flags"`
	Page     uint64            `json:"page"` // least alignment of a segment
	Soname   string            `json:"soname,omitempty"`
	Needed   []string          `json:"needed"`
	BuildIDs []string          `json:"build_ids"`
	Provider string            `json:"provider"`
	Ops      []string          `json:"ops"`      // those looked for that are there
	Sections map[string]uint64 `json:"sections"` // size of code, read-only and writable data, zeros, and what only debuggers read
	Symbols  []Symbol          `json:"symbols"`  // largest first
	Exports  []string          `json:"exports"`  // dynamic symbols that others may use
	Imports  []string          `json:"imports"`  // dynamic symbols that others are to have
	Weak     []string          `json:"weak"`     // imports that may be missing
	Problems []string          `json:"problems"`
}

// machine is what an arch's libraries have in their ELF header.
func machine(a oppackage.Arch) (elf.Machine, uint32) {
	switch a.Family {
	case "android":
		return elf.EM_AARCH64, 0
	case "host":
		return elf.EM_X86_64, 0
	}
	return qnn.MachineHexagon, qnn.HexagonFlags(a.Compiled)
}

// Check reads the library. An error means that it cannot be read; what is wrong with one that can is in Problems.
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
		return r, fmt.Errorf("%s is no library: %w", file, err)
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
	var dynamic []Symbol // what there is of a stripped library
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

// judge says what is wrong.
func (r *Report) judge(lib *elffile.File, data []byte, w Want) {
	problem := func(format string, args ...any) { r.Problems = append(r.Problems, fmt.Sprintf(format, args...)) }
	m, flags := machine(w.Arch)
	switch {
	case lib.Machine != m:
		problem("it is for machine %s, and %s is %s: another compiler than the target's made it", r.Machine, w.Arch.Target, strings.TrimPrefix(m.String(), "EM_"))
	case r.Flags != flags && m == qnn.MachineHexagon:
		problem("its e_flags are %#x, and those of %s %#x: an object or library of another arch was linked, and an older DSP will refuse it", r.Flags, w.Arch.Target, flags)
	}
	if lib.Type != elf.ET_DYN {
		problem("it is no shared object")
	}
	if m == elf.EM_AARCH64 && r.Page < PageSize {
		problem("a segment is aligned to %d bytes: phones with pages of 16 KiB cannot load it; link with -Wl,-z,max-page-size=16384", r.Page)
	}
	if !slices.Contains(r.Exports, r.Provider) {
		near := ""
		for _, e := range r.Exports {
			if strings.HasSuffix(e, "InterfaceProvider") {
				near = fmt.Sprintf("; it has %s: is package = %q meant, or provider = %q?", e, strings.TrimSuffix(e, "InterfaceProvider"), e)
			}
		}
		problem("it exports no %s, by which backends know it%s", r.Provider, near)
	}
	if w.BuildID != "" && !slices.ContainsFunc(r.BuildIDs, func(id string) bool { return buildid.Same(id, w.BuildID) }) {
		has := "none"
		if len(r.BuildIDs) > 0 {
			has = strings.Join(r.BuildIDs, ", ")
		}
		problem("the SDK's build id is %s, and the library says %s: its interface was made with another SDK's headers, or does not give QNN_SDK_BUILD_ID as sdkBuildId", w.BuildID, has)
	}
	for _, op := range w.Ops {
		if bytes.Contains(data, append([]byte(op), 0)) {
			r.Ops = append(r.Ops, op)
		} else {
			problem("op %s of the op config is not in it: add its source and list it in the interface, or take it out of the config", op)
		}
	}
}
