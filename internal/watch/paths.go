package watch

import (
	"path/filepath"

	"github.com/fsnotify/fsnotify"

	"github.com/hexmage/hexmage/internal/stat"
)

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

// different returns what is not as it was seen, and puts into seen how it is. What was not looked at yet is compared with how it was
// when it came to the set.
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
