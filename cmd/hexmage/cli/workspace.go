package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/hexmage/hexmage"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/nearest"
	"github.com/hexmage/hexmage/internal/report"
	"github.com/hexmage/hexmage/internal/rooted"
	"github.com/hexmage/hexmage/internal/store/layout"
	"github.com/hexmage/hexmage/internal/workspace"
	"github.com/hexmage/hexmage/toolchains/gitmodule"
)

// app is what every command needs: where it works, what it was told, how it shows things.
type app struct {
	Global
	env   Env
	dir   string // where the user is: outputs go below it
	root  string // the workspace: the folder with pipelines/, at or above dir
	cache string // the cache folder
	live  bool

	serial string // the device that the user chose for steps that run on one; "": the pipeline says

	interrupts *interrupts
	catalogues catalogues
	pinning    *modulePins // of `hexmage lock`; nil: modules of git repositories are as the lock has them
}

// places is the cache folder, with a method for each place in it.
func (a *app) places() layout.Root { return layout.Root(a.cache) }

func newApp(g Global, env Env) (*app, error) {
	a := &app{Global: g, env: env, dir: env.Dir}
	if g.JSON {
		isData(env.Stdout)
	}
	if g.Dir != "" {
		a.dir = absolute(env.Dir, g.Dir)
		if st, err := os.Stat(a.dir); err != nil || !st.IsDir() {
			return nil, usage("-C %s: no such folder", g.Dir)
		}
	}
	if a.Profile == "" {
		a.Profile = env.Var("HEXMAGE_PROFILE")
	}
	if a.Jobs < 0 {
		return nil, usage("-j %d: want 1 or more", a.Jobs)
	}
	if a.Jobs == 0 {
		a.Jobs = runtime.NumCPU()
	}
	if _, _, err := a.sandboxLevel(); err != nil { // also where nothing will run
		return nil, err
	}
	cache, err := cacheDir(env)
	if err != nil {
		return nil, err
	}
	a.cache = cache
	a.live = env.Terminal && !g.JSON && env.Var("TERM") != "dumb" && env.Var("CI") == ""
	a.root = findUp(a.dir, "pipelines")
	return a, nil
}

// cacheDir is HEXMAGE_CACHE, else $XDG_CACHE_HOME/hexmage, else ~/.cache/hexmage.
func cacheDir(env Env) (string, error) {
	if d := env.Var("HEXMAGE_CACHE"); d != "" {
		return absolute(env.Dir, d), nil
	}
	if d := env.Var("XDG_CACHE_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "hexmage"), nil
	}
	if h := env.Var("HOME"); filepath.IsAbs(h) {
		return filepath.Join(h, ".cache", "hexmage"), nil
	}
	return "", usage("no place for the cache: set HEXMAGE_CACHE or HOME to an absolute path")
}

