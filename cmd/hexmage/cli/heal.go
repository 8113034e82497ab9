package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/hexmage/hexmage/internal/build"
	"github.com/hexmage/hexmage/internal/store"
)

// maxHeals is how often a build begins again because something in the cache was damaged. Each time at least one blob was
// found and dropped; a disk that damages more than that needs more than hexmage.
const maxHeals = 10

// heal builds again after a build that ended because a blob was damaged. The store has dropped it, so its action runs
// again. The engine is put together anew: what it knows to be in the store is no longer so.
func (r *running) heal(ctx context.Context, res build.Result, err error) (build.Result, error) {
	for range maxHeals {
		err = r.sound(err)
		if r.over || ctx.Err() != nil || !errors.Is(err, store.ErrCorrupt) {
			return res, err
		}
		r.done()
		r.watching = nil
		if changed := (*store.ChangedError)(nil); errors.As(err, &changed) {
			fmt.Fprintf(r.a.env.Stderr, "hexmage: %s was saved while it was read; building again\n", changed.Path)
		} else {
			fmt.Fprintf(r.a.env.Stderr, "hexmage: something in the cache was damaged and is dropped; building again (%v)\n", err)
		}
		r.shut()
		res, err = r.build(ctx)
	}
	if err = r.sound(err); errors.Is(err, store.ErrCorrupt) {
		err = fmt.Errorf("%w: much of the cache is damaged: run `hexmage cache verify --repair`, and look after the disk", err)
	}
	return res, err
}

// sound is the error of a build, or one if something was found damaged while it went on, by this process or another: results that it used
// may have been made from that.
func (r *running) sound(err error) error {
	if err != nil || r.over || r.engine == nil {
		return err
	}
	found, err := r.engine.damage.Found()
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("%s: %w", found[0].Hex(), store.ErrCorrupt)
	}
	return err
}

// shut ends the engine, if there is one.
func (r *running) shut() {
	if r.engine != nil {
		r.survive()
		r.engine.close()
		r.engine = nil
	}
}
