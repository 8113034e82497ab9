package verify

import (
	"bufio"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/internal/version"
)

// Needs are what programs for the host want of it.
type Needs struct {
	Libraries []NeededLibrary `json:"libraries"` // sorted by name
	Programs  int             `json:"programs"`  // that were looked at
}

// NeededLibrary is a shared library that programs load and the SDK has not.
type NeededLibrary struct {
	Name     string   `json:"name"`               // "libc++.so.1"
	Versions []string `json:"versions,omitempty"` // of its symbols that must be there: the highest of each family, "GLIBC_2.34"
	Files    []string `json:"files"`              // that need it, sorted
}

// Host is what a host has: the versions of symbols that a library defines; ok is false when no such library is there.
type Host func(library string) (versions []string, ok bool)

// HostNeeds reads what the ELF programs below root that match the patterns need. Libraries that the SDK has in lib/, in the
// folder of the same target as the program's, are its own.
func HostNeeds(root string, patterns []string) Needs {
	t := tree{root: root, fsys: os.DirFS(root)}
	libs := map[string]*NeededLibrary{}
	best := map[string]map[string]string{} // library → family → version
	var n Needs
	for _, p := range patterns {
		for _, name := range t.glob(p) {
			if needs(filepath.Join(root, filepath.FromSlash(name)), func(lib string, versions, where []string) {
				if own(root, name, lib, where) {
					return
				}
				l := libs[lib]
				if l == nil {
					l = &NeededLibrary{Name: lib}
					libs[lib], best[lib] = l, map[string]string{}
				}
				l.Files = append(l.Files, name)
				for _, v := range versions {
					family, number := symbolVersion(v)
					if number != "" && version.Compare(best[lib][family], number) < 0 {
						best[lib][family] = number
					}
				}
			}) {
				n.Programs++
			}
		}
	}
	for name, l := range libs {
		for family, number := range best[name] {
			l.Versions = append(l.Versions, family+"_"+number)
		}
		sort.Strings(l.Versions)
		n.Libraries = append(n.Libraries, *l)
	}
	sort.Slice(n.Libraries, func(i, j int) bool { return n.Libraries[i].Name < n.Libraries[j].Name })
	return n
}

// own tells whether the SDK has the library: beside the program, where its environment script leads to, or in one of the folders
// that the program itself names.
func own(root, program, lib string, where []string) bool {
	target := path.Base(path.Dir(program))
	dirs := []string{filepath.Join(root, filepath.FromSlash(path.Dir(program))), filepath.Join(root, "lib", target)}
	for _, dir := range append(dirs, where...) {
		if _, err := os.Stat(filepath.Join(dir, lib)); err == nil {
			return true
		}
	}
	return false
}

// needs calls each for the libraries that a file names, with the versions of symbols that it wants of it and the folders in which
// it looks first. It returns false for one that is no dynamic ELF file: a script, say.
func needs(file string, each func(lib string, versions, where []string)) bool {
	f, done, err := openELF(file)
	if err != nil {
		return false
	}
	defer done()
	d, err := f.Dynamic()
	if err != nil || len(d.Needed) == 0 {
		return false
	}
	versions, _ := f.VersionNeeds() // as far as they can be read
	where := searched(d.RunPath, file)
	for _, lib := range d.Needed {
		each(lib, versions[lib], where)
	}
	return true
}

