package engine

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/rooted"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/state"
)

// lookedAt collects the paths of this machine that a build looked at, with their stamps from before they were read.
type lookedAt struct {
	mu   sync.Mutex
	seen map[string]state.Seen
}

// add notes a path, as stat.Lstats takes it. A path that changed while the build went on is racy.
func (l *lookedAt) add(path string, s stat.Stamp) {
	is := state.See(path, s, time.Now())
	l.mu.Lock()
	defer l.mu.Unlock()
	if was, ok := l.seen[path]; ok {
		is.Racy = is.Racy || was.Racy || was.Stamp != s
	} else if l.seen == nil {
		l.seen = map[string]state.Seen{}
	}
	l.seen[path] = is
}

// all returns what was looked at, sorted by path.
func (l *lookedAt) all() []state.Seen {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]state.Seen, 0, len(l.seen))
	for _, s := range l.seen {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b state.Seen) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// below returns add for paths relative to an input, and notes the links that led to its place.
func (l *lookedAt) below(h action.HostPath, place rooted.Place) func(rel string, s stat.Stamp) {
	base := path.Clean(h.Path)
	for _, link := range place.Links {
		if s, err := stat.Lstat(link); err == nil {
			l.add(filepath.ToSlash(link), s)
		}
	}
	if len(place.Links) > 0 {
		base = filepath.ToSlash(place.Path)
	}
	return func(rel string, s stat.Stamp) { l.add(path.Join(base, rel), s) }
}

// shadows notes the places where a program was looked for before it was found at the path: one that is put there is
// found instead.
func (l *lookedAt) shadows(at, name, list string) {
	if name == at {
		return
	}
	if list == "" {
		list = execute.HostPath
	}
	for _, dir := range filepath.SplitList(list) {
		p := filepath.Join(dir, name)
		if p == at {
			return
		}
		s, _ := stat.Lstat(p) // mostly there is nothing
		l.add(filepath.ToSlash(p), s)
	}
}
