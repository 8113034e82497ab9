package cli

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/runner"
	"github.com/hexmage/hexmage/runner/pool"
	"github.com/hexmage/hexmage/steps/poolfile"
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

// inPool finds the user's phone with a name or serial.
func (a *app) inPool(serial string) (pool.Device, bool, error) {
	f, err := a.poolFile()
	if err != nil || serial == "" {
		return pool.Device{}, false, err
	}
	d, ok := pool.New(a.deviceState(), f.Devices).Find(serial)
	return d, ok, nil
}

// onSerial is kind run with the user's choice of a device, which counts more than the pipeline's. It is part of the actions' keys: what was
// measured on another phone is not the answer.
type onSerial struct {
	step.Kind
	serial string
}

// Plan implements step.Kind.
func (k onSerial) Plan(r step.Request) (step.Planned, hcl.Diagnostics) {
	p, diags := k.Kind.Plan(r)
	for i, s := range p.Specs {
		if s.Platform[action.PropertyExecutor] == runner.Executor {
			p.Specs[i].Platform = maps.Clone(s.Platform)
			p.Specs[i].Platform[runner.PropertySerial] = k.serial
		}
	}
	return p, diags
}