// searched returns the folders that a file names for its libraries, seen from where it is.
func searched(runPath []string, file string) (dirs []string) {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	origin := strings.NewReplacer("$ORIGIN", filepath.Dir(file), "${ORIGIN}", filepath.Dir(file))
	for _, dir := range runPath {
		if dir = origin.Replace(dir); filepath.IsAbs(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// LibraryVersions returns the versions of symbols that a shared library defines.
func LibraryVersions(file string) ([]string, error) {
	f, done, err := openELF(file)
	if err != nil {
		return nil, err
	}
	defer done()
	versions, _ := f.Versions() // as far as they can be read
	return versions, nil
}

// Lacks compares the needs with a host. Each problem names one library, what needs it, and the command that gets it.
func (n Needs) Lacks(h Host) []*Problem {
	out := []*Problem{}
	for _, l := range n.Libraries {
		p := &Problem{File: some(l.Files), Want: l.Name + " on this machine", Found: "none", Remedy: remedy(l.Name)}
		have, ok := h(l.Name)
		if !ok {
			out = append(out, p)
			continue
		}
		for _, v := range l.Versions {
			family, number := symbolVersion(v)
			highest := Highest(have, family)
			if !version.Older(highest, number) {
				continue // where a library tells no versions of the family, its loader does not ask either
			}
			out = append(out, &Problem{File: p.File, Want: family + " " + number, Found: family + " " + highest, Remedy: tooOld(l.Name, number)})
		}
	}
	return out
}

// symbolVersion returns family and number of a version of symbols such as GLIBC_2.34; GLIBC_PRIVATE has no number.
func symbolVersion(v string) (family, number string) {
	family, number, _ = strings.Cut(v, "_")
	if strings.Trim(number, "0123456789.") != "" {
		return family, ""
	}
	return family, number
}

// Highest returns the highest number of a family of symbols' versions, such as "2.36" of GLIBC_2.36; "" when there is none.
func Highest(versions []string, family string) (best string) {
	for _, v := range versions {
		if f, number := symbolVersion(v); f == family && version.Compare(best, number) < 0 {
			best = number
		}
	}
	return best
}

func some(files []string) string {
	if len(files) <= 2 {
		return strings.Join(files, ", ")
	}
	return fmt.Sprintf("%s and %d more", files[0], len(files)-1)
}

var sdkLibrary = lazyregexp.New(`^lib(Qnn|Snpe|SNPE|Genie|Htp|PlatformValidator)\w*\.so`)

func remedy(lib string) string {
	switch {
	case sdkLibrary.MatchString(lib):
		return "it is a library of the SDK itself, which its lib folder for this host lacks: the SDK is not complete, get it again"
	case strings.HasPrefix(lib, "libc++") || strings.HasPrefix(lib, "libunwind.so"):
		return "apt-get install libc++1 libc++abi1 (libunwind.so.1 comes with them)"
	case strings.HasPrefix(lib, "libpython"):
		v := strings.TrimPrefix(strings.Split(lib, ".so")[0], "libpython")
		return fmt.Sprintf("install Python %s with its shared library (Ubuntu 22.04 has 3.10: apt-get install libpython%s); elsewhere put the lib folder of one into LD_LIBRARY_PATH", v, v)
	case strings.HasPrefix(lib, "libatomic"):
		return "apt-get install libatomic1"
	case strings.HasPrefix(lib, "libncurses") || strings.HasPrefix(lib, "libtinfo"):
		return "install libncurses5 and libtinfo5; distributions had them up to Ubuntu 22.04"
	}
	return "find its package with `apt-file search " + lib + "` and install that"
}

func tooOld(lib, number string) string {
	if lib == "libc.so.6" {
		return "glibc can't be replaced alone: use a distribution with glibc " + number + " or newer (Ubuntu 22.04 has 2.35), or a container of one"
	}
	return "a newer " + lib + " is needed: that of a newer distribution, or of a container of one"
}

// Machine returns which shared libraries the machine whose file system is at root ("/") has for programs of its own kind. libraryPath is
// the user's LD_LIBRARY_PATH, whose folders come first.
func Machine(root, libraryPath string) Host {
	dirs := filepath.SplitList(libraryPath)
	for _, d := range configured(root, "/etc/ld.so.conf", 0) {
		dirs = append(dirs, filepath.Join(root, d))
	}
	for _, d := range []string{"/lib64", "/usr/lib64", "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib", "/usr/lib"} {
		dirs = append(dirs, filepath.Join(root, d))
	}
	return func(name string) ([]string, bool) {
		if name == "" || strings.ContainsAny(name, "/\x00") {
			return nil, false
		}
		for _, d := range dirs {
			if !filepath.IsAbs(d) {
				continue
			}
			if versions, err := LibraryVersions(filepath.Join(d, name)); err == nil {
				return versions, true
			}
		}
		return nil, false
	}
}

const maxIncludes = 4 // files of the loader's configuration that include others

// configured returns the folders that a file of the loader's configuration names.
func configured(root, file string, depth int) (dirs []string) {
	f, err := os.Open(filepath.Join(root, file))
	if err != nil || depth > maxIncludes {
		return nil
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		line, _, _ := strings.Cut(s.Text(), "#")
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case words[0] == "include":
			for _, pattern := range words[1:] {
				if !filepath.IsAbs(pattern) {
					pattern = filepath.Join(filepath.Dir(file), pattern)
				}
				names, err := filepath.Glob(filepath.Join(root, pattern))
				if err != nil {
					continue
				}
				for _, name := range names {
					dirs = append(dirs, configured(root, strings.TrimPrefix(name, strings.TrimSuffix(root, "/")), depth+1)...)
				}
			}
		case filepath.IsAbs(words[0]):
			dirs = append(dirs, words[0])
		}
	}
	return dirs
}
