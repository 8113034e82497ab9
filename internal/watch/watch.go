// Package watch tells when files of a set may have changed, soon after they did.
//
// It asks the operating system (fsnotify) for events of the folders that the files are in, since most editors do not
// write to a file but put another one in its place. Where the system gives no events, or no more of them, it looks at
// all files again and again, and
// says so. It does not read files, does not know what they are for, and leaves it to its user to find out what changed:
// an event says where to look, and nothing else.
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

// Set is what to watch. All paths are absolute and clean. What is not there is watched for coming.
type Set struct {
	Root  string   // folders from here down to the files may be renamed, removed and made again
	Files []string // whose content counts
	Dirs  []string // whose entries count

	Since time.Time // what its user found out about it is not older; zero: it may be
}

// Options are how to watch. The zero value works.
type Options struct {
	Quiet time.Duration     // a change has settled when nothing more came for this long; default 10 ms
	Most  time.Duration     // and is taken for settled after this long in any case; default 2 s
	Poll  bool              // look again and again, even where there are events
	Every time.Duration     // how often, then, at most; default 500 ms
	Note  func(text string) // is told how it watches, when that is not as it should be; nil: nobody is
}

const maxNamed = 100 // changed paths that are named

// Watcher watches one Set at a time. Its methods may be called by one goroutine at a time.
type Watcher struct {
	o       Options
	changed chan struct{} // has one element when something may have changed
	stop    chan struct{}
	over    sync.WaitGroup

	mu      sync.Mutex
	events  *fsnotify.Watcher // nil: it polls
	paths   paths
	watched map[string]stat.Stamp // folders that events come of, as they were then
	pending []string              // what may have changed
	last    time.Time             // when the last of it came
}

// New returns a Watcher of nothing. Close ends it.
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
		w.poll("as it was asked for")
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

// Close ends the Watcher.
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

// Changed has an element when something may have changed since Settle returned.
func (w *Watcher) Changed() <-chan struct{} { return w.changed }

// Polling tells whether it looks again and again, for want of events.
func (w *Watcher) Polling() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.events == nil
}

// Set watches another set from now on. It returns true if a change of something in it may have gone unnoticed because
// nobody watched it until now: the caller has to look once more.
//
// Where there are events, what was not watched until now may have changed if the system says that it did after
// Set.Since.
func (w *Watcher) Set(s Set) bool {
	p := newPaths(s)
	w.mu.Lock()
	defer w.mu.Unlock()
	fresh := w.paths.adds(&p)
	w.paths = p
	grew := w.cover()
	// what was new to the set had no events that counted, also in a folder that has
	if (grew || fresh) && w.events != nil {
		return p.changed(s.Since)
	}
	return grew || fresh
}

// cover has events come of just the folders that matter. It returns true when one was added. The caller holds mu.
func (w *Watcher) cover() bool {
	if w.events == nil {
		return false
	}
	want := w.paths.folders()
	for dir := range w.watched {
		if _, ok := want[dir]; !ok {
			_ = w.events.Remove(dir) // it may be gone
			delete(w.watched, dir)
		}
	}
	kept := map[string]bool{} // a folder that was moved is dropped, also when it was moved back
	for _, dir := range w.events.WatchList() {
		kept[dir] = true
	}
	grew, paths := false, map[[2]uint64]string{}
	for dir, st := range want {
		id := [2]uint64{st.Dev, st.Inode}
		if other, ok := paths[id]; ok && st.Inode != 0 { // a bind mount: its events would name one of the two
			w.fallBack(fmt.Sprintf("%s and %s are one folder", min(dir, other), max(dir, other)))
			return true
		}
		paths[id] = dir
		if was, ok := w.watched[dir]; ok && kept[dir] && was.Dev == st.Dev && was.Inode == st.Inode {
			continue
		} else if ok {
			_ = w.events.Remove(dir) // another folder stands there now
		}
		delete(w.watched, dir)
		if remote(dir) {
			w.fallBack(fmt.Sprintf("%s is on a file system whose other machines' changes make no events", dir))
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

// reason says why there are no events.
func reason(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return "the system allows no more watches (raise fs.inotify.max_user_watches with sysctl)"
	case errors.Is(err, syscall.EMFILE):
		return "the system allows no more watchers (raise fs.inotify.max_user_instances with sysctl)"
	}
	return err.Error()
}

// fallBack polls from now on. The caller holds mu.
func (w *Watcher) fallBack(why string) {
	events := w.events
	w.events = nil
	w.watched = map[string]stat.Stamp{}
	go events.Close() // it waits for listen, which may wait for mu
	w.poll(why)
}

func (w *Watcher) poll(why string) {
	w.o.Note(fmt.Sprintf("no events of changed files: %s; looking at them every %v instead", why, w.o.Every))
	w.over.Go(w.pollFiles)
}

// listen takes events until there are no more.
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
				w.noteChange("so much that events were lost")
			}
		case <-w.stop:
			return
		}
	}
}

