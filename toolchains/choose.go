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

// Profiles that use hexmage's simulated SDKs. All other profiles reject these SDKs.
const (
	ProfileEmulator  = "emulator"  // Qualcomm's compiler and emulator from public packages; the phone is simulated
	ProfileSimulated = "simulated" // no software from Qualcomm
)

// Request asks for a release of a toolchain.
type Request struct {
	Name    string
	Version string   // "": the default release
	Source  string   // the only kind of source to use; "": all kinds, in the profile's order
	Only    []string // patterns of the files to use; none: the source's own patterns
	Profile string   // "simulated" and "emulator" use simulated SDKs; other profiles never do
	Lock    *Lock
	Machine Machine
	Locking bool    // whether digests may be missing, because the caller adds them
	Own     *Source // the only source to use; the catalog need not contain the release
}

// Choice is the selected source of a release.
type Choice struct {
	Toolchain *Toolchain
	Release   *Release
	Source    *Source
	Spec      sources.Spec           // spec of the fetch tool; for an installed SDK, the tool only verifies
	Archive   func() ([]byte, error) // returns the bytes of Spec.File, for an embedded source
	Host      string                 // for an installed SDK: its root on this machine
	Found     Installed              // for an installed SDK: the data in its files
	Notes     []string               // reasons why other sources were skipped
	Packages  *Environment           // for a Python environment: its parts
	OnTrust   bool                   // whether the digest was not compared with the whole archive's digest
}

// ErrNotAvailable means that no source provides the release. Choose wraps it in a message with the next step.
var ErrNotAvailable = errors.New("is not available")

// EmbeddedFile is the path at which the fetch tool finds an embedded source's archive.
const EmbeddedFile = "archive.zip"

// Choose selects the source of a release.
func (c *Catalog) Choose(q Request) (*Choice, error) {
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
			return nil, fmt.Errorf("%s %s: %w; skipped sources: "+
				"%s", t.Name, r.Version, err, strings.Join(ch.Notes, "; "))
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

// Absent returns a choice for a release that no source provides, so that a plan can list the missing parts. The choice
// contains the catalog's data, but its spec cannot run.
func (c *Catalog) Absent(q Request) (*Choice, error) {
	t, r, err := c.Find(q.Name, q.Version)
	if err != nil {
		return nil, err
	}
	return &Choice{Toolchain: t, Release: r, Source: &Source{Kind: "manual"},
		Spec: sources.Spec{Kind: sources.KindArchive, Name: t.Name + " " + r.Version, Release: r.Version, Layout: unpack.Layout{Verify: t.Verify(r)}}}, nil
}

// order returns the kinds of sources to try, in order.
func (t *Toolchain) order(r *Release, q Request) []string {
	switch {
	case q.Source != "":
		return []string{q.Source}
	case q.Profile == ProfileEmulator && r.Source("embedded") != nil:
		return []string{"embedded"}
	case q.simulated():
		if t.License == "" { // without a license to accept
			return []string{"embedded", "deb", "pypi", "python"}
		}
		return []string{"embedded", "deb"}
	case r.Source("deb") != nil:
		return []string{"deb"}
	}
	return []string{"installed", "archive", "maven", "pypi", "python", "qsc", "qpm", "manual"}
}

// simulated reports whether simulated SDKs precede real ones.
func (q Request) simulated() bool { return q.Profile == ProfileSimulated || q.Profile == "" }

// take fills in the spec for the chosen source. If the source cannot be used on this machine, ok is false, with a
// reason.
func (ch *Choice) take(c *Catalog, q Request) (ok bool, reason string, err error) {
	t, r, s := ch.Toolchain, ch.Release, ch.Source
	spec := sources.Spec{Name: t.Name + " " + r.Version, Release: r.Version, Layout: unpack.Layout{Only: s.Only, Links: s.links(), Wraps: s.Wraps, Verify: t.Verify(r)}}
	if len(q.Only) > 0 && s.Kind != "installed" {
		spec.Layout.Cut(q.Only)
	}
	switch s.Kind {
	case "embedded":
		if c.Embedded == nil {
			return false, "", errors.New("this build of hexmage has no simulated SDKs; use another source")
		}
		var id string
		if spec.StripPrefix, id, err = c.Embedded.Root(t.Name, r.Version); err != nil {
			return false, "", err
		}
		if check := spec.Layout.Verify.BuildID; check != nil && id != "" {
			check.Want = id // the catalog has Qualcomm's build id
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
			return false, "", fmt.Errorf("%s does not pin the simulated SDK; run `hexmage lock %s %s`",
				LockFile, t.Name, r.Version)
		}
	case "deb":
		spec.Kind, spec.Architecture, spec.Suite = sources.KindDeb, s.Architecture, s.Suite
		spec.Packages, err = lockedPackages(s, q.Lock.Find(t.Name, r.Version, "deb"))
		if err != nil && !q.Locking {
			return false, "", err
		}
	case "archive", "maven", "pypi", "qpm", "qsc":
		spec.License = t.License
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

// lockedPackages returns the packages of a deb source with their pins. An error names packages without a pin.
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
		return ps, fmt.Errorf("%s does not pin %s; run `hexmage lock`", LockFile, strings.Join(missing, ", "))
	}
	return ps, nil
}

// notAvailable returns the error for an unavailable release, with all ways to get it.
func (c *Catalog) notAvailable(t *Toolchain, r *Release, q Request, why []string) error {
	var says []string
	from := ""
	simulated := q.Source == "" && q.simulated()
	switch {
	case q.Source != "" && r.Source(q.Source) == nil:
		from = fmt.Sprintf(" from source %q, which the catalog does not list for this release", q.Source)
	case q.Source != "":
		from = fmt.Sprintf(" from source %q", q.Source)
	case simulated:
		from = " in profile \"simulated\", because hexmage does not simulate this release"
		if c.Embedded != nil && len(c.Embedded.Versions(t.Name)) > 0 {
			says = append(says, "simulated releases: "+strings.Join(c.Embedded.Versions(t.Name), ", "))
		}
		profile := "device"
		if r.Source("pypi") != nil || r.Source("maven") != nil { // a public registry has it
			profile = ProfileEmulator
		}
		says = append(says, fmt.Sprintf("to use the real SDK, choose another profile (`--profile %s`)", profile))
	}
	says = append(says, why...)
	if s := r.Source("installed"); s != nil && !simulated && len(s.Env) > 0 {
		says = append(says, fmt.Sprintf("to use an installed copy, set %s to the folder of the copy",
			strings.Join(s.Env, " or ")))
	}
	if t.DownloadPage != "" && !simulated {
		says = append(says, "to download the release, see "+t.DownloadPage)
	}
	text := strings.Join(append([]string{from}, says...), "; ")
	if t.License != "" && !simulated {
		text += " (" + t.License + ")"
	}
	return fmt.Errorf("%s %s %w%s", t.Name, r.Version, ErrNotAvailable, text)
}

// For returns the catalog, extended by the request's own source.
func (c *Catalog) For(q Request) *Catalog {
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

// with returns a copy of the catalog in which the source replaces the release's others of its kind.
func (c *Catalog) with(name string, r *Release, s *Source) *Catalog {
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

// BuildID returns the SDK's build id, or "". If only its beginning is known, BuildID returns the beginning
// ("v2.41.0.251128").
func (ch *Choice) BuildID() string {
	if id := ch.Spec.Verify.BuildID; id != nil && ch.Found.BuildID == "" {
		return id.Want
	}
	return cmp.Or(ch.Found.BuildID, ch.Release.BuildID)
}