// findUp returns the nearest folder at or above dir that has a folder of that name, or "".
func findUp(dir, name string) string {
	for {
		if st, err := os.Stat(filepath.Join(dir, name)); err == nil && st.IsDir() {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// workspace returns the folder whose pipelines/ has the pipeline: the user's own, else the shipped one.
func (a *app) workspace(pipeline string) (string, error) {
	if strings.ContainsAny(pipeline, `/\`) || pipeline == "" {
		return "", usage("%q is no pipeline name: give the name of a file in pipelines/ without .hcl", pipeline)
	}
	if a.root != "" {
		if _, _, err := rooted.Resolve(a.root, filepath.Join(workspace.Folder, pipeline)); err != nil {
			return "", usage("%w", err)
		}
	}
	switch {
	case a.root != "" && slices.Contains(names(rooted.FS(a.root)), pipeline):
		return a.root, nil
	case slices.Contains(names(hexmage.Shipped), pipeline):
		return a.shipped()
	}
	return "", usage("there is no pipeline %q here. There are: %s", pipeline, strings.Join(a.pipelines(), ", "))
}

// place returns where a command writes, or changes what is there: at the path, but through no link that leads out of the workspace, or
// out of the working directory or the folders where these do not have the path. What else the user named is as it is.
func (a *app) place(at string, folders ...string) (string, error) {
	for _, dir := range append([]string{a.root, a.dir}, folders...) {
		rel, err := filepath.Rel(dir, at)
		if dir == "" || err != nil || !filepath.IsLocal(rel) {
			continue
		}
		real, _, err := rooted.Resolve(dir, rel)
		if err != nil {
			return "", usage("%w", err)
		}
		return real, nil
	}
	return at, nil
}

// names are those of a workspace's pipelines; of one that cannot be read, as of one without any, there are none.
func names(fsys fs.FS) []string {
	all, _ := workspace.Names(fsys)
	return all
}

// load reads a pipeline of a workspace, and the modules that it calls.
func (a *app) load(ctx context.Context, workspace, pipeline string) (*config.Pipeline, hcl.Diagnostics) {
	return a.loadFrom(ctx, rooted.FS(workspace), workspace, pipeline)
}

func (a *app) loadFrom(ctx context.Context, files fs.FS, workspace, pipeline string) (*config.Pipeline, hcl.Diagnostics) {
	find, done := a.finder(ctx, workspace)
	defer done()
	return config.Load(files, pipeline, find)
}

// finder finds the modules of a workspace's pipelines, until done is called: those of git repositories, and those with a name.
func (a *app) finder(ctx context.Context, workspace string) (_ config.Finder, done func()) {
	g := &gitModules{a: a, workspace: workspace}
	return func(source string) (config.ModuleFolder, error) {
		if strings.HasPrefix(source, gitmodule.Prefix) {
			return g.find(ctx, source)
		}
		return a.module(workspace, source)
	}, g.done
}

// module finds a module by its name: the workspace's own, else the shipped one.
func (a *app) module(workspace, source string) (config.ModuleFolder, error) {
	if !hclsyntax.ValidIdentifier(source) {
		return config.ModuleFolder{}, fmt.Errorf("%q is no module: give the name of a shipped one, a relative path, which begins with ./ or ../, or git::URL of a repository", source)
	}
	own, ok := moduleOf(rooted.FS(workspace), source)
	if ok {
		return own, nil
	}
	f, ok := moduleOf(hexmage.Shipped, source)
	if !ok {
		var all []string
		if entries, err := fs.ReadDir(hexmage.Shipped, config.Modules); err == nil {
			for _, e := range entries {
				if e.IsDir() {
					all = append(all, e.Name())
				}
			}
		}
		if near := nearest.Name(source, all); near != "" {
			return config.ModuleFolder{}, fmt.Errorf("no module %q is shipped. Did you mean %s?", source, near)
		}
		return config.ModuleFolder{}, fmt.Errorf("no module %q is shipped; there are: %s. One of this workspace is named by its relative path, such as \"../%s/%s\"", source, strings.Join(all, ", "), config.Modules, source)
	}
	shipped, err := a.shipped()
	if err != nil {
		return config.ModuleFolder{}, err
	}
	f.FS, f.Root, f.ID = rooted.FS(shipped), filepath.ToSlash(shipped), "shipped"
	if f.Root != filepath.ToSlash(workspace) {
		f.Absent = own.Dir
	}
	return f, nil
}

// moduleOf is the module of that name in a workspace.
func moduleOf(workspace fs.FS, name string) (config.ModuleFolder, bool) {
	dir := path.Join(config.Modules, name)
	st, err := fs.Stat(workspace, dir)
	return config.ModuleFolder{FS: workspace, Dir: dir}, err == nil && st.IsDir()
}

// oneSoC is the SoC of --soc, for what is of one; otherwise stands where none is given.
func (a *app) oneSoC(otherwise string) (string, error) {
	switch {
	case len(a.SoC) == 0:
		return otherwise, nil
	case len(a.SoC) > 1:
		return "", usage("one --soc, please: %s are several", strings.Join(a.SoC, ", "))
	}
	return strings.TrimPrefix(a.SoC[0], "+"), nil
}

// pipelines returns the names of all pipelines, the workspace's and the shipped ones.
func (a *app) pipelines() []string {
	var own []string
	if a.root != "" {
		own = names(rooted.FS(a.root))
	}
	for _, name := range names(hexmage.Shipped) {
		if !slices.Contains(own, name) {
			own = append(own, name)
		}
	}
	return own
}

// shipped unpacks what the binary carries into the cache, once for each content, and returns the folder.
func (a *app) shipped() (string, error) {
	h := sha256.New()
	err := fs.WalkDir(hexmage.Shipped, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(hexmage.Shipped, p)
		fmt.Fprintf(h, "%s %d\n", p, len(b))
		h.Write(b)
		return err
	})
	if err != nil {
		return "", engine(err)
	}
	dir := filepath.Join(a.places().Shipped(), hex.EncodeToString(h.Sum(nil))[:16])
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", engine(err)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "tmp-")
	if err != nil {
		return "", engine(err)
	}
	defer os.RemoveAll(tmp)
	if err := os.CopyFS(filepath.Join(tmp, "w"), hexmage.Shipped); err != nil {
		return "", engine(fmt.Errorf("unpack the shipped pipelines: %w", err))
	}
	if err := os.Rename(filepath.Join(tmp, "w"), dir); err != nil && !errors.Is(err, fs.ErrExist) {
		if _, e := os.Stat(dir); e != nil { // another process was not first: a real failure
			return "", engine(err)
		}
	}
	return dir, nil
}

func (a *app) colour() bool {
	switch a.Colour {
	case "always":
		return true
	case "never":
		return false
	}
	return a.env.Terminal && a.env.Var("NO_COLOR") == "" && a.env.Var("TERM") != "dumb"
}

func (a *app) reportOptions() report.Options {
	return report.Options{Colour: a.colour(), Live: a.live, Verbose: a.Verbose, Width: a.env.Width}
}
