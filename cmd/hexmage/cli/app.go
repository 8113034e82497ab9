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
	"github.com/hexmage/hexmage/internal/nearest"
	"github.com/hexmage/hexmage/internal/report"
	"github.com/hexmage/hexmage/internal/rooted"
	"github.com/hexmage/hexmage/internal/store/layout"
	"github.com/hexmage/hexmage/internal/workspace"
)

// app is what every command needs: where it works, what it was told, how it shows things.
type app struct {
	globalFlags
	Env     Env
	WorkDir string // where the user is: outputs go below it
	Root    string // the workspace: the folder with pipelines/, at or above WorkDir
	Cache   string // the cache folder
	Live    bool   // what goes on is shown in lines that are drawn again

	Serial string // the device that the user chose for steps that run on one; "": the pipeline says

	interrupts *interrupts
	catalogues *catalogues
	events     bool       // with --json the command prints events, not one object
	also       event.Sink // is sent diagnostics, too; may be nil
	far        *farCache  // what openRemote found; nil: it was not asked yet

	texts langserver.Texts // of the editor: what stands in place of files; nil: nothing
	// of the editor: is told what is wrong, in place of the terminal; nil: the terminal is
	onDiags func(hcl.Diagnostics)
}

// places is the cache folder, with a method for each place in it.
func (a *app) places() layout.Root { return layout.Root(a.Cache) }

// newApp takes what the process was given and the flags of every command.
func newApp(g globalFlags, env Env, in *interrupts) (*app, error) {
	a := &app{globalFlags: g, Env: env, WorkDir: env.Dir, interrupts: in, catalogues: new(catalogues)}
	if g.JSON {
		isData(env.Stdout)
	}
	if g.Dir != "" {
		a.WorkDir = absolute(env.Dir, g.Dir)
		if st, err := os.Stat(a.WorkDir); err != nil || !st.IsDir() {
			return nil, usageError("-C %s: no such folder: name one that is there", g.Dir)
		}
	}
	if err := misspelt(env); err != nil {
		return nil, err
	}
	if a.Profile == "" {
		a.Profile = env.Var("HEXMAGE_PROFILE")
	}
	if a.Jobs < 0 {
		return nil, usageError("-j %d: want 1 or more", a.Jobs)
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
	a.Cache = cache
	a.Live = env.Terminal && !g.JSON && env.Var("TERM") != "dumb" && env.Var("CI") == ""
	a.Root = findUp(a.WorkDir, "pipelines")
	if a.Remote != "" { // a run that finds nothing to do reads no settings
		_, err = a.chosenRemote()
	}
	return a, err
}

// misspelt refuses a variable that is meant for hexmage, and would be passed over.
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
		if near := nearest.Name(name, variables); near != "" {
			return usageError("%s%s is no variable that hexmage reads: did you mean %s%s? Set that one, or unset "+
				"this one", prefix, name, prefix, near)
		}
	}
	return nil
}

// cacheDir is the versioned folder in HEXMAGE_CACHE, else $XDG_CACHE_HOME/hexmage, else ~/.cache/hexmage.
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
	return "", usageError("no place for the cache: set HEXMAGE_CACHE or HOME to an absolute path")
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

// here is the workspace of the command: the folder with pipelines/, else the working folder. Relative paths start
// there, for shipped pipelines too, and its catalog, lock and metrics count.
func (a *app) here() string { return cmp.Or(a.Root, a.WorkDir) }

