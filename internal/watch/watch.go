// Package watch notifies the caller soon after watched files may have changed.
//
// The package uses fsnotify to receive events from the operating system. It watches folders instead of single files,
// because most editors replace a file instead of writing to it. If the operating system provides no events, the package
// polls all files and reports that it polls. An event only tells the caller where to look, and the caller must find out
// what changed. The package does not read files or know their purpose.
package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/hexmage/hexmage/internal/stat"
)

// Set lists the files and folders to watch. All paths are absolute and clean. If a path does not exist, the Watcher
// waits for it to appear.
type Set struct {
	Root  string   // folders from Root down to the files may be renamed, removed and created again
	Files []string // files whose content matters
	Dirs  []string // folders whose entries matter

	Since time.Time // the caller knows all changes up to this time; zero if unknown
}

// Options control a Watcher. The zero value is ready to use.
type Options struct {
	Quiet time.Duration     // time without events after which a change is complete; default 10 ms
	Most  time.Duration     // maximum duration of a change; default 2 s
	Poll  bool              // poll even if the system provides events
	Every time.Duration     // minimum interval between two polls; default 500 ms
	Note  func(text string) // receives a message when watching degrades; may be nil
}

const maxNamed = 100 // maximum number of named changed paths

// Watcher watches one Set at a time. Only one goroutine at a time may call the methods.
type Watcher struct {
	o       Options
	changed chan struct{} // has one element if something may have changed
	stop    chan struct{}
	over    sync.WaitGroup

	mu      sync.Mutex
	events  *fsnotify.Watcher // nil while polling
	paths   paths
	watched map[string]stat.Stamp // folders with events, and their stamps when watching began
	pending []string              // paths that may have changed
	last    time.Time             // time of the last event
}

// New returns a Watcher with an empty Set. The caller must close the Watcher.
func New(o Options) *Watcher {
	set := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	set(&o.Quiet, 10*time.Millisecond)
	set(&o.Most, 2*time.Second)
	set(&o.Every, 500*time.Millisecond)
	if o.Note == nil {
		o.Note = func(string) {}
	}
	w := &Watcher{o: o, changed: make(chan struct{}, 1), stop: make(chan struct{}), watched: map[string]stat.Stamp{}}
	if o.Poll {
		w.poll("requested by an option")
		return w
	}
	events, err := fsnotify.NewBufferedWatcher(1024)
	if err != nil {
		w.poll(reason(err))
		return w
	}
	w.events = events
	w.over.Go(func() { w.listen(events) })
	return w
}

// Close stops the Watcher.
func (w *Watcher) Close() {
	close(w.stop)
	w.mu.Lock()
	events := w.events
	w.events = nil
	w.mu.Unlock()
	if events != nil {
		events.Close()
	}
	w.over.Wait()
}

// Changed returns a channel that receives a value when a watched path may have changed since Settle last returned.
func (w *Watcher) Changed() <-chan struct{} { return w.changed }

// Polling reports whether the Watcher polls because the operating system provides no events.
func (w *Watcher) Polling() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.events == nil
}

// Set replaces the watched Set. It returns true if the Watcher may have missed a change of a newly watched path. Then
// the caller must check the files again.
//
// If the operating system provides events, Set checks the times of newly watched paths. If a time is later than
// Set.Since, the path may have changed.
func (w *Watcher) Set(s Set) bool {
	p := newPaths(s)
	w.mu.Lock()
	defer w.mu.Unlock()
	fresh := w.paths.adds(&p)
	w.paths = p
	grew := w.cover()
	// new members of the set had no events that counted, even in a watched folder
	if (grew || fresh) && w.events != nil {
		return p.changed(s.Since)
	}
	return grew || fresh
}

// cover watches exactly the folders that matter. It returns true if it added one. The caller holds mu.
func (w *Watcher) cover() bool {
	if w.events == nil {
		return false
	}
	want := w.paths.folders()
	for dir := range w.watched {
		if _, ok := want[dir]; !ok {
			_ = w.events.Remove(dir) // it may not exist any more
			delete(w.watched, dir)
		}
	}
	kept := map[string]bool{} // a moved folder has lost its watch, even if it was moved back
	for _, dir := range w.events.WatchList() {
		kept[dir] = true
	}
	grew, paths := false, map[[2]uint64]string{}
	for dir, st := range want {
		id := [2]uint64{st.Dev, st.Inode}
		if other, ok := paths[id]; ok && st.Inode != 0 { // a bind mount: its events would have one of the two names
			w.fallBack(fmt.Sprintf("%s and %s are the same folder", min(dir, other), max(dir, other)))
			return true
		}
		paths[id] = dir
		if was, ok := w.watched[dir]; ok && kept[dir] && was.Dev == st.Dev && was.Inode == st.Inode {
			continue
		} else if ok {
			_ = w.events.Remove(dir) // another folder has this path now
		}
		delete(w.watched, dir)
		if remote(dir) {
			w.fallBack(fmt.Sprintf("%s is on a file system without events for changes by other machines", dir))
			return true
		}
		switch err := w.events.Add(dir); {
		case err == nil:
			w.watched[dir] = st
			grew = true
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		default:
			w.fallBack(reason(err))
			return true
		}
	}
	return grew
}

