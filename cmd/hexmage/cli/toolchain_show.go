package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/hexmage/hexmage/toolchains"
)

// toolchainShowCmd is `hexmage toolchain show NAME[@VERSION]`.
type toolchainShowCmd struct {
	Name string `arg:"" help:"A toolchain of the catalogue, NAME or NAME@VERSION."`
}

// toolchainShown is what show tells, for programs.
type toolchainShown struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Page        string          `json:"page,omitempty"`
	Licence     string          `json:"licence,omitempty"`
	Default     string          `json:"default"`
	Variables   []string        `json:"variables,omitempty"` // that `hexmage env` sets
	Releases    []*toolchainRow `json:"releases"`            // only the one that was asked for, if one was
	Sources     []sourceShown   `json:"sources,omitempty"`   // of that one
}

type sourceShown struct {
	Kind   string `json:"kind"`
	Detail string `json:"detail"`
	Digest string `json:"digest,omitempty"`
	Locked bool   `json:"locked,omitempty"`
}

// Run tells.
func (c *toolchainShowCmd) Run(ctx context.Context, a *app) error {
	d, err := a.domain(a.here())
	if err != nil {
		return err
	}
	w := parseWanted(c.Name)
	t, r, err := d.catalogue.Find(w.name, w.version)
	if err != nil {
		return &exitError{ExitUsage, err}
	}
	only := *t
	if w.version != "" {
		only.Releases = []*toolchains.Release{r}
	}
	rows, err := a.toolchainRows(ctx, d, []*toolchains.Toolchain{&only})
	if err != nil {
		return err
	}
	s := toolchainShown{Name: t.Name, Description: t.Description, Page: t.Page, Licence: t.Licence, Default: t.Default, Releases: rows}
	for _, v := range t.EnvVars {
		s.Variables = append(s.Variables, v.Name)
	}
	if w.version != "" {
		s.Sources = sourcesOf(d, t, r)
	}
	if a.JSON {
		return a.printJSON(s)
	}
	a.printShown(&only, s, w.version != "")
	return nil
}

func (a *app) printShown(t *toolchains.Toolchain, s toolchainShown, one bool) {
	w := a.env.Stdout
	field := func(name, text string) {
		if text != "" {
			fmt.Fprintf(w, "  %-10s %s\n", name, text)
		}
	}
	if !one {
		a.printRows([]*toolchains.Toolchain{t}, s.Releases)
		fmt.Fprintln(w)
		field("page", s.Page)
		field("licence", s.Licence)
		field("variables", strings.Join(s.Variables, " "))
		return
	}
	r := s.Releases[0]
	fmt.Fprintf(w, "%s %s  %s\n", a.painted("1", s.Name), r.Version, s.Description)
	field("state", strings.TrimSpace(a.stateText(r.State))+" (profile "+r.Profile+")")
	if r.State == toLock || r.State == notPlanned { // of others, the sources say it
		field("", r.Detail)
	}
	field("installed", r.Installed)
	field("arches", strings.Join(r.Arches, " "))
	for _, src := range s.Sources {
		digest := src.Digest
		if src.Locked {
			digest += " (pinned in the lock)"
		}
		field(src.Kind, src.Detail)
		field("", digest)
	}
	field("page", s.Page)
	field("licence", s.Licence)
	field("variables", strings.Join(s.Variables, " "))
}

// sourcesOf says of each source of a release what it is, and by which digest what comes is known.
func sourcesOf(d *domain, t *toolchains.Toolchain, r *toolchains.Release) (out []sourceShown) {
	for _, s := range r.Sources {
		q := toolchains.Request{Name: t.Name, Version: r.Version, Source: s.Kind, Profile: "device", Lock: d.lock, Machine: d.machine, Locking: true}
		shown := sourceShown{Kind: s.Kind, Locked: d.lock.Find(t.Name, r.Version, s.Kind) != nil}
		ch, err := d.catalogue.Choose(q)
		switch {
		case s.Kind == "installed" && err != nil:
			shown.Detail = "none found"
			if len(s.Env) > 0 {
				shown.Detail += "; set " + strings.Join(s.Env, " or ") + " to its root"
			}
		case err != nil: // what it says of the source itself
			shown.Detail = err.Error()
			if _, own, ok := strings.Cut(shown.Detail, "; "); ok {
				shown.Detail, _, _ = strings.Cut(own, "; where a copy")
				shown.Detail, _, _ = strings.Cut(shown.Detail, "; its page is ")
			}
		case s.Kind == "installed" && ch.Host != "":
			shown.Detail = ch.Host
		case s.Kind == "installed":
			shown.Detail = strings.Join(programsOf(ch), " ")
		case s.Kind == "embedded":
			shown.Detail = "the open stand-in, part of hexmage"
		case len(ch.Spec.Packages) > 0:
			var ps []string
			for _, p := range ch.Spec.Packages {
				ps = append(ps, strings.TrimSpace(p.Name+" "+p.Version))
			}
			shown.Detail = strings.Join(ps, ", ")
		default:
			shown.Detail = strings.Join(ch.Spec.URLs, "\n             ")
		}
		if err == nil {
			for _, sum := range [][2]string{{"sha256", ch.Spec.SHA256}, {"sha1", ch.Spec.SHA1}, {"md5", ch.Spec.MD5}} {
				if sum[1] != "" && shown.Digest == "" {
					shown.Digest = sum[0] + " " + sum[1]
				}
			}
		}
		out = append(out, shown)
	}
	return out
}
