// Package layout knows where things are in a cache folder, and what they are called there: the layout of Bazel's disk
// cache for blobs, and beside it what hexmage keeps of its own.
//
// One enters it with a Root, which has a method for each place; Each goes through all there is. The package does not
// know what is in a file, nor who may remove it.
package layout

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/digest"
)

// Kind is what a file or folder of the cache is, as `hexmage cache stats` calls it.
type Kind string

// The kinds, those first that name others: what is removed goes in this order.
const (
	Results     Kind = "results"     // of actions, by their keys
	Blobs       Kind = "blobs"       //
	Executables Kind = "executables" // copies of blobs with another mode
	Trees       Kind = "trees"       // that stand unpacked, for exec roots to link to
	Downloads   Kind = "downloads"   //
	Logs        Kind = "logs"        // what actions printed
	RunLogs     Kind = "runlogs"     // what the runs of a pipeline did
	Requests    Kind = "requests"    // state files of requests
	Checkpoints Kind = "checkpoints" // what long actions had done that ended before their time
	Damaged     Kind = "damaged"     // quarantined files
	Scratch     Kind = "scratch"     // what is not done yet
	State       Kind = "state"       // all else that is remembered, and locks
	Obsolete    Kind = "obsolete"    // folders of earlier versions of hexmage
)

// Kinds returns all, in order.
func Kinds() []Kind {
	return []Kind{Results, Blobs, Executables, Trees, Downloads, Logs, RunLogs, Requests, Checkpoints, Damaged,
		Scratch, State, Obsolete}
}

// Functions are the digest functions. Each has its own part of the store.
func Functions() []digest.Function { return []digest.Function{digest.BLAKE3, digest.SHA256} }

// version is the version of the layout and of every format in it. A hexmage with another one uses another folder.
const version = 3

// Root is the versioned folder of a cache, as an absolute path.
type Root string

// In returns the root in the folder that HEXMAGE_CACHE names.
func In(folder string) Root { return Root(filepath.Join(folder, "v"+strconv.Itoa(version))) }

func (r Root) in(parts ...string) string {
	return filepath.Join(append([]string{string(r)}, parts...)...)
}

// part returns the folder of a kind whose files are named by digests.
func (k Kind) part() string {
	switch k {
	case Results:
		return "ac"
	case Blobs:
		return "cas"
	}
	return "exec"
}

// File returns the path of the Result, Blob or Executable with the digest. For SHA-256 it is the path in Bazel's disk
// cache; files of other digest functions are in a folder with the function's name.
func (r Root) File(k Kind, d digest.Digest) string {
	h := d.Hex()
	if d.Function() == digest.SHA256 {
		return r.in(k.part(), h[:2], h)
	}
	return r.in(d.Function().String(), k.part(), h[:2], h)
}

const (
	treesDir     = "trees"
	markerSuffix = ".ok"
)

// Trees returns the folder that all trees are in.
func (r Root) Trees() string { return r.in(treesDir) }

// Tree returns where the tree with that root stands unpacked, or would.
func (r Root) Tree(d digest.Digest) string {
	return r.in(treesDir, d.Function().String()+"-"+d.Hex())
}

// TreeMarker returns the file that is there when the tree is complete.
func (r Root) TreeMarker(d digest.Digest) string { return r.Tree(d) + markerSuffix }

// TreeLock returns the file whose lock has who writes or removes the tree.
func (r Root) TreeLock(d digest.Digest) string { return r.Tree(d) + ".lock" }

// Downloads returns the folder for what comes from elsewhere, whole or in part.
func (r Root) Downloads() string { return r.in("downloads") }

// Shipped returns the folder for workspaces that hexmage has in itself.
func (r Root) Shipped() string { return r.in("shipped") }

// Checkpoints returns the folder for what long actions had done that ended before their time.
func (r Root) Checkpoints() string { return r.in("checkpoints") }

// Damaged returns the folder for quarantined files.
func (r Root) Damaged() string { return r.in("damaged") }

// Quarantine returns the path in Damaged of a corrupt file with the digest. The prefix tells what the file was: "" is
// a blob.
func (r Root) Quarantine(prefix string, d digest.Digest) string {
	return r.in("damaged", prefix+d.Function().String()+"-"+d.Hex())
}

// The two folders for what is not done yet, below the root.
const (
	NewFiles   = "new" // files that are being written
	NewFolders = "tmp" // exec roots, trees
)

// New returns the folder for files that are being written.
func (r Root) New() string { return r.in(NewFiles) }

// Scratch returns the folder that all exec roots are below.
func (r Root) Scratch() string { return r.in(NewFolders) }

