package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hexmage/hexmage/runner/adb"
)

// Server says where an adb server listens. The zero Server is the user's own.
type Server struct {
	Network string // "tcp" or "unix"
	Address string // "10.0.0.2:5037", or a socket's path
}

// String is how devices.hcl has it.
func (s Server) String() string {
	if s.Network == "unix" {
		return "unix:" + s.Address
	}
	return s.Address
}

// PoolDevice is a phone that somebody may use.
type PoolDevice struct {
	Name   string // for people, and for --serial
	Serial string // "R5CX123"; "HOST:PORT" is connected to
	Server Server
	SoC    string // "SM8750"; empty: the phone is asked
}

// PoolWant says which phone is wanted.
type PoolWant struct {
	SoC    string // "SM8750"; a variant with a longer name fits, too; empty: any
	Serial string // serial or name; empty: any
	Files  string // names what is going to be pushed: a phone that had it before is preferred; empty: unknown

	Server  func(context.Context) (*adb.Client, error) // the user's own adb server, for phones that name none
	Waiting func(text string)                          // told once if all phones that fit are in use; may be nil
	Note    func(text string)                          // told what people should know: which phone is set aside and why, which is back; may be nil
}

// Pool lends phones, each to one user at a time: among the goroutines of this process, the processes of this machine, and hosts. Safe
// for concurrent use.
type Pool struct {
	state string                                                             // folder with the leases
	ask   func(ctx context.Context, d PoolDevice, w PoolWant) (*Lent, error) // leases a phone that works; *inUseError; else why it does not work

	mu      sync.Mutex
	phones  []*poolPhone
	changed chan struct{} // closed, and made anew, when something below changes
}

// poolPhone is what the pool knows of a phone. What follows PoolDevice is guarded by Pool.mu.
type poolPhone struct {
	PoolDevice
	busy  bool            // lent, or being asked
	soc   string          // what it says it has; empty: nobody asked yet
	had   map[string]bool // what was pushed to it
	used  time.Time       // when it came back last
	aside error           // why it is set aside; nil: it is not
	owner string          // who else has it, when it was last asked; empty: nobody
	again time.Time       // not to be asked before, when it is set aside or somebody else has it
	pause time.Duration   // between two times it is asked
}

const (
	pausePoll  = 500 * time.Millisecond // for a phone that somebody else has
	pauseFirst = 5 * time.Second        // for one that is set aside; doubled each time
	pauseMost  = time.Minute
)

// ErrSetAside says that all phones that fit are set aside. They may come back.
var ErrSetAside = errors.New("no phone of the pool can be used")

// inUseError says that somebody else has the phone.
type inUseError struct{ owner string }

func (e *inUseError) Error() string { return e.owner + " uses it" }

// NewPool returns a pool of the phones. state is a folder for leases, which all processes that are to take turns have in common; it is
// made when needed. Nothing is asked yet.
func NewPool(state string, devices []PoolDevice) *Pool {
	p := &Pool{state: state, changed: make(chan struct{})}
	p.ask = p.lease
	for _, d := range devices {
		p.phones = append(p.phones, &poolPhone{PoolDevice: d, had: map[string]bool{}})
	}
	return p
}

// Len returns how many phones there are.
func (p *Pool) Len() int { return len(p.phones) }

// Find returns the phone with a name or serial.
func (p *Pool) Find(serial string) (PoolDevice, bool) {
	for _, ph := range p.phones {
		if ph.is(serial) {
			return ph.PoolDevice, true
		}
	}
	return PoolDevice{}, false
}

func (d PoolDevice) is(serial string) bool { return d.Name == serial || d.Serial == serial }

// Lent is a phone that somebody has for himself until it is given back.
type Lent struct {
	Device  *adb.Device
	Info    Info
	Held    *Held
	release func() // the leases

	pool  *Pool
	phone *poolPhone
	want  PoolWant
}

