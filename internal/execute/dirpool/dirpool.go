// Package dirpool keeps large folders of inputs, laid out as links to the store, from one run of an action to the next, in which
// mostly few of the files are others.
//
// Beside each folder stands a list of what is in it. It counts only if the folder, and each folder in it, has the stamp that it had, so that no
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
	"path"
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
	// MinFiles is how many files and folders a folder of inputs must have to be kept: making and removing so many costs more than to look
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

// Keeps tells whether a folder may be one of those that are kept: large, and without symlinks. No Pool keeps none.
func (p *Pool) Keeps(d *merkle.Dir) bool {
	return p != nil && len(d.Files)+len(d.Dirs) >= MinFiles && len(d.Symlinks) == 0
}

// Tree is what is in a folder.
type Tree struct {
	Files map[string]*merkle.File // by slash path
	Dirs  []string                // slash paths of the folders in it, each after the one that it is in
}

// Folder is a folder of an exec root that goes back to the pool.
type Folder struct {
	Path string // absolute

	name  string // in the pool
	tree  Tree
	since time.Time    // when all of it was laid out
	stamp stat.Stamp   // before the command started
	dirs  []stat.Stamp // of tree.Dirs, before the command started; the zero Stamp until Watch
}

// Folder returns the folder at path with this in it, to be taken or laid out. Of two folders with one key, one is kept.
func (p *Pool) Folder(key, path string, tree Tree) *Folder {
	return &Folder{Path: path, name: p.fn.Bytes([]byte(key)).Hex()[:32], tree: tree, since: time.Now(), dirs: make([]stat.Stamp, len(tree.Dirs))}
}

// Make lays the folder out anew, by link for each file.
func (f *Folder) Make(link func(name string, f merkle.File) error) error {
	if err := os.Mkdir(f.Path, 0o755); err != nil {
		return err
	}
	for _, dir := range f.tree.Dirs {
		if err := os.Mkdir(f.at(dir), 0o755); err != nil {
			return err
		}
	}
	for name, file := range f.tree.Files {
		if err := link(name, *file); err != nil {
			return err
		}
	}
	return nil
}

func (f *Folder) at(name string) string { return filepath.Join(f.Path, filepath.FromSlash(name)) }

// lock returns false when there are no kept folders for now.
func (p *Pool) lock() (unlock func(), ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	unlock, err := atomicfile.Lock(ctx, filepath.Join(p.dir, lockName))
	return unlock, err == nil
}

// Take puts a kept folder at f.Path and makes what is in it that of f, by link for each file that is another. It returns false, and
// leaves nothing at the path, where that is no gain.
func (p *Pool) Take(f *Folder, link func(name string, f merkle.File) error) (bool, error) {
	has, ok := p.take(f)
	if !ok {
		return false, nil
	}
	if age := time.Since(has.since); age < 0 || age > maxAge || has.since.Unix() <= p.damaged.Unix() {
		return false, os.RemoveAll(f.Path)
	}
	drop, want, err := p.differences(f, has)
	if err != nil || len(drop)+len(want) > (len(f.tree.Files)+len(f.tree.Dirs))/2 || !f.adopt(has, drop, want) {
		return false, os.RemoveAll(f.Path)
	}
	for _, name := range want {
		if err := link(name, *f.tree.Files[name]); err != nil {
			return false, errors.Join(err, os.RemoveAll(f.Path))
		}
	}
	f.since = has.since
	return true, nil
}

// differences are the names of files that have to go from a kept folder, which is at f.Path by now, and of those that have to be linked.
func (p *Pool) differences(f *Folder, has *list) (drop, want []string, err error) {
	var names []string
	known := 0 // of f's files
	for _, was := range has.files {
		now, ok := f.tree.Files[was.name]
		if ok {
			known++
		}
		if ok && *now == was.File {
			names = append(names, was.name)
			continue
		}
		drop = append(drop, was.name)
		if ok {
			want = append(want, was.name)
		}
	}
	if known < len(f.tree.Files) {
		want = append(want, missing(f.tree.Files, has.files)...)
	}
	stamps, err := stat.Lstats(f.Path, names, 0)
	for i, name := range names {
		if now := f.tree.Files[name]; !p.unmodified(now.Digest, stamps[i]) || stamps[i].Executable() != now.Executable {
			drop, want = append(drop, name), append(want, name)
		}
	}
	return drop, want, err
}

// adopt removes from a kept folder what is no longer in it, makes the folders that are new, and notes which of the others need not be watched anew. It
// is false where that fails, or where a folder is not as it was.
func (f *Folder) adopt(has *list, drop, want []string) bool {
	names := make([]string, len(has.dirs))
	was, had := make(map[string]stat.Stamp, len(has.dirs)), make(map[string]bool, len(has.dirs))
	for i, dir := range has.dirs {
		names[i], was[dir.name], had[dir.name] = dir.name, dir.stamp, true
	}
	stamps, err := stat.Lstats(f.Path, names, 0)
	for i, dir := range has.dirs {
		if err != nil || !dir.stamp.IsDir() || stamps[i] != dir.stamp {
			return false
		}
	}
	for _, name := range drop {
		if os.Remove(f.at(name)) != nil {
			return false
		}
	}
	stay := make(map[string]int, len(f.tree.Dirs))
	for i, dir := range f.tree.Dirs {
		stay[dir] = i
	}
	changed := func(name string) { delete(was, path.Dir(name)) }
	for _, dir := range slices.Backward(names) { // each before the one that it is in
		if _, ok := stay[dir]; !ok {
			if os.Remove(f.at(dir)) != nil {
				return false
			}
			changed(dir)
		}
	}
	for _, dir := range f.tree.Dirs {
		if !had[dir] {
			if os.Mkdir(f.at(dir), 0o755) != nil {
				return false
			}
			changed(dir)
		}
	}
	for _, name := range slices.Concat(drop, want) {
		changed(name)
	}
	for dir, stamp := range was {
		if i, ok := stay[dir]; ok {
			f.dirs[i] = stamp
		}
	}
	return true
}

