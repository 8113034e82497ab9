package runner

import (
	"context"
	"path/filepath"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/runner/adb"
)

// inUse is a device that one action has for itself.
type inUse struct {
	dev     *adb.Device
	log     *deviceLog // nil: of a real device
	info    Info
	release func()
}

// onOne runs f on a device that fits the action.
func (d *Device) onOne(ctx context.Context, a *action.Action, f func(*inUse) (*action.Result, error)) (*action.Result, error) {
	u, err := d.use(ctx, a)
	if err != nil {
		return nil, err
	}
	defer u.release()
	return f(u)
}

// use finds a device that fits the action and makes this action its only user.
func (d *Device) use(ctx context.Context, a *action.Action) (*inUse, error) {
	dev, log, err := d.connect(ctx, a)
	if err != nil {
		return nil, failed("find the device", err)
	}
	waiting := func(owner string) {
		execute.ReportProgress(ctx, 0, 0, "waiting for device "+dev.Serial()+", which "+owner+" uses")
	}
	u := &inUse{dev: dev, log: log}
	if log == nil {
		u.release, err = LeaseAll(ctx, d.o.State, dev, waiting)
	} else { // nobody else knows it
		u.release, err = Lease(ctx, filepath.Join(d.o.State, "leases"), dev.Serial(), func() { waiting("another action") })
	}
	if err != nil {
		return nil, failed("use the device", err)
	}
	if u.info, err = Describe(ctx, dev); err != nil {
		u.release()
		return nil, failed("use the device", err)
	}
	return u, nil
}