// reason returns why the system provides no events.
func reason(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return "too many watches (raise fs.inotify.max_user_watches with sysctl)"
	case errors.Is(err, syscall.EMFILE):
		return "too many watchers (raise fs.inotify.max_user_instances with sysctl)"
	}
	return err.Error()
}

// fallBack switches to polling. The caller holds mu.
func (w *Watcher) fallBack(why string) {
	events := w.events
	w.events = nil
	w.watched = map[string]stat.Stamp{}
	go events.Close() // it waits for listen, which may wait for mu
	w.poll(why)
}

func (w *Watcher) poll(why string) {
	w.o.Note(fmt.Sprintf("no events for changed files: %s; polling every %v instead", why, w.o.Every))
	w.over.Go(w.pollFiles)
}

// listen handles events until the channel closes.
func (w *Watcher) listen(events *fsnotify.Watcher) {
	for {
		select {
		case e, ok := <-events.Events:
			if !ok {
				return
			}
			w.take(e)
		case err, ok := <-events.Errors:
			if !ok {
				return
			}
			if errors.Is(err, fsnotify.ErrEventOverflow) {
				w.noteChange("too many events at once, and the system dropped some")
			}
		case <-w.stop:
			return
		}
	}
}

// take handles an event.
func (w *Watcher) take(e fsnotify.Event) {
	w.mu.Lock()
	path, ok := w.paths.counts(e.Name, e.Op)
	w.mu.Unlock()
	if ok {
		w.noteChange(path)
	}
}

