package cli

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/runner/devinfo"
	"github.com/hexmage/hexmage/runner/pool"
	"github.com/hexmage/hexmage/runner/ssh"
	"github.com/hexmage/hexmage/toolchains"
)

// deviceListCmd is `hexmage device list`.
type deviceListCmd struct{}

// Help returns the examples of `hexmage device list --help`.
func (*deviceListCmd) Help() string {
	return `Lists the devices in devices.hcl, then the other devices of your adb server.

Examples:

    hexmage device list   one line for each device
    hexmage device list --json | jq -r '.[] | select(.soc == "SM8750") | .serial'   serials of all SM8750 devices`
}

// stateUnusable is the state of an unusable device of devices.hcl.
const stateUnusable = "unusable"

// deviceRow is one device of the list.
type deviceRow struct {
	Name   string `json:"name,omitempty"` // in devices.hcl
	Serial string `json:"serial"`
	Server string `json:"server,omitempty"` // adb server from devices.hcl; "": the user's own server
	State  string `json:"state"`            // adb's state, "in use", or "unusable" for a device of devices.hcl
	SoC    string `json:"soc,omitempty"`
	Arch   string `json:"arch,omitempty"`
	Model  string `json:"model,omitempty"`
	Detail string `json:"detail,omitempty"` // reason why the device is unusable
	User   string `json:"user,omitempty"`   // current user of the device
}

// describe adds the facts that the device reports.
func (r *deviceRow) describe(c *toolchains.Catalog, info devinfo.Info) {
	r.SoC, r.Arch = info.SoC, archOf(c, info)
	if info.Model != "" {
		r.Model = info.Model
	}
	if info.User != "" {
		r.State, r.User = "in use", info.User
	}
}

// describeWait is the time limit for one device of a list.
const describeWait = 10 * time.Second

// Run lists devices.
func (*deviceListCmd) Run(ctx context.Context, a *app) error {
	listed, err := a.deviceFile()
	if err != nil {
		return err
	}
	d, err := a.domain()
	if err != nil {
		return err
	}
	ask := a.adbServer
	if len(listed.Devices) > 0 &&
		!slices.ContainsFunc(listed.Devices, func(d pool.Device) bool { return !ssh.Is(d.Serial) }) {
		ask = a.runningADB // boards need no adb server
	}
	rows, err := a.deviceRows(ctx, d.catalog, listed.Devices, ask)
	if err != nil {
		return err
	}
	return a.show(rows, "%s", devicesText(rows, len(listed.Devices) > 0))
}

// deviceRows asks all devices for their facts: those of devices.hcl, and other devices of the adb server if ask returns
// one.
func (a *app) deviceRows(ctx context.Context, catalog *toolchains.Catalog, listed []pool.Device,
	ask func(context.Context) (*adb.Client, error)) ([]deviceRow, error) {
	c, failed := ask(ctx)
	if failed != nil && len(listed) == 0 {
		return nil, failed
	}
	states := pool.States(ctx, listed, pool.Transports{SSH: a.ssh(),
		Server: func(context.Context) (*adb.Client, error) { return c, failed }})
	rows := make([]deviceRow, 0, len(states))
	for _, s := range states {
		r := deviceRow{Name: s.Name, Serial: s.Serial, Server: s.Server.String(), State: "device", SoC: s.SoC}
		if s.Err != nil {
			r.State, r.Detail = stateUnusable, s.Err.Error()
		} else {
			r.describe(catalog, s.Info)
		}
		rows = append(rows, r)
	}
	if failed == nil {
		others, err := describeAll(ctx, c, catalog, func(serial string) bool {
			return slices.ContainsFunc(rows, func(r deviceRow) bool { return r.Serial == serial && r.Server == "" })
		})
		if err != nil {
			return nil, err
		}
		rows = append(rows, others...)
	}
	return rows, nil
}

// describeAll asks the devices of an adb server for their facts, except for known ones.
func describeAll(ctx context.Context, c *adb.Client, catalog *toolchains.Catalog,
	known func(serial string) bool) ([]deviceRow, error) {
	all, err := c.Devices(ctx)
	if err != nil {
		return nil, engineError(err)
	}
	all = slices.DeleteFunc(all, func(i adb.Info) bool { return known(i.Serial) })
	rows := make([]deviceRow, len(all))
	var wg sync.WaitGroup
	for i, dev := range all {
		rows[i] = deviceRow{Serial: dev.Serial, State: dev.State,
			Model: strings.ReplaceAll(dev.Props["model"], "_", " "), Detail: dev.Remedy()}
		if !dev.Usable() {
			continue
		}
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, describeWait)
			defer cancel()
			info, err := devinfo.Describe(ctx, c.Device(dev.Serial))
			if err != nil {
				rows[i].Detail = err.Error()
				return
			}
			rows[i].describe(catalog, info)
		})
	}
	wg.Wait()
	return rows, nil
}

// devicesText formats the rows for people, with the columns name and server if there is a pool.
func devicesText(rows []deviceRow, pool bool) string {
	if len(rows) == 0 {
		return "No device is connected. Connect a phone and allow USB debugging on it, or " +
			"run `hexmage device connect ADDRESS`.\n"
	}
	servers := slices.ContainsFunc(rows, func(r deviceRow) bool { return r.Server != "" })
	var table [][]string
	for _, r := range rows {
		var line []string
		if pool {
			line = append(line, r.Name)
		}
		line = append(line, r.Serial)
		if servers {
			line = append(line, r.Server)
		}
		detail := r.Detail
		if r.User != "" {
			detail = strings.TrimPrefix(detail+"; by "+r.User, "; ")
		}
		table = append(table, append(line, r.State, r.SoC, r.Arch, r.Model, detail))
	}
	return columns(table)
}
