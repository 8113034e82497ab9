// Package pool lends the phones and boards of a lab: to one user at a time, those that work, those first that have the files already.
//
// The way in is New, a Pool, and its Take, which returns a Lease. The package knows adb, leases and what a phone says of itself; it does not know
// what a phone is used for, nor where the list of phones comes from (steps/devices reads it).
package pool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/runner/devinfo"
	"github.com/hexmage/hexmage/runner/lease"
	"github.com/hexmage/hexmage/runner/link"
)

// Server says where an adb server listens. The zero Server is the user's own.
type Server struct {
	Network string // "tcp" or "unix"
	Address string // "10.0.0.2:5037", or a socket's path
	Host    string // "ssh://USER@HOST:PORT" of the computer that reaches the address; empty: this one
}

// String is how devices.hcl has it.
func (s Server) String() string {
	if s.Host != "" {
		return s.Host + "/" + strings.TrimPrefix(strings.TrimPrefix(s.Address, "127.0.0.1:"), "/")
	}
	if s.Network == "unix" {
		return "unix:" + s.Address
	}
	return s.Address
}

// Device is a phone that somebody may use.
type Device struct {
	Name   string // for people, and for --serial
	Serial string // "R5CX123"; "HOST:PORT" is connected to; "ssh://USER@HOST:PORT" is a board
	Key    string // of a board, or of the server's host: the file with the key; empty: the user's usual ones
	Server Server
	SoC    string // "SM8750"; empty: the phone is asked
}

// Want says which phone is wanted.
type Want struct {
	SoC    string // "SM8750"; a variant with a longer name fits, too; empty: any
	Serial string // serial or name; empty: any
	Except string // a name that is not wanted; may be empty
	Files  string // names what is going to be pushed: a phone that had it before is preferred; empty: unknown

	Reach
	Waiting func(text string) // told once if all phones that fit are in use; may be nil
	Note    func(text string) // told what people should know: which phone is set aside and why, which is back; may be nil
}

// Pool lends phones, each to one user at a time: among the goroutines of this process, the processes of this machine, and hosts. Safe
// for concurrent use.
type Pool struct {
	state string                                                      // folder with the leases
	ask   func(ctx context.Context, d Device, w Want) (*Lease, error) // leases a phone that works; *inUseError; else why it does not work

	mu      sync.Mutex
	phones  []*poolPhone
	changed chan struct{} // closed, and made anew, when something of a phone changes
	listed  time.Time     // when the servers were asked what they list
}

// poolPhone is what the pool knows of a phone. What follows Device is guarded by Pool.mu.
type poolPhone struct {
	Device
	busy  bool          // lent, or being asked
	asked bool          // being asked
	away  bool          // its server does not list it as usable, or does not answer
	soc   string        // what it says it has; empty: nobody asked yet
	had   []string      // what was pushed to it, the last at the end
	used  time.Time     // when it came back last
	aside error         // why it is set aside; nil: it is not
	owner string        // who else has it, when it was last asked; empty: nobody
	again time.Time     // not to be asked before, when it is set aside or somebody else has it
	pause time.Duration // between two times it is asked
	blame *blame        // of something that lasts until it is booted again; nil: nothing
}

const (
	pausePoll  = 500 * time.Millisecond // for a phone that somebody else has
	pauseFirst = 5 * time.Second        // for one that is set aside; doubled each time
	pauseMost  = time.Minute
	lostWait   = 5 * time.Second        // for one that was lost to show that it works: somebody waits
	patience   = 2 * time.Second        // for a phone that should be there, before another one is asked too
	doubt      = 250 * time.Millisecond // for one of which that is not sure
)

// ErrSetAside says that all phones that fit are set aside. They may come back.
var ErrSetAside = errors.New("no phone of the pool can be used")

// inUseError says that somebody else has the phone.
type inUseError struct{ owner string }

func (e *inUseError) Error() string { return e.owner + " uses it" }

// New returns a pool of the phones. state is a folder for leases, which all processes that are to take turns have in common; it is
// made when needed. Nothing is asked yet.
func New(state string, devices []Device) *Pool {
	p := &Pool{state: state, changed: make(chan struct{})}
	p.ask = p.lease
	for _, d := range devices {
		ph := &poolPhone{Device: d}
		ph.reload(p.memory(d))
		p.phones = append(p.phones, ph)
	}
	return p
}

