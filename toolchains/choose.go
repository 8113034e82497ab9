package toolchains

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/toolchains/sources"
	"github.com/hexmage/hexmage/toolchains/sources/deb"
	"github.com/hexmage/hexmage/toolchains/unpack"
)

// Profiles that take hexmage's simulated SDKs. All others refuse them.
const (
	ProfileEmulator  = "emulator"  // Qualcomm's compiler and emulator from public packages; the phone's side is simulated
	ProfileSimulated = "simulated" // nothing of Qualcomm's
)

// Request asks for a release of a toolchain.
type Request struct {
	Name    string
	Version string // "" is the default release
	Source  string // only this kind of source; "" tries them in the profile's order
	Profile string // "simulated" and "emulator" take simulated SDKs; others never do
	Lock    *Lock
	Machine Machine
	Locking bool    // digests may be missing: they are about to be added
	Own     *Source // in place of the catalogue's of its kind, or of a release that it does not have
}

// Choice is how a release will be had.
type Choice struct {
	Toolchain *Toolchain
	Release   *Release
	Source    *Source
	Spec      sources.Spec           // what the fetch tool is to do; for an installed SDK: only to verify
	Archive   func() ([]byte, error) // for an embedded source: the bytes of Spec.File
	Host      string                 // for an installed SDK: its root on this machine
	Found     Installed              // for an installed SDK: what it says it is
	Notes     []string               // for people: why another source was passed over
	Packages  *Environment           // for an environment of Python's: what it is made of

	embeddedID string // for an embedded source: the build id
}

// ErrNotAvailable is what Choose returns, wrapped, when no source gives the release; the text says what to do.
var ErrNotAvailable = errors.New("can't be had")

// EmbeddedFile is the path at which the fetch tool expects the archive of an embedded source.
const EmbeddedFile = "archive.zip"

// Choose settles where a release comes from.
func (c *Catalogue) Choose(q Request) (*Choice, error) {
	if q.Own != nil {
		c, q.Source = c.With(q.Name, q.Version, q.Own), q.Own.Kind
	}
	t, r, err := c.Find(q.Name, q.Version)
	if err != nil {
		return nil, err
	}
	ch := &Choice{Toolchain: t, Release: r}
	var why []string
	for _, kind := range t.order(r, q) {
		s := r.Source(kind)
		if s == nil {
			continue
		}
		ch.Source = s
		ok, reason, err := ch.take(c, q)
		switch passed := strings.Join(slices.DeleteFunc(slices.Clone(why), func(w string) bool { return w == "" }), "; "); {
		case err != nil && passed != "":
			return nil, fmt.Errorf("%s %s: %w; passed over: %s", t.Name, r.Version, err, passed)
		case err != nil:
			return nil, fmt.Errorf("%s %s: %w", t.Name, r.Version, err)
		}
		if ok {
			ch.Notes = why
			return ch, nil
		}
		why = append(why, reason)
	}
	return nil, c.notAvailable(t, r, q, why)
}

// Absent is the choice of a release that Choose finds nowhere: what is known of it, with a spec that cannot be done. A plan can
// be made with it, which says what is missing.
func (c *Catalogue) Absent(q Request) (*Choice, error) {
	t, r, err := c.Find(q.Name, q.Version)
	if err != nil {
		return nil, err
	}
	return &Choice{Toolchain: t, Release: r, Source: &Source{Kind: "manual"},
		Spec: sources.Spec{Kind: sources.KindArchive, Name: t.Name + " " + r.Version, Release: r.Version, Layout: unpack.Layout{Verify: t.Verify(r)}}}, nil
}

// order returns the kinds of sources to try.
func (t *Toolchain) order(r *Release, q Request) []string {
	switch {
	case q.Source != "":
		return []string{q.Source}
	case q.Profile == ProfileEmulator && r.Source("embedded") != nil:
		return []string{"embedded"}
	case q.simulated():
		if t.Licence == "" { // free to take
			return []string{"embedded", "deb", "pypi", "python"}
		}
		return []string{"embedded", "deb"}
	case r.Source("deb") != nil:
		return []string{"deb"}
	}
	return []string{"installed", "archive", "maven", "pypi", "python", "qsc", "qpm", "manual"}
}

// simulated tells whether simulated SDKs are chosen before real ones.
func (q Request) simulated() bool { return q.Profile == ProfileSimulated || q.Profile == "" }

// take fills in the spec for the chosen source. ok is false, with a reason, when the source can't be used here.
func (ch *Choice) take(c *Catalogue, q Request) (ok bool, reason string, err error) {
	t, r, s := ch.Toolchain, ch.Release, ch.Source
	spec := sources.Spec{Name: t.Name + " " + r.Version, Release: r.Version, Layout: unpack.Layout{Only: s.Only, Links: s.links(), Wraps: s.Wraps, Verify: t.Verify(r)}}
	switch s.Kind {
	case "embedded":
		if spec.StripPrefix, ch.embeddedID, ch.Archive, err = c.takeEmbedded(t.Name, r.Version); err != nil {
			return false, "", err
		}
		if id := spec.Layout.Verify.BuildID; id != nil && ch.embeddedID != "" {
			id.Want = ch.embeddedID // the catalogue's is the vendor's
		}
		spec.Kind, spec.File = sources.KindArchive, EmbeddedFile
		if e := q.Lock.Find(t.Name, r.Version, "embedded"); e != nil {
			spec.Size, spec.SHA256 = e.Size, e.SHA256
		} else if !q.Locking {
			return false, "", fmt.Errorf("the digest of its simulation is not in %s: run `hexmage lock %s %s`", LockFile, t.Name, r.Version)
		}
	case "deb":
		spec.Kind, spec.Architecture, spec.Suite = sources.KindDeb, s.Architecture, s.Suite
		spec.Packages, err = lockedPackages(s, q.Lock.Find(t.Name, r.Version, "deb"))
		if err != nil && !q.Locking {
			return false, "", err
		}
	case "archive", "maven", "pypi", "qpm", "qsc":
		spec.License = t.Licence
		if ok, reason, err := ch.remote(q, &spec); !ok || err != nil {
			return false, reason, err
		}
	case "python":
		return ch.environment(c, q, spec)
	case "installed":
		return ch.installed(q, spec)
	default:
		return false, strings.TrimSpace(r.fill(s.Steps)), nil
	}
	ch.Spec = spec
	return true, "", nil
}

