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

// Backend is a QNN interface for op packages other than HTP's usual interface.
type Backend struct {
	Name     string // "LPAI"
	Header   string // header that identifies the backend
	Source   string // the source that includes the header
	Compiles bool   // hexmage compiles the package, but does not check its ops
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

// String describes the problem with the package and the next step, without a final period.
func (b Backend) String() string {
	if b.Compiles {
		return fmt.Sprintf("%s includes %s: this op package registers its ops through %s, the newer interface of HTP. "+
			"The simulated SDK lacks %s. With Qualcomm's QAIRT (--profile device), hexmage compiles the package, "+
			"but does not check its list of ops", b.Source, b.Header, b.Name, b.Header)
	}
	return fmt.Sprintf("%s includes %s: this op package is for QNN's %s backend, but hexmage builds op packages only for "+
		"HTP. Build it with its own Makefile and Qualcomm's QAIRT", b.Source, b.Header, b.Name)
}

var included = lazyregexp.New(`(?m)^[ \t\x{feff}]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]`)

// BackendOf returns the backend whose header a source includes. It returns nil for HTP's usual interface and for a
// source without a known header.
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

// Limits of FindBackend.
const (
	maxSources = 1000
	maxSource  = 4 << 20
)

// FindBackend searches the sources in a package's folder src for a backend's header. It skips unreadable files.
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

// compiled reports whether a compiler takes the file as C or C++.
func compiled(name string) bool {
	return slices.Contains([]string{".c", ".cc", ".cp", ".cpp", ".cxx", ".c++"}, strings.ToLower(path.Ext(name)))
}

// checkSources rejects sources that the build would silently ignore.
func checkSources(files []string) error {
	for _, f := range slices.Sorted(slices.Values(files)) {
		dir, ext := path.Dir(f), path.Ext(f)
		switch in := dir == "src" || dir == "src/ops"; {
		case !compiled(f) || !strings.HasPrefix(f, "src/") || in && ext == ".cpp":
		case ext == ".c":
			return fmt.Errorf("%s: hexmage builds only C++ op packages, for HTP: rename the file to .cpp. If the package is "+
				"for another backend, such as LPAI, use the package's own Makefile", f)
		case in:
			return fmt.Errorf("%s: hexmage compiles only src/*.cpp and src/ops/*.cpp: rename the file to .cpp", f)
		default:
			return fmt.Errorf("%s: hexmage compiles only src/*.cpp and src/ops/*.cpp: move the file there, or rename it to .inc "+
				"if another source includes it", f)
		}
	}
	return nil
}
