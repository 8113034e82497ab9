package pool

import (
	"context"
	"fmt"
	"time"

	"github.com/hexmage/hexmage/runner/adb"
)

// A phone that hangs, or is out of reach, may leave its link as it is, and who waits for its output would do so for ever. It is asked for a
// sign of life seldom enough to disturb no measurement.
const (
	lifeEvery = 20 * time.Second
	lifeWait  = 20 * time.Second // for an answer: a phone that loads a model is busy
	lifeTries = 3                // in vain, one after another
)

// errSilent says that a phone gave no sign of life. What was done on it may be done on another one.
var errSilent = fmt.Errorf("it gives no sign of life any more: %w", adb.ErrDropped)

// alive runs f under a context that ends with errSilent once ask fails again and again.
func alive(ctx context.Context, ask func(context.Context) error, f func(context.Context)) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		for missed := 0; missed < lifeTries; {
			select {
			case <-time.After(lifeEvery):
			case <-ctx.Done():
				return
			}
			asked, over := context.WithTimeout(ctx, lifeWait)
			err := ask(asked)
			over()
			if missed++; err == nil {
				missed = 0
			}
		}
		cancel(errSilent)
	}()
	f(ctx)
}

// Watched runs f on the phone as long as that gives signs of life. Where there is no other phone, people can see and decide better.
func (l *Lease) Watched(ctx context.Context, f func(context.Context)) {
	if !l.OfSeveral() {
		f(ctx)
		return
	}
	alive(ctx, func(ctx context.Context) error {
		_, err := l.Device.Output(ctx, "echo", nil)
		return err
	}, f)
}

// OfSeveral tells whether the pool has other phones.
func (l *Lease) OfSeveral() bool { return l.pool.Len() > 1 }