// noteChange records that a path may have changed.
func (w *Watcher) noteChange(path string) {
	w.mu.Lock()
	w.last = time.Now()
	if len(w.pending) < maxNamed && !slices.Contains(w.pending, path) {
		w.pending = append(w.pending, path)
	}
	w.mu.Unlock()
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// pollFiles polls until Close.
func (w *Watcher) pollFiles() {
	every, seen := w.o.Every, map[string]stat.Stamp{}
	for {
		select {
		case <-w.stop:
			return
		case <-time.After(every):
		}
		w.mu.Lock()
		p := w.paths
		w.mu.Unlock()
		start := time.Now()
		different := p.different(seen)
		every = max(w.o.Every, 10*time.Since(start)) // use at most a tenth of a processor
		for _, path := range different {
			w.noteChange(path)
		}
	}
}

// Settle waits until a change is complete, and returns the paths that may have changed. Later changes arrive on the
// channel that Changed returns.
func (w *Watcher) Settle(ctx context.Context) ([]string, error) {
	begin, patience := time.Now(), 10*w.o.Quiet
	for {
		w.mu.Lock()
		quiet, last := w.o.Quiet-time.Since(w.last), w.last
		gone := w.paths.gone(w.pending)
		w.mu.Unlock()
		if gone && time.Since(last) < patience {
			quiet = max(quiet, w.o.Quiet) // some editors move a file away before they write it again
		}
		if quiet <= 0 || time.Since(begin) > w.o.Most {
			break
		}
		select {
		case <-time.After(quiet):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	select {
	case <-w.changed:
	default:
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	changed := w.pending
	w.pending = nil
	w.cover() // folders may be new or replaced; poll their content next
	return changed, nil
}

// within reports whether path is dir or below it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path,
		strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// real resolves the symlinks in the existing part of the path.
func real(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(real(parent), filepath.Base(path))
	}
	return path
}

// isDir returns the folder's stamp, and whether it exists.
func isDir(path string) (stat.Stamp, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return stat.Stamp{}, false
	}
	return stat.Of(info), true
}

// paths is a Set prepared for lookups. Events have real paths, without symlinks in their folders.
type paths struct {
	root  string
	names map[string]string     // real path → path of the Set, for files
	dirs  map[string]string     // real path → path of the Set, for folders whose entries matter
	ways  map[string]bool       // real paths of folders on the way to a member
	stamp map[string]stat.Stamp // stamps from when each path became a member
	order []string              // sorted keys of stamp
}

func newPaths(s Set) paths {
	p := paths{root: real(s.Root), names: map[string]string{}, dirs: map[string]string{}, ways: map[string]bool{}}
	folder := map[string]string{} // cache of real paths of folders
	realOf := func(dir string) string {
		r, ok := folder[dir]
		if !ok {
			r = real(dir)
			folder[dir] = r
		}
		return r
	}
	for _, f := range s.Files {
		dir := realOf(filepath.Dir(f))
		p.names[filepath.Join(dir, filepath.Base(f))] = f
		p.way(dir)
	}
	for _, d := range s.Dirs {
		r := realOf(d)
		p.dirs[r] = d
		p.way(r)
	}
	p.order = make([]string, 0, len(p.names)+len(p.dirs))
	for r := range p.names {
		p.order = append(p.order, r)
	}
	for r := range p.dirs {
		p.order = append(p.order, r)
	}
	p.stamp = make(map[string]stat.Stamp, len(p.order))
	for i, st := range p.stamps() {
		p.stamp[p.order[i]] = st
	}
	return p
}

// way adds the folders on the way to dir, from the root or from the nearest existing parent.
func (p *paths) way(dir string) {
	for !p.ways[dir] {
		p.ways[dir] = true
		parent := filepath.Dir(dir)
		if parent == dir {
			return
		}
		if _, there := isDir(dir); there && (dir == p.root || !within(dir, p.root)) {
			return
		}
		dir = parent
	}
}

// folders returns the folders to watch, with their current stamps.
func (p *paths) folders() map[string]stat.Stamp {
	want := make(map[string]stat.Stamp, len(p.ways))
	for dir := range p.ways {
		if st, ok := isDir(dir); ok {
			want[dir] = st
		}
	}
	return want
}

// adds reports whether next has files or folders that p lacks.
func (p *paths) adds(next *paths) bool {
	for r := range next.stamp {
		if _, ok := p.stamp[r]; !ok {
			return true
		}
	}
	return false
}

// counts reports whether an event concerns the set, and returns the path to report.
func (p *paths) counts(name string, op fsnotify.Op) (string, bool) {
	if f, ok := p.names[name]; ok {
		if op == fsnotify.Chmod && !p.otherMode(name) { // creating a link to the file also sends this event
			return "", false
		}
		return f, true
	}
	const entry = fsnotify.Create | fsnotify.Remove | fsnotify.Rename
	if op&entry == 0 {
		return "", false
	}
	if p.ways[name] {
		return name, true // a folder on the way appeared or vanished
	}
	dir, ok := p.dirs[filepath.Dir(name)]
	if ok {
		return filepath.Join(dir, filepath.Base(name)), true
	}
	return "", false
}

func (p *paths) otherMode(name string) bool {
	now, err := stat.Lstat(name)
	return err != nil || now.Mode != p.stamp[name].Mode || now.MTime != p.stamp[name].MTime
}

// stamps returns the current stamps, zero for unreadable paths.
func (p *paths) stamps() []stat.Stamp {
	stamps, _ := stat.Lstats("", p.order, 0)
	return stamps
}

// different returns the paths whose stamps differ from seen, and updates seen. It compares a path that is not in seen
// with its stamp when it became a member.
func (p *paths) different(seen map[string]stat.Stamp) []string {
	var changed []string
	for i, now := range p.stamps() {
		r := p.order[i]
		was, ok := seen[r]
		if !ok {
			was = p.stamp[r]
		}
		if seen[r] = now; now == was {
			continue
		}
		name, ok := p.names[r]
		if !ok {
			name = p.dirs[r]
		}
		changed = append(changed, name)
	}
	return changed
}

// changed reports whether a path may have changed after since. For a missing path, the nearest folder on the way tells.
func (p *paths) changed(since time.Time) bool {
	if since.IsZero() {
		return true
	}
	after := func(st stat.Stamp) bool {
		at, tick := max(st.MTime, st.CTime), clockTick
		if at%int64(time.Second) == 0 {
			tick = stat.RacyWindow // the file system has a resolution of a second
		}
		return at >= since.Add(-tick).UnixNano()
	}
	for i, st := range p.stamps() {
		for at := filepath.Dir(p.order[i]); !st.Exists() && p.ways[at]; at = filepath.Dir(at) {
			st, _ = isDir(at)
		}
		if after(st) {
			return true
		}
	}
	return false
}

// clockTick is the maximum delay between the clock and the times that the system gives to changes.
const clockTick = 20 * time.Millisecond

// gone reports whether one of the files is missing.
func (p *paths) gone(files []string) bool {
	for _, f := range files {
		if _, ok := p.names[filepath.Join(real(filepath.Dir(f)), filepath.Base(f))]; !ok {
			continue
		}
		if st, err := stat.Lstat(f); err == nil && !st.Exists() || err != nil {
			return true
		}
	}
	return false
}