// Prepare makes the folder, if it is not there, with its folders for what is not done yet, and removes from them what
// dead processes left there more than age ago. In a cache that cannot be written to, whose folders are there, it does
// nothing.
func (r Root) Prepare(age time.Duration) error {
	if err := os.MkdirAll(string(r), 0o755); err != nil {
		return err
	}
	for _, name := range []string{NewFiles, NewFolders} {
		if err := os.MkdirAll(r.in(name), 0o755); err != nil {
			return err
		}
	}
	return r.Sweep(age)
}

// Sweep removes what dead processes left undone more than age ago.
func (r Root) Sweep(age time.Duration) error {
	for _, name := range []string{NewFiles, NewFolders} {
		if err := atomicfile.Sweep(r.in(name), age); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return &fs.PathError{Op: "clean", Path: r.in(name), Err: err}
		}
	}
	return nil
}

const runPrefix = "run"

// NewRun makes a scratch folder for this process. Its name has the process's id, which a process in another container
// may have too, or one that comes later, and so not only that. Its lock is held until unlock is called, or the
// process ends.
func (r Root) NewRun() (path string, unlock func(), err error) {
	if path, err = os.MkdirTemp(r.Scratch(), atomicfile.TempName(runPrefix)); err != nil {
		return "", nil, err
	}
	run := Run{Path: path}
	// Where there is a lock, it was locked before anybody saw it.
	unlock, err = atomicfile.Lock(context.Background(), run.Lock()+".new")
	if err != nil {
		return path, func() {}, nil // the file system has no locks
	}
	return path, unlock, os.Rename(run.Lock()+".new", run.Lock())
}

// Run is the scratch folder of a process, which may be dead.
type Run struct {
	Path string
	PID  int
}

// Lock returns the file that the process has locked as long as it lives. Without it, the process id has to tell.
func (r Run) Lock() string { return filepath.Join(r.Path, "lock") }

// Runs returns the folders that NewRun made and nobody has removed.
func (r Root) Runs() ([]Run, error) {
	entries, err := readDir(r.Scratch())
	var runs []Run
	for _, e := range entries {
		text, ok := strings.CutPrefix(e.Name(), runPrefix+"-")
		text, _, _ = strings.Cut(text, "-")
		if pid, err := strconv.Atoi(text); ok && err == nil && pid > 0 {
			runs = append(runs, Run{filepath.Join(r.Scratch(), e.Name()), pid})
		}
	}
	return runs, err
}

const stateDir = "state"

// State returns the folder for what is remembered.
func (r Root) State() StateDir { return StateDir(r.in(stateDir)) }

// StateDir is the folder for what is remembered from run to run.
type StateDir string

// Root returns the cache folder that the folder is in.
func (s StateDir) Root() Root { return Root(filepath.Dir(string(s))) }

func (s StateDir) in(parts ...string) string {
	return filepath.Join(append([]string{string(s)}, parts...)...)
}

// Logs returns the folder for what actions printed.
func (s StateDir) Logs() string { return s.in("logs") }

// RunLogs returns the folder for what runs did.
func (s StateDir) RunLogs() string { return s.in("runlog") }

// Requests returns the folder for state files, one for each request.
func (s StateDir) Requests() string { return s.in("requests") }

// StatCache returns the file of what is known of the host's files.
func (s StateDir) StatCache(fn digest.Function) string { return s.in("statcache", fn.String()) }

// Function returns the file that has the digest function of a workspace, where that is not the usual one.
func (s StateDir) Function(workspace string) string { return s.in("functions", workspace) }

// Remote returns the file that has what a remote cache said of itself.
func (s StateDir) Remote(id string) string { return s.in("remotes", id) }

// Limit returns the file of when the cache was last held to a limit, and what was free on its disk then.
func (s StateDir) Limit() string { return s.in("limit") }

// Synced returns the file that tells when the store was last synced.
func (s StateDir) Synced() string { return s.in("synced") }

// OutputLock returns the file that is locked while a process puts outputs into the folder with the id.
func (s StateDir) OutputLock(id string) string { return s.in("outputs", id+".lock") }

// LastRuns returns the folder for the keys with which steps with effects last ran.
func (s StateDir) LastRuns() string { return s.in("last-runs") }

// Runner returns the folder for what executors that run actions elsewhere keep: leases, and what is known of the
// machines.
func (s StateDir) Runner() string { return s.in("runner") }

// ActionsLock returns the file in which an action is locked while it runs.
func (s StateDir) ActionsLock() string { return s.in("actions.lock") }

// InUseLock returns the file whose lock has who uses the cache.
func (s StateDir) InUseLock() string { return s.in("in-use.lock") }

// TidyLock returns the file whose lock has who removes what killed processes left.
func (s StateDir) TidyLock() string { return s.in("tidy.lock") }

