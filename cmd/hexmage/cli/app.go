package cli

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/hexmage/hexmage"
	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/execute/sandbox"
	"github.com/hexmage/hexmage/internal/langserver"
	"github.com/hexmage/hexmage/internal/report"
	"github.com/hexmage/hexmage/internal/safepath"
	"github.com/hexmage/hexmage/internal/store/layout"
	"github.com/hexmage/hexmage/internal/suggest"
	"github.com/hexmage/hexmage/internal/workspace"
)

// app is the state of every command: folders, flags, and output settings.
type app struct {
	globalFlags
	Env     Env
	WorkDir string // the folder that -C names, or else the user's working directory; outputs go below it
	Root    string // the workspace: the folder with pipelines/, at or above WorkDir
	Cache   string // the cache folder
	Live    bool   // whether hexmage updates the lines of progress in place

	Serial string // device that the user chose for run steps; "": the pipeline's choice

	interrupts *interrupts
	catalogs   *catalogs
	events     bool       // with --json the command prints events, not one object
	also       event.Sink // also receives diagnostics; may be nil
	far        *farCache  // result of openRemote; nil: not called yet

	texts langserver.Texts // open texts of the editor, which replace files; nil: none
	// receives diagnostics for the editor; nil: they go to the terminal
	onDiags func(hcl.Diagnostics)
}

// places returns the layout of the cache folder.
func (a *app) places() layout.Root { return layout.Root(a.Cache) }

// newApp returns the app for the environment and the global flags.
func newApp(g globalFlags, env Env, in *interrupts) (*app, error) {
	a := &app{globalFlags: g, Env: env, WorkDir: env.Dir, interrupts: in, catalogs: new(catalogs)}
	if g.JSON {
		isData(env.Stdout)
	}
	if g.Dir != "" {
		a.WorkDir = absolute(env.Dir, g.Dir)
		if !isFolder(a.WorkDir) {
			return nil, usageError("-C %s: no such folder; name an existing folder", g.Dir)
		}
	}
	if err := misspelt(env); err != nil {
		return nil, err
	}
	a.Profile = cmp.Or(a.Profile, env.Var("HEXMAGE_PROFILE"))
	if a.Jobs < 0 {
		return nil, usageError("-j %d: must be 1 or more", a.Jobs)
	}
	a.Jobs = cmp.Or(a.Jobs, runtime.NumCPU()+1)
	if _, _, err := a.sandboxLevel(); err != nil { // an error also for commands that run nothing
		return nil, err
	}
	cache, err := cacheDir(env)
	if err != nil {
		return nil, err
	}
	a.Cache = cache
	a.Live = env.Terminal && !g.JSON && env.Var("TERM") != "dumb" && env.Var("CI") == ""
	a.Root = findUp(a.WorkDir, "pipelines")
	if a.Remote != "" { // an up-to-date run does not read settings
		_, err = a.chosenRemote()
	}
	return a, err
}

// misspelt rejects unknown variables with hexmage's prefix.
func misspelt(env Env) error {
	for _, kv := range env.Vars {
		rest, ok := strings.CutPrefix(kv, prefix)
		if !ok {
			continue
		}
		name, _, _ := strings.Cut(rest, "=")
		if strings.HasPrefix(name, "VAR_") || slices.Contains(variables, name) {
			continue
		}
		if near := suggest.Name(name, variables); near != "" {
			return usageError("unknown environment variable %s. Did you mean %s?", prefix+name, prefix+near)
		}
	}
	return nil
}

// cacheDir returns the versioned folder in HEXMAGE_CACHE, else in $XDG_CACHE_HOME/hexmage, else in ~/.cache/hexmage.
func cacheDir(env Env) (string, error) {
	if d := env.Var("HEXMAGE_CACHE"); d != "" {
		return string(layout.In(absolute(env.Dir, d))), nil
	}
	if d := env.Var("XDG_CACHE_HOME"); filepath.IsAbs(d) {
		return string(layout.In(filepath.Join(d, "hexmage"))), nil
	}
	if h := env.Var("HOME"); filepath.IsAbs(h) {
		return string(layout.In(filepath.Join(h, ".cache", "hexmage"))), nil
	}
	return "", usageError("no folder for the cache; set HEXMAGE_CACHE or HOME to an absolute path")
}

