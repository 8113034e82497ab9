// Package pool lends working phones and boards to one user at a time.
//
// Pool.Take returns a Lease. The package does not know the use of a device, or the origin of the list of devices
// (package steps/devices reads devices.hcl).
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
	"github.com/hexmage/hexmage/runner/transport"
)

// Selector selects a device.
type Selector struct {
	SoC    string // "SM8750" or a variant with a longer name; empty: any; not used with a serial
	Serial string // serial or name; empty: any

	Transports
	Waiting func(text string) // called once if all matching devices are in use
	Note    func(text string) // called once for each device that does not work, and for each reason
}

// Pool lends each device to one user at a time, among goroutines, processes and hosts. A Pool is safe for concurrent
// use.
type Pool struct {
	devices []Device
	open    func(Device, context.Context, Transports) (transport.Device, devinfo.Info, error)
	lease   func(context.Context, transport.Device, func(string)) (*lease.Lease, error)

	mu     sync.Mutex
	busy   map[string]bool   // by name: lent or being checked
	broken map[string]string // by name: why the device did not work at the last check
}

const (
	askEvery  = 500 * time.Millisecond // poll of a device that another process uses
	checkWait = 15 * time.Second       // for the check of a device
)

// ErrNoneWorks means that matching devices exist but none works now.
var ErrNoneWorks = errors.New("no usable device")

var errOtherSoC = errors.New("the SoC is")

// New returns a pool of the devices. It does not connect to them.
func New(devices []Device) *Pool {
	return &Pool{devices: devices, open: Device.open, lease: lease.OnDevice, busy: map[string]bool{},
		broken: map[string]string{}}
}

// Len returns the number of devices.
func (p *Pool) Len() int { return len(p.devices) }

// Names returns the devices' names for a message.
func (p *Pool) Names() string {
	var all []string
	for _, d := range p.devices {
		all = append(all, d.Name)
	}
	return strings.Join(all, ", ")
}

// Find returns the device with the given name or serial.
func (p *Pool) Find(serial string) (Device, bool) {
	for _, d := range p.devices {
		if d.Name == serial || d.Serial == serial {
			return d, true
		}
	}
	return Device{}, false
}

// Lease is a device that the pool lends to one user until the user calls Return or Lost.
type Lease struct {
	Device transport.Device
	Info   devinfo.Info
	Held   *lease.Lease
	pool   *Pool
}

// Return gives the device back.
func (l *Lease) Return() { l.give("") }

// Lost gives the device back because the device, the link to it or its adb server failed. Take then prefers other
// devices.
func (l *Lease) Lost(err error) { l.give(err.Error()) }

func (l *Lease) give(why string) {
	l.Held.Release()
	l.pool.free(l.Info.Name, why)
}

// Take lends a matching device that works. It waits while all such devices are in use. If no matching device works, the
// error lists them all.
func (p *Pool) Take(ctx context.Context, w Selector) (*Lease, error) {
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

// order returns the devices that may fit. Devices that worked at the last check come first.
func (p *Pool) order(w Selector) []Device {
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

// try leases a device if it works and is free.
func (p *Pool) try(ctx context.Context, d Device, w Selector) (*Lease, error) {
	p.mu.Lock()
	busy := p.busy[d.Name]
	p.busy[d.Name] = true
	p.mu.Unlock()
	if busy {
		return nil, &lease.InUse{Owner: "another action"}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, checkWait, fmt.Errorf("the device did not answer within %v", checkWait))
	defer cancel()
	l := &Lease{pool: p}
	var err error
	if l.Device, l.Info, err = p.open(d, ctx, w.Transports); err == nil {
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
		w.Note(fmt.Sprintf("hexmage cannot use device %s (%s): %v", d.Name, d.Serial, err))
	}
	return nil, err
}

// free makes a device available and keeps why it did not work. It reports whether the reason is new.
func (p *Pool) free(name, why string) (news bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	news = p.broken[name] != why
	p.busy[name], p.broken[name] = false, why
	return news
}

// none returns the error for a Selector that no device satisfies.
func (p *Pool) none(w Selector, failed map[string]error) error {
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
	return fmt.Errorf("%w%s. Devices in devices.hcl:%s", err, strings.TrimSuffix(wish, " with the SoC "), list.String())
}

// State is the result of a device check.
type State struct {
	Device
	Info devinfo.Info // empty if the device does not answer
	Err  error        // reason why the device is not usable
}

// States checks all devices at the same time, but does not lend them.
func States(ctx context.Context, devices []Device, r Transports) []State {
	ctx, cancel := context.WithTimeoutCause(ctx, checkWait, fmt.Errorf("the device did not answer within %v", checkWait))
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
