package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/runner/devinfo"
	"github.com/hexmage/hexmage/runner/lease"
	"github.com/hexmage/hexmage/runner/pool"
	"github.com/hexmage/hexmage/runner/ssh"
	"github.com/hexmage/hexmage/runner/transport"
)

// inUse is a device with one action as its only user.
type inUse struct {
	dev     transport.Device
	log     *deviceLog // nil for a real device
	info    devinfo.Info
	held    *lease.Lease // nil if other processes do not know the device
	release func()
	// lost replaces release after the device, its link or its adb server went away. It is nil if there cannot be
	// another device.
	lost func(err error)
	wait time.Duration // for the device to come back if it goes away during a push; 0: as long as a person may need
}

// native returns the device if it runs AArch64 programs itself, else nil: an emulator of AArch64 has its libraries
// elsewhere.
func (u *inUse) native() transport.Device {
	if u.info.Machine != "" && u.info.Machine != "aarch64" {
		return nil
	}
	return u.dev
}

// othersWait is inUse.wait if the pool has other phones.
const othersWait = 10 * time.Second

// maxLost is the number of lost phones after which hexmage blames the action.
const maxLost = 3

// notes are warnings about phones that failed during an action.
type notes []string

func (n *notes) add(text string) { *n = append(*n, text) }

// warn puts the notes as warnings before the command's standard error, because builds show warnings.
func (n notes) warn(r *action.Result) *action.Result {
	if len(n) == 0 {
		return r
	}
	var b bytes.Buffer
	for _, text := range n {
		fmt.Fprintf(&b, "warning: %s\n", text)
	}
	own := *r
	own.Stderr = slices.Concat(b.Bytes(), r.Stderr)
	return &own
}

// onOne runs f on a device that fits the action. If a device of the pool dies, another one runs f.
func (d *Device) onOne(ctx context.Context, a *execute.Request,
	f func(context.Context, *inUse) (*action.Result, error)) (*action.Result, error) {
	n := &notes{}
	for lost := 1; ; lost++ {
		u, err := d.use(ctx, a, n)
		if err != nil {
			e := failed("use a device", err)
			e.Retryable = e.Retryable || errors.Is(err, pool.ErrNoneWorks)
			return nil, e
		}
		r, err := f(ctx, u)
		if err == nil {
			u.release()
			return n.warn(r), nil
		}
		if ctx.Err() != nil || !transport.Retryable(err) || u.lost == nil {
			u.release()
			return nil, err
		}
		u.lost(err)
		if lost >= maxLost {
			return nil, &execute.Error{Op: fmt.Sprintf("run on %d phones in turn", lost),
				Err: fmt.Errorf("each run was interrupted; last error: %w", err), Retryable: true,
				Remedy: "the program may restart phones; run it on one phone with --serial, and read `hexmage device " +
					"log --all`"}
		}
		a.Report(0, 0, u.info.String()+" disconnected; hexmage looks for another phone")
	}
}

// use finds a device that fits the action and makes this action its only user.
func (d *Device) use(ctx context.Context, a *execute.Request, n *notes) (*inUse, error) {
	p := a.Command.Platform
	serial, soc := d.o.Serial, p[PropertySelect]
	if serial == "" {
		serial = p[PropertySerial]
	}
	if at := p[PropertyImage]; at != "" && serial == "" {
		return d.useEmulated(ctx, a, at, n)
	}
	if d.o.Pool != nil {
		if _, ok := d.o.Pool.Find(serial); ok || serial == "" {
			if soc == "" {
				soc = p[PropertySoC]
			}
			return d.useOfPool(ctx, a, pool.Selector{Serial: serial, SoC: soc}, n)
		}
	}
	dev, err := d.reach(a.Action).Open(ctx, pool.Device{Serial: serial, SoC: soc})
	if err != nil && serial != "" {
		if !ssh.Is(serial) { // errors of package ssh have the address
			err = fmt.Errorf("device %s: %w", serial, err)
		}
		if d.o.Pool != nil {
			err = fmt.Errorf("%w\nDevices in devices.hcl: %s", err, d.o.Pool.Names())
		}
	}
	if err != nil {
		return nil, err
	}
	u := &inUse{dev: dev}
	u.held, err = lease.OnDevice(ctx, dev, func(owner string) {
		a.Report(0, 0, "waiting for device "+dev.Place().Serial+", in use by "+owner)
	})
	if err != nil {
		return nil, err
	}
	u.release = u.held.Release
	if u.info, err = devinfo.Describe(ctx, dev); err != nil {
		u.release()
		return nil, err
	}
	return u, nil
}

// useOfPool takes a device of the pool.
func (d *Device) useOfPool(ctx context.Context, a *execute.Request, w pool.Selector, n *notes) (*inUse, error) {
	w.Transports = d.reach(a.Action)
	w.Waiting, w.Note = func(text string) { a.Report(0, 0, text) }, n.add
	l, err := d.o.Pool.Take(ctx, w)
	if err != nil {
		return nil, err
	}
	u := &inUse{dev: l.Device, held: l.Held, info: l.Info, release: l.Return, lost: func(err error) {
		n.add(fmt.Sprintf("the run on %s was interrupted (%v), and hexmage repeats the run", l.Info.Name, err))
		l.Lost(err)
	}}
	if d.o.Pool.Len() > 1 {
		u.wait = othersWait
	}
	return u, nil
}