// take moves a kept folder to f.Path, and returns what is in it. It is false where there is none, or nobody knows what is in it.
func (p *Pool) take(f *Folder) (has *list, ok bool) {
	at := filepath.Join(p.dir, f.name)
	if st, err := stat.Lstat(at); err != nil || !st.IsDir() {
		return nil, false
	}
	unlock, ok := p.lock()
	if !ok {
		return nil, false
	}
	defer unlock()
	st, err := stat.Lstat(at)
	if err != nil || !st.IsDir() {
		return nil, false
	}
	if has, ok = p.list(f.name, st); !ok || os.Rename(at, f.Path) != nil {
		return nil, false
	}
	return has, true
}

// missing are the names of files that has does not have.
func missing(files map[string]*merkle.File, has []listed) (names []string) {
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
func (f *Folder) Watch() error {
	var names []string
	var at []int
	for i, dir := range f.tree.Dirs {
		if !f.dirs[i].Exists() { // the others are watched since the last time
			if err := os.Chtimes(f.at(dir), time.Time{}, WatchedTime()); err != nil {
				return err
			}
			names, at = append(names, dir), append(at, i)
		}
	}
	stamps, err := stat.Lstats(f.Path, names, 0)
	for i, stamp := range stamps {
		f.dirs[at[i]] = stamp
	}
	if err == nil {
		err = os.Chtimes(f.Path, time.Time{}, WatchedTime())
	}
	if err == nil {
		f.stamp, err = stat.Lstat(f.Path)
	}
	return err
}

// holds tells whether the folder has its files, each where it was laid out, and nothing else. Whether something wrote to
// them is looked at when they are taken.
func (f *Folder) holds() bool {
	now, err := stat.Lstat(f.Path)
	if err != nil || !now.IsDir() || !f.stamp.Exists() || now != f.stamp {
		return false
	}
	stamps, err := stat.Lstats(f.Path, f.tree.Dirs, 0)
	return err == nil && slices.Equal(stamps, f.dirs) && !slices.ContainsFunc(stamps, func(s stat.Stamp) bool { return !s.IsDir() })
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
		if _, ok := p.list(f.name, st); ok {
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

// listKind is of a folder's list. Its block has the folder's stamp, when it was laid out in seconds since 1970, and the folders and files in it in
// order of their slash paths.
func listKind() statefile.Kind {
	return statefile.Kind{Name: "dirpool", Version: 2, Max: 1 << 30}
}

// list is what is in a kept folder.
type list struct {
	since time.Time // when it was laid out
	dirs  []listedDir
	files []listed
}

// listed is a file of a kept folder.
type listed struct {
	name string
	merkle.File
}

// listedDir is a folder of a kept folder.
type listedDir struct {
	name  string
	stamp stat.Stamp
}

func (p *Pool) write(f *Folder, st stat.Stamp) error {
	e := statefile.Encoder{Block: make([]byte, 0, 256+len(f.tree.Files)*64+len(f.dirs)*64)}
	e.Stamp(st)
	e.Uint(uint64(max(0, f.since.Unix())))
	dirs := make([]listedDir, len(f.dirs))
	for i, stamp := range f.dirs {
		dirs[i] = listedDir{f.tree.Dirs[i], stamp}
	}
	slices.SortFunc(dirs, func(a, b listedDir) int { return strings.Compare(a.name, b.name) })
	e.Int(len(dirs))
	for _, dir := range dirs {
		e.Text(dir.name)
		e.Stamp(dir.stamp)
	}
	e.Int(len(f.tree.Files))
	for _, name := range slices.Sorted(maps.Keys(f.tree.Files)) {
		e.Text(name)
		e.Digest(f.tree.Files[name].Digest)
		e.Bool(f.tree.Files[name].Executable)
	}
	return statefile.Write(filepath.Join(p.dir, f.name+listSuffix), listKind(), e.Block)
}

// list returns what is in the kept folder that has the stamp.
func (p *Pool) list(name string, st stat.Stamp) (*list, bool) {
	f, err := statefile.Read(filepath.Join(p.dir, name+listSuffix), listKind())
	if err != nil {
		return nil, false
	}
	return parseList(f.Blocks[0], st)
}

func parseList(block []byte, st stat.Stamp) (*list, bool) {
	d := statefile.Decode(block)
	if d.Stamp() != st {
		return nil, false
	}
	l := &list{since: time.Unix(int64(min(d.Uint(), 1<<40)), 0)}
	known := map[string]bool{".": true} // folders
	l.dirs = make([]listedDir, d.Count())
	last := ""
	for i := range l.dirs {
		dir := listedDir{d.Text(), d.Stamp()}
		if dir.name <= last || !proper(dir.name) || !known[path.Dir(dir.name)] || !dir.stamp.IsDir() {
			return nil, false
		}
		l.dirs[i], last, known[dir.name] = dir, dir.name, true
	}
	l.files = make([]listed, d.Count())
	last = ""
	for i := range l.files {
		f := listed{d.Text(), merkle.File{Digest: d.Digest(), Executable: d.Bool()}}
		if f.name <= last || !proper(f.name) || !known[path.Dir(f.name)] || known[f.name] || f.Digest.IsZero() {
			return nil, false
		}
		l.files[i], last = f, f.name
	}
	return l, d.Done()
}

// proper tells whether a name is a clean slash path below a folder.
func proper(name string) bool {
	return name != "." && filepath.IsLocal(name) && path.Clean(name) == name && !strings.Contains(name, `\`)
}