// findUp returns the nearest folder at or above dir that contains the folder name, or "".
func findUp(dir, name string) string {
	for {
		if isFolder(filepath.Join(dir, name)) {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// here returns the workspace: the folder with pipelines/, else the working folder. Relative paths start at it, also for
// shipped pipelines, and its catalog, lock and metrics are used.
func (a *app) here() string { return cmp.Or(a.Root, a.WorkDir) }

// checkPipeline returns an error if neither the workspace nor hexmage has the pipeline.
func (a *app) checkPipeline(pipeline string) error {
	if strings.ContainsAny(pipeline, `/\`) || pipeline == "" {
		advice := ""
		if name := strings.TrimSuffix(filepath.Base(pipeline), ".hcl"); slices.Contains(a.pipelines(), name) {
			advice = fmt.Sprintf(". Did you mean %s?", name)
		}
		return usageError("invalid pipeline name %q; give the name of a file in pipelines/, without folder and .hcl%s",
			pipeline, advice)
	}
	if a.Root != "" {
		if _, err := safepath.Resolve(a.Root, filepath.Join(workspace.Folder, pipeline)); err != nil {
			return usageError("%w", err)
		}
	}
	if a.Root != "" && workspace.Has(safepath.FS(a.Root), pipeline) || workspace.Has(hexmage.Shipped, pipeline) {
		return nil
	}
	return usageError("unknown pipeline %q. %s", pipeline, a.advice(pipeline))
}

// advice suggests a pipeline for an unknown name.
func (a *app) advice(pipeline string) string {
	all := a.pipelines()
	for _, name := range []string{strings.TrimSuffix(pipeline, ".hcl"), suggest.Name(pipeline, all)} {
		if slices.Contains(all, name) {
			return fmt.Sprintf("Did you mean %s?", name)
		}
	}
	file := strings.TrimSuffix(pipeline, ".hcl") + ".hcl"
	if st, err := os.Stat(filepath.Join(a.WorkDir, file)); err == nil && st.Mode().IsRegular() {
		return fmt.Sprintf("%s is in this folder, but hexmage finds pipelines only in %s/; move the file there", file,
			workspace.Folder)
	}
	return "Known pipelines: " + strings.Join(all, ", ")
}

// names returns the names of a workspace's pipelines, none if the workspace cannot be read.
func names(fsys fs.FS) []string {
	all, _ := workspace.Names(fsys)
	return all
}

// own returns the names of the workspace's pipelines.
func (a *app) own() []string {
	if a.Root == "" {
		return nil
	}
	return names(safepath.FS(a.Root))
}

// pipelines returns the names of all pipelines, the workspace's and the shipped ones.
func (a *app) pipelines() []string {
	own := a.own()
	for _, name := range names(hexmage.Shipped) {
		if !slices.Contains(own, name) {
			own = append(own, name)
		}
	}
	return own
}

// shipped returns the folder with the shipped pipelines and modules.
func (a *app) shipped() (config.ModuleFolder, error) {
	dir, err := a.unpackShipped()
	return config.ModuleFolder{FS: safepath.FS(dir), Root: filepath.ToSlash(dir), ID: "shipped"}, err
}

// unpackShipped unpacks the binary's files into the cache, once for each content, and returns the folder.
func (a *app) unpackShipped() (string, error) {
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
		return "", engineError(err)
	}
	dir := filepath.Join(a.places().Shipped(), hex.EncodeToString(h.Sum(nil))[:16])
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", engineError(err)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "tmp-")
	if err != nil {
		return "", engineError(err)
	}
	defer os.RemoveAll(tmp)
	if err := os.CopyFS(filepath.Join(tmp, "w"), hexmage.Shipped); err != nil {
		return "", engineError(fmt.Errorf("cannot unpack the shipped pipelines: %w", err))
	}
	if err := os.Rename(filepath.Join(tmp, "w"), dir); err != nil && !errors.Is(err, fs.ErrExist) {
		if _, e := os.Stat(dir); e != nil { // else another process was first
			return "", engineError(err)
		}
	}
	return dir, nil
}

// colored reports whether output has colors.
func (a *app) colored() bool {
	switch a.Color {
	case "always":
		return true
	case "never":
		return false
	}
	return a.Env.Terminal && a.Env.Var("NO_COLOR") == "" && a.Env.Var("TERM") != "dumb"
}

// reportOptions returns the display options of a build.
func (a *app) reportOptions() report.Options {
	return report.Options{Color: a.colored(), Live: a.Live, Verbose: a.Verbose, Width: a.Env.Width}
}

// digestFunction returns the function of HEXMAGE_DIGEST, else that of the workspace (setFunction), else BLAKE3.
func (a *app) digestFunction() (digest.Function, error) {
	name := a.Env.Var("HEXMAGE_DIGEST")
	if name == "" {
		if b, err := os.ReadFile(a.functionFile()); err == nil {
			if fn, err := digest.ParseFunction(strings.TrimSpace(string(b))); err == nil {
				return fn, nil
			}
		}
		return digest.BLAKE3, nil
	}
	fn, err := digest.ParseFunction(name)
	if err != nil {
		return 0, usageError("HEXMAGE_DIGEST: %w", err)
	}
	return fn, nil
}

// setFunction sets the digest function of the workspace.
func (a *app) setFunction(fn digest.Function) error {
	at := a.functionFile()
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	return atomicfile.PlaceFile(at, []byte(fn.String()+"\n"), 0o644)
}

// functionFile returns the file with the workspace's digest function.
func (a *app) functionFile() string {
	return a.places().State().Function(digest.BLAKE3.Bytes([]byte(a.Root)).Hex()[:16])
}

// remoteOff is the name that disables remotes.
const remoteOff = "off"

// settingsFiles returns the user's settings file, and the workspace's. "" is a file without a place.
func (a *app) settingsFiles() [2]string {
	var files [2]string
	if dir := a.configDir(); dir != "" {
		files[0] = filepath.Join(dir, "config.hcl")
	}
	if a.Root != "" {
		files[1] = filepath.Join(a.Root, "hexmage.hcl")
	}
	return files
}

// configDir returns the folder of the user's settings, or "".
func (a *app) configDir() string {
	config := a.Env.Var("XDG_CONFIG_HOME")
	if !filepath.IsAbs(config) { // required by the XDG specification
		home := a.Env.Var("HOME")
		if home == "" {
			return ""
		}
		config = filepath.Join(home, ".config")
	}
	return filepath.Join(config, "hexmage")
}

// sandboxLevel returns the user's level with its flag or variable, else strict and "".
func (a *app) sandboxLevel() (level sandbox.Level, from string, err error) {
	name, from := a.setting(a.Sandbox, "sandbox")
	if name == "" {
		return sandbox.Strict, "", nil
	}
	if level, err = sandbox.ParseLevel(name); err != nil {
		return level, from, usageError("%s: %w", from, err)
	}
	return level, from, nil
}

// setting returns the value of a flag or its variable, with the name of the one that is set.
func (a *app) setting(flag, name string) (value, from string) {
	if flag != "" {
		return flag, "--" + name
	}
	from = prefix + strings.ToUpper(name)
	return a.Env.Var(from), from
}

// envVars returns the variables of HEXMAGE_VAR_name.
func (a *app) envVars() map[string]string {
	vars := map[string]string{}
	for _, kv := range a.Env.Vars {
		if rest, ok := strings.CutPrefix(kv, "HEXMAGE_VAR_"); ok {
			if name, value, ok := strings.Cut(rest, "="); ok {
				vars[name] = value
			}
		}
	}
	return vars
}
