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

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/safepath"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/model/aotconfig"
	"github.com/hexmage/hexmage/steps"
	"github.com/hexmage/hexmage/steps/metrics"
	"github.com/hexmage/hexmage/toolchains"
)

// domain has the facts about Qualcomm's products for one workspace.
type domain struct {
	steps.Workspace
	kinds   map[string]step.Kind
	catalog *toolchains.Catalog
	reads   step.Reads   // files and folders that it was made from
	wait    func() error // prints the catalog's errors
}

// domain reads the workspace's catalog, lock and metrics, which take precedence over the shipped ones.
func (a *app) domain() (*domain, error) {
	d, err := a.planDomain()
	if err == nil {
		err = d.wait()
	}
	if err != nil {
		return nil, err
	}
	d.catalog = d.Catalog()
	return d, nil
}

// planDomain returns the domain while its catalog still loads, since few steps need the catalog. Call wait before the
// plan is used.
func (a *app) planDomain() (*domain, error) {
	files, err := a.dataFiles("toolchains")
	if err != nil {
		return nil, err
	}
	measured, err := a.dataFiles(metrics.Dir)
	if err != nil {
		return nil, err
	}
	reads := step.Reads{Paths: slices.Concat([]string{"toolchains", metrics.Dir, toolchains.LockFile},
		slices.Collect(maps.Keys(files)), slices.Collect(maps.Keys(measured)))}
	load := sync.OnceValues(func() (*toolchains.Catalog, hcl.Diagnostics) {
		cat, diags := a.catalogs.load(files)
		if diags.HasErrors() {
			cat, _ = a.catalogs.load(nil) // planning ends with the shipped one
		}
		return cat, diags
	})
	go load()
	catalog := func() *toolchains.Catalog {
		cat, _ := load()
		return cat
	}
	wait := func() error {
		if _, diags := load(); diags.HasErrors() {
			return a.printData(diags, a.here(), files)
		}
		return nil
	}
	lock, err := a.lock()
	if err != nil {
		return nil, err
	}
	machine := toolchains.Machine{Getenv: a.Env.Var, LookPath: exec.LookPath, Home: a.Env.Var("HOME"), Dir: a.Env.Dir}
	w := steps.Workspace{Catalog: catalog, Lock: lock, Machine: machine,
		Dir: a.here(), Metrics: measured, Memory: totalMemory, Serial: a.Serial}
	return &domain{Workspace: w, kinds: w.Kinds(), reads: reads, wait: wait}, nil
}

// catalogs keeps the last loaded catalog. It is read-only, so `watch` need not load it again after a save.
type catalogs struct {
	mu    sync.Mutex
	files map[string][]byte
	cat   *toolchains.Catalog
}

// load returns the catalog with the files, with the whole evaluation budget of the workspace's rules.
func (c *catalogs) load(files map[string][]byte) (*toolchains.Catalog, hcl.Diagnostics) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cat != nil && maps.EqualFunc(c.files, files, bytes.Equal) {
		c.cat.Refill()
		return c.cat, nil
	}
	cat, diags := steps.Catalog(files)
	if !diags.HasErrors() {
		cat.MllmChips = aotconfig.SoCModels()
		c.files, c.cat = files, cat
	}
	return cat, diags
}

// lock reads the workspace's lock file, with the shipped one for missing entries.
func (a *app) lock() (*toolchains.Lock, error) {
	own, err := a.ownLock()
	if err != nil {
		return nil, err
	}
	return own.OverShipped(), nil
}

// ownLock reads the workspace's lock file. A missing file pins nothing.
func (a *app) ownLock() (*toolchains.Lock, error) {
	b, err := boundedfile.ReadFS(a.files(), toolchains.LockFile, maxData)
	if errors.Is(err, fs.ErrNotExist) {
		return &toolchains.Lock{}, nil
	}
	if err != nil {
		return nil, unread(err)
	}
	l, diags := toolchains.ParseLock(b, toolchains.LockFile)
	if diags.HasErrors() {
		return nil, a.printData(diags, a.here(), map[string][]byte{toolchains.LockFile: b})
	}
	return l, nil
}

// printData prints diagnostics about data files. It shows absolute paths as paths in the workspace.
func (a *app) printData(diags hcl.Diagnostics, dir string, files map[string][]byte) error {
	name := func(file string) string {
		if rel, err := filepath.Rel(dir, file); err == nil && filepath.IsAbs(file) {
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

// maxData is the largest size of a workspace's data of one kind, in bytes.
const maxData = 16 << 20

// dataFiles reads the *.hcl files of a folder of the workspace by path, except the lock.
func (a *app) dataFiles(folder string) (map[string][]byte, error) {
	fsys := a.files()
	files := map[string][]byte{}
	if _, err := fs.Stat(fsys, folder); errors.As(err, new(*safepath.OutsideError)) { // fs.Glob would ignore it
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
		files[filepath.Join(a.here(), filepath.FromSlash(name))] = b
	}
	return files, err
}

// unread returns the error for an unreadable file of the workspace. Links outside the workspace, large files and
// folders are the user's errors.
func unread(err error) error {
	if errors.As(err, new(*safepath.OutsideError)) || errors.As(err, new(*boundedfile.LargeError)) ||
		errors.Is(err, safepath.ErrIrregular) {
		return usageError("%w", err)
	}
	return engineError(err)
}
