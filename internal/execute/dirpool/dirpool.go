// Package dirpool keeps large folders of inputs, laid out as links to the store, from one run of an action to the next, in which
// mostly few of the files are others.
//
// Beside each folder stands a list of what is in it. It counts only if the folder has the stamp that it had, so that no
// file came, went, or took the place of another, and a file in it only if it is unmodified since the store linked it. A folder
// is one action's at a time: Take moves it away, and Give brings it back. One process does that at a time: between a look at the list and
// the move, another one could have had the folder, with other files.
//
// The package does not know how a file is linked, nor when an exec root wants which folder.
package dirpool

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/statefile"
)

const (
	// MinFiles is how many files a folder of inputs must have to be kept: making and removing so many costs more than to look
	// whether they are as they were.
	MinFiles = 512
	// maxFolders is how many folders are kept. Each takes the names of its files only, which are links to the store.
	maxFolders = 16
	// maxAge is for how long a folder is taken again. Then it is laid out anew, so that the store reads what it links: a bit that
	// flipped on the disk shows in no time of a file.
	maxAge = 7 * 24 * time.Hour

	listSuffix = ".list"
	lockName   = "lock"

	// patience is for how long another process may have the lock. It needs it for milliseconds, if nobody stops it.
	patience = time.Second
)

// Pool is the folders below one folder, which many processes may use at once.
type Pool struct {
	dir        string
	fn         digest.Function
	unmodified func(digest.Digest, stat.Stamp) bool
	damaged    time.Time
}

// New returns the pool in the folder dir, which need not exist, on the store's file system. unmodified tells whether a file that the
// store linked is as it was then. Something in the store was last found damaged at the moment damaged: of folders that were laid out
// before, nobody knows what their files are.
func New(dir string, fn digest.Function, unmodified func(digest.Digest, stat.Stamp) bool, damaged time.Time) *Pool {
	return &Pool{dir, fn, unmodified, damaged}
}

// Keeps tells whether a folder is one of those that are kept: large and flat. No Pool keeps none.
func (p *Pool) Keeps(d *merkle.Dir) bool {
	return p != nil && len(d.Files) >= MinFiles && len(d.Dirs)+len(d.Symlinks) == 0
}

// Folder is a folder of an exec root that goes back to the pool.
type Folder struct {
	Path string // absolute

	name  string // in the pool
	files map[string]merkle.File
	since time.Time  // when all of it was laid out
	stamp stat.Stamp // before the command started
}

// Folder returns the folder at path with these files, to be taken or laid out. Of two folders with one key, one is kept.
func (p *Pool) Folder(key, path string, files map[string]merkle.File) *Folder {
	return &Folder{Path: path, name: p.fn.Bytes([]byte(key)).Hex()[:32], files: files, since: time.Now()}
}

// lock returns false when there are no kept folders for now.
func (p *Pool) lock() (unlock func(), ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	unlock, err := atomicfile.Lock(ctx, filepath.Join(p.dir, lockName))
	return unlock, err == nil
}

// Take puts a kept folder at f.Path and makes its files those of f, by link for each that is another. It returns false, and
// leaves nothing at the path, where that is no gain.
func (p *Pool) Take(f *Folder, link func(name string, f merkle.File) error) (bool, error) {
	has, since, ok := p.take(f)
	if !ok {
		return false, nil
	}
	if age := time.Since(since); age < 0 || age > maxAge || since.Unix() <= p.damaged.Unix() {
		return false, os.RemoveAll(f.Path)
	}
	var names, drop, want []string
	known := 0 // of f.files
	for _, was := range has {
		now, ok := f.files[was.name]
		if ok {
			known++
		}
		if ok && now == was.File {
			names = append(names, was.name)
			continue
		}
		drop = append(drop, was.name)
		if ok {
			want = append(want, was.name)
		}
	}
	if known < len(f.files) {
		want = append(want, missing(f.files, has)...)
	}
	stamps, err := stat.Lstats(f.Path, names, 0)
	if err != nil {
		return false, os.RemoveAll(f.Path)
	}
	for i, name := range names {
		if now := f.files[name]; !p.unmodified(now.Digest, stamps[i]) || stamps[i].Executable() != now.Executable {
			drop, want = append(drop, name), append(want, name)
		}
	}
	if len(drop)+len(want) > len(f.files)/2 {
		return false, os.RemoveAll(f.Path)
	}
	for _, name := range drop {
		if err := os.Remove(filepath.Join(f.Path, name)); err != nil {
			return false, os.RemoveAll(f.Path)
		}
	}
	for _, name := range want {
		if err := link(name, f.files[name]); err != nil {
			return false, errors.Join(err, os.RemoveAll(f.Path))
		}
	}
	f.since = since
	return true, nil
}

