package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/execute/dirpool"
	"github.com/hexmage/hexmage/internal/execute/sandbox"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/stat"
)

// execRoot is where one action at a time runs: a folder with the root that it sees, a home and a temporary folder. It is used again for the
// next action, and what that has in common with the last one stays where it is: to make and remove files costs more than to
// look whether they are as they were.
type execRoot struct {
	dir     string            // absolute
	parts   [3]string         // paths of the folders in it that are always there: see root, home and tmp
	at      *atomicfile.Dir   // dir
	shape   string            // what actions have in common that may use it
	entries map[string]*entry // by slash path below dir: what was made, but for what the command made
	use     int               // counts actions
	pooled  []*dirpool.Folder // folders that are kept elsewhere when the action is done
	pipes   pipes
	worker  *sandbox.Worker // where commands start when they are restricted; nil: anywhere
	access  sandbox.Access  // of the worker
	secrets string          // folder for files with secrets, empty between actions; "": there is none

	unwatched bool // nobody keeps a command from setting a folder's time to one that it had: so it is without a supervisor
	haunted   bool // a process may be left that can write to it: no other action may have it

	checkpoint string // the action's, a slash path of the root, where its content counts; "": nothing is kept
	single     bool   // no other action may have it: it had a checkpoint, kept or not
	complete   bool   // the action did what it was to do

	hostRefs []hostRef       // of the action
	mounted  *sandbox.Worker // where its command starts instead, if it has any
}

// thread is where the action's command starts; nil: anywhere.
func (s *execRoot) thread() *sandbox.Worker {
	if s.mounted != nil {
		return s.mounted
	}
	return s.worker
}

// entry is a file, symlink or folder of an execRoot.
type entry struct {
	use  int             // the last action that wanted it
	is   stat.Stamp      // when it was made
	file merkle.File     // of a file
	link string          // of a symlink: where to
	dir  *os.File        // of a folder, if it is one of the first maxEntries: a process may have so many files open
	fd   int             // of dir: asking for it costs system calls
	copy bool            // nothing else has the file's inode
	own  bool            // it belongs to the execRoot and stays whatever the actions want
	has  map[string]bool // names of what stands in a folder

	watched bool // a folder has the time of dirpool.WatchedTime since it has what it is to have
	busy    bool // commands change the folder, as a rule: it is not worth watching
}

// execPrefix begins the names of execRoots' folders. What follows is of an Executor, then of the execRoot.
const execPrefix = "exec-"

// maxEntries is how many files and folders of inputs stay in an execRoot at most.
const maxEntries = 512

// networkRefused tells whether the command wanted the network and was refused, since this was last asked, and whether that is known.
func (s *execRoot) networkRefused() (refused, known bool) {
	if w := s.thread(); w != nil {
		return w.NetworkRefused()
	}
	return false, false
}

func (s *execRoot) root() string { return s.parts[0] }
func (s *execRoot) home() string { return s.parts[1] }
func (s *execRoot) tmp() string  { return s.parts[2] }

