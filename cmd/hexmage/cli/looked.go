package cli

import (
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/watch"
	"github.com/hexmage/hexmage/toolchains"
)

// looked is what a run looked at, and so what may change what the next one does.
type looked struct {
	mu    sync.Mutex
	files map[string]bool
	dirs  map[string]bool // whose entries count

	keptFiles, keptDirs map[string]bool // of the runs until now
}

func (l *looked) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files, l.dirs = map[string]bool{}, map[string]bool{}
}

// add notes a path, relative to the workspace or absolute.
func (l *looked) add(path string, dir bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if dir {
		l.dirs[path] = true
	} else {
		l.files[path] = true
	}
}

// plan notes what a plan was made from.
func (l *looked) plan(r plan.Reads) {
	for _, p := range slices.Concat(r.Files, r.Absent) {
		l.add(p, false)
	}
	for _, p := range r.Dirs {
		l.add(p, true)
	}
	for _, g := range r.Globs {
		for _, d := range g.Dirs {
			l.add(d, true)
		}
	}
}

func (l *looked) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.files) + len(l.dirs)
}

// watch has the watcher watch what the last run looked at, and what any run would. One that failed has not come to the rest, which
// therefore stays watched.
func (v *viewer) watch(failed bool) bool {
	l := &v.looked
	l.mu.Lock()
	defer l.mu.Unlock()
	if failed {
		maps.Copy(l.files, l.keptFiles)
		maps.Copy(l.dirs, l.keptDirs)
	}
	l.keptFiles, l.keptDirs = maps.Clone(l.files), maps.Clone(l.dirs)
	s := watch.Set{Root: v.workspace}
	for p := range l.files {
		s.Files = append(s.Files, absolute(v.workspace, filepath.FromSlash(p)))
	}
	for p := range l.dirs {
		s.Dirs = append(s.Dirs, absolute(v.workspace, filepath.FromSlash(p)))
	}
	for _, dir := range []string{"pipelines", "toolchains"} {
		s.Dirs = append(s.Dirs, filepath.Join(v.workspace, dir))
	}
	s.Files = append(s.Files, filepath.Join(v.workspace, "pipelines", v.c.Pipeline+".hcl"), filepath.Join(v.workspace, toolchains.LockFile))
	return v.w.Set(s)
}
