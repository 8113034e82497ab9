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

// Tool is the tool's name, and its behaviour version: it changes when what it writes for the same input does.
const Tool tool.Name[Spec] = "makefile/3"

// Spec says what Makefile to write.
type Spec struct {
	Package string  `json:"package"`
	Arches  []Arch  `json:"arches"`
	HVX     string  `json:"hvx,omitempty"`    // HVX version or compiler flags; "": the default
	Extras  []Extra `json:"extras,omitempty"` // with whole paths of sources
	Out     string  `json:"out"`              // folder to write it into
}

// Run is the tool.
func Run(_ context.Context, s Spec, _ tool.Env) error {
	if s.Out == "" {
		return errors.New("out is needed")
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

// HVXFlags spells an HVX version, such as "v66", as compiler flags. Flags stay as they are, and "" is the default.
func HVXFlags(hvx string) string {
	switch {
	case hvx == "":
		return DefaultHVX
	case strings.HasPrefix(hvx, "-"):
		return hvx
	}
	return "-mhvx=" + hvx
}

// FindName returns the package's name: the one given, else what src/<name>Interface.cpp is named after.
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
		return "", fmt.Errorf("there are %d files src/*%s to name the op package after: name a folder that has one, or say the package's name (package = \"…\" of a step, --package of a command), which is the PackageName of its op config", len(names), suffix)
	}
	return names[0], ValidateName(names[0])
}