// Older returns the folders that earlier versions of hexmage left beside this root. A folder belongs to hexmage only
// if the lock of its users is in it: the folder that HEXMAGE_CACHE names may hold other files.
func (r Root) Older() (found []string) {
	base := Root(filepath.Dir(string(r)))
	for n := range version {
		old := Root(base.in("v" + strconv.Itoa(n)))
		if st, err := os.Lstat(old.State().InUseLock()); err == nil && st.Mode().IsRegular() {
			found = append(found, string(old))
		}
	}
	return found
}

// Item is what lives and goes as one: a file, or a folder with all that is in it.
type Item struct {
	Kind   Kind
	Path   string
	Digest digest.Digest // of Results, Blobs, Executables and Trees, from the name: without a size
	Info   fs.FileInfo
}

// Each calls f with each Item in the folder. Items that appear or vanish meanwhile may be missed. Each skips files
// whose names hexmage does not use.
func (r Root) Each(ctx context.Context, f func(Item) error) error {
	for _, fn := range Functions() {
		for _, k := range []Kind{Results, Blobs, Executables} { // an executable after its blob
			if err := r.eachShard(ctx, fn, k, f); err != nil {
				return err
			}
		}
	}
	tree := func(it Item) error {
		function, hex, _ := strings.Cut(filepath.Base(it.Path), "-")
		fn, err := digest.ParseFunction(function)
		if err != nil || !it.Info.IsDir() {
			return nil
		}
		if it.Digest, err = digest.New(fn, hex, 0); err != nil {
			return nil // its marker, its lock
		}
		return f(it)
	}
	// An archive, a package, a clone are below a folder for their way to be fetched. Lock files stay: removed while
	// one is held, it would let a second process in.
	download := func(it Item) error {
		if name := filepath.Base(it.Path); name == "lock" || strings.HasSuffix(name, ".lock") {
			it.Kind = State
		}
		return f(it)
	}
	way := func(it Item) error {
		if !it.Info.IsDir() {
			return download(it)
		}
		return eachIn(ctx, Downloads, it.Path, download)
	}
	log := func(it Item) error { // those of a pipeline are in a folder
		if it.Info.IsDir() {
			return eachIn(ctx, Logs, it.Path, f)
		}
		return f(it)
	}
	s := r.State()
	folders := []struct {
		kind Kind
		dir  string
		each func(Item) error
	}{
		{Trees, r.Trees(), tree}, {Downloads, r.Downloads(), way}, {Logs, s.Logs(), log}, {RunLogs, s.RunLogs(), f},
		{Requests, s.Requests(), f},
		{Checkpoints, r.Checkpoints(), f}, {Damaged, r.Damaged(), f}, {Scratch, r.in(NewFolders), f},
		{Scratch, r.in(NewFiles), f}, {State, r.Shipped(), f},
	}
	for _, d := range folders {
		if err := eachIn(ctx, d.kind, d.dir, d.each); err != nil {
			return err
		}
	}
	err := eachIn(ctx, State, string(s), func(it Item) error {
		for _, d := range folders { // these were listed by themselves
			if it.Path == d.dir {
				return nil
			}
		}
		return f(it)
	})
	if err != nil {
		return err
	}
	for _, p := range r.Older() {
		info, serr := os.Lstat(p)
		if err == nil && serr == nil {
			err = f(Item{Kind: Obsolete, Path: p, Info: info})
		}
	}
	return err
}

// eachIn calls f with what is in a folder.
func eachIn(ctx context.Context, kind Kind, dir string, f func(Item) error) error {
	entries, err := readDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = f(Item{Kind: kind, Path: filepath.Join(dir, e.Name()), Info: info})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// eachShard calls f with the files of a kind that are named by digests of the function.
func (r Root) eachShard(ctx context.Context, fn digest.Function, kind Kind, f func(Item) error) error {
	base := r.in(kind.part())
	if fn != digest.SHA256 {
		base = r.in(fn.String(), kind.part())
	}
	return eachIn(ctx, kind, base, func(top Item) error {
		prefix := filepath.Base(top.Path)
		if len(prefix) != 2 || !top.Info.IsDir() {
			return nil
		}
		return eachIn(ctx, kind, top.Path, func(it Item) error {
			hex := filepath.Base(it.Path)
			var err error
			if it.Digest, err = digest.New(fn, hex, 0); err != nil || !strings.HasPrefix(hex, prefix) ||
				!it.Info.Mode().IsRegular() {
				return nil
			}
			return f(it)
		})
	})
}

// readDir is os.ReadDir, for which a folder that is not there is empty.
func readDir(dir string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, err
}
