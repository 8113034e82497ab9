package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/ansi"
	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/nearest"
	"github.com/hexmage/hexmage/internal/remote"
	"github.com/hexmage/hexmage/internal/settings"
	"github.com/hexmage/hexmage/internal/store"
)

// farCache is the remote of this command. A nil client stands for none.
type farCache struct {
	a       *app
	client  *remote.Client
	options remote.Options
	upload  bool
	results *remote.Results  // of the engine that is open; nil: none
	blobs   *remote.Blobs    // likewise
	runs    *remote.Executor // of the build, where actions run there
	unsafe  bool             // it was said that nothing is sent
	outFile string           // is there, and young, while the remote is not asked because it was out
	again   time.Time        // when it may be asked again; zero: it is not out
}

// askAgain is how long a remote that was out is not asked: each command would wait for it.
const askAgain = time.Minute

// holds tells whether what was found out about the remote is so still.
func (f *farCache) holds() bool {
	if f.client != nil && f.client.Out() != nil && f.again.IsZero() {
		f.noteOut()
	}
	return f.again.IsZero() || time.Now().Before(f.again)
}

// noteOut notes for the commands to come that the remote is out.
func (f *farCache) noteOut() {
	f.again = time.Now().Add(askAgain)
	if os.MkdirAll(filepath.Dir(f.outFile), 0o755) == nil {
		_ = atomicfile.PlaceFile(f.outFile, nil, 0o644) // where that fails it is asked
	}
}

// openRemote finds the remote that the user wants, once, and has the workspace use a digest function that it knows.
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
		a.say(fmt.Sprintf("remote %s is out: it was %v ago, and is asked again after %v (--remote %s asks now)",
			r.Name, time.Since(st.ModTime()).Round(time.Second), askAgain, r.Name))
		return far, nil
	}
	far.options = r.Options
	far.upload = r.Upload == settings.Always || r.Upload == settings.CI && a.Env.Var("CI") != ""
	client, err := a.dial(r, a.say)
	var diags hcl.Diagnostics
	switch {
	case errors.As(err, &diags):
		return nil, a.printDiags(diags, a.settingsSources())
	case err != nil:
		return nil, usageError("%s: remote %s: %w", r.File, r.Name, err)
	}
	ok, err := a.agree(ctx, a.places().State().Remote(id), r, client)
	if err != nil {
		return nil, err
	}
	if client.Out() != nil {
		far.noteOut()
	}
	if ok || client.Out() != nil && r.Execute { // what is to run there knows what becomes of it
		far.client = client
	}
	return far, nil
}

// dial returns a client of the remote, with what the environment has for it. An error may be hcl.Diagnostics of its
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

// say shows a sentence beside what is shown.
func (a *app) say(text string) {
	text = "hexmage: " + ansi.Visible(text, false) + "\n"
	if a.Live {
		a.interrupts.show(text)
		return
	}
	fmt.Fprint(a.Env.Stderr, text)
}

// chosenRemote is the remote that the flag or the environment names, or the only one; nil if there is none or none is
// wanted.
func (a *app) chosenRemote() (*settings.Remote, error) {
	name, from := a.Remote, "--remote"
	if name == "" {
		name, from = a.Env.Var("HEXMAGE_REMOTE"), "HEXMAGE_REMOTE"
	}
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
	switch near := nearest.Name(name, names); {
	case name != "" && near != "":
		return nil, usageError("%s: there is no remote %q. Did you mean %s?", from, name, near)
	case name != "":
		return nil, usageError("%s: there is no remote %q: a block remote %q in %s or %s would be it (docs/"+
			"remote.md)", from, name, name, settings.UserFile, settings.WorkspaceFile)
	case len(all) > 1:
		return nil, usageError("there are %d remotes (%s): choose one with --remote or HEXMAGE_REMOTE, or say off",
			len(all), strings.Join(names, ", "))
	case len(all) == 1:
		return &all[0], nil
	}
	return nil, nil
}

// remotes are those of the user and of the workspace. The user's stand in place of others with the same name.
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

// readSettings returns what is in the file, nothing where there is none.
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

// settingsSources are the files, for diagnostics.
func (a *app) settingsSources() map[string]*hcl.File {
	files := map[string]*hcl.File{}
	for _, path := range a.settingsFiles() {
		if src, err := readSettings(path); err == nil {
			files[path] = &hcl.File{Bytes: src}
		}
	}
	return files
}

// agree finds a digest function for the workspace that the remote knows. What a remote knows is asked once, and is in
// the file known. It is false where there is none, or it cannot be asked.
func (a *app) agree(ctx context.Context, known string, r *settings.Remote, c *remote.Client) (bool, error) {
	fn, err := a.digestFunction()
	if err != nil {
		return false, err
	}
	functions, err := readFunctions(known)
	if err != nil {
		is, err := c.Abilities(ctx)
		if err != nil {
			return false, context.Cause(ctx) // the client has said it
		}
		functions = is.Functions
		writeFunctions(known, functions)
	}
	named := a.Env.Var("HEXMAGE_DIGEST") != ""
	switch {
	case slices.Contains(functions, fn):
		return true, nil
	case (len(functions) == 0 || named) && r.Must():
		return false, usageError("remote %s can run nothing: content is named by %s here, which it does not know "+
			"(it knows %s): leave HEXMAGE_DIGEST out, go without it with --remote off, or let actions run here: "+
			"fallback = \"local\"",
			r.Name, fn, functionNames(functions))
	case len(functions) == 0 || named:
		a.say(fmt.Sprintf("remote %s is not used: content is named by %s here, which it does not know (it knows %s)",
			r.Name, fn, functionNames(functions)))
		return false, nil
	}
	if err := a.setFunction(functions[0]); err != nil {
		return false, a.writable(engineError(err))
	}
	a.say(fmt.Sprintf("remote %s knows %s only: content of this workspace is named by it from now on, so what is "+
		"known here by %s is looked up or made once more (HEXMAGE_DIGEST=%s goes on without the remote)",
		r.Name, functionNames(functions), fn, fn))
	return true, nil
}

