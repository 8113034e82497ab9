package git

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/go-git/go-git/v5/storage"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/hexmage/hexmage/internal/bytesize"
	"github.com/hexmage/hexmage/internal/fetch"
)

// Pace is what a server has to keep to. Zero values are the defaults.
type Pace struct {
	First time.Duration // until the first byte of a pack, which large repositories take a while to make; default 5 min
	Stall time.Duration // over which the floor is kept; default 60 s
	Floor int64         // bytes a second; default 1 KiB
	Most  int64         // bytes of a pack, of which nobody says how long it is; default 16 GiB
}

// pack is one that comes.
type pack struct {
	pace Pace
	came atomic.Int64
	over atomic.Bool // all of it is there
}

// watch returns a context that ends when the pack comes too slowly, and a function that ends watching.
func (p *pack) watch(ctx context.Context) (context.Context, func()) {
	ctx, stop := context.WithCancelCause(ctx)
	go func() {
		first, stall, floor := cmp.Or(p.pace.First, 5*time.Minute), cmp.Or(p.pace.Stall, time.Minute), cmp.Or(p.pace.Floor, 1<<10)
		began, last := time.Now(), int64(0)
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(stall):
			}
			came := p.came.Load()
			switch {
			case p.over.Load():
				return
			case came == 0 && time.Since(began) >= first:
				stop(fetch.OutOfReach(fmt.Errorf("no byte of a pack came for %v", first)))
			case last > 0 && float64(came-last) < float64(floor)*stall.Seconds(): // the first time is not whole
				stop(fetch.OutOfReach(fmt.Errorf("%d bytes came in %v: less than %d bytes a second is given up", came-last, stall, floor)))
			}
			last = came
		}
	}()
	return ctx, func() { stop(nil) }
}

// counted is a repository's storage that counts what comes of a pack.
type counted struct {
	*filesystem.Storage
	pack *pack
}

// counting is storage as it is, where that writes no packs.
func counting(s storage.Storer, p *pack) storage.Storer {
	if files, ok := s.(*filesystem.Storage); ok {
		return counted{files, p}
	}
	return s
}

// PackfileWriter implements what go-git asks of a storage that takes packs whole.
func (c counted) PackfileWriter() (io.WriteCloser, error) {
	w, err := c.Storage.PackfileWriter()
	return &countedWriter{w, c.pack}, err
}

type countedWriter struct {
	io.WriteCloser
	pack *pack
}

func (w *countedWriter) Write(b []byte) (int, error) {
	if most := cmp.Or(w.pack.pace.Most, 16<<30); w.pack.came.Add(int64(len(b))) > most {
		return 0, fmt.Errorf("%w: more than %s, which no repository of sources is", fetch.ErrTooLarge, bytesize.Decimal(most))
	}
	return w.WriteCloser.Write(b)
}

func (w *countedWriter) Close() error {
	w.pack.over.Store(true) // what is left to do is ours
	return w.WriteCloser.Close()
}
