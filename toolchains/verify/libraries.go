package verify

import (
	"cmp"
	"debug/elf"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/qnn"
)

// Libraries says what must hold for a folder with libraries of the vendor that is no SDK: what a wheel holds, what is pushed to a device. buildID is that of
// the backend, or of most; it is "" where the folder has none of them.
func Libraries(root string) (c Checks, buildID string) {
	var host, builds []string
	count := map[string]int{}
	files := 0
	_ = filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if files++; files > maxLibraryFiles {
			return filepath.SkipAll
		}
		if err != nil || !e.Type().IsRegular() || !vendorLibrary.MatchString(e.Name()) {
			return nil
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return nil
		}
		rel = filepath.ToSlash(rel)
		id, version, err := findBuildID(name)
		if err != nil {
			return nil
		}
		builds = append(builds, literal(rel))
		if id != "" {
			count[id]++
			if backendFile.MatchString(e.Name()) {
				count[id] += maxLibraryFiles // what the others must fit
			}
		}
		if path.Ext(rel) == ".dll" {
			return nil
		}
		check := ELF{Pattern: literal(rel), Machine: machineOf(name), Soname: namedByLoader.MatchString(e.Name())}
		if hexagonName.MatchString("/" + e.Name()) {
			check.Machine, check.Flags = int(qnn.MachineHexagon), "name"
		}
		if check.Machine == int(elf.EM_X86_64) {
			host = append(host, literal(rel))
		}
		if id != "" || version != "" || check.Machine != 0 {
			c.ELF = append(c.ELF, check)
		}
		return nil
	})
	if len(count) == 0 {
		return Checks{}, ""
	}
	for id, n := range count {
		if best := count[buildID]; buildID == "" || n > best || n == best && cmp.Compare(id, buildID) > 0 {
			buildID = id
		}
	}
	c.Host = host
	c.BuildID = &BuildID{Want: buildID, Files: builds}
	return c, buildID
}

const maxLibraryFiles = 100_000 // of a folder

var (
	vendorLibrary = lazyregexp.New(`^(?:lib)?(?:Qnn|HtpPrepare|Genie)[A-Za-z0-9]*\.(?:so|dll)$`)
	backendFile   = lazyregexp.New(`^(?:lib)?QnnHtp\.(?:so|dll)$`)
	namedByLoader = lazyregexp.New(`^libQnn[A-Za-z0-9]*\.so$`)
)

// literal is the pattern of a name that is meant as it is.
func literal(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`).Replace(name)
}

// machineOf is the machine of an ELF file, 0 where it is none: then a check of the file says so.
func machineOf(name string) int {
	e, done, err := openELF(name)
	if err != nil {
		return 0
	}
	defer done()
	known := []elf.Machine{elf.EM_X86_64, elf.EM_AARCH64, qnn.MachineHexagon}
	if !slices.Contains(known, e.Machine) {
		return 0
	}
	return int(e.Machine)
}