// take moves a kept folder to f.Path, and returns what is in it, and since when. It is false where there is none, or nobody knows what is in it.
func (p *Pool) take(f *Folder) (has []listed, since time.Time, ok bool) {
	at := filepath.Join(p.dir, f.name)
	if st, err := stat.Lstat(at); err != nil || !st.IsDir() {
		return nil, since, false
	}
	unlock, ok := p.lock()
	if !ok {
		return nil, since, false
	}
	defer unlock()
	st, err := stat.Lstat(at)
	if err != nil || !st.IsDir() {
		return nil, since, false
	}
	if has, since, ok = p.list(f.name, st); !ok || os.Rename(at, f.Path) != nil {
		return nil, since, false
	}
	return has, since, true
}

// missing are the names of files that has does not have.
func missing(files map[string]merkle.File, has []listed) (names []string) {
	known := make(map[string]bool, len(has))
	for _, k := range has {
		known[k.name] = true
	}
	for name := range files {
		if !known[name] {
			names = append(names, name)
		}
	}
	return names
}

// WatchedTime is the modification time of a folder that was laid out. Whatever comes, goes or changes places in it later sets another, however
// short the time between.
func WatchedTime() time.Time { return time.Unix(1_000_000_001, 0) }

// Watch begins to watch the folder, which is laid out.
func (f *Folder) Watch() (err error) {
	if err = os.Chtimes(f.Path, time.Time{}, WatchedTime()); err == nil {
		f.stamp, err = stat.Lstat(f.Path)
	}
	return err
}

// holds tells whether the folder has its files, each where it was laid out, and nothing else. Whether something wrote to
// them is looked at when they are taken.
func (f *Folder) holds() bool {
	now, err := stat.Lstat(f.Path)
	return err == nil && now.IsDir() && f.stamp.Exists() && now == f.stamp
}

// Give takes a watched folder back, unless the command changed it. That it cannot is no failure: it is removed with the exec root.
func (p *Pool) Give(f *Folder) {
	at := filepath.Join(p.dir, f.name)
	if !f.holds() {
		return // the command left something, or took something away
	}
	_ = os.Mkdir(p.dir, 0o755)
	unlock, ok := p.lock()
	if !ok {
		return
	}
	defer unlock()
	if st, err := stat.Lstat(at); err == nil {
		if _, _, ok := p.list(f.name, st); ok {
			return // another process was first
		}
		_ = os.RemoveAll(at) // left by one that was killed
	}
	if os.Rename(f.Path, at) != nil {
		return
	}
	st, err := stat.Lstat(at)
	if err == nil {
		err = p.write(f, st)
	}
	if err != nil {
		_ = os.RemoveAll(at)
	}
	p.bound()
}

// bound removes what was used longest ago.
func (p *Pool) bound() {
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return
	}
	type listed struct {
		name string
		used time.Time
	}
	var lists []listed
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), listSuffix); ok {
			if info, err := e.Info(); err == nil {
				lists = append(lists, listed{name, info.ModTime()})
			}
		}
	}
	slices.SortFunc(lists, func(a, b listed) int { return b.used.Compare(a.used) })
	for i, o := range lists {
		if i >= maxFolders {
			_ = os.Remove(filepath.Join(p.dir, o.name+listSuffix))
			_ = os.RemoveAll(filepath.Join(p.dir, o.name))
		}
	}
}

// listKind is of a folder's list. Its block has the folder's stamp, when it was laid out in seconds since 1970, and the files in order
// of their names.
func listKind() statefile.Kind {
	return statefile.Kind{Name: "dirpool", Version: 1, Max: 1 << 30}
}

// listed is a file of a kept folder.
type listed struct {
	name string
	merkle.File
}

func (p *Pool) write(f *Folder, st stat.Stamp) error {
	e := statefile.Encoder{Block: make([]byte, 0, 256+len(f.files)*64)}
	e.Stamp(st)
	e.Uint(uint64(max(0, f.since.Unix())))
	e.Int(len(f.files))
	for _, name := range slices.Sorted(maps.Keys(f.files)) {
		e.Text(name)
		e.Digest(f.files[name].Digest)
		e.Bool(f.files[name].Executable)
	}
	return statefile.Write(filepath.Join(p.dir, f.name+listSuffix), listKind(), e.Block)
}

// list returns what is in the kept folder that has the stamp, and when it was laid out.
func (p *Pool) list(name string, st stat.Stamp) ([]listed, time.Time, bool) {
	f, err := statefile.Read(filepath.Join(p.dir, name+listSuffix), listKind())
	if err != nil {
		return nil, time.Time{}, false
	}
	return parseList(f.Blocks[0], st)
}

func parseList(block []byte, st stat.Stamp) (files []listed, since time.Time, ok bool) {
	d := statefile.Decode(block)
	if d.Stamp() != st {
		return nil, time.Time{}, false
	}
	since = time.Unix(int64(min(d.Uint(), 1<<40)), 0)
	files = make([]listed, d.Count())
	last := ""
	for i := range files {
		f := listed{d.Text(), merkle.File{Digest: d.Digest(), Executable: d.Bool()}}
		if f.name <= last || !filepath.IsLocal(f.name) || strings.ContainsAny(f.name, `/\`) || f.Digest.IsZero() {
			return nil, time.Time{}, false
		}
		files[i], last = f, f.name
	}
	return files, since, d.Done()
}
