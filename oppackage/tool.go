package oppackage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/hexmage/hexmage/internal/tool"
)

// Tool is this tool's name and version. Raise the version whenever the output changes.
const Tool tool.Name[Spec] = "makefile/3"

// Spec describes the Makefile to write.
type Spec struct {
	Package string  `json:"package"`
	Arches  []Arch  `json:"arches"`
	HVX     string  `json:"hvx,omitempty"`    // HVX version or compiler flags; "" for the default
	Extras  []Extra `json:"extras,omitempty"` // with file names in place of patterns
	Out     string  `json:"out"`              // output folder
}

// Run writes the Makefile.
func Run(_ context.Context, s Spec, _ tool.Env) error {
	if s.Out == "" {
		return errors.New("out: missing value")
	}
	p := Package{Name: s.Package, HVX: HVXFlags(s.HVX), Extras: s.Extras}
	for _, e := range p.Extras {
		p.Files = append(p.Files, e.Sources...)
	}
	var text bytes.Buffer
	if err := Makefile(&text, p, s.Arches); err != nil {
		return err
	}
	if err := os.MkdirAll(s.Out, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.Out, "Makefile"), text.Bytes(), 0o644)
}

// HVXFlags converts an HVX version, such as "v66", to compiler flags. It returns compiler flags unchanged, and the
// default flags for "".
func HVXFlags(hvx string) string {
	switch {
	case hvx == "":
		return DefaultHVX
	case strings.HasPrefix(hvx, "-"):
		return hvx
	}
	return "-mhvx=" + hvx
}

// FindName returns the given name, or else the name in src/<name>Interface.cpp.
func FindName(given string, files []string) (string, error) {
	if given != "" {
		return given, ValidateName(given)
	}
	const suffix = "Interface.cpp"
	var names []string
	for _, f := range files {
		if path.Dir(f) == "src" && strings.HasSuffix(f, suffix) {
			names = append(names, strings.TrimSuffix(path.Base(f), suffix))
		}
	}
	if len(names) != 1 {
		if err := checkSources(files); err != nil {
			return "", err
		}
		return "", fmt.Errorf("cannot determine the name of the op package: expected one file that matches src/*%s, "+
			"found %d. Set the name, which is PackageName in the op config, with package = \"…\" in the step, or "+
			"with --package", suffix, len(names))
	}
	return names[0], ValidateName(names[0])
}