func functionNames(functions []digest.Function) string {
	if len(functions) == 0 {
		return "none of ours"
	}
	var names []string
	for _, f := range functions {
		names = append(names, f.String())
	}
	return strings.Join(names, " and ")
}

// readFunctions reads what writeFunctions wrote.
func readFunctions(path string) (functions []digest.Function, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for _, name := range strings.Fields(string(b)) {
		f, err := digest.ParseFunction(name)
		if err != nil {
			return nil, err
		}
		functions = append(functions, f)
	}
	return functions, nil
}

// writeFunctions writes what a remote knows; where that fails it is asked once more.
func writeFunctions(path string, functions []digest.Function) {
	if len(functions) > 0 && os.MkdirAll(filepath.Dir(path), 0o755) == nil {
		_ = atomicfile.PlaceFile(path, []byte(strings.ReplaceAll(functionNames(functions), " and ", " ")+"\n"), 0o644)
	}
}

// over puts the remote over the stores of the cache folder; nil where there is none.
func (f *farCache) over() storesOver {
	if f.client == nil {
		return nil
	}
	return func(blobs store.Blobs, results store.Results, strict bool) (*store.HostFiles, store.Results) {
		if f.upload && !strict && !f.unsafe && f.client.Out() == nil {
			f.unsafe = true
			f.a.say(fmt.Sprintf("nothing is sent to remote %s: actions here are not kept from what they do not "+
				"declare, so what they make may be right here only", f.options.Name))
		}
		files, far := f.stores(blobs, results, f.upload && strict)
		f.results = far
		return files, far
	}
}

// executor is next, or what has the remote run what can go there.
func (f *farCache) executor(e *builder, next execute.Executor) execute.Executor {
	if f.client == nil || !f.options.Execute {
		return next
	}
	o := remote.ExecutorOptions{Inputs: e.Blobs, Blobs: f.blobs, Self: f.a.Env.Self, Next: next}
	if f.runs == nil {
		f.runs = remote.NewExecutor(f.client, o)
	} else {
		f.runs.Use(o) // the build begins again
	}
	return f.runs
}

// where says of an action that will run whether it will here, and why; nil: all do.
func (f *farCache) where() func(*action.Action) string {
	if f == nil || f.client == nil || f.client.Out() != nil || !f.options.Execute {
		return nil
	}
	return func(a *action.Action) string {
		if why := remote.Stays(a, f.options.Platform); why != "" {
			return "; here: " + why
		}
		return "; at remote " + f.options.Name
	}
}

// lookupsAtOnce is how many results are looked up at once where the remote is asked: many wait for an answer, few do
// anything.
const lookupsAtOnce = 200

// atOnce is engine.Options.LookAhead.
func (f *farCache) atOnce() int {
	if f.client == nil {
		return 0
	}
	return lookupsAtOnce
}

// lookups are the stores for who runs nothing.
func (f *farCache) lookups(blobs store.Blobs, results store.Results) (*store.HostFiles, store.Results) {
	if f.client == nil {
		return store.WithHostFiles(blobs), results
	}
	return f.stores(blobs, results, false)
}

func (f *farCache) stores(blobs store.Blobs, results store.Results, upload bool) (*store.HostFiles, *remote.Results) {
	var files *store.HostFiles
	far := remote.NewBlobs(blobs, f.client, func(d digest.Digest) bool { return files.Knows(d) })
	files = store.WithHostFiles(far)
	f.blobs = far
	return files, remote.NewResults(results, far, upload)
}

// finish sends what is still to be sent, and says what ran where, unless the build begins again.
func (f *farCache) finish(ctx context.Context, again bool) {
	if f.results != nil {
		f.results.Finish(ctx)
		f.results = nil
	}
	if f.runs != nil && !again {
		if text := f.runs.Summary(); text != "" {
			f.a.say(text)
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

// sayAgain prints why a build begins again.
func (a *app) sayAgain(err error) {
	lost, changed := (*remote.LostError)(nil), (*store.ChangedError)(nil)
	switch {
	case errors.Is(err, remote.ErrOut): // which was said
	case errors.As(err, &lost):
		a.say(fmt.Sprintf("%v; building again without it", lost))
	case errors.As(err, &changed):
		fmt.Fprintf(a.Env.Stderr, "hexmage: %s was saved while it was read; building again\n", changed.Path)
	default:
		fmt.Fprintf(a.Env.Stderr, "hexmage: something in the cache was damaged and is dropped; building again (%v)\n",
			err)
	}
}
