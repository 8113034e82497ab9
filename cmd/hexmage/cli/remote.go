package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/remote"
	"github.com/hexmage/hexmage/internal/settings"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/suggest"
)

// farCache is the remote of this command. A nil client: no remote.
type farCache struct {
	a       *app
	client  *remote.Client
	options remote.Options
	upload  bool
	results *remote.Results  // of the open engine; nil: none
	blobs   *remote.Blobs    // of the open engine; nil: none
	runs    *remote.Executor // of the build, if the remote runs actions
	unsafe  bool             // the warning that results are not uploaded was printed
	outFile string           // exists, and is young, while the remote is avoided after a failure
	again   time.Time        // end of that time; zero: the remote is in use
}

// askAgain is how long commands avoid a failed remote, since each would wait for its timeout.
const askAgain = time.Minute

// holds reports whether the remote's state may be reused.
func (f *farCache) holds() bool {
	if f.client != nil && f.client.Out() != nil && f.again.IsZero() {
		f.noteOut()
	}
	return f.again.IsZero() || time.Now().Before(f.again)
}

// noteOut records for later commands that the remote failed.
func (f *farCache) noteOut() {
	f.again = time.Now().Add(askAgain)
	if os.MkdirAll(filepath.Dir(f.outFile), 0o755) == nil {
		_ = atomicfile.PlaceFile(f.outFile, nil, 0o644) // on an error, the next command asks it
	}
}

// openRemote finds the user's remote once, and sets a digest function that it supports.
func (a *app) openRemote(ctx context.Context) (*farCache, error) {
	if a.far != nil && a.far.holds() {
		return a.far, nil
	}
	far, err := a.findRemote(ctx)
	if err != nil {
		return nil, err
	}
	a.far = far
	return far, nil
}

func (a *app) findRemote(ctx context.Context) (*farCache, error) {
	far := &farCache{a: a}
	r, err := a.chosenRemote()
	if err != nil || r == nil {
		return far, err
	}
	id := digest.BLAKE3.Bytes([]byte(r.Name + "\n" + r.Address + "\n" + r.Instance)).Hex()[:16]
	far.outFile = a.places().State().Remote(id + ".out")
	if st, err := os.Stat(far.outFile); err == nil && a.Remote == "" && !r.Must() &&
		time.Since(st.ModTime()) < askAgain {
		far.again = st.ModTime().Add(askAgain)
		a.say("remote %s is disabled, because it failed %v ago. hexmage retries after %v; --remote %s retries now",
			r.Name, time.Since(st.ModTime()).Round(time.Second), askAgain, r.Name)
		return far, nil
	}
	far.options = r.Options
	far.upload = r.Upload == settings.Always || r.Upload == settings.CI && a.Env.Var("CI") != ""
	client, err := a.dial(r, func(text string) { a.say("%s", text) })
	var diags hcl.Diagnostics
	switch {
	case errors.As(err, &diags):
		return nil, a.printDiags(diags, a.settingsSources())
	case err != nil:
		return nil, usageError("%s: remote %s: %w", r.File, r.Name, err)
	}
	ok, err := a.agree(ctx, r, client)
	if err != nil {
		return nil, err
	}
	if client.Out() != nil {
		far.noteOut()
	}
	if ok || client.Out() != nil && r.Execute { // the executor applies its fallback
		far.client = client
	}
	return far, nil
}

// dial returns a client of the remote, with the credentials of the environment. The error may be hcl.Diagnostics of its
// block.
func (a *app) dial(r *settings.Remote, say func(string)) (*remote.Client, error) {
	o := r.Options
	o.Say = say
	headers, diags := r.Headers(a.Env.Var)
	if diags.HasErrors() {
		return nil, diags
	}
	o.Headers = headers
	return remote.Dial(o)
}

// chosenRemote returns the remote of the flag or the environment, else the only one. It returns nil for none.
func (a *app) chosenRemote() (*settings.Remote, error) {
	name, from := a.setting(a.Remote, "remote")
	if a.Offline || name == remoteOff {
		return nil, nil
	}
	all, err := a.remotes()
	if err != nil {
		return nil, err
	}
	names := make([]string, len(all))
	for i := range all {
		if names[i] = all[i].Name; names[i] == name {
			return &all[i], nil
		}
	}
	switch near := suggest.Name(name, names); {
	case name != "" && near != "":
		return nil, usageError("%s: unknown remote %q. Did you mean %s?", from, name, near)
	case name != "":
		return nil, usageError("%s: unknown remote %q; declare remote %q in %s or %s (see docs/remote.md)",
			from, name, name, settings.UserFile, settings.WorkspaceFile)
	case len(all) > 1:
		return nil, usageError("several remotes are configured (%s); choose one with --remote NAME, or use --remote "+
			"off",
			strings.Join(names, ", "))
	case len(all) == 1:
		return &all[0], nil
	}
	return nil, nil
}

// remotes returns the remotes of user and workspace. The user's take precedence.
func (a *app) remotes() (all []settings.Remote, err error) {
	for i, path := range a.settingsFiles() {
		src, err := readSettings(path)
		if err != nil {
			return nil, usageError("%w", err)
		}
		found, diags := settings.Parse(src, path, i == 0)
		if diags.HasErrors() {
			return nil, a.printDiags(diags, a.settingsSources())
		}
		for _, r := range found {
			if !slices.ContainsFunc(all, func(own settings.Remote) bool { return own.Name == r.Name }) {
				all = append(all, r)
			}
		}
	}
	return all, nil
}