// Len returns how many phones there are.
func (p *Pool) Len() int { return len(p.phones) }

// Find returns the phone with a name or serial.
func (p *Pool) Find(serial string) (Device, bool) {
	for _, ph := range p.phones {
		if ph.is(serial) {
			return ph.Device, true
		}
	}
	return Device{}, false
}

// Names lists the phones for people.
func (p *Pool) Names() string {
	var all []string
	for _, ph := range p.phones {
		all = append(all, ph.Name)
	}
	return strings.Join(all, ", ")
}

func (d Device) is(serial string) bool { return d.Name == serial || d.Serial == serial }

// Lease is a phone that somebody has for himself until it is given back.
type Lease struct {
	Device  link.Device
	Info    devinfo.Info
	Held    *lease.Lease
	release func() // the leases
	boot    string // names the time since it was booted, as far as that can be known

	pool  *Pool
	phone *poolPhone
	want  Want
}

// Take lends a phone that fits and works. It waits while all of those are in use. A phone that does not work is set aside for a while,
// and another one is taken; when all that fit are set aside, the error is an ErrSetAside which lists them with their reasons.
//
// Of phones that do not answer at once several are asked, and the first that works is lent.
func (p *Pool) Take(ctx context.Context, w Want) (*Lease, error) {
	p.relist(ctx, p.phones, w)
	ended, done := make(chan *Lease), make(chan struct{})
	defer close(done)
	try := func(ph *poolPhone) {
		l := p.try(ctx, ph, w)
		select {
		case ended <- l:
		case <-done:
			if l != nil {
				l.release()
				p.change(func() { ph.busy = false })
			}
		}
	}
	asked := map[*poolPhone]bool{} // those that were set aside and asked again here
	for told := false; ; {
		ph, wait, err := p.choose(w, asked)
		if err != nil {
			return nil, err
		}
		if ph != nil {
			go try(ph)
		} else if !told && wait.text != "" && w.Waiting != nil {
			told = true
			w.Waiting(wait.text)
		}
		var timer <-chan time.Time
		if !wait.until.IsZero() {
			timer = time.After(time.Until(wait.until))
		}
		select {
		case l := <-ended:
			if l != nil {
				return l, nil
			}
		case <-wait.changed:
		case <-timer:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// try asks a phone that choose marked, and lends it if it works. Else it writes down why not and returns nil.
func (p *Pool) try(ctx context.Context, ph *poolPhone, w Want) *Lease {
	l, err := p.ask(ctx, ph.Device, w)
	if err != nil && ctx.Err() != nil { // which says nothing about the phone
		p.change(func() { ph.busy, ph.asked = false, false })
		return nil
	}
	var elsewhere *inUseError
	switch {
	case errors.As(err, &elsewhere):
		p.change(func() {
			p.back(ph, w)
			ph.busy, ph.asked = false, false
			ph.owner, ph.again = elsewhere.owner, time.Now().Add(pausePoll)
		})
		return nil
	case err != nil:
		p.change(func() { p.putAside(ph, err, w, "") })
		return nil
	}
	l.Info.Name = ph.Name
	l.pool, l.phone, l.want = p, ph, w
	if b := p.blamed(ph, l.boot); b != nil {
		l.release()
		p.change(func() { p.putAside(ph, b.cause, w, "") })
		return nil
	}
	fits := true
	p.change(func() {
		p.back(ph, w)
		ph.asked, ph.soc, ph.owner = false, l.Info.SoC, ""
		if fits = devinfo.FitsSoC(ph.soc, w.SoC); !fits {
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
func (p *Pool) back(ph *poolPhone, w Want) {
	if ph.aside != nil && w.Note != nil {
		w.Note("phone " + ph.Name + " can be used again")
	}
	ph.aside, ph.away, ph.pause, ph.again = nil, false, 0, time.Time{}
}

// putAside sets a phone aside. The same reason is said once. Pool.mu is held.
func (p *Pool) putAside(ph *poolPhone, why error, w Want, before string) {
	if w.Note != nil && (ph.aside == nil || ph.aside.Error() != why.Error()) {
		w.Note(fmt.Sprintf("%sphone %s (%s) is set aside: %v", before, ph.Name, ph.Serial, why))
	}
	ph.busy, ph.asked, ph.aside = false, false, why
	ph.pause = min(max(2*ph.pause, pauseFirst), pauseMost)
	ph.again = time.Now().Add(ph.pause)
}

// Return gives the phone back.
func (l *Lease) Return() {
	l.pool.change(func() {
		l.phone.used = time.Now()
		l.phone.has(l.want.Files)
		l.phone.remember(l.pool.memory(l.phone.Device))
	})
	l.release()
	l.pool.change(func() { l.phone.busy = false })
}

// Lost gives the phone back after what was done on it ended with err, because the phone, its link or its adb server went away. The phone
// is asked whether it still works; if not it is set aside.
func (l *Lease) Lost(ctx context.Context, err error) {
	l.release()
	asked, cancel := context.WithTimeoutCause(ctx, lostWait, fmt.Errorf("it does not answer within %v", lostWait))
	again, why := l.pool.check(asked, l.phone.Device, l.want.Reach)
	if why == nil {
		link.Close(again.Device)
	}
	cancel()
	l.pool.change(func() {
		before := fmt.Sprintf("the run on %s broke off (%v) and is begun again; ", l.phone.Name, Short(err))
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

// A phone that hangs, or is out of reach, may leave its link as it is, and who waits for its output would do so for ever. It is asked for a
// sign of life seldom enough to disturb no measurement.
const (
	lifeEvery = 20 * time.Second
	lifeWait  = 20 * time.Second // for an answer: a phone that loads a model is busy
	lifeTries = 3                // in vain, one after another
)

// errSilent says that a phone gave no sign of life. What was done on it may be done on another one.
var errSilent = fmt.Errorf("it gives no sign of life any more: %w", link.ErrDropped)

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
		_, err := link.Output(ctx, l.Device, "echo", nil)
		return err
	}, f)
}

// OfSeveral tells whether the pool has other phones.
func (l *Lease) OfSeveral() bool { return l.pool.Len() > 1 }

// blame is what is wrong with a phone until it is booted again.
type blame struct {
	cause error
	boot  string
}

// Blame says that something is wrong with the phone until it is booted again. It may have been given back.
func (l *Lease) Blame(why error, note func(text string)) {
	l.pool.change(func() {
		l.phone.blame = &blame{why, l.boot}
		if !l.phone.busy { // else it is seen when it is wanted next
			l.pool.putAside(l.phone, why, Want{Note: note}, "")
		}
	})
}

// blamed returns what the phone is blamed of, unless it was booted since.
func (p *Pool) blamed(ph *poolPhone, boot string) *blame {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ph.blame != nil && ph.blame.boot != boot {
		ph.blame = nil
	}
	return ph.blame
}

// maxHad is of how many pushes it is remembered that a phone had them. Which phone is better is all that comes of it.
const maxHad = 32

// memory is the file in which it is kept what a phone had: a line for each push. Its date is when the phone was used last.
func (p *Pool) memory(d Device) string {
	if p.state == "" {
		return ""
	}
	return filepath.Join(p.state, "pool", lease.FileName(d.key()))
}

// reload reads what remember wrote, also in other processes.
func (ph *poolPhone) reload(file string) {
	st, err := os.Stat(file)
	if err != nil || st.Size() > 64<<10 {
		return
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return
	}
	ph.used, ph.had = st.ModTime(), strings.Fields(string(b))
}

// remember writes it down. What fails costs a push to another phone later, nothing else.
func (ph *poolPhone) remember(file string) {
	if file != "" {
		_ = atomicfile.PlaceFile(file, []byte(strings.Join(ph.had, "\n")), 0o644)
	}
}

// has notes that the phone has the files.
func (ph *poolPhone) has(files string) {
	if files == "" {
		return
	}
	ph.had = append(slices.DeleteFunc(ph.had, func(s string) bool { return s == files }), files)
	ph.had = ph.had[max(0, len(ph.had)-maxHad):]
}
