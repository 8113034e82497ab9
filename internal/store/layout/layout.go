// Package layout names all files and folders in a cache folder. Blobs and results have the layout of Bazel's disk
// cache, and hexmage's other files are next to them.
//
// Root has a method for each path, and Each lists all files. The package does not know the content of files, or when to
// remove them.
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

// Kind is a kind of file or folder in the cache, as `hexmage cache stats` shows it.
type Kind string

// The kinds, in the order of garbage collection. Files that refer to other files come first.
const (
	Results     Kind = "results" // of actions, by cache key
	Blobs       Kind = "blobs"
	Executables Kind = "executables" // copies of blobs with another mode
	Trees       Kind = "trees"       // unpacked, for exec roots to link to
	Downloads   Kind = "downloads"   //
	Logs        Kind = "logs"        // output of actions
	RunLogs     Kind = "runlogs"     // records of runs
	Requests    Kind = "requests"    // state files of requests
	Checkpoints Kind = "checkpoints" // partial work of long actions that ended early
	Damaged     Kind = "damaged"     // quarantined files
	Scratch     Kind = "scratch"     // unfinished files and folders
	State       Kind = "state"       // other records of past runs, and locks
	Obsolete    Kind = "obsolete"    // folders of earlier versions of hexmage
)

// Kinds returns all kinds, in the order of garbage collection.
func Kinds() []Kind {
	return []Kind{Results, Blobs, Executables, Trees, Downloads, Logs, RunLogs, Requests, Checkpoints, Damaged,
		Scratch, State, Obsolete}
}

// Functions returns all digest functions. Each digest function has a separate part of the store.
func Functions() []digest.Function { return []digest.Function{digest.BLAKE3, digest.SHA256} }

// version is the version of the layout and of every format in it. A hexmage with another version uses another folder.
const version = 3

// Root is the absolute path of the cache folder for one version of the layout, such as /home/ana/.cache/hexmage/v3.
type Root string

// In returns the Root inside the given folder. Users set this folder with HEXMAGE_CACHE.
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

// File returns the path of the Result, Blob or Executable with the digest d. For SHA-256, it is the same path as in
// Bazel's disk cache. For any other digest function, the path begins with a folder named after the function.
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

// Trees returns the folder that contains all unpacked trees.
func (r Root) Trees() string { return r.in(treesDir) }

// Tree returns the path for the unpacked tree with the root digest d, even if the tree is missing.
func (r Root) Tree(d digest.Digest) string {
	return r.in(treesDir, d.Function().String()+"-"+d.Hex())
}

// TreeMarker returns the path of the file that marks the tree as complete.
func (r Root) TreeMarker(d digest.Digest) string { return r.Tree(d) + markerSuffix }

// TreeLock returns the lock file for writing or removing the tree.
func (r Root) TreeLock(d digest.Digest) string { return r.Tree(d) + ".lock" }

// Downloads returns the folder for complete and partial downloads.
func (r Root) Downloads() string { return r.in("downloads") }

// Shipped returns the folder for workspaces that hexmage unpacks from its own binary.
func (r Root) Shipped() string { return r.in("shipped") }

// Checkpoints returns the folder for the partial work of long actions that did not finish.
func (r Root) Checkpoints() string { return r.in("checkpoints") }

// Damaged returns the folder for quarantined files.
func (r Root) Damaged() string { return r.in("damaged") }

// Quarantine returns the path in the folder Damaged for a corrupt file with the digest d. The prefix is the kind of
// file, or "" for a blob.
func (r Root) Quarantine(prefix string, d digest.Digest) string {
	return r.in("damaged", prefix+d.Function().String()+"-"+d.Hex())
}

// Names of the folders for unfinished work, below the root.
const (
	NewFiles   = "new" // unfinished files
	NewFolders = "tmp" // exec roots and unfinished trees
)

// New returns the folder for unfinished files.
func (r Root) New() string { return r.in(NewFiles) }

// Scratch returns the parent folder of all exec roots.
func (r Root) Scratch() string { return r.in(NewFolders) }

// Prepare creates the root and the folders for unfinished files, and calls Sweep. If the cache is read-only and the
// folders exist, Prepare does nothing.
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

// Sweep removes unfinished files that are older than age and belong to dead processes.
func (r Root) Sweep(age time.Duration) error {
	for _, name := range []string{NewFiles, NewFolders} {
		if err := atomicfile.Sweep(r.in(name), age); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return &fs.PathError{Op: "clean", Path: r.in(name), Err: err}
		}
	}
	return nil
}

const runPrefix = "run"

