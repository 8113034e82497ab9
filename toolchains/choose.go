package toolchains

import (
	"bytes"
	"cmp"
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
	Own     *Source // the only one that counts, also of a release that the catalogue does not have
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
}

// ErrNotAvailable is what Choose returns, wrapped, when no source gives the release; the text says what to do.
var ErrNotAvailable = errors.New("can't be had")

// EmbeddedFile is the path at which the fetch tool expects the archive of an embedded source.
const EmbeddedFile = "archive.zip"

// Choose settles where a release comes from.
func (c *Catalogue) Choose(q Request) (*Choice, error) {
	c = c.For(q)
	if q.Own != nil {
		q.Source = q.Own.Kind
	}
	t, r, err := c.Find(q.Name, q.Version)
	if err != nil {
		return nil, err
	}
	ch := &Choice{Toolchain: t, Release: r}
	for _, kind := range t.order(r, q) {
		if ch.Source = r.Source(kind); ch.Source == nil {
			continue
		}
		ok, reason, err := ch.take(c, q)
		switch {
		case err != nil && len(ch.Notes) > 0:
			return nil, fmt.Errorf("%s %s: %w; passed over: %s", t.Name, r.Version, err, strings.Join(ch.Notes, "; "))
		case err != nil:
			return nil, fmt.Errorf("%s %s: %w", t.Name, r.Version, err)
		case ok:
			return ch, nil
		case reason != "":
			ch.Notes = append(ch.Notes, reason)
		}
	}
	return nil, c.notAvailable(t, r, q, ch.Notes)
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
		if c.Embedded == nil {
			return false, "", errors.New("nothing is embedded in this program")
		}
		var id string
		if spec.StripPrefix, id, err = c.Embedded.Root(t.Name, r.Version); err != nil {
			return false, "", err
		}
		if check := spec.Layout.Verify.BuildID; check != nil && id != "" {
			check.Want = id // the catalogue's is Qualcomm's
		}
		ch.Archive = func() ([]byte, error) {
			var b bytes.Buffer
			err := c.Embedded.Archive(&b, t.Name, r.Version)
			return b.Bytes(), err
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
	var says []string
	from := ""
	simulated := q.Source == "" && q.simulated()
	switch {
	case q.Source != "" && r.Source(q.Source) == nil:
		from = fmt.Sprintf(" from source %q: the catalogue has none of that kind for it", q.Source)
	case q.Source != "":
		from = fmt.Sprintf(" from source %q", q.Source)
	case simulated:
		from = " in profile \"simulated\": hexmage has no simulated SDK of this release"
		if c.Embedded != nil && len(c.Embedded.Versions(t.Name)) > 0 {
			says = append(says, "there is one of "+strings.Join(c.Embedded.Versions(t.Name), ", "))
		}
		profile := "device"
		if r.Source("pypi") != nil || r.Source("maven") != nil { // a registry has it for everybody
			profile = ProfileEmulator
		}
		says = append(says, fmt.Sprintf("with another profile (`--profile %s`) the real one is taken", profile))
	}
	says = append(says, why...)
	if s := r.Source("installed"); s != nil && !simulated && len(s.Env) > 0 {
		says = append(says, fmt.Sprintf("where a copy is installed, set %s to its root", strings.Join(s.Env, " or ")))
	}
	if t.DownloadPage != "" && !simulated {
		says = append(says, "get it from its page, "+t.DownloadPage)
	}
	text := strings.Join(append([]string{from}, says...), "; ")
	if t.Licence != "" && !simulated {
		text += " (" + t.Licence + ")"
	}
	return fmt.Errorf("%s %s %w%s", t.Name, r.Version, ErrNotAvailable, text)
}

// For returns the catalogue with what the request itself says of the release.
func (c *Catalogue) For(q Request) *Catalogue {
	if q.Own == nil {
		if q.Source == "installed" {
			return c.learn(q.Name, q.Version, q.Machine)
		}
		return c
	}
	if q.Own.Kind == "installed" {
		c = c.learn(q.Name, q.Version, q.Machine, q.Own.Paths...)
	}
	version := q.Version
	if t := c.toolchain(q.Name); t != nil && version == "" {
		version = t.Default
	}
	r := &Release{Release: &qnn.Release{Version: version}}
	if _, have, err := c.Find(q.Name, version); err == nil {
		r = have
	}
	return c.with(q.Name, r, q.Own)
}

// with returns a copy of the catalogue with the release, which has the source instead of its others of the same kind.
func (c *Catalogue) with(name string, r *Release, s *Source) *Catalogue {
	out, own := *c, *r
	others := slices.DeleteFunc(slices.Clone(r.Sources), func(h *Source) bool { return h.Kind == s.Kind })
	own.Sources = append(others, s)
	t := Toolchain{SDK: &qnn.SDK{Name: name}, Default: r.Version}
	if have := c.toolchain(name); have != nil {
		t = *have
	}
	t.Releases = slices.DeleteFunc(slices.Clone(t.Releases), func(h *Release) bool { return h.Version == r.Version })
	t.Releases = append(t.Releases, &own)
	out.Toolchains = slices.DeleteFunc(slices.Clone(c.Toolchains), func(h *Toolchain) bool { return h.Name == name })
	out.Toolchains = append(out.Toolchains, &t)
	return &out
}

// BuildID returns the SDK's build id: the whole one where it is known, else its beginning ("v2.41.0.251128"); "" for a
// toolchain that has none.
func (ch *Choice) BuildID() string {
	if id := ch.Spec.Verify.BuildID; id != nil && ch.Found.BuildID == "" {
		return id.Want
	}
	return cmp.Or(ch.Found.BuildID, ch.Release.BuildID)
}
