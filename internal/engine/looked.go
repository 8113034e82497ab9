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
	"github.com/hexmage/hexmage/internal/safepath"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/state"
)

// lookedAt collects the paths of this machine that a build read, with their stamps from before the read.
type lookedAt struct {
	mu   sync.Mutex
	seen map[string]state.Seen
}

// add records a path, like stat.Lstats. A path that changed during the build is racy.
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

// all returns the recorded paths, sorted.
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

// below returns add for paths relative to an input, and records the links on the way to the input.
func (l *lookedAt) below(h action.HostPath, place safepath.Place) func(rel string, s stat.Stamp) {
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

// shadows records the places that were searched before a program was found at the path: a program that appears in one
// of them wins.
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
		s, _ := stat.Lstat(p) // usually the path is absent
		l.add(filepath.ToSlash(p), s)
	}
}
