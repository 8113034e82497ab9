package opconfig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/hexmage/hexmage/internal/tool"
)

// Tool is the tool's name, and its behaviour version: it changes when what it writes for the same input does.
const Tool tool.Name[Spec] = "op-interface/2"

// Spec says what interface to write: that of a config, or one for the ops that sources register.
type Spec struct {
	Package string   `json:"package"`
	Config  string   `json:"config,omitempty"` // the op config, an XML file
	Sources []string `json:"sources,omitempty"`
	Out     string   `json:"out"` // file to write
}

// Run is the tool.
func Run(_ context.Context, s Spec, _ tool.Env) error {
	if s.Package == "" || s.Out == "" || (s.Config == "") == (len(s.Sources) == 0) {
		return errors.New("package, out and config or sources are needed")
	}
	c := Config{Package: s.Package}
	if s.Config != "" {
		var err error
		if c, err = ReadFile(s.Config); err != nil {
			return err
		}
		if c.Package != s.Package {
			return fmt.Errorf("%s is the config of package %s, not %s: set the step's package, or PackageName in the config", s.Config, c.Package, s.Package)
		}
	}
	for _, source := range s.Sources {
		text, err := os.ReadFile(source)
		if err != nil {
			return err
		}
		c.Ops = append(c.Ops, Named(text)...)
	}
	var text bytes.Buffer
	if err := Interface(&text, c); err != nil {
		return err
	}
	return os.WriteFile(s.Out, text.Bytes(), 0o644)
}

// ReadFile reads a config file.
func ReadFile(file string) (Config, error) {
	f, err := os.Open(file)
	if err != nil {
		return Config{}, err
	}
	defer f.Close()
	c, err := Read(f)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", file, err)
	}
	return c, nil
}

// File returns which of a package's files is its op config for HTP: the one in config/, or of several the one whose name
// says HTP. "" is none; several that could be it are an error.
func File(files []string) (string, error) {
	var all, htp []string
	for _, f := range files {
		if rest, ok := strings.CutPrefix(f, "config/"); ok && !strings.Contains(rest, "/") && strings.HasSuffix(rest, ".xml") {
			all = append(all, f)
			if strings.Contains(strings.ToLower(rest), "htp") {
				htp = append(htp, f)
			}
		}
	}
	if len(htp) > 0 {
		all = htp
	}
	switch len(all) {
	case 0:
		return "", nil
	case 1:
		return all[0], nil
	}
	return "", fmt.Errorf("any of %s could be the op config: say which (config = \"%s\")", strings.Join(all, ", "), all[0])
}