func (s *Source) links() map[string]string {
	if len(s.Links) == 0 {
		return nil
	}
	m := map[string]string{}
	for _, l := range s.Links {
		m[l.Path] = l.To
	}
	return m
}

// lockedPackages returns the packages of a deb source with their pins; the error names those without one.
func lockedPackages(s *Source, e *Locked) ([]deb.Package, error) {
	var ps []deb.Package
	var missing []string
	for _, name := range s.Packages {
		p := deb.Package{Name: name}
		if e != nil {
			for _, l := range e.Packages {
				if l.Name == name {
					p = l
				}
			}
		}
		if p.SHA256 == "" {
			missing = append(missing, name)
		}
		ps = append(ps, p)
	}
	if len(missing) > 0 {
		return ps, fmt.Errorf("%s has no pin for %s: run `hexmage lock`", LockFile, strings.Join(missing, ", "))
	}
	return ps, nil
}

// notAvailable says all that people can do to get a release.
func (c *Catalogue) notAvailable(t *Toolchain, r *Release, q Request, why []string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s can't be had", t.Name, r.Version)
	simulated := q.Source == "" && q.simulated()
	switch {
	case q.Source != "" && r.Source(q.Source) == nil:
		fmt.Fprintf(&b, " from source %q: the catalogue has none of that kind for it", q.Source)
	case q.Source != "":
		fmt.Fprintf(&b, " from source %q", q.Source)
	case simulated:
		b.WriteString(" in profile \"simulated\": hexmage has no simulated SDK of this release")
		if c.Embedded != nil && len(c.Embedded.Versions(t.Name)) > 0 {
			fmt.Fprintf(&b, "; there is one of %s", strings.Join(c.Embedded.Versions(t.Name), ", "))
		}
		profile := "device"
		if r.Source("pypi") != nil || r.Source("maven") != nil { // a registry has it for everybody
			profile = ProfileEmulator
		}
		fmt.Fprintf(&b, "; with another profile (`--profile %s`) the real one is taken", profile)
	}
	for _, w := range why {
		if w != "" {
			fmt.Fprintf(&b, "; %s", w)
		}
	}
	if s := r.Source("installed"); s != nil && !simulated && len(s.Env) > 0 {
		fmt.Fprintf(&b, "; where a copy is installed, set %s to its root", strings.Join(s.Env, " or "))
	}
	if t.DownloadPage != "" && !simulated {
		fmt.Fprintf(&b, "; get it from its page, %s", t.DownloadPage)
	}
	if t.Licence != "" && !simulated {
		fmt.Fprintf(&b, " (%s)", t.Licence)
	}
	return &availabilityError{b.String()}
}

type availabilityError struct{ text string }

func (e *availabilityError) Error() string { return e.text }
func (e *availabilityError) Unwrap() error { return ErrNotAvailable }

// With returns a copy of the catalogue in which the release has the source instead of its others of the same kind. A
// release that is not in the catalogue is one with this source only.
func (c *Catalogue) With(name, version string, s *Source) *Catalogue {
	copied := *c
	out := &copied
	out.Toolchains = nil
	found := false
	for _, t := range c.Toolchains {
		if t.Name != name {
			out.Toolchains = append(out.Toolchains, t)
			continue
		}
		found = true
		if version == "" {
			version = t.Default
		}
		copied := *t
		copied.Releases = nil
		rel := &Release{Release: &qnn.Release{Version: version}}
		for _, r := range t.Releases {
			if r.Version != version {
				copied.Releases = append(copied.Releases, r)
				continue
			}
			own := *r
			rel = &own
		}
		all := []*Source{s}
		for _, have := range rel.Sources {
			if have.Kind != s.Kind {
				all = append(all, have)
			}
		}
		rel.Sources = all
		copied.Releases = append(copied.Releases, rel)
		out.Toolchains = append(out.Toolchains, &copied)
	}
	if !found {
		out.Toolchains = append(out.Toolchains, &Toolchain{SDK: &qnn.SDK{Name: name}, Default: version, Releases: []*Release{{Release: &qnn.Release{Version: version}, Sources: []*Source{s}}}})
	}
	return out
}

// BuildID returns the SDK's build id: the whole one where it is known, else its beginning ("v2.41.0.251128"); "" for a
// toolchain that has none.
func (ch *Choice) BuildID() string {
	switch {
	case ch.Found.BuildID != "":
		return ch.Found.BuildID
	case ch.Source.Kind == "embedded" && ch.embeddedID != "":
		return ch.embeddedID
	case ch.Release.BuildID != "":
		return ch.Release.BuildID
	}
	if id := ch.Spec.Verify.BuildID; id != nil {
		return id.Want
	}
	return ""
}