// Take lends a phone that fits and works. It waits while all of those are in use. A phone that does not work is set aside for a while,
// and another one is taken; when all that fit are set aside, the error is an ErrSetAside which lists them with their reasons.
func (p *Pool) Take(ctx context.Context, w PoolWant) (*Lent, error) {
	waits := false
	asked := map[*poolPhone]bool{} // those that were set aside and asked again here
	for {
		ph, wait, err := p.choose(w, asked)
		if err != nil {
			return nil, err
		}
		if ph != nil {
			if l := p.try(ctx, ph, w); l != nil {
				return l, nil
			}
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			continue
		}
		if !waits && w.Waiting != nil {
			w.Waiting(wait.text)
		}
		waits = true
		var timer <-chan time.Time
		if !wait.until.IsZero() {
			timer = time.After(time.Until(wait.until))
		}
		select {
		case <-wait.changed:
		case <-timer:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// waiting says how long to wait, and for whom.
type waiting struct {
	changed <-chan struct{}
	until   time.Time // zero: for a change only
	text    string
}

// choose marks a phone as busy that is to be asked now. If none can be asked it returns what to wait for, or why that is in vain.
func (p *Pool) choose(w PoolWant, asked map[*poolPhone]bool) (*poolPhone, waiting, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	var fit, free, due, rest []*poolPhone
	wait := waiting{changed: p.changed}
	var users []string
	for _, ph := range p.phones {
		if !ph.fits(w) {
			continue
		}
		fit = append(fit, ph)
		switch {
		case ph.busy:
			users = append(users, ph.Name+" is in use")
			continue
		case ph.aside != nil && now.Before(ph.again):
			rest = append(rest, ph)
		case ph.aside != nil:
			due = append(due, ph)
			continue
		case now.Before(ph.again):
			users = append(users, ph.Name+" is used by "+ph.owner)
		default:
			free = append(free, ph)
			continue
		}
		if wait.until.IsZero() || ph.again.Before(wait.until) {
			wait.until = ph.again
		}
	}
	if len(users) == 0 { // rather than give up, each is asked once more
		due = slices.DeleteFunc(append(due, rest...), func(ph *poolPhone) bool { return asked[ph] })
	}
	take := func(ph *poolPhone) (*poolPhone, waiting, error) {
		ph.busy = true
		if ph.aside != nil {
			asked[ph] = true
		}
		return ph, waiting{}, nil
	}
	switch {
	case len(fit) == 0:
		return nil, waiting{}, p.nothingFits(w)
	case len(free) > 0:
		return take(slices.MinFunc(free, func(a, b *poolPhone) int { return a.compare(b, w.Files) }))
	case len(due) > 0:
		return take(slices.MinFunc(due, func(a, b *poolPhone) int { return a.again.Compare(b.again) }))
	case len(users) == 0:
		return nil, waiting{}, setAside(fit)
	}
	wait.text = "waiting for a phone: " + strings.Join(users, ", ")
	return nil, wait, nil
}

// compare orders the phones that could be taken: first who has the files, then who was not used for the longest time.
func (ph *poolPhone) compare(other *poolPhone, files string) int {
	if a, b := ph.had[files], other.had[files]; a != b && files != "" {
		if a {
			return -1
		}
		return 1
	}
	return ph.used.Compare(other.used)
}

// fits tells whether the phone is what is wanted, as far as it is known.
func (ph *poolPhone) fits(w PoolWant) bool {
	soc := ph.soc
	if soc == "" {
		soc = ph.SoC
	}
	return (w.Serial == "" || ph.is(w.Serial)) && fitsSoC(soc, w.SoC)
}

// fitsSoC tells whether a phone with a SoC is what is wanted; what is empty is not known, or not asked for. A variant of a SoC has a longer
// name: SM8750P is built for as SM8750.
func fitsSoC(have, want string) bool {
	return have == "" || want == "" || strings.HasPrefix(strings.ToUpper(have), strings.ToUpper(want))
}

// nothingFits says which phones there are.
func (p *Pool) nothingFits(w PoolWant) error {
	what := "no phone of the pool fits"
	switch {
	case w.Serial != "" && w.SoC != "":
		what = fmt.Sprintf("%s of the pool has not the SoC %s", w.Serial, w.SoC)
	case w.Serial != "":
		what = fmt.Sprintf("no phone of the pool has the name or serial %s", w.Serial)
	case w.SoC != "":
		what = fmt.Sprintf("no phone of the pool has the SoC %s", w.SoC)
	}
	var list strings.Builder
	for _, ph := range p.phones {
		soc := ph.soc
		if soc == "" {
			soc = ph.SoC
		}
		fmt.Fprintf(&list, "\n  %s  %s  %s", ph.Name, ph.Serial, soc)
	}
	return fmt.Errorf("%w: %s; its phones are:%s", ErrNoDevice, what, list.String())
}

// setAside says why no phone can be used.
func setAside(fit []*poolPhone) error {
	var list strings.Builder
	for _, ph := range fit {
		fmt.Fprintf(&list, "\n  %s  %s  %v", ph.Name, ph.Serial, ph.aside)
	}
	if len(fit) == 1 {
		return fmt.Errorf("%w: it is set aside:%s", ErrSetAside, list.String())
	}
	return fmt.Errorf("%w: all %d that fit are set aside:%s", ErrSetAside, len(fit), list.String())
}

// try asks a phone that choose marked, and lends it if it works. Else it writes down why not and returns nil.
func (p *Pool) try(ctx context.Context, ph *poolPhone, w PoolWant) *Lent {
	l, err := p.ask(ctx, ph.PoolDevice, w)
	if err != nil && ctx.Err() != nil { // which says nothing about the phone
		p.change(func() { ph.busy = false })
		return nil
	}
	var elsewhere *inUseError
	switch {
	case errors.As(err, &elsewhere):
		p.change(func() {
			p.back(ph, w)
			ph.busy, ph.owner, ph.again = false, elsewhere.owner, time.Now().Add(pausePoll)
		})
		return nil
	case err != nil:
		p.change(func() { p.putAside(ph, err, w, "") })
		return nil
	}
	l.Info.Name = ph.Name
	l.pool, l.phone, l.want = p, ph, w
	fits := true
	p.change(func() {
		p.back(ph, w)
		ph.soc, ph.owner = l.Info.SoC, ""
		if fits = fitsSoC(ph.soc, w.SoC); !fits {
			ph.busy = false
		}
	})
	if !fits {
		l.release()
		return nil
	}
	return l
}

// change changes what Pool.mu guards, and wakes those who wait.
func (p *Pool) change(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
	close(p.changed)
	p.changed = make(chan struct{})
}

// back notes that a phone works again. Pool.mu is held.
func (p *Pool) back(ph *poolPhone, w PoolWant) {
	if ph.aside != nil && w.Note != nil {
		w.Note("phone " + ph.Name + " can be used again")
	}
	ph.aside, ph.pause, ph.again = nil, 0, time.Time{}
}

// putAside sets a phone aside. The same reason is said once. Pool.mu is held.
func (p *Pool) putAside(ph *poolPhone, why error, w PoolWant, before string) {
	if w.Note != nil && (ph.aside == nil || ph.aside.Error() != why.Error()) {
		w.Note(fmt.Sprintf("%sphone %s (%s) is set aside: %v", before, ph.Name, ph.Serial, why))
	}
	ph.busy, ph.aside = false, why
	ph.pause = min(max(2*ph.pause, pauseFirst), pauseMost)
	ph.again = time.Now().Add(ph.pause)
}

// Return gives the phone back.
func (l *Lent) Return() {
	l.release()
	l.pool.change(func() {
		l.phone.busy, l.phone.used = false, time.Now()
		if l.want.Files != "" {
			l.phone.had[l.want.Files] = true
		}
	})
}

// Lost gives the phone back after what was done on it ended with err, because the phone, its link or its adb server went away. The phone
// is asked whether it still works; if not it is set aside.
func (l *Lent) Lost(ctx context.Context, err error) {
	l.release()
	_, why := l.pool.check(ctx, l.phone.PoolDevice, l.want)
	l.pool.change(func() {
		before := fmt.Sprintf("the run on %s broke off (%v) and is begun again; ", l.phone.Name, short(err))
		l.phone.used = time.Now()
		if why != nil && ctx.Err() == nil {
			l.pool.putAside(l.phone, why, l.want, before)
			return
		}
		l.phone.busy = false
		if l.want.Note != nil {
			l.want.Note(before + "the phone still works")
		}
	})
}
