// Package pin implements `hexmage lock`, which asks sources for releases and pins these releases in a lock.
//
// Only this package downloads files without a known digest. It keeps existing pins without asking a source, unless the
// caller requests new pins. It does not read or write the lock file.
package pin

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/bytesize"
	"github.com/hexmage/hexmage/toolchains"
	"github.com/hexmage/hexmage/toolchains/sources"
	"github.com/hexmage/hexmage/toolchains/sources/deb"
	"github.com/hexmage/hexmage/toolchains/unpack"
)

// Options configure Update.
type Options struct {
	sources.Options
	Upgrade func(name string) bool // toolchains to pin again; nil: none
	Whole   bool                   // download whole zips to pin their parts
	Ranges  bool                   // pin parts without downloading the whole zip
	Lock    *toolchains.Lock       // all pins, including shipped ones, for uv and interpreters
}

// Change is the result of Update for one release.
type Change struct {
	Name     string `json:"name"`
	Version  string `json:"version"`
	Source   string `json:"source,omitempty"`
	Text     string `json:"text"` // description: "pinned clang-22 1:22.1.8-1 …", "as before"
	Changed  bool   `json:"changed"`
	FirstUse bool   `json:"first_use"` // the publisher gives no digest: the pin is from the first download
	Ranges   bool   `json:"ranges"`    // parts were not compared with the whole zip
}

// Update pins the releases in the lock l. If the catalog contains a release's digest, Update pins this digest without a
// download. Otherwise, Update downloads, unpacks and verifies the release once. It keeps the archive in o.Downloads for
// the next fetch.
//
// Update pins Python environments last, because it may have to pin uv and interpreters first. After an error, l
// contains the changes so far.
func Update(ctx context.Context, c *toolchains.Catalog, l *toolchains.Lock, reqs []toolchains.Request, o Options) ([]Change, error) {
	var changes []Change
	last := func(q toolchains.Request) int {
		if _, r, err := c.For(q).Find(q.Name, q.Version); err == nil && r.Source("python") != nil {
			return 1
		}
		return 0
	}
	reqs = slices.Clone(reqs)
	slices.SortStableFunc(reqs, func(a, b toolchains.Request) int { return last(a) - last(b) })
	for _, q := range reqs {
		all := l.Over(o.Lock)         // with the changes so far
		q.Lock, q.Locking = nil, true // without the present pins
		ch, err := c.Choose(q)
		if err != nil {
			return changes, err
		}
		if ch.Source.Kind == "installed" { // nothing to pin
			continue
		}
		name, version, source := ch.Toolchain.Name, ch.Release.Version, ch.Source.Kind
		have := l.Find(name, version, source)
		change := Change{Name: name, Version: version, Source: source, Text: "as before"}
		if have != nil && (o.Upgrade == nil || !o.Upgrade(name)) && pinned(c, all, q) == nil && !o.parts(ch, have) {
			changes = append(changes, change)
			continue
		}
		named := o
		named.Progress = func(done, total int64, text string) {
			if o.Progress != nil {
				o.Progress(done, total, ch.Spec.Name+": "+text)
			}
		}
		var e *toolchains.Locked
		if named.Lock = all; ch.Packages != nil {
			e, err = environment(ctx, c, q, ch, named)
		} else {
			e, err = pin(ctx, ch, have, named)
		}
		if err != nil {
			return changes, fmt.Errorf("lock %s: %w", ch.Spec.Name, err)
		}
		if have == nil || !equal(*have, *e) {
			change.Changed, change.Text = true, "pinned "+describe(e)
			change.FirstUse = e.Trust != ""
			change.Ranges = slices.ContainsFunc(e.Parts, func(p *toolchains.LockedPart) bool { return p.Trust != "" })
			if have != nil {
				change.Text = "pinned again " + describe(e)
			}
			l.Set(e)
		}
		changes = append(changes, change)
	}
	return changes, nil
}

// Problem describes a requested release that the lock does not pin.
type Problem struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Source  string `json:"source,omitempty"`
	What    string `json:"what"` // missing, stale, not available
	Why     string `json:"why"`  // reason and next step
}

func (p Problem) String() string {
	return fmt.Sprintf("%s: %s %s: %s", p.What, p.Name, p.Version, p.Why)
}

// Check returns a Problem for each requested release that l does not pin. It uses no network.
func Check(c *toolchains.Catalog, l *toolchains.Lock, reqs []toolchains.Request) []Problem {
	var out []Problem
	for _, q := range reqs {
		q.Lock, q.Locking = nil, true
		p := Problem{Name: q.Name, Version: q.Version, What: "not available"}
		ch, err := c.Choose(q)
		if err == nil {
			p = Problem{Name: ch.Toolchain.Name, Version: ch.Release.Version, Source: ch.Source.Kind, What: "stale"}
			if l.Find(p.Name, p.Version, p.Source) == nil {
				p.What = "missing"
			}
			err = pinned(c, l, q)
		}
		if err != nil {
			p.Why = strings.TrimPrefix(err.Error(), p.Name+" "+p.Version+": ")
			out = append(out, p)
		}
	}
	return out
}

// pinned returns why l does not pin the choice of a release, or nil.
func pinned(c *toolchains.Catalog, l *toolchains.Lock, q toolchains.Request) error {
	q.Lock, q.Locking = l, false
	ch, err := c.Choose(q)
	if err != nil || ch.Source.Kind != "embedded" {
		return err
	}
	_, sum, err := embedded(ch)
	if err == nil && sum != ch.Spec.SHA256 {
		err = fmt.Errorf("the simulated SDK has sha256 %s, but the lock file pins %s; run `hexmage lock %s %s`",
			sum, ch.Spec.SHA256, ch.Toolchain.Name, ch.Release.Version)
	}
	return err
}

