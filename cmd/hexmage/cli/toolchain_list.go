package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/build"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/toolchains"
)

// toolchainListCmd is `hexmage toolchain list [NAME…]`.
type toolchainListCmd struct {
	Names []string `arg:"" optional:"" help:"Only these toolchains."`
}

// toolchainState is how a release can be had on this machine.
type toolchainState string

const (
	inStore    toolchainState = "in the store"
	isHere     toolchainState = "installed"  // a copy of the user's own, or programs of the machine
	toFetch    toolchainState = "to fetch"   // its digest is known
	toLock     toolchainState = "to lock"    // its digest is not known yet
	byHand     toolchainState = "by hand"    // by people, or by a client of the vendor's that is not here
	notPlanned toolchainState = "impossible" // here: its plan fails
)

// toolchainRow is one release of the list.
type toolchainRow struct {
	Name      string         `json:"name"`
	Version   string         `json:"version"`
	Default   bool           `json:"default,omitempty"`
	State     toolchainState `json:"state"`
	Profile   string         `json:"profile"` // in which it is so
	Source    string         `json:"source,omitempty"`
	Installed string         `json:"installed,omitempty"` // root of a copy on this machine
	Programs  []string       `json:"programs,omitempty"`  // of this machine, for a toolchain that is made of some
	Sources   []string       `json:"sources"`
	Arches    []string       `json:"arches,omitempty"`
	Size      int64          `json:"size,omitempty"` // of the download, in bytes
	Detail    string         `json:"detail,omitempty"`
}

// Run lists.
func (c *toolchainListCmd) Run(ctx context.Context, a *app) error {
	d, err := a.domain(a.here())
	if err != nil {
		return err
	}
	var ts []*toolchains.Toolchain
	for _, name := range c.Names {
		t, _, err := d.catalogue.Find(parseWanted(name).name, "")
		if err != nil {
			return &exitError{ExitUsage, err}
		}
		ts = append(ts, t)
	}
	if len(ts) == 0 {
		ts = d.catalogue.Toolchains
	}
	rows, err := a.toolchainRows(ctx, d, ts)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.printJSON(rows)
	}
	a.printRows(ts, rows)
	return nil
}

func (a *app) printRows(ts []*toolchains.Toolchain, rows []*toolchainRow) {
	w := a.env.Stdout
	for i, t := range ts {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s  %s\n", a.painted("1", t.Name), t.Description)
		for _, r := range rows {
			if r.Name != t.Name {
				continue
			}
			mark := " "
			if r.Default {
				mark = "*"
			}
			fmt.Fprintf(w, "  %s %-16s %s  %s\n", mark, r.Version, a.stateText(r.State), r.text())
		}
	}
	fmt.Fprintln(w, "\n* what a pipeline gets that names no version. `hexmage toolchain show NAME` tells more.")
}

func (a *app) stateText(s toolchainState) string {
	colour := map[toolchainState]string{inStore: "32", isHere: "32", toLock: "33", byHand: "33", notPlanned: "31"}[s]
	text := fmt.Sprintf("%-12s", s)
	if colour == "" {
		return text
	}
	return a.painted(colour, text)
}

// text says where the release comes from.
func (r *toolchainRow) text() string {
	s := r.Source
	switch {
	case r.Installed != "" && r.State == isHere:
		return r.Installed
	case len(r.Programs) > 0 && r.State == isHere:
		return strings.Join(r.Programs, " ")
	case s == "embedded":
		s = "open stand-in"
	}
	if r.Size > 0 && r.State != inStore {
		s += ", " + byteCount(r.Size)
	}
	if others := slices.DeleteFunc(slices.Clone(r.Sources), func(k string) bool { return k == r.Source }); len(others) > 0 {
		s += "  (else " + strings.Join(others, ", ") + ")"
	}
	return s
}