// take looks at an event.
func (w *Watcher) take(e fsnotify.Event) {
	w.mu.Lock()
	path, ok := w.paths.counts(e.Name, e.Op)
	w.mu.Unlock()
	if ok {
		w.noteChange(path)
	}
}

// noteChange notes that something may have changed.
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
		every = max(w.o.Every, 10*time.Since(start)) // a tenth of a processor at most
		for _, path := range different {
			w.noteChange(path)
		}
	}
}

// Settle waits until what is changing has changed, and returns the paths that may have. What comes later is told of
// by Changed again.
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
	w.cover() // folders may have come, or another one taken a place; what is in them is looked at next
	return changed, nil
}

// within tells whether path is dir or below it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path,
		strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// real is the path without symlinks, as far as it is there.
func real(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(real(parent), filepath.Base(path))
	}
	return path
}

// isDir tells whether a folder is there, and what the system says of it.
func isDir(path string) (stat.Stamp, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return stat.Stamp{}, false
	}
	return stat.Of(info), true
}

// paths is a Set, ready to be asked. Events name real paths, without symlinks in their folders.
type paths struct {
	root  string
	names map[string]string     // real path → path of the Set, of files
	dirs  map[string]string     // the same of folders whose entries count
	ways  map[string]bool       // real paths of folders that lead to something
	stamp map[string]stat.Stamp // how everything was when it became the set
	order []string              // of stamp
}

func newPaths(s Set) paths {
	p := paths{root: real(s.Root), names: map[string]string{}, dirs: map[string]string{}, ways: map[string]bool{}}
	folder := map[string]string{} // real paths of folders
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

// way notes the folders that lead to dir: from the root, or from the nearest one that is there.
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

// folders are those of which events are wanted, as they are now.
func (p *paths) folders() map[string]stat.Stamp {
	want := make(map[string]stat.Stamp, len(p.ways))
	for dir := range p.ways {
		if st, ok := isDir(dir); ok {
			want[dir] = st
		}
	}
	return want
}

// adds tells whether next has files or folders that p does not have.
func (p *paths) adds(next *paths) bool {
	for r := range next.stamp {
		if _, ok := p.stamp[r]; !ok {
			return true
		}
	}
	return false
}

// counts tells whether an event is about something of the set, and what to call it.
func (p *paths) counts(name string, op fsnotify.Op) (string, bool) {
	if f, ok := p.names[name]; ok {
		if op == fsnotify.Chmod && !p.otherMode(name) { // also when a link to it was made
			return "", false
		}
		return f, true
	}
	const entry = fsnotify.Create | fsnotify.Remove | fsnotify.Rename
	if op&entry == 0 {
		return "", false
	}
	if p.ways[name] {
		return name, true // a folder on the way came, or went
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

// stamps returns how everything is: nothing where it cannot be looked at.
func (p *paths) stamps() []stat.Stamp {
	stamps, err := stat.Lstats("", p.order, 0)
	if err != nil {
		stamps = make([]stat.Stamp, len(p.order))
	}
	return stamps
}

// different returns what is not as it was seen, and puts into seen how it is. What was not looked at yet is compared
// with how it was when it came to the set.
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

// changed tells whether something may have changed after the moment. Of what is not there, the nearest folder on the
// way says whether something went.
func (p *paths) changed(since time.Time) bool {
	if since.IsZero() {
		return true
	}
	after := func(st stat.Stamp) bool {
		at, tick := max(st.MTime, st.CTime), clockTick
		if at%int64(time.Second) == 0 {
			tick = stat.RacyWindow // a file system that has no parts of seconds
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

// clockTick is by how much the time that the system gives to a change may be behind the clock.
const clockTick = 20 * time.Millisecond

// gone tells whether one of the files is not there.
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
