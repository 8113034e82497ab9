package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/runner/pool"
)

// stateGone is what device list --watch says of a device that the adb server no longer lists.
const stateGone = "gone"

// watchDevices prints every device of the user's adb server, and from then on each whose state changes, a line at a time, until Ctrl-C or the
// end of the server.
func (a *app) watchDevices(ctx context.Context) error {
	c, err := a.adbServer(ctx)
	if err != nil {
		return err
	}
	last := map[string]string{}
	for all, err := range c.Track(ctx) {
		if err != nil {
			return engine(err)
		}
		for _, d := range changes(last, all) {
			row := deviceRow{Serial: d.Serial, State: d.State, Model: strings.ReplaceAll(d.Props["model"], "_", " "), Detail: pool.StateRemedy(d.State)}
			if a.JSON {
				if err := a.printJSON(row); err != nil {
					return err
				}
				continue
			}
			fmt.Fprintln(a.env.Stdout, strings.TrimRight(strings.Join([]string{row.Serial, row.State, row.Model, row.Detail}, "  "), " "))
		}
	}
	return nil
}

// changes returns the devices whose state is another than the last one, and notes it.
func changes(last map[string]string, all []adb.Info) []adb.Info {
	var changed []adb.Info
	now := map[string]bool{}
	for _, d := range all {
		now[d.Serial] = true
		if last[d.Serial] != d.State {
			last[d.Serial] = d.State
			changed = append(changed, d)
		}
	}
	for serial := range last {
		if !now[serial] {
			delete(last, serial)
			changed = append(changed, adb.Info{Serial: serial, State: stateGone})
		}
	}
	return changed
}
