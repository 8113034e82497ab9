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

// Tool is this tool's name and version. Raise the version whenever the output changes.
const Tool tool.Name[Spec] = "op-interface/2"

// Spec describes the interface to write. The ops come from a config or from sources that register them.
type Spec struct {
	Package string   `json:"package"`
	Config  string   `json:"config,omitempty"` // the op config, an XML file
	Sources []string `json:"sources,omitempty"`
	Out     string   `json:"out"` // output file
}

// Run writes the interface source.
func Run(_ context.Context, s Spec, _ tool.Env) error {
	if s.Package == "" || s.Out == "" || (s.Config == "") == (len(s.Sources) == 0) {
		return errors.New("missing value: set package, out, and either config or sources")
	}
	c := Config{Package: s.Package}
	if s.Config != "" {
		var err error
		if c, err = ReadFile(s.Config); err != nil {
			return err
		}
		if c.Package != s.Package {
			return fmt.Errorf("%s configures package %s, but the step's package is %s; change the step's package or "+
				"PackageName in the config so that they match", s.Config, c.Package, s.Package)
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

// ReadFile reads an op config file.
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

// File finds the op config for HTP among a package's files. A file in config/ has precedence over a file with HTP in
// its name. Without a config, File returns "". For several configs, it returns an error.
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
	return "", fmt.Errorf("found several op configs: %s: choose one, such as config = \"%s\"",
		strings.Join(all, ", "), all[0])
}
