// Package relock pins releases: it asks the sources what there is and writes that into a lock.
//
// It is what `hexmage lock` does, and the only code that downloads something whose digest is not known before. What is pinned already
// is left alone, without asking anybody, unless it is to be pinned anew. The package does not read or write the lock's file.
package relock

import (
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

// Options say how to pin.
type Options struct {
	sources.Options
	Upgrade func(name string) bool // toolchains to pin anew although they are pinned; nil is none
	Lock    *toolchains.Lock       // all that is pinned, the shipped one's too: for uv, and interpreters
}

// Change is what became of one release.
type Change struct {
	Name     string `json:"name"`
	Version  string `json:"version"`
	Source   string `json:"source,omitempty"`
	Text     string `json:"text"` // for people: "pinned clang-22 1:22.1.8-1 …", "as before"
	Changed  bool   `json:"changed"`
	FirstUse bool   `json:"first_use"` // nobody vouches for what came: it is pinned as it was
}

// Update pins the releases in l, which it changes. A release whose digest the catalogue has is pinned with it, without a
// download. One without is got, unpacked and verified once, and pinned as it came; its archive stays in o.Downloads, so that fetching it
// costs nothing. Python environments come last: uv and an interpreter that the same call pins choose their packages. The
// changes up to an error are in l.
func Update(ctx context.Context, c *toolchains.Catalogue, l *toolchains.Lock, reqs []toolchains.Request, o Options) ([]Change, error) {
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
		q.Lock, q.Locking = nil, true // as if nothing was pinned
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
		if have != nil && (o.Upgrade == nil || !o.Upgrade(name)) && pinned(c, all, q) == nil {
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
			e, err = pin(ctx, ch, named.Options)
		}
		if err != nil {
			return changes, fmt.Errorf("lock %s: %w", ch.Spec.Name, err)
		}
		if have == nil || !equal(*have, *e) {
			change.Changed, change.Text, change.FirstUse = true, "pinned "+describe(e), e.Trust != ""
			if have != nil {
				change.Text = "pinned anew " + describe(e)
			}
			l.Set(e)
		}
		changes = append(changes, change)
	}
	return changes, nil
}

// Problem is a release that a lock does not pin as it is chosen.
type Problem struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Source  string `json:"source,omitempty"`
	What    string `json:"what"` // missing, stale, not available
	Why     string `json:"why"`  // with what to do
}

func (p Problem) String() string {
	return fmt.Sprintf("%s: %s %s: %s", p.What, p.Name, p.Version, p.Why)
}

// Check says which of the releases l does not pin as they are chosen. It asks nobody.
func Check(c *toolchains.Catalogue, l *toolchains.Lock, reqs []toolchains.Request) []Problem {
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

// pinned returns why l does not pin a release as it is chosen; nil if it does.
func pinned(c *toolchains.Catalogue, l *toolchains.Lock, q toolchains.Request) error {
	q.Lock, q.Locking = l, false
	ch, err := c.Choose(q)
	if err != nil || ch.Source.Kind != "embedded" {
		return err
	}
	_, sum, err := embedded(ch)
	if err == nil && sum != ch.Spec.SHA256 {
		err = fmt.Errorf("its simulation has changed: sha256 %s, locked is %s; run `hexmage lock %s %s`",
			sum, ch.Spec.SHA256, ch.Toolchain.Name, ch.Release.Version)
	}
	return err
}

func pin(ctx context.Context, ch *toolchains.Choice, o sources.Options) (*toolchains.Locked, error) {
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
	if e.SHA256 != "" && !ch.Spec.Parts || e.Tree != "" {
		return e, nil // the catalogue says it all
	}
	return e, learn(ctx, ch, e, o)
}

// embedded says what the archive of an embedded source is.
func embedded(ch *toolchains.Choice) (size int64, sha256sum string, err error) {
	b, err := ch.Archive()
	if err != nil {
		return 0, "", err
	}
	return int64(len(b)), fmt.Sprintf("%x", sha256.Sum256(b)), nil
}

// learn gets a release to find out what it is: its archive's digest, and the tree's. It is verified like any fetch.
func learn(ctx context.Context, ch *toolchains.Choice, e *toolchains.Locked, o sources.Options) error {
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
	learned, err := sources.Learn(ctx, ch.Spec, out, o)
	if err != nil {
		return err
	}
	if learned.URL != "" {
		e.URL = learned.URL
	}
	e.File, e.Size, e.SHA256, e.Tree = learned.File, learned.Size, learned.SHA256, learned.Tree
	if learned.Vouch {
		e.Trust = ""
	}
	if e.Tree == "" {
		e.Tree, err = unpack.Digest(ctx, out)
	}
	return err
}

// equal tells whether both are of the same files; their address may be another.
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
		text = "tree " + e.Tree
	}
	if e.File != "" {
		text = e.File + " " + text
	}
	if e.Size > 0 {
		text += fmt.Sprintf(", %d bytes", e.Size)
	}
	switch {
	case e.Source == "embedded":
		text += ", the simulation"
	case e.URL != "":
		text += ", from " + e.URL
	}
	return text
}
