package oppackage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/tool"
)

// Tool is the tool's name, and its behaviour version: it changes when what it writes for the same input does.
const Tool tool.Name[Spec] = "makefile/3"

// Spec says what Makefile to write.
type Spec struct {
	Package string   `json:"package"`
	Targets []string `json:"targets,omitempty"` // none: all
	HVX     string   `json:"hvx,omitempty"`     // HVX version or compiler flags; "": the default
	Extras  []Extra  `json:"extras,omitempty"`  // with whole paths of sources
	Out     string   `json:"out"`               // folder to write it into
}

// Run is the tool.
func Run(_ context.Context, s Spec, _ tool.Env) error {
	if s.Out == "" {
		return errors.New("out is needed")
	}
	arches, err := Arches()
	if err == nil && len(s.Targets) > 0 {
		arches, err = Select(s.Targets)
	}
	if err != nil {
		return err
	}
	p := Package{Name: s.Package, HVX: HVXFlags(s.HVX), Extras: s.Extras}
	for _, e := range p.Extras {
		p.Files = append(p.Files, e.Sources...)
	}
	var text bytes.Buffer
	if err := Makefile(&text, p, arches); err != nil {
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

// CheckHVX refuses what is neither an HVX version that compilers know, nor compiler flags, nor "".
func CheckHVX(hvx string) error {
	known := []string{"v60", "v62", "v65", "v66", "v67", "v68", "v69", "v71", "v73", "v75", "v79", "v81"}
	if hvx == "" || strings.HasPrefix(hvx, "-") || slices.Contains(known, hvx) {
		return nil
	}
	return fmt.Errorf("there is no HVX version %q; there is %s; anything else is written as a compiler flag: \"-mhvx=%s\"", hvx, strings.Join(known, ", "), hvx)
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
		return "", fmt.Errorf("there are %d files src/*%s to name the op package after: say its name (package = \"…\")", len(names), suffix)
	}
	return names[0], ValidateName(names[0])
}