// NewRun creates a scratch folder for this process and locks it. The lock lasts until the caller calls unlock or the
// process ends. The folder's name contains the process ID and a random part.
func (r Root) NewRun() (path string, unlock func(), err error) {
	if path, err = os.MkdirTemp(r.Scratch(), atomicfile.TempName(runPrefix)); err != nil {
		return "", nil, err
	}
	run := Run{Path: path}
	// Another process sees the file only after it is locked.
	unlock, err = atomicfile.Lock(context.Background(), run.Lock()+".new")
	if err != nil {
		return path, func() {}, nil // the file system has no locks
	}
	return path, unlock, os.Rename(run.Lock()+".new", run.Lock())
}

// Run is the scratch folder of a process. The process may be dead.
type Run struct {
	Path string
	PID  int
}

// Lock returns the path of the lock file. The process holds the lock until it ends. If the lock file is missing, check
// whether a process with the process ID is alive.
func (r Run) Lock() string { return filepath.Join(r.Path, "lock") }

// Runs returns all existing folders that NewRun created.
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

// State returns the folder for records of earlier runs.
func (r Root) State() StateDir { return StateDir(r.in(stateDir)) }

// StateDir is the path of the folder for records of earlier runs.
type StateDir string

// Root returns the cache folder that contains the folder s.
func (s StateDir) Root() Root { return Root(filepath.Dir(string(s))) }

func (s StateDir) in(parts ...string) string {
	return filepath.Join(append([]string{string(s)}, parts...)...)
}

// Logs returns the folder for logs of actions.
func (s StateDir) Logs() string { return s.in("logs") }

// RunLogs returns the folder for records of runs.
func (s StateDir) RunLogs() string { return s.in("runlog") }

// Requests returns the folder for state files. Each request has its own file.
func (s StateDir) Requests() string { return s.in("requests") }

// StatCache returns the path of the file with the cached digests of host files.
func (s StateDir) StatCache(fn digest.Function) string { return s.in("statcache", fn.String()) }

// Function returns the path of the file that names the digest function of a workspace. The file exists only if the
// function is not the default.
func (s StateDir) Function(workspace string) string { return s.in("functions", workspace) }

// Remote returns the path of the file with the cached capabilities of a remote.
func (s StateDir) Remote(id string) string { return s.in("remotes", id) }

// Limit returns the path of an empty file. Its modification time is the time of the last garbage collection that
// enforced the size limit.
func (s StateDir) Limit() string { return s.in("limit") }

// Synced returns the path of the file that records the time of the store's last sync.
func (s StateDir) Synced() string { return s.in("synced") }

// OutputLock returns the lock file for writing outputs to the output folder with the given ID.
func (s StateDir) OutputLock(id string) string { return s.in("outputs", id+".lock") }

// LastRuns returns the folder with the cache keys from the last run of each step with side effects.
func (s StateDir) LastRuns() string { return s.in("last-runs") }

// Runner returns the folder in which executors keep leases for other machines and facts about these machines.
func (s StateDir) Runner() string { return s.in("runner") }

// ActionsLock returns the lock file that running actions hold.
func (s StateDir) ActionsLock() string { return s.in("actions.lock") }

// InUseLock returns the lock file that all processes hold while they use the cache.
func (s StateDir) InUseLock() string { return s.in("in-use.lock") }

// TidyLock returns the lock file for removing the files of killed processes.
func (s StateDir) TidyLock() string { return s.in("tidy.lock") }

// Older returns the cache folders of earlier versions of hexmage next to this root. It ignores folders without
// hexmage's lock file, because the folder that HEXMAGE_CACHE names may also contain unrelated folders.
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

// Item is a file or folder that garbage collection keeps or removes as a whole.
type Item struct {
	Kind   Kind
	Path   string
	Digest digest.Digest // of Results, Blobs, Executables and Trees, from the file name, so without the size
	Info   fs.FileInfo
}

// Each calls f for each Item in the cache. It may miss items that other processes create or remove meanwhile. It skips
// files with unknown names.
func (r Root) Each(ctx context.Context, f func(Item) error) error {
	for _, fn := range Functions() {
		for _, k := range []Kind{Results, Blobs, Executables} { // executables after their blobs
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
			return nil // marker or lock of a tree
		}
		return f(it)
	}
	// Archives, packages and clones are in one folder per kind of source. Lock files stay: removing a held lock file
	// would let a second process in.
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
	log := func(it Item) error { // a pipeline has a folder of records
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
		for _, d := range folders { // folders listed above
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

// eachIn calls f with each entry of a folder.
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

// readDir is os.ReadDir, but a missing folder counts as empty.
func readDir(dir string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, err
}