// parts reports whether to pin the choice's part of a zip. have may be nil.
func (o Options) parts(ch *toolchains.Choice, have *toolchains.Locked) bool {
	switch {
	case ch.Source.Kind != "archive" || len(ch.Spec.Only) == 0:
		return false
	case have == nil || have.Part(ch.Spec.Only) == nil:
		return o.Whole || o.Ranges
	}
	return o.Whole && have.Part(ch.Spec.Only).Trust != ""
}

func pin(ctx context.Context, ch *toolchains.Choice, have *toolchains.Locked, o Options) (*toolchains.Locked, error) {
	e := &toolchains.Locked{Name: ch.Toolchain.Name, Version: ch.Release.Version, Source: ch.Source.Kind}
	switch ch.Source.Kind {
	case "deb":
		client := deb.Client{Dir: filepath.Join(o.Downloads, "deb"), Architecture: ch.Spec.Architecture, Suite: ch.Spec.Suite, Offline: o.Offline, Progress: o.Progress}
		var err error
		e.Packages, err = client.Index(ctx, ch.Spec.Packages)
		return e, err
	case "embedded":
		var err error
		e.Size, e.SHA256, err = embedded(ch)
		return e, err
	}
	if len(ch.Spec.URLs) > 0 {
		e.URL = ch.Spec.URLs[0]
	}
	e.Size, e.SHA256, e.Tree = ch.Spec.Size, ch.Spec.SHA256, ch.Spec.Tree
	parts := o.parts(ch, have)
	switch {
	case have == nil:
	case e.SHA256 == "" && parts: // only the lock has a digest
		e.Size, e.SHA256, e.Trust = have.Size, have.SHA256, have.Trust
		ch.Spec.Size, ch.Spec.SHA256 = have.Size, have.SHA256
		fallthrough
	case e.SHA256 != "" && e.SHA256 == have.SHA256:
		e.Tree, e.Directory, e.Parts = cmp.Or(e.Tree, have.Tree), have.Directory, slices.Clone(have.Parts)
	}
	if (e.SHA256 != "" || e.Tree != "") && !parts {
		return e, nil // the catalog has all digests
	}
	return e, learn(ctx, ch, e, o.Options, o.Ranges && parts)
}

// embedded returns size and digest of an embedded source's archive.
func embedded(ch *toolchains.Choice) (size int64, sha256sum string, err error) {
	b, err := ch.Archive()
	if err != nil {
		return 0, "", err
	}
	return int64(len(b)), fmt.Sprintf("%x", sha256.Sum256(b)), nil
}

// learn gets a release to find the digests of its archive and tree, and verifies it like any fetch. With ranges it
// downloads only the parts, if the server sends ranges.
func learn(ctx context.Context, ch *toolchains.Choice, e *toolchains.Locked, o sources.Options, ranges bool) error {
	if !ch.Spec.Pinned() {
		e.Trust = toolchains.TrustOnFirstUse
	}
	if err := os.MkdirAll(o.Downloads, 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(o.Downloads, "locking-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	out := filepath.Join(tmp, "tree")
	spec := ch.Spec
	if spec.Parts = nil; ranges {
		spec.Parts = &sources.Parts{}
	}
	learned, err := sources.Learn(ctx, spec, out, o)
	if err != nil {
		return err
	}
	if learned.URL != "" {
		e.URL = learned.URL
	}
	if learned.SHA256 != "" {
		e.File, e.Size, e.SHA256 = learned.File, learned.Size, learned.SHA256
	}
	if learned.Vouch {
		e.Trust = ""
	}
	if p := learned.Parts; p.Directory != "" {
		if p.Directory != e.Directory {
			e.Parts = nil // they belong to another zip
		}
		part := &toolchains.LockedPart{Only: spec.Only, Size: p.Size, Tree: learned.Tree}
		if learned.Ranges {
			part.Trust = toolchains.TrustRanges
		}
		before := e.Part(spec.Only)
		same := func(p *toolchains.LockedPart) bool { return p == before }
		e.Directory, e.Parts = p.Directory, append(slices.DeleteFunc(e.Parts, same), part)
		return nil
	}
	if e.Tree = learned.Tree; e.Tree == "" {
		e.Tree, err = unpack.Digest(ctx, out)
	}
	return err
}

// equal reports whether both entries are for the same files. Addresses may differ.
func equal(a, b toolchains.Locked) bool {
	a.URL = b.URL
	return reflect.DeepEqual(a, b)
}

func describe(e *toolchains.Locked) string {
	var names []string
	for _, p := range e.Packages {
		names = append(names, p.Name+" "+p.Version)
	}
	var size int64
	for _, w := range e.Wheels {
		size += w.Size
		names = append(names, w.Project+" "+w.Version)
	}
	switch e.Source {
	case "deb":
		return strings.Join(names, ", ")
	case "python":
		return fmt.Sprintf("%d packages, %s: %s", len(names), bytesize.Decimal(size), strings.Join(names, ", "))
	}
	text := "sha256 " + e.SHA256
	if e.SHA256 == "" {
		text = "tree " + cmp.Or(e.Tree, "of some files")
	}
	if e.File != "" {
		text = e.File + " " + text
	}
	if e.Size > 0 {
		text += fmt.Sprintf(", %d bytes", e.Size)
	}
	if n := len(e.Parts); n > 0 {
		text += fmt.Sprintf(", with %d lists of files", n)
	}
	switch {
	case e.Source == "embedded":
		text += ", simulated"
	case e.URL != "":
		text += ", from " + e.URL
	}
	return text
}
