package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/runner/devinfo"
	"github.com/hexmage/hexmage/runner/pool"
	"github.com/hexmage/hexmage/runner/ssh"
	"github.com/hexmage/hexmage/toolchains"
)

// deviceListCmd is `hexmage device list`.
type deviceListCmd struct{}

// Help has the examples of `hexmage device list --help`.
func (*deviceListCmd) Help() string {
	return `The phones of devices.hcl come first, with their names, wherever their adb servers are, then what else the adb server knows.

Examples:

    hexmage device list
    hexmage device list --json | jq -r '.[] | select(.soc == "SM8750") | .serial'`
}

// stateUnusable is the state of a device of devices.hcl that cannot be used.
const stateUnusable = "unusable"

// deviceRow is one device of the list.
type deviceRow struct {
	Name   string `json:"name,omitempty"` // in devices.hcl
	Serial string `json:"serial"`
	Server string `json:"server,omitempty"` // as devices.hcl has it; empty: the user's own
	State  string `json:"state"`            // as adb says; "in use"; of a device of devices.hcl: "unusable"
	SoC    string `json:"soc,omitempty"`
	Arch   string `json:"arch,omitempty"`
	Model  string `json:"model,omitempty"`
	Detail string `json:"detail,omitempty"` // why it cannot be used
	User   string `json:"user,omitempty"`   // who uses it
}

// describe adds what the device says it is.
func (r *deviceRow) describe(c *toolchains.Catalogue, info devinfo.Info) {
	r.SoC, r.Arch = info.SoC, archOf(c, info)
	if info.Model != "" {
		r.Model = info.Model
	}
	if info.User != "" {
		r.State, r.User = "in use", info.User
	}
}

// describeWait bounds what one device may take of a list.
const describeWait = 10 * time.Second

// Run lists.
func (*deviceListCmd) Run(ctx context.Context, a *app) error {
	listed, err := a.deviceFile()
	if err != nil {
		return err
	}
	d, err := a.domain(a.here())
	if err != nil {
		return err
	}
	ask := a.adbServer
	if len(listed.Devices) > 0 &&
		!slices.ContainsFunc(listed.Devices, func(d pool.Device) bool { return !ssh.Is(d.Serial) }) {
		ask = a.runningADB // none is started for boards
	}
	rows, err := a.deviceRows(ctx, d.catalogue(), listed.Devices, ask)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.printJSON(rows)
	}
	return a.printDevices(rows, len(listed.Devices) > 0)
}

// deviceRows asks all devices what they are: those of devices.hcl, and what else the adb server sees, if ask has one.
func (a *app) deviceRows(ctx context.Context, catalogue *toolchains.Catalogue, listed []pool.Device,
	ask func(context.Context) (*adb.Client, error)) ([]deviceRow, error) {
	c, failed := ask(ctx)
	if failed != nil && len(listed) == 0 {
		return nil, failed
	}
	states := pool.States(ctx, listed, pool.Reach{SSH: a.ssh(),
		Server: func(context.Context) (*adb.Client, error) { return c, failed }})
	rows := make([]deviceRow, 0, len(states))
	for _, s := range states {
		r := deviceRow{Name: s.Name, Serial: s.Serial, Server: s.Server.String(), State: "device", SoC: s.SoC}
		if s.Err != nil {
			r.State, r.Detail = stateUnusable, s.Err.Error()
		} else {
			r.describe(catalogue, s.Info)
		}
		rows = append(rows, r)
	}
	if failed == nil {
		others, err := describeAll(ctx, c, catalogue, func(serial string) bool {
			return slices.ContainsFunc(rows, func(r deviceRow) bool { return r.Serial == serial && r.Server == "" })
		})
		if err != nil {
			return nil, err
		}
		rows = append(rows, others...)
	}
	return rows, nil
}

// describeAll asks the devices of an adb server what they are, but for those that are known.
func describeAll(ctx context.Context, c *adb.Client, catalogue *toolchains.Catalogue,
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
			rows[i].describe(catalogue, info)
		})
	}
	wg.Wait()
	return rows, nil
}

// printDevices prints the rows, with the columns name and server if there is a pool.
func (a *app) printDevices(rows []deviceRow, pool bool) error {
	if len(rows) == 0 {
		fmt.Fprintln(a.Env.Stdout, "No device is connected. Connect a phone and allow USB debugging on it, or "+
			"run `hexmage device connect ADDRESS`.")
		return nil
	}
	servers := slices.ContainsFunc(rows, func(r deviceRow) bool { return r.Server != "" })
	w := tabwriter.NewWriter(a.Env.Stdout, 0, 0, 2, ' ', 0)
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
		line = append(line, r.State, r.SoC, r.Arch, r.Model, detail)
		fmt.Fprintln(w, strings.TrimRight(strings.Join(line, "\t"), "\t"))
	}
	return w.Flush()
}