// workspace returns the workspace if it or hexmage has the pipeline.
func (a *app) workspace(pipeline string) (string, error) {
	if strings.ContainsAny(pipeline, `/\`) || pipeline == "" {
		advice := ""
		if name := strings.TrimSuffix(filepath.Base(pipeline), ".hcl"); slices.Contains(a.pipelines(), name) {
			advice = fmt.Sprintf(". Did you mean %s?", name)
		}
		return "", usageError("%q is no pipeline name: give the name of a file in pipelines/ without .hcl%s",
			pipeline, advice)
	}
	if a.Root != "" {
		if _, err := rooted.Resolve(a.Root, filepath.Join(workspace.Folder, pipeline)); err != nil {
			return "", usageError("%w", err)
		}
	}
	if a.Root != "" && workspace.Has(rooted.FS(a.Root), pipeline) || workspace.Has(hexmage.Shipped, pipeline) {
		return a.here(), nil
	}
	return "", usageError("there is no pipeline %q here. %s", pipeline, a.advice(pipeline))
}

// advice says which pipeline may be meant by a name that none has.
func (a *app) advice(pipeline string) string {
	all := a.pipelines()
	for _, name := range []string{strings.TrimSuffix(pipeline, ".hcl"), nearest.Name(pipeline, all)} {
		if slices.Contains(all, name) {
			return fmt.Sprintf("Did you mean %s?", name)
		}
	}
	file := strings.TrimSuffix(pipeline, ".hcl") + ".hcl"
	if st, err := os.Stat(filepath.Join(a.WorkDir, file)); err == nil && st.Mode().IsRegular() {
		return fmt.Sprintf("%s lies in this folder, and pipelines are found in %s/: move it there", file,
			workspace.Folder)
	}
	return "There are: " + strings.Join(all, ", ")
}

// names are those of a workspace's pipelines; of one that cannot be read, as of one without any, there are none.
func names(fsys fs.FS) []string {
	all, _ := workspace.Names(fsys)
	return all
}

// own returns the names of the workspace's pipelines.
func (a *app) own() []string {
	if a.Root == "" {
		return nil
	}
	return names(rooted.FS(a.Root))
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
	return config.ModuleFolder{FS: rooted.FS(dir), Root: filepath.ToSlash(dir), ID: "shipped"}, err
}

// unpackShipped unpacks what the binary carries into the cache, once for each content, and returns the folder.
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
		return "", engineError(fmt.Errorf("unpack the shipped pipelines: %w", err))
	}
	if err := os.Rename(filepath.Join(tmp, "w"), dir); err != nil && !errors.Is(err, fs.ErrExist) {
		if _, e := os.Stat(dir); e != nil { // another process was not first: a real failure
			return "", engineError(err)
		}
	}
	return dir, nil
}

// coloured tells whether what is shown has colours.
func (a *app) coloured() bool {
	switch a.Colour {
	case "always":
		return true
	case "never":
		return false
	}
	return a.Env.Terminal && a.Env.Var("NO_COLOR") == "" && a.Env.Var("TERM") != "dumb"
}

// reportOptions says how a build is shown.
func (a *app) reportOptions() report.Options {
	return report.Options{Colour: a.coloured(), Live: a.Live, Verbose: a.Verbose, Width: a.Env.Width}
}

// digestFunction is the one that HEXMAGE_DIGEST names, or that of the workspace (setFunction), or BLAKE3.
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

// setFunction has the workspace use the digest function from now on.
func (a *app) setFunction(fn digest.Function) error {
	at := a.functionFile()
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	return atomicfile.PlaceFile(at, []byte(fn.String()+"\n"), 0o644)
}

// functionFile has the digest function of the workspace.
func (a *app) functionFile() string {
	return a.places().State().Function(digest.BLAKE3.Bytes([]byte(a.Root)).Hex()[:16])
}

// remoteOff is the name of no remote.
const remoteOff = "off"

// settingsFiles are those that say how hexmage works: the user's own, and the workspace's; "" where there can be
// none.
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

// configDir is where the user's own files are, "" where there is no place.
func (a *app) configDir() string {
	config := a.Env.Var("XDG_CONFIG_HOME")
	if !filepath.IsAbs(config) { // as the XDG specification has it
		home := a.Env.Var("HOME")
		if home == "" {
			return ""
		}
		config = filepath.Join(home, ".config")
	}
	return filepath.Join(config, "hexmage")
}

// sandboxLevel is the level that the user asked for, and by what; else strict, by nothing.
func (a *app) sandboxLevel() (level sandbox.Level, from string, err error) {
	name, from := a.Sandbox, "--sandbox"
	if name == "" {
		name, from = a.Env.Var("HEXMAGE_SANDBOX"), "HEXMAGE_SANDBOX"
	}
	if name == "" {
		return sandbox.Strict, "", nil
	}
	if level, err = sandbox.ParseLevel(name); err != nil {
		return level, from, usageError("%s: %w", from, err)
	}
	return level, from, nil
}

// envVars are the variables that HEXMAGE_VAR_name sets.
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