// toolchainRows finds out the state of all releases of the toolchains. It fetches nothing.
func (a *app) toolchainRows(ctx context.Context, d *domain, ts []*toolchains.Toolchain) ([]*toolchainRow, error) {
	var rows []*toolchainRow
	ask := map[string][]*toolchainRow{} // by profile: what may be in the store
	for _, t := range ts {
		for _, r := range t.Releases {
			row := a.toolchainRow(d, t, r)
			rows = append(rows, row)
			if row.State == toFetch || row.State == isHere && row.Installed == "" {
				ask[row.Profile] = append(ask[row.Profile], row)
			}
		}
	}
	for profile, asked := range ask {
		own := *a
		own.Profile = profile
		if err := own.askStore(ctx, asked); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// toolchainRow settles how a release would be had: as the chosen profile says, and where that has no way, as the profile for real
// SDKs does.
func (a *app) toolchainRow(d *domain, t *toolchains.Toolchain, r *toolchains.Release) *toolchainRow {
	row := &toolchainRow{Name: t.Name, Version: r.Version, Default: r.Version == t.Default, Arches: r.Arches}
	for _, s := range r.Sources {
		row.Sources = append(row.Sources, s.Kind)
	}
	profiles := []string{a.Profile}
	if a.Profile == "" || a.Profile == toolchains.ProfileOpen {
		profiles = []string{toolchains.ProfileOpen, "device"}
	}
	for _, profile := range profiles {
		q := toolchains.Request{Name: t.Name, Version: r.Version, Profile: profile, Lock: d.lock, Machine: d.machine}
		ch, err := d.catalogue.Choose(q)
		row.Profile, row.State = profile, toFetch
		if err != nil && !errors.Is(err, toolchains.ErrNotAvailable) {
			q.Locking = true
			row.State, row.Detail = toLock, err.Error()
			ch, err = d.catalogue.Choose(q)
		}
		if err != nil {
			row.State, row.Detail = byHand, err.Error()
			for _, kind := range []string{"manual", "qsc", "qpm"} {
				if r.Source(kind) != nil {
					row.Source = kind
				}
			}
			continue
		}
		if row.State == toFetch {
			row.Detail = ""
		}
		row.Source, row.Size, row.Installed = ch.Source.Kind, ch.Spec.Size, ch.Host
		for _, p := range ch.Spec.Packages {
			row.Size += p.Size
		}
		if ch.Source.Kind == "installed" {
			row.State, row.Programs = isHere, programsOf(ch)
		}
		break
	}
	if row.Installed == "" && row.State != isHere {
		q := toolchains.Request{Name: t.Name, Version: r.Version, Source: "installed", Profile: row.Profile, Lock: d.lock, Machine: d.machine}
		if ch, err := d.catalogue.Choose(q); err == nil {
			row.Installed, row.Programs = ch.Host, programsOf(ch)
			if row.State == byHand || row.State == toLock {
				row.State, row.Source = isHere, "installed"
			}
		}
	}
	return row
}

// programsOf are the programs of the machine of which a toolchain is made.
func programsOf(ch *toolchains.Choice) (out []string) {
	for _, p := range ch.Spec.Programs {
		out = append(out, p.Target)
	}
	return out
}

// askStore finds out which of the releases are in the store.
func (a *app) askStore(ctx context.Context, rows []*toolchainRow) error {
	o, err := a.onlyLook(a.here())
	if err != nil {
		return err
	}
	o.Fresh = nil
	for len(rows) > 0 {
		var ws []wanted
		var round, rest []*toolchainRow
		for _, r := range rows { // a pipeline has one release of a toolchain
			if slices.ContainsFunc(ws, func(w wanted) bool { return w.name == r.Name }) {
				rest = append(rest, r)
				continue
			}
			ws, round = append(ws, wanted{name: r.Name, version: r.Version}), append(round, r)
		}
		rows = rest
		p, diags, err := a.planToolchains(ws)
		if err != nil {
			return err
		}
		if diags.HasErrors() {
			for _, r := range round {
				r.State, r.Detail = notPlanned, diags.Error()
			}
			continue
		}
		seen, err := build.Preview(ctx, p, o, nil)
		if err != nil {
			return engine(err)
		}
		for _, r := range round {
			if stored(seen, toolchainInstance(p, r.Name)) {
				r.State = inStore
			}
		}
	}
	return nil
}

func toolchainInstance(p *plan.Plan, name string) *plan.Instance {
	for _, n := range toolchainInstances(p) {
		if n.At.Name == name {
			return n
		}
	}
	return nil
}

// stored tells whether all actions of the instance have results.
func stored(seen *build.Previews, n *plan.Instance) bool {
	found := false
	for _, v := range seen.Actions {
		if n == nil || v.Instance.At != n.At {
			continue
		}
		if found = v.Status == build.WillUse; !found {
			return false
		}
	}
	return found
}