// newExecRoot makes one in a new folder dir, with these folders, slash paths below the root, that stay.
func newExecRoot(dir, shape string, outputs []string) (*execRoot, error) {
	s := &execRoot{dir: dir, shape: shape, entries: map[string]*entry{}, unwatched: true}
	s.parts = [3]string{s.path("root"), s.path("home"), s.path("tmp")}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	var err error
	if s.at, err = atomicfile.OpenDir(dir); err != nil {
		return nil, errors.Join(err, s.close())
	}
	order := []string{"home", "tmp", "root"}
	for _, o := range outputs {
		at := "root"
		for _, name := range strings.Split(o, "/") {
			if o != "." {
				at = path.Join(at, name)
				order = append(order, at)
			}
		}
	}
	for _, p := range order {
		if err := s.folder(p, true); err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	return s, nil
}

// folder makes a folder at the slash path below the execRoot's, unless it is there.
func (s *execRoot) folder(rel string, own bool) error {
	if k := s.entries[rel]; k != nil && k.is.IsDir() {
		k.use = s.use
		return nil
	}
	if err := s.clear(rel); err != nil {
		return err
	}
	full := s.path(rel)
	if err := os.Mkdir(full, 0o755); err != nil {
		return err
	}
	k := &entry{own: own, has: map[string]bool{}}
	var err error
	if k.is, err = s.at.Stat(rel); err != nil {
		return err
	}
	if len(s.entries) < maxEntries {
		if k.dir, err = os.OpenFile(full, os.O_RDONLY, 0); err != nil {
			return err
		}
		k.fd = int(k.dir.Fd())
	}
	s.add(rel, k)
	return nil
}

func (s *execRoot) path(rel string) string {
	return s.dir + string(filepath.Separator) + filepath.FromSlash(rel)
}

func (s *execRoot) add(rel string, k *entry) {
	k.use = s.use
	s.entries[rel] = k
	if in := s.entries[folderOf(rel)]; in != nil {
		in.has[path.Base(rel)] = true
		in.watched = false
	}
}

func folderOf(rel string) string {
	i := strings.LastIndexByte(rel, '/')
	return rel[:max(i, 0)]
}

// has tells whether the file or symlink that is wanted at the slash path stands there as it was made. If something else
// does, it goes away.
func (s *execRoot) has(rel string, want entry) (bool, error) {
	k := s.entries[rel]
	if k == nil {
		return false, nil
	}
	if !k.is.IsDir() && k.file == want.file && k.link == want.link {
		if now, err := s.at.Stat(rel); err == nil && k.unmodified(now) {
			k.use = s.use
			return true, nil
		}
	}
	return false, s.clear(rel)
}

// unmodified tells whether a file is as it was made. The change time of a link changes with each name that the file gets.
func (k *entry) unmodified(now stat.Stamp) bool {
	was := k.is
	if !k.copy {
		was.CTime, now.CTime = 0, 0
	}
	return was == now
}

// stays notes what was made at the slash path, for the next action. Its stamp is not known yet if it is zero.
func (s *execRoot) stays(rel string, k entry) {
	if len(s.entries) >= maxEntries {
		s.goes(rel)
		return
	}
	if !k.is.Exists() {
		k.is, _ = s.at.Stat(rel)
	}
	if k.is.Exists() {
		s.add(rel, &k)
	}
}

// goes notes that something stands at the slash path that is not for the next action.
func (s *execRoot) goes(rel string) {
	if in := s.entries[folderOf(rel)]; in != nil {
		in.watched, in.busy = false, true
	}
}

// watch has clean see by a look at a folder that nothing came or went. It is for when all is laid out.
func (s *execRoot) watch() {
	if s.unwatched {
		return
	}
	for _, k := range s.entries {
		if k.dir != nil && !k.busy && !k.watched {
			k.watched = setTime(k.dir, k.fd, dirpool.WatchedTime()) == nil
		}
	}
}

// clear removes what stands at the slash path, and below it.
func (s *execRoot) clear(rel string) error {
	k := s.entries[rel]
	if k == nil {
		return nil
	}
	for name := range k.has {
		if err := s.clear(rel + "/" + name); err != nil {
			return err
		}
	}
	if k.dir != nil {
		k.dir.Close()
	}
	delete(s.entries, rel)
	if in := s.entries[folderOf(rel)]; in != nil {
		delete(in.has, path.Base(rel))
		in.watched = false
	}
	if !k.is.IsDir() {
		if err := s.at.Remove(rel); err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	} else if s.at.Remove(rel) == nil {
		return nil
	}
	return removeAll(s.path(rel))
}

// drop removes what the action does not want of what the last one left.
func (s *execRoot) drop() error {
	for rel, k := range s.entries {
		if k.use != s.use && !k.own {
			if err := s.clear(rel); err != nil {
				return err
			}
		}
	}
	return nil
}

// clean removes what the command left, or fails: then nobody may use it again. Whether files are as they were is
// looked at when the next action wants them.
func (s *execRoot) clean() error {
	for rel, k := range s.entries {
		if !k.is.IsDir() {
			continue
		}
		now, err := s.at.Stat(rel)
		if err != nil {
			return err
		}
		if now.Inode != k.is.Inode || now.Dev != k.is.Dev || now.Mode != k.is.Mode {
			return fmt.Errorf("%s is not as it was made", s.path(rel))
		}
		if k.watched && now.MTime == dirpool.WatchedTime().UnixNano() {
			continue
		}
		k.watched, k.busy = false, true
		names, err := s.names(rel, k)
		if err != nil {
			return err
		}
		for _, name := range names {
			if !k.has[name] {
				if err := removeAll(filepath.Join(s.path(rel), name)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// names are those of what is in a folder, which is at the slash path.
func (s *execRoot) names(rel string, k *entry) ([]string, error) {
	if k.dir != nil {
		return entries(k.dir, k.fd)
	}
	f, err := os.OpenFile(s.path(rel), os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return entries(f, int(f.Fd()))
}

// close removes it.
func (s *execRoot) close() error {
	s.release()
	if s.secrets != "" {
		if err := removeAll(s.secrets); err != nil {
			return err
		}
	}
	return removeAll(s.dir)
}

// release lets go of everything but the folders.
func (s *execRoot) release() {
	s.endHostRefs(false)
	if s.worker != nil {
		s.worker.Close()
		s.worker = nil
	}
	s.pipes.close()
	for _, k := range s.entries {
		if k.dir != nil {
			k.dir.Close()
		}
	}
	s.entries = nil
}

// execRoots are those that no action uses. The zero value has none.
type execRoots struct {
	mu   sync.Mutex
	free []*execRoot
	next int // number of the next one
}

// maxFree is how many wait at most. There are some shapes, and for each as many as actions run at once.
const maxFree = 24

// take returns one of the shape that waits, or nil and a number for a new one.
func (l *execRoots) take(shape string) (*execRoot, int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := len(l.free) - 1; i >= 0; i-- {
		if s := l.free[i]; s.shape == shape {
			l.free = slices.Delete(l.free, i, i+1)
			return s, 0
		}
	}
	l.next++
	return nil, l.next
}

// give takes a clean one back.
func (l *execRoots) give(s *execRoot) {
	l.mu.Lock()
	l.free = append(l.free, s)
	var old *execRoot
	if len(l.free) > maxFree {
		old = l.free[0]
		l.free = slices.Delete(l.free, 0, 1)
	}
	l.mu.Unlock()
	if old != nil {
		_ = old.close()
	}
}

// close removes those that wait.
func (l *execRoots) close() error {
	l.mu.Lock()
	free := l.free
	l.free = nil
	l.mu.Unlock()
	var errs []error
	for _, s := range free {
		errs = append(errs, s.close())
	}
	return errors.Join(errs...)
}

// removeAll removes a folder in which tools may have left folders without write permission.
func removeAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(p, 0o755)
		}
		return nil
	})
	return os.RemoveAll(dir)
}
