// Package relock pins releases: it asks the sources what there is and writes that into a lock.
//
// It is what `hexmage lock` does, and the only code that downloads something whose digest is not known before. What is pinned already
// is left alone, without asking anybody, unless it is to be pinned anew. The package does not read or write the lock's file.
package relock

import (
	"context"
	"crypto/sha256"
	"errors"
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
// costs nothing. The changes up to an error are in l.
func Update(ctx context.Context, c *toolchains.Catalogue, l *toolchains.Lock, reqs []toolchains.Request, o Options) ([]Change, error) {
	var changes []Change
	for _, q := range reqs {
		q.Lock, q.Locking = nil, true // as if nothing was pinned
		ch, err := c.Choose(q)
		if err != nil {
			return changes, err
		}
		name, version, source := ch.Toolchain.Name, ch.Release.Version, ch.Source.Kind
		have := l.Find(name, version, source)
		change := Change{Name: name, Version: version, Source: source, Text: "as before"}
		if have != nil && (o.Upgrade == nil || !o.Upgrade(name)) {
			stale, err := outdated(ch, have)
			if err != nil {
				return changes, fmt.Errorf("lock %s: %w", ch.Spec.Name, err)
			}
			if stale == "" {
				changes = append(changes, change)
				continue
			}
		}
		named := o.Options
		if say := o.Progress; say != nil {
			named.Progress = func(done, total int64, text string) { say(done, total, ch.Spec.Name+": "+text) }
		}
		var e *toolchains.Locked
		if ch.Packages != nil {
			all := o
			all.Options, all.Lock = named, l.Over(o.Lock)
			e, err = environment(ctx, c, q, ch, all)
		} else {
			e, err = pin(ctx, ch, named)
		}
		if err != nil {
			return changes, fmt.Errorf("lock %s: %w", ch.Spec.Name, err)
		}
		if e == nil {
			continue // nothing to pin: installed
		}
		if have == nil || !equal(have, e) {
			if err := agree(l, e); err != nil {
				return changes, fmt.Errorf("lock %s: %w", ch.Spec.Name, err)
			}
			change.Changed, change.Text, change.FirstUse = true, describe(have, e), e.Trust != ""
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

// Check says which of the releases l does not pin as they are chosen, and which of its entries contradict each other. It asks nobody.
func Check(c *toolchains.Catalogue, l *toolchains.Lock, reqs []toolchains.Request) []Problem {
	var out []Problem
	for _, q := range reqs {
		q.Lock, q.Locking = nil, true
		ch, err := c.Choose(q)
		if err != nil {
			out = append(out, Problem{Name: q.Name, Version: q.Version, What: "not available", Why: err.Error()})
			continue
		}
		p := Problem{Name: ch.Toolchain.Name, Version: ch.Release.Version, Source: ch.Source.Kind}
		if have := l.Find(p.Name, p.Version, p.Source); have != nil {
			why, err := outdated(ch, have)
			if err != nil {
				why = err.Error()
			}
			if why != "" {
				p.What, p.Why = "stale", why
				out = append(out, p)
			}
			continue
		}
		q.Lock, q.Locking = l, false
		if _, err := c.Choose(q); err != nil && !errors.Is(err, toolchains.ErrNotAvailable) {
			p.What, p.Why = "missing", strings.TrimPrefix(err.Error(), p.Name+" "+p.Version+": ")
			out = append(out, p)
		}
	}
	all := l.All()
	for i, e := range all {
		for _, other := range all[i+1:] {
			if err := contradiction(e, other); err != nil {
				out = append(out, Problem{Name: e.Name, Version: e.Version, What: "stale", Why: err.Error()})
			}
		}
	}
	return out
}

// outdated says why an entry is not what the release's source is now; "" when it is, as far as can be told without asking anybody.
func outdated(ch *toolchains.Choice, have *toolchains.Locked) (string, error) {
	again := fmt.Sprintf("run `hexmage lock --upgrade %s`", have.Name)
	switch have.Source {
	case "embedded":
		size, sum, err := embedded(ch)
		if err != nil {
			return "", err
		}
		if size != have.Size || sum != have.SHA256 {
			return fmt.Sprintf("its simulation has changed: sha256 %s, locked is %s; run `hexmage lock %s %s`", sum, have.SHA256, have.Name, have.Version), nil
		}
	case "python":
		if have.Asked != ch.Packages.Asked.Digest() {
			return "it is asked for other packages by now; run `hexmage lock`", nil
		}
	case "deb":
		var locked, wanted []string
		for _, p := range have.Packages {
			locked = append(locked, p.Name)
		}
		for _, p := range ch.Spec.Packages {
			wanted = append(wanted, p.Name)
		}
		slices.Sort(locked)
		slices.Sort(wanted)
		if !slices.Equal(locked, wanted) {
			return fmt.Sprintf("the catalogue has it of the packages %q, locked are %q; %s", wanted, locked, again), nil
		}
	default:
		for what, is := range map[string][2]string{"sha256": {ch.Spec.SHA256, have.SHA256}, "tree": {ch.Spec.Tree, have.Tree}} {
			if is[0] != "" && is[1] != "" && is[0] != is[1] {
				return fmt.Sprintf("the catalogue has the %s %s for it, locked is %s: find out which is right; to take the catalogue's, %s", what, is[0], is[1], again), nil
			}
		}
		if have.SHA256 == "" && have.Tree == "" {
			return "it is locked without a digest; " + again, nil
		}
	}
	return "", nil
}

// agree refuses an entry that says of a release what another source's entry denies.
func agree(l *toolchains.Lock, e *toolchains.Locked) error {
	for _, other := range l.All() {
		if err := contradiction(other, e); err != nil {
			return err
		}
	}
	return nil
}

// contradiction compares two entries of one release. Simulations and packages of the distribution are other things by the same name.
func contradiction(a, b *toolchains.Locked) error {
	differ := func(e *toolchains.Locked) bool {
		return e.Source == "embedded" || e.Source == "deb" || e.Source == "python"
	}
	if a == b || a.Name != b.Name || a.Version != b.Version || a.Source == b.Source || differ(a) || differ(b) {
		return nil
	}
	for what, is := range map[string][2]string{"sha256": {a.SHA256, b.SHA256}, "tree digest": {a.Tree, b.Tree}} {
		if is[0] != "" && is[1] != "" && is[0] != is[1] {
			return fmt.Errorf("two sources have different files for %s %s: %s has the %s %s, %s has %s; one of them is not what it says: find out which, and take its entry out of %s",
				a.Name, a.Version, origin(a), what, is[0], origin(b), is[1], toolchains.LockFile)
		}
	}
	return nil
}

func origin(e *toolchains.Locked) string {
	if e.URL != "" {
		return "source \"" + e.Source + "\" (" + e.URL + ")"
	}
	return "source \"" + e.Source + "\""
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
	case "installed":
		return nil, nil
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

func equal(a, b *toolchains.Locked) bool {
	return a.Source == b.Source && a.Size == b.Size && a.SHA256 == b.SHA256 && a.Tree == b.Tree &&
		a.Trust == b.Trust && a.File == b.File && a.Asked == b.Asked &&
		reflect.DeepEqual(a.Wheels, b.Wheels) && slices.Equal(a.Packages, b.Packages)
}

func describe(before, after *toolchains.Locked) string {
	verb := "pinned"
	if before != nil {
		verb = "pinned anew"
	}
	if after.Source == "deb" {
		text := verb
		for i, p := range after.Packages {
			if i > 0 {
				text += ","
			}
			text += " " + p.Name + " " + p.Version
		}
		return text
	}
	text := verb
	if after.Source == "python" {
		var size int64
		var names []string
		for _, w := range after.Wheels {
			size += w.Size
			names = append(names, w.Project+" "+w.Version)
		}
		return fmt.Sprintf("%s %d packages, %s: %s", verb, len(after.Wheels), bytesize.Decimal(size), strings.Join(names, ", "))
	}
	if after.File != "" {
		text += " " + after.File
	}
	if after.SHA256 != "" {
		text += " sha256 " + after.SHA256
	} else {
		text += " tree " + after.Tree
	}
	if after.Size > 0 {
		text += fmt.Sprintf(", %d bytes", after.Size)
	}
	switch {
	case after.Source == "embedded":
		text += ", the simulation"
	case after.URL != "":
		text += ", from " + after.URL
	}
	return text
}
