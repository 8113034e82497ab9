// Package pool lends the phones and boards of devices.hcl: to one user at a time, those that work.
//
// The way in is New, a Pool, and its Take, which returns a Lease. The package knows how devices are reached and
// leased; it does not know what a device is used for, nor where the list of devices comes from (steps/devices reads
// it).
package pool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hexmage/hexmage/runner/devinfo"
	"github.com/hexmage/hexmage/runner/lease"
	"github.com/hexmage/hexmage/runner/link"
)

// Want says which device is wanted.
type Want struct {
	SoC    string // "SM8750"; a variant with a longer name fits, too; empty: any. A serial comes before it
	Serial string // serial or name; empty: any

	Reach
	Waiting func(text string) // called once if all devices that fit are in use
	Note    func(text string) // called for each device that does not work, once for each reason
}

// Pool lends devices, each to one user at a time: among goroutines, processes and hosts. Safe for concurrent use.
type Pool struct {
	devices []Device
	open    func(Device, context.Context, Reach) (link.Device, devinfo.Info, error)
	lease   func(context.Context, link.Device, func(string)) (*lease.Lease, error)

	mu     sync.Mutex
	busy   map[string]bool   // by name: lent, or being asked
	broken map[string]string // why devices could not be used when they were last asked
}

const (
	askEvery  = 500 * time.Millisecond // a device that another process has
	checkWait = 15 * time.Second       // for a device to show that it works
)

// ErrNoneWorks says that no device that fits works. One may come back.
var ErrNoneWorks = errors.New("no device works")

var errOtherSoC = errors.New("it has the SoC")

// New returns a pool of the devices. Nothing is asked yet.
func New(devices []Device) *Pool {
	return &Pool{devices: devices, open: Device.open, lease: lease.OnDevice, busy: map[string]bool{},
		broken: map[string]string{}}
}

// Len returns the number of devices.
func (p *Pool) Len() int { return len(p.devices) }

// Names lists the devices for people.
func (p *Pool) Names() string {
	var all []string
	for _, d := range p.devices {
		all = append(all, d.Name)
	}
	return strings.Join(all, ", ")
}

// Find returns the device with a name or serial.
func (p *Pool) Find(serial string) (Device, bool) {
	for _, d := range p.devices {
		if d.Name == serial || d.Serial == serial {
			return d, true
		}
	}
	return Device{}, false
}

// Lease is a device that one user has until it is given back.
type Lease struct {
	Device link.Device
	Info   devinfo.Info
	Held   *lease.Lease
	pool   *Pool
}

// Return gives the device back.
func (l *Lease) Return() { l.give("") }

// Lost gives the device back after the device, its link or its adb server went away. Others are preferred to it then.
func (l *Lease) Lost(err error) { l.give(err.Error()) }

func (l *Lease) give(why string) {
	l.Held.Release()
	l.pool.free(l.Info.Name, why)
}

// Take lends a device that fits and works. It waits while all of those are in use. Devices that do not work are
// passed over; if none is left, the error lists them.
func (p *Pool) Take(ctx context.Context, w Want) (*Lease, error) {
	failed := map[string]error{} // by name
	for told := false; ; told = true {
		var users []string
		for _, d := range p.order(w) {
			if failed[d.Name] != nil {
				continue
			}
			l, err := p.try(ctx, d, w)
			if err == nil {
				return l, nil
			}
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if _, elsewhere := errors.AsType[*lease.InUse](err); elsewhere {
				users = append(users, d.Name+" is "+err.Error())
			} else {
				failed[d.Name] = err
			}
		}
		if len(users) == 0 {
			return nil, p.none(w, failed)
		}
		if !told {
			w.Waiting("waiting for a device: " + strings.Join(users, ", "))
		}
		select {
		case <-time.After(askEvery):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// order returns the devices that fit, as far as is known: those that worked when they were last asked come first.
func (p *Pool) order(w Want) []Device {
	p.mu.Lock()
	defer p.mu.Unlock()
	fit := slices.DeleteFunc(slices.Clone(p.devices), func(d Device) bool {
		if w.Serial != "" {
			return d.Name != w.Serial && d.Serial != w.Serial
		}
		return !devinfo.FitsSoC(d.SoC, w.SoC)
	})
	slices.SortStableFunc(fit, func(a, b Device) int {
		return cmp.Compare(min(len(p.broken[a.Name]), 1), min(len(p.broken[b.Name]), 1))
	})
	return fit
}

// try leases a device if it works and nobody uses it.
func (p *Pool) try(ctx context.Context, d Device, w Want) (*Lease, error) {
	p.mu.Lock()
	busy := p.busy[d.Name]
	p.busy[d.Name] = true
	p.mu.Unlock()
	if busy {
		return nil, &lease.InUse{Owner: "another action"}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, checkWait, fmt.Errorf("it does not answer within %v", checkWait))
	defer cancel()
	l := &Lease{pool: p}
	var err error
	if l.Device, l.Info, err = p.open(d, ctx, w.Reach); err == nil {
		if w.Serial == "" && !devinfo.FitsSoC(l.Info.SoC, w.SoC) {
			err = fmt.Errorf("%w %s", errOtherSoC, l.Info.SoC)
		} else {
			l.Held, err = p.lease(ctx, l.Device, nil)
		}
	}
	if err == nil {
		return l, nil
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	_, elsewhere := errors.AsType[*lease.InUse](err)
	if elsewhere || errors.Is(err, errOtherSoC) || errors.Is(err, context.Canceled) {
		p.free(d.Name, "")
	} else if p.free(d.Name, err.Error()) {
		w.Note(fmt.Sprintf("device %s (%s) cannot be used: %v", d.Name, d.Serial, err))
	}
	return nil, err
}

// free lets others have a device, and notes why it could not be used. It reports whether that is news.
func (p *Pool) free(name, why string) (news bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	news = p.broken[name] != why
	p.busy[name], p.broken[name] = false, why
	return news
}

// none returns the error of a wish that no device can meet.
func (p *Pool) none(w Want, failed map[string]error) error {
	err, wish := devinfo.ErrNoDevice, " with the SoC "+w.SoC
	if w.Serial != "" {
		wish = " with the name or serial " + w.Serial
	}
	var list strings.Builder
	for _, d := range p.devices {
		fmt.Fprintf(&list, "\n  %s  %s  %s", d.Name, d.Serial, d.SoC)
		if why := failed[d.Name]; why != nil {
			fmt.Fprintf(&list, "  %v", why)
			if !errors.Is(why, errOtherSoC) {
				err = ErrNoneWorks
			}
		}
	}
	return fmt.Errorf("%w%s; devices.hcl has:%s", err, strings.TrimSuffix(wish, " with the SoC "), list.String())
}

// State is how a device is.
type State struct {
	Device
	Info devinfo.Info // empty when it cannot be asked
	Err  error        // of a device that cannot be used
}

// States asks all devices at the same time whether they work. It lends none.
func States(ctx context.Context, devices []Device, r Reach) []State {
	ctx, cancel := context.WithTimeoutCause(ctx, checkWait, fmt.Errorf("it does not answer within %v", checkWait))
	defer cancel()
	all := make([]State, len(devices))
	var wg sync.WaitGroup
	for i, d := range devices {
		wg.Go(func() {
			_, info, err := d.open(ctx, r)
			all[i] = State{d, info, err}
		})
	}
	wg.Wait()
	return all
}
