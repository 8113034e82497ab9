package cli

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/rooted"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/model/aotconfig"
	"github.com/hexmage/hexmage/steps"
	"github.com/hexmage/hexmage/steps/metrics"
	"github.com/hexmage/hexmage/toolchains"
)

// domain is what the engine is told of Qualcomm's world for one workspace.
type domain struct {
	kinds map[string]step.Kind
	// as planner.Options wants it
	target    func(name string, args map[string]lang.Argument) (cty.Value, hcl.Diagnostics)
	catalogue func() *toolchains.Catalogue
	lock      *toolchains.Lock
	machine   toolchains.Machine
	reads     step.Reads // what was read to make it
}

// onDevice tells whether steps of a kind run on a device.
func onDevice(kind string) bool { return kind == "run" }

// domain reads the workspace's own catalogue, lock and metrics, which come before the shipped ones.
func (a *app) domain(workspace string) (*domain, error) {
	fsys := a.files(workspace)
	files, err := dataFiles(fsys, workspace, "toolchains")
	if err != nil {
		return nil, err
	}
	measured, err := dataFiles(fsys, workspace, metrics.Dir)
	if err != nil {
		return nil, err
	}
	reads := step.Reads{Paths: slices.Concat([]string{"toolchains", metrics.Dir, toolchains.LockFile},
		slices.Collect(maps.Keys(files)), slices.Collect(maps.Keys(measured)))}
	cat, diags := a.catalogues.of(files)
	if diags.HasErrors() {
		return nil, a.printData(diags, workspace, files)
	}
	lock, err := a.lock(workspace)
	if err != nil {
		return nil, err
	}
	w := steps.Workspace{Catalogue: cat, Lock: lock, Machine: a.machine(), Dir: workspace, Metrics: measured,
		Memory: totalMemory}
	d := &domain{kinds: w.Kinds(), target: w.Target, catalogue: cat, lock: lock, machine: w.Machine, reads: reads}
	if a.Serial != "" {
		d.kinds["run"] = onSerial{d.kinds["run"], a.Serial}
	}
	return d, nil
}

// catalogues is the catalogue that was loaded last. Nobody writes to it, and watching, which plans after a save, need
// not read it again.
type catalogues struct {
	mu    sync.Mutex
	files map[string][]byte
	cat   *toolchains.Catalogue
}

// begin loads the workspace's catalogue while something else is done. What is wrong with it is said by whoever loads
// it next.
func (c *catalogues) begin(workspace string) {
	go func() {
		if files, err := dataFiles(rooted.FS(workspace), workspace, "toolchains"); err == nil {
			_, _ = c.load(files, false)
		}
	}()
}

// of returns what has the catalogue with the files. Without any it is the shipped one, in which nothing is wrong: it
// is read when somebody asks, as many a pipeline has no toolchains.
func (c *catalogues) of(files map[string][]byte) (func() *toolchains.Catalogue, hcl.Diagnostics) {
	if len(files) == 0 {
		return sync.OnceValue(func() *toolchains.Catalogue {
			cat, _ := c.load(files, true)
			return cat
		}), nil
	}
	cat, diags := c.load(files, true)
	return func() *toolchains.Catalogue { return cat }, diags
}

// load returns the catalogue with the files. forPlan gives the workspace's rules their whole budget again.
func (c *catalogues) load(files map[string][]byte, forPlan bool) (*toolchains.Catalogue, hcl.Diagnostics) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cat != nil && maps.EqualFunc(c.files, files, bytes.Equal) {
		if forPlan {
			c.cat.Refill()
		}
		return c.cat, nil
	}
	cat, diags := steps.Catalogue(files)
	if !diags.HasErrors() {
		cat.Upstream = aotconfig.SoCModels()
		c.files, c.cat = files, cat
	}
	return cat, diags
}

// lock reads the workspace's lock file; what it does not have, the shipped one has.
func (a *app) lock(workspace string) (*toolchains.Lock, error) {
	own, err := a.ownLock(workspace)
	if err != nil {
		return nil, err
	}
	return own.OverShipped(), nil
}

// ownLock reads the workspace's lock file; without one, nothing is pinned.
func (a *app) ownLock(workspace string) (*toolchains.Lock, error) {
	b, err := boundedfile.ReadFS(a.files(workspace), toolchains.LockFile, maxData)
	if errors.Is(err, fs.ErrNotExist) {
		return &toolchains.Lock{}, nil
	}
	if err != nil {
		return nil, unread(err)
	}
	l, diags := toolchains.ParseLock(b, toolchains.LockFile)
	if diags.HasErrors() {
		return nil, a.printData(diags, workspace, map[string][]byte{toolchains.LockFile: b})
	}
	return l, nil
}

// printData is printDiags of what is wrong with files of data, which have paths of this machine or those in the
// workspace: people are shown the latter.
func (a *app) printData(diags hcl.Diagnostics, workspace string, files map[string][]byte) error {
	name := func(file string) string {
		if rel, err := filepath.Rel(workspace, file); err == nil && filepath.IsAbs(file) {
			return filepath.ToSlash(rel)
		}
		return file
	}
	sources := map[string]*hcl.File{}
	for file, b := range files {
		sources[name(file)] = &hcl.File{Bytes: b}
	}
	shown := slices.Clone(diags)
	for i, d := range shown {
		if d.Subject != nil {
			own, at := *d, *d.Subject
			at.Filename = name(at.Filename)
			own.Subject, own.Context = &at, nil
			shown[i] = &own
		}
	}
	return a.printDiags(shown, sources)
}

// maxData bounds a workspace's own data of a sort, in bytes.
const maxData = 16 << 20

// dataFiles reads the files *.hcl of a folder of the workspace, but the lock, by path.
func dataFiles(fsys fs.FS, workspace, folder string) (map[string][]byte, error) {
	files := map[string][]byte{}
	if _, err := fs.Stat(fsys, folder); errors.As(err, new(*rooted.OutsideError)) { // which fs.Glob would not say
		return nil, unread(err)
	}
	names, err := fs.Glob(fsys, folder+"/*.hcl")
	left := int64(maxData)
	for _, name := range names {
		if path.Base(name) == toolchains.LockFile {
			continue
		}
		b, err := boundedfile.ReadFS(fsys, name, left)
		if err != nil {
			return nil, unread(err)
		}
		left -= int64(len(b))
		files[filepath.Join(workspace, filepath.FromSlash(name))] = b
	}
	return files, err
}

// unread is the error for a file of the workspace that cannot be read. A link that leads out of it is the workspace's
// mistake, and so are what is too large and what is no file.
func unread(err error) error {
	if errors.As(err, new(*rooted.OutsideError)) || errors.As(err, new(*boundedfile.LargeError)) ||
		errors.Is(err, rooted.ErrIrregular) {
		return usageError("%w", err)
	}
	return engineError(err)
}

// machine answers what toolchains ask of this machine: variables and programs in the user's PATH.
func (a *app) machine() toolchains.Machine {
	return toolchains.Machine{
		Getenv:   a.Env.Var,
		LookPath: exec.LookPath,
		Home:     a.Env.Var("HOME"),
		Dir:      a.Env.Dir,
	}
}
