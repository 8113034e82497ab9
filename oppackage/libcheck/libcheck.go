// Package libcheck looks at the library that came out of an op package's build: whether a backend can load it, and what
// it is made of.
//
// It reads ELF files and an SDK's build id. It runs nothing, and cannot say whether ops compute the right thing.
package libcheck

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/oppackage"
	"github.com/hexmage/hexmage/qnn/buildid"
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
	var flags uint32
	for _, c := range strings.TrimPrefix(a.Version, "v") { // v79 is 0x79
		flags = flags<<4 | uint32(c-'0')
	}
	return elf.EM_QDSP6, flags
}

// Check reads the library. An error means that it cannot be read; what is wrong with one that can is in Problems.
func Check(file string, w Want) (Report, error) {
	r := Report{Target: w.Arch.Target, Library: oppackage.Library(w.Package), Provider: w.Provider}
	if r.Provider == "" {
		r.Provider = w.Package + "InterfaceProvider"
	}
	f, err := os.Open(file)
	if err != nil {
		return r, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxLibrary+1))
	if err != nil {
		return r, err
	}
	if len(data) > maxLibrary {
		return r, fmt.Errorf("%s is larger than %d GiB, which no op package is", file, maxLibrary>>30)
	}
	r.Bytes = int64(len(data))
	lib, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return r, fmt.Errorf("%s is no library: %w", file, err)
	}
	defer lib.Close()
	if err := r.read(lib, data); err != nil {
		return r, fmt.Errorf("%s: %w", file, err)
	}
	r.judge(lib, data, w)
	return r, nil
}

func (r *Report) read(lib *elf.File, data []byte) error {
	// debug/elf does not keep e_flags.
	at := 48
	if lib.Class == elf.ELFCLASS32 {
		at = 36
	}
	r.Flags = lib.ByteOrder.Uint32(data[at:])
	r.Machine = strings.TrimPrefix(lib.Machine.String(), "EM_")
	for _, p := range lib.Progs {
		if p.Type == elf.PT_LOAD && (r.Page == 0 || p.Align < r.Page) {
			r.Page = p.Align
		}
	}
	if names, err := lib.DynString(elf.DT_SONAME); err == nil && len(names) > 0 {
		r.Soname = names[0]
	}
	r.Needed, _ = lib.ImportedLibraries()
	r.sections(lib)
	symbols, err := lib.Symbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return err
	}
	dynamic, err := lib.DynamicSymbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return err
	}
	if len(symbols) == 0 {
		symbols = dynamic
	}
	for _, s := range symbols {
		if kind := elf.ST_TYPE(s.Info); s.Size > 0 && (kind == elf.STT_FUNC || kind == elf.STT_OBJECT) {
			r.Symbols = append(r.Symbols, Symbol{s.Name, s.Size})
		}
	}
	slices.SortFunc(r.Symbols, func(a, b Symbol) int {
		if a.Bytes != b.Bytes {
			return int(min(1, max(-1, int64(b.Bytes)-int64(a.Bytes))))
		}
		return strings.Compare(a.Name, b.Name)
	})
	for _, s := range dynamic {
		switch bind := elf.ST_BIND(s.Info); {
		case s.Name == "":
		case s.Section != elf.SHN_UNDEF:
			r.Exports = append(r.Exports, s.Name)
		case bind == elf.STB_WEAK:
			r.Weak = append(r.Weak, s.Name)
		default:
			r.Imports = append(r.Imports, s.Name)
		}
	}
	for _, names := range [][]string{r.Exports, r.Imports, r.Weak} {
		slices.Sort(names)
	}
	r.BuildIDs, err = buildid.Find(bytes.NewReader(data))
	return err
}

func (r *Report) sections(lib *elf.File) {
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
func (r *Report) judge(lib *elf.File, data []byte, w Want) {
	problem := func(format string, args ...any) { r.Problems = append(r.Problems, fmt.Sprintf(format, args...)) }
	m, flags := machine(w.Arch)
	switch {
	case lib.Machine != m:
		problem("it is for machine %s, and %s is %s: another compiler than the target's made it", r.Machine, w.Arch.Target, strings.TrimPrefix(m.String(), "EM_"))
	case r.Flags != flags && m == elf.EM_QDSP6:
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
	if w.BuildID != "" && !slices.ContainsFunc(r.BuildIDs, func(id string) bool { return sameBuild(id, w.BuildID) }) {
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

// sameBuild compares build ids, of which headers may leave the suffix out.
func sameBuild(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+"_") || strings.HasPrefix(b, a+"_")
}

var defineID = lazyregexp.New(`(?m)^\s*#\s*define\s+QNN_SDK_BUILD_ID\s+"([^"\n]+)"`)

// HeaderBuildID returns the build id that an SDK's QnnSdkBuildId.h defines, "" if it defines none.
func HeaderBuildID(header []byte) string {
	if m := defineID.Get().FindSubmatch(header[:min(len(header), 1<<20)]); m != nil {
		return string(m[1])
	}
	return ""
}
