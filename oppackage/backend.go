package oppackage

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// Backend is a kind of op package that is not the usual one, which registers its ops for HTP with C++ macros.
type Backend struct {
	Name     string // "LPAI"
	Header   string // the header that shows it
	Source   string // the source that includes the header
	Compiles bool   // hexmage compiles it, although it does not check it
}

func backends() []Backend {
	return []Backend{
		{Name: "QHPI", Header: "qhpi.h", Compiles: true},
		{Name: "LPAI", Header: "QnnLpaiOpPackage.h"},
		{Name: "CPU", Header: "QnnCpuOpPackage.h"},
		{Name: "GPU", Header: "QnnGpuOpPackage.h"},
		{Name: "DSP", Header: "QnnDspOpPackage.h"},
	}
}

// String says in a sentence without a full stop what the package is, and what to do.
func (b Backend) String() string {
	if b.Compiles {
		return fmt.Sprintf("%s includes %s: this op package registers its ops by %s, the newer interface of HTP. "+
			"The simulated SDK has no %s; with Qualcomm's QAIRT (--profile device) hexmage compiles the package and "+
			"does not check its list of ops", b.Source, b.Header, b.Name, b.Header)
	}
	return fmt.Sprintf("%s includes %s: this is an op package for QNN's %s backend, and hexmage builds op packages for "+
		"HTP. Build this one with its own Makefile and Qualcomm's QAIRT, which has the header", b.Source, b.Header, b.Name)
}

var included = lazyregexp.New(`(?m)^[ \t\x{feff}]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]`)

// BackendOf returns the backend that a source is for; nil for HTP's usual interface, and for what does not show it.
func BackendOf(source string, text []byte) *Backend {
	for _, m := range included.Get().FindAllSubmatch(text, -1) {
		header := path.Base(string(bytes.ReplaceAll(m[1], []byte(`\`), []byte("/"))))
		if i := slices.IndexFunc(backends(), func(b Backend) bool { return b.Header == header }); i >= 0 {
			b := backends()[i]
			b.Source = source
			return &b
		}
	}
	return nil
}

// Bounds of FindBackend.
const (
	maxSources = 1000
	maxSource  = 4 << 20
)

// FindBackend looks into the sources below src of a package's folder; nil is as with BackendOf. It ignores what it cannot
// read.
func FindBackend(pkg fs.FS) (found *Backend) {
	n := 0
	_ = fs.WalkDir(pkg, "src", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !compiled(name) && path.Ext(name) != ".h" && path.Ext(name) != ".hpp" {
			return nil
		}
		if n++; n > maxSources {
			return fs.SkipAll
		}
		f, err := pkg.Open(name)
		if err != nil {
			return nil
		}
		defer f.Close()
		if text, err := io.ReadAll(io.LimitReader(f, maxSource)); err == nil {
			found = BackendOf(name, text)
		}
		if found != nil {
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// compiled tells whether a compiler takes the file as C or C++.
func compiled(name string) bool {
	return slices.Contains([]string{".c", ".cc", ".cp", ".cpp", ".cxx", ".c++"}, strings.ToLower(path.Ext(name)))
}

// checkSources refuses sources that would be left out without a word.
func checkSources(files []string) error {
	for _, f := range slices.Sorted(slices.Values(files)) {
		dir, ext := path.Dir(f), path.Ext(f)
		switch in := dir == "src" || dir == "src/ops"; {
		case !compiled(f) || !strings.HasPrefix(f, "src/") || in && ext == ".cpp":
		case ext == ".c":
			return fmt.Errorf("%s: hexmage builds op packages for HTP, which are C++. A package in C is for another "+
				"backend, such as LPAI: build it with its own Makefile. Rename a C source of an HTP package to .cpp", f)
		case in:
			return fmt.Errorf("%s: only src/*.cpp and src/ops/*.cpp are compiled: rename it to .cpp", f)
		default:
			return fmt.Errorf("%s: only src/*.cpp and src/ops/*.cpp are compiled: move it there, or rename it to .inc if "+
				"another source includes it", f)
		}
	}
	return nil
}
