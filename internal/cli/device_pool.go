package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/hexmage/hexmage/runner/runstep/poolfile"
)

// poolPath is where the user's phones are listed, and whether the user said so by a variable: then the file has to be there.
func (a *app) poolPath() (path string, named bool) {
	if p := a.env.Var("HEXMAGE_DEVICES"); p != "" {
		return absolute(a.env.Dir, p), true
	}
	config := a.env.Var("XDG_CONFIG_HOME")
	if !filepath.IsAbs(config) { // as the XDG specification has it
		home := a.env.Var("HOME")
		if home == "" {
			return "", false
		}
		config = filepath.Join(home, ".config")
	}
	return filepath.Join(config, "hexmage", "devices.hcl"), false
}

// poolFile reads the list of the user's phones. Without one it is empty.
func (a *app) poolFile() (poolfile.File, error) {
	path, named := a.poolPath()
	if path == "" {
		return poolfile.File{}, nil
	}
	src, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return poolfile.File{}, nil
	}
	if err != nil {
		return poolfile.File{}, usage("the list of devices: %w", err)
	}
	f, diags := poolfile.Parse(src, path)
	if diags.HasErrors() {
		a.printDiags(diags, map[string]*hcl.File{path: {Bytes: src}})
		return poolfile.File{}, &exitError{code: ExitUsage}
	}
	return f, nil
}
