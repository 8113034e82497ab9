package execute

import (
	"context"
	"fmt"
	"sync"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
)

// Damage tells what was found damaged in a store: files, and roots of trees, without their sizes.
type Damage interface {
	Known() []digest.Digest          // before; results that rest on it may be wrong
	Found() ([]digest.Digest, error) // since
}

// Undamaged trusts no result that may have been made from damage: what rests on damage that is known is not looked up, and an action
// that was executed while something that it read was found damaged, by whomever, fails with store.ErrCorrupt, whatever came of it.
func Undamaged(next Caching, blobs store.Blobs, damage Damage) Caching {
	u := &undamaged{next: next, blobs: blobs, damage: damage}
	u.known = among(damage.Known())
	return u
}

type undamaged struct {
	next   Caching
	blobs  store.Blobs
	damage Damage
	known  map[digest.Digest]bool

	mu     sync.Mutex
	search merkle.Search // for what is known
}

func among(all []digest.Digest) map[digest.Digest]bool {
	set := make(map[digest.Digest]bool, len(all))
	for _, d := range all {
		set[d] = true
	}
	return set
}

func (u *undamaged) Lookup(ctx context.Context, a *Request) (*action.Result, bool, error) {
	if len(u.known) > 0 {
		u.mu.Lock()
		hit, err := u.rests(ctx, &u.search, a.Action, u.known)
		u.mu.Unlock()
		if hit || err != nil { // also where nobody knows
			return nil, false, context.Cause(ctx)
		}
	}
	return u.next.Lookup(ctx, a)
}

func (u *undamaged) Execute(ctx context.Context, a *Request) (*action.Result, error) {
	r, err := u.next.Execute(ctx, a)
	found, ferr := u.damage.Found()
	if len(found) == 0 && ferr == nil || ctx.Err() != nil {
		return r, err
	}
	hit := true
	if ferr == nil {
		hit, ferr = u.rests(ctx, new(merkle.Search), a.Action, among(found))
	}
	if !hit && ferr == nil {
		return r, err
	}
	why := "something that it read was found damaged meanwhile"
	if ferr != nil {
		why = fmt.Sprintf("nobody knows whether something that it read was found damaged meanwhile (%v)", ferr)
	}
	return nil, &Error{Op: "run " + name(a.Action), Err: fmt.Errorf("%s: %w", why, store.ErrCorrupt)}
}

func name(a *action.Action) string {
	if len(a.Command.Args) == 0 {
		return "a command"
	}
	return a.Command.Args[0]
}

// rests tells whether something of the set is among the action's inputs.
func (u *undamaged) rests(ctx context.Context, s *merkle.Search, a *action.Action, set map[digest.Digest]bool) (bool, error) {
	return s.In(ctx, Inputs(u.blobs, a), a.InputRoot, func(d digest.Digest) bool { return set[d.Unsized()] })
}
