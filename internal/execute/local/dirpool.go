package local

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/hexmage/hexmage/internal/merkle"
)

// pooled lays a folder of inputs out from the pool, if that can be. Its files are links, also where a restricted command could
// write to them once it changed their mode: the store notices. It also tells whether the folder is one that will be kept.
func (l *layout) pooled(ctx context.Context, d *merkle.Dir, at, rel string) (done, keep bool, err error) {
	pool := l.x.o.Pool
	if s := l.s.entries[rel]; at == "" || !pool.Keeps(d) || s != nil && s.own {
		return false, false, nil
	}
	if err := l.s.clear(rel); err != nil {
		return false, false, err
	}
	dest := l.s.path(rel)
	// The next run of the same command has the same key.
	key := fmt.Sprintf("%q %q %q", at, l.a.Command.Outputs, l.a.Command.Args[:min(len(l.a.Command.Args), 2)])
	f := pool.Folder(key, dest, d.Files)
	done, err = pool.Take(f, func(name string, f merkle.File) error {
		if done, err := l.useHostFile(f, rel+"/"+name); done || err != nil {
			return err
		}
		return l.file(ctx, f, filepath.Join(dest, name), false)
	})
	if err == nil {
		l.s.pooled = append(l.s.pooled, f)
	}
	return done, true, err
}

// putBack gives the pool what came from it, and what is worth keeping.
func (x *Executor) putBack(s *execRoot) {
	for _, f := range s.pooled {
		x.o.Pool.Give(f)
	}
	s.pooled = nil
}
