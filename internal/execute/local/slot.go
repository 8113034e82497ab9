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

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute/sandbox"
)

// slot is a place where one action at a time runs: its exec root, a home and a temporary folder, used again for the next
// action, since making and removing folders costs more than looking whether they are empty. It has another name each time,
// so that what depends on where it ran can be told by running it again; rules for its folders hold whatever their names.
type slot struct {
	dir    string                        // absolute
	shape  string                        // what actions have in common that may use it
	kept   []kept                        // folders that stay from one action to the next
	laid   []*laid                       // folders that are kept elsewhere when the action is done
	made   []made                        // what is in the way of the next action, in the order it was made
	own    map[digest.Digest]fs.FileInfo // copies of programs, in the folder own, for one action after the other
	pipes  pipes
	worker *sandbox.Worker // where commands start when they are restricted; nil: anywhere
}

// kept is a folder of a slot that stays.
type kept struct {
	path string // below the slot's folder
	file *os.File
	fd   int // of file: asking for it costs system calls
	is   fs.FileInfo
	has  []string // names of folders that stay in it
}

// made is something that was made for an action.
type made struct {
	path string
	dir  bool
}

func (s *slot) root() string { return filepath.Join(s.dir, "root") }
func (s *slot) home() string { return filepath.Join(s.dir, "home") }
func (s *slot) tmp() string  { return filepath.Join(s.dir, "tmp") }

// newSlot makes a slot in a new folder dir, with these folders, slash paths below the exec root, that stay.
func newSlot(dir, shape string, outputs []string) (*slot, error) {
	s := &slot{dir: dir, shape: shape}
	has := map[string][]string{"": nil} // by slash path below the root
	order := []string{""}
	for _, o := range outputs {
		at := ""
		for _, name := range strings.Split(o, "/") {
			if o == "." {
				break
			}
			next := path.Join(at, name)
			if _, ok := has[next]; !ok {
				has[next], has[at] = nil, append(has[at], name)
				order = append(order, next)
			}
			at = next
		}
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	for _, p := range []string{"home", "tmp"} {
		if err := s.keep(p, nil); err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	for _, p := range order {
		if err := s.keep(filepath.Join("root", filepath.FromSlash(p)), has[p]); err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	return s, nil
}

func (s *slot) keep(p string, has []string) error {
	full := filepath.Join(s.dir, p)
	if err := os.Mkdir(full, 0o755); err != nil {
		return err
	}
	f, err := os.Open(full)
	if err != nil {
		return err
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return err
	}
	s.kept = append(s.kept, kept{path: p, file: f, fd: int(f.Fd()), is: st, has: has})
	return nil
}

// keeps tells whether the folder at the path, which is below the slot's, stays.
func (s *slot) keeps(p string) bool {
	return slices.ContainsFunc(s.kept, func(k kept) bool { return k.path == p[len(s.dir)+1:] })
}

// clean makes the slot as it was when it was new, or fails: then nobody may use it again.
func (s *slot) clean() error {
	for i := len(s.made) - 1; i >= 0; i-- {
		// What cannot be removed like this, or is not there any more, is seen below.
		if m := s.made[i]; m.dir {
			_ = rmdir(m.path)
		} else {
			_ = unlink(m.path)
		}
	}
	s.made = s.made[:0]
	for _, k := range s.kept {
		at := s.dir + string(filepath.Separator) + k.path
		st, err := os.Lstat(at)
		if err != nil {
			return err
		}
		if !os.SameFile(st, k.is) || st.Mode() != k.is.Mode() {
			return fmt.Errorf("%s is not as it was made", at)
		}
		names, err := entries(k.file, k.fd)
		if err != nil {
			return err
		}
		for _, name := range names {
			if !slices.Contains(k.has, name) {
				if err := removeAll(filepath.Join(at, name)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// maxPrograms is how many copies of programs a slot has.
const maxPrograms = 16

// reuse puts the slot's copy of a program at p, if there is one that is as it was made. A command may have changed it.
func (s *slot) reuse(d digest.Digest, p string) bool {
	was, ok := s.own[d]
	if !ok {
		return false
	}
	at := filepath.Join(s.dir, "own", d.Hex())
	st, err := os.Lstat(at)
	if err == nil && os.SameFile(st, was) && st.Mode() == was.Mode() && st.Size() == was.Size() && st.ModTime().Equal(was.ModTime()) && os.Link(at, p) == nil {
		return true
	}
	delete(s.own, d)
	_ = os.Remove(at)
	return false
}

// reusable keeps p, a copy of a program that nobody else has, for the next action. That it cannot costs time only.
func (s *slot) reusable(d digest.Digest, p string) {
	st, err := os.Lstat(p)
	if err != nil || links(st) != 1 || len(s.own) >= maxPrograms {
		return
	}
	dir := filepath.Join(s.dir, "own")
	if s.own == nil {
		s.own = map[digest.Digest]fs.FileInfo{}
		_ = os.Mkdir(dir, 0o755)
	}
	if os.Link(p, filepath.Join(dir, d.Hex())) == nil {
		s.own[d] = st
	}
}

// close removes the slot.
func (s *slot) close() error {
	s.release()
	return removeAll(s.dir)
}

// release lets go of everything but the folders.
func (s *slot) release() {
	if s.worker != nil {
		s.worker.Close()
		s.worker = nil
	}
	s.pipes.close()
	for _, k := range s.kept {
		k.file.Close()
	}
	s.kept = nil
}

// slots are those that no action uses. The zero value has none.
type slots struct {
	mu   sync.Mutex
	free []*slot
	next int // number of the next use
}

// maxFree is how many slots wait at most. There are some shapes, and for each as many slots as actions run at once.
const maxFree = 24

// take returns a slot of the shape that waits, or nil, and a number for this use.
func (l *slots) take(shape string) (*slot, int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next++
	for i := len(l.free) - 1; i >= 0; i-- {
		if s := l.free[i]; s.shape == shape {
			l.free = slices.Delete(l.free, i, i+1)
			return s, l.next
		}
	}
	return nil, l.next
}

// give takes a clean slot back.
func (l *slots) give(s *slot) {
	l.mu.Lock()
	l.free = append(l.free, s)
	var old *slot
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
func (l *slots) close() error {
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
