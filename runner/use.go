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
	"github.com/hexmage/hexmage/runner/link"
	"github.com/hexmage/hexmage/runner/pool"
	"github.com/hexmage/hexmage/runner/ssh"
)

// inUse is a device that one action has for itself.
type inUse struct {
	dev     link.Device
	log     *deviceLog // nil: of a real device
	info    devinfo.Info
	held    *lease.Lease // nil: no other process knows it
	release func()
	// lost is called instead of release after the device, its link or its adb server went away. nil: there is no
	// other device to go on with.
	lost func(err error)
	wait time.Duration // for it to come back when it goes away while files are pushed; 0: as long as a person may need
}

// native is the device, if it runs programs for AArch64 itself; else nil: what runs them there has its libraries
// elsewhere.
func (u *inUse) native() link.Device {
	if u.info.Machine != "" && u.info.Machine != "aarch64" {
		return nil
	}
	return u.dev
}

// othersWait is inUse.wait where there are other phones to go on with.
const othersWait = 10 * time.Second

// maxLost is the number of phones on which an action may break off. The action itself is then the likely cause.
const maxLost = 3

// notes tell the user about phones that failed during an action.
type notes []string

func (n *notes) add(text string) { *n = append(*n, text) }

// warn puts the notes as warnings before the output of the command: builds show warnings.
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
		if ctx.Err() != nil || !link.Retryable(err) || u.lost == nil {
			u.release()
			return nil, err
		}
		u.lost(err)
		if lost >= maxLost {
			return nil, &execute.Error{Op: fmt.Sprintf("run on %d phones, one after another", lost),
				Err: fmt.Errorf("each broke off; the last: %w", err), Retryable: true,
				Remedy: "does the program crash or restart phones? Try it on one with --serial, and read its log: " +
					"hexmage device log --all"}
		}
		a.Report(0, 0, u.info.String()+" went away; hexmage looks for another phone")
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
			return d.useOfPool(ctx, a, pool.Want{Serial: serial, SoC: soc}, n)
		}
	}
	dev, err := d.reach(a.Action).Open(ctx, pool.Device{Serial: serial, SoC: soc})
	if err != nil && serial != "" {
		if !ssh.Is(serial) { // whose errors have it
			err = fmt.Errorf("device %s: %w", serial, err)
		}
		if d.o.Pool != nil {
			err = fmt.Errorf("%w\ndevices.hcl has %s", err, d.o.Pool.Names())
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
func (d *Device) useOfPool(ctx context.Context, a *execute.Request, w pool.Want, n *notes) (*inUse, error) {
	w.Reach = d.reach(a.Action)
	w.Waiting, w.Note = func(text string) { a.Report(0, 0, text) }, n.add
	l, err := d.o.Pool.Take(ctx, w)
	if err != nil {
		return nil, err
	}
	u := &inUse{dev: l.Device, held: l.Held, info: l.Info, release: l.Return, lost: func(err error) {
		n.add(fmt.Sprintf("the run on %s broke off (%v) and is begun again", l.Info.Name, err))
		l.Lost(err)
	}}
	if d.o.Pool.Len() > 1 {
		u.wait = othersWait
	}
	return u, nil
}