// readSettings returns the content of the file, or nil if it is missing.
func readSettings(path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	src, err := boundedfile.Read(path, lang.MaxSource)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return src, err
}

// settingsSources returns the files for diagnostics.
func (a *app) settingsSources() map[string]*hcl.File {
	files := map[string]*hcl.File{}
	for _, path := range a.settingsFiles() {
		if src, err := readSettings(path); err == nil {
			files[path] = &hcl.File{Bytes: src}
		}
	}
	return files
}

// agree sets a digest function that the remote supports. It returns false if none fits or the remote does not answer.
func (a *app) agree(ctx context.Context, r *settings.Remote, c *remote.Client) (bool, error) {
	fn, err := a.digestFunction()
	if err != nil {
		return false, err
	}
	is, err := c.Capabilities(ctx)
	if err != nil {
		return false, context.Cause(ctx) // the client has reported it
	}
	functions := is.Functions
	named := a.Env.Var("HEXMAGE_DIGEST") != ""
	switch {
	case slices.Contains(functions, fn):
		return true, nil
	case (len(functions) == 0 || named) && r.Must():
		return false, usageError("remote %s cannot run actions: this workspace uses %s digests, but the remote "+
			"supports %s. Unset HEXMAGE_DIGEST, or set fallback = \"local\" to run actions on this machine",
			r.Name, fn, functionNames(functions))
	case len(functions) == 0 || named:
		a.say("hexmage does not use remote %s: this workspace uses %s digests, but the remote supports %s",
			r.Name, fn, functionNames(functions))
		return false, nil
	}
	if err := a.setFunction(functions[0]); err != nil {
		return false, a.writable(engineError(err))
	}
	a.say("remote %s supports only %s digests, so this workspace now uses them. hexmage does not reuse results with "+
		"%s digests. To use the old digests without the remote, set HEXMAGE_DIGEST=%s",
		r.Name, functionNames(functions), fn, fn)
	return true, nil
}

func functionNames(functions []digest.Function) string {
	if len(functions) == 0 {
		return "none that hexmage knows"
	}
	var names []string
	for _, f := range functions {
		names = append(names, f.String())
	}
	return strings.Join(names, " and ")
}

// over puts the remote, if any, over the stores of the cache folder. strict reports that actions see declared inputs
// only.
func (f *farCache) over(blobs store.Blobs, results store.Results, strict bool) (*store.HostFiles, store.Results) {
	if f.client != nil && f.upload && !strict && !f.unsafe && f.client.Out() == nil {
		f.unsafe = true
		f.a.say("hexmage uploads nothing to remote %s: actions can read undeclared inputs, so their results may "+
			"depend on this machine", f.options.Name)
	}
	return f.stores(blobs, results, f.upload && strict)
}

// executor returns next, or an executor that sends actions to the remote.
func (f *farCache) executor(e *engineParts, next execute.Executor) execute.Executor {
	if f.client == nil || !f.options.Execute {
		return next
	}
	o := remote.ExecutorOptions{Inputs: e.Blobs, Blobs: f.blobs, Self: f.a.Env.Self, Next: next}
	if f.runs == nil {
		f.runs = remote.NewExecutor(f.client, o)
	} else {
		f.runs.Use(o) // the build restarts
	}
	return f.runs
}

// where returns a function that explains where an action will run; nil: all run locally.
func (f *farCache) where() func(*action.Action) string {
	if f == nil || f.client == nil || f.client.Out() != nil || !f.options.Execute {
		return nil
	}
	return func(a *action.Action) string {
		if why := remote.LocalOnlyReason(a, f.options.Platform); why != "" {
			return "; runs here: " + why
		}
		return "; runs at remote " + f.options.Name
	}
}

// lookupsAtOnce is the number of parallel lookups with a remote: most of them wait.
const lookupsAtOnce = 200

// atOnce returns engine.Options.LookAhead.
func (f *farCache) atOnce() int {
	if f.client == nil {
		return 0
	}
	return lookupsAtOnce
}

// stores puts the remote, if any, over stores.
func (f *farCache) stores(blobs store.Blobs, results store.Results, upload bool) (*store.HostFiles, store.Results) {
	if f.client == nil {
		return store.WithHostFiles(blobs), results
	}
	var files *store.HostFiles
	f.blobs = remote.NewBlobs(blobs, f.client, func(d digest.Digest) bool { return files.Knows(d) })
	files = store.WithHostFiles(f.blobs)
	f.results = remote.NewResults(results, f.blobs, upload)
	return files, f.results
}

// finish waits for uploads, and reports where actions ran. again reports that the build restarts.
func (f *farCache) finish(ctx context.Context, again bool) {
	if f.results != nil {
		f.results.Finish(ctx)
		f.results = nil
	}
	if f.runs != nil && !again {
		if text := f.runs.Summary(); text != "" {
			f.a.say("%s", text)
		}
		f.runs = nil
	}
	if f.client == nil {
		return
	}
	if f.client.Out() != nil {
		_ = f.holds()
	} else {
		_ = os.Remove(f.outFile)
	}
}

// sayAgain prints why a build restarts.
func (a *app) sayAgain(err error) {
	lost, changed := (*remote.LostError)(nil), (*store.ChangedError)(nil)
	switch {
	case errors.Is(err, remote.ErrDisabled): // reported already
	case errors.As(err, &lost):
		a.say("%v; hexmage builds again without this result", lost)
	case errors.As(err, &changed):
		a.say("%s changed during the build; hexmage builds again", changed.Path)
	default:
		a.say("hexmage quarantined a corrupt cached file and builds again (%v)",
			err)
	}
}
