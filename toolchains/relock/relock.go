// Package relock pins releases: it asks the sources what there is and writes that into a lock.
//
// It is what `hexmage lock` does, and the only code that downloads something whose digest is not known before. It does
// not read or write the lock's file.
package relock

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/toolchains"
	"github.com/hexmage/hexmage/toolchains/deb"
	"github.com/hexmage/hexmage/toolchains/fetchtool"
	"github.com/hexmage/hexmage/toolchains/open"
)

// Change is what became of one release.
type Change struct {
	Name, Version string
	Text          string // for people: "pinned clang-22 1:22.1.8-1 …", "as before"
	Changed       bool
}

// Update pins the releases in l, which it changes. An archive whose digest the catalogue has is pinned with it, without
// a download; one without a digest is downloaded once into o.Downloads and pinned as it came.
func Update(ctx context.Context, c *toolchains.Catalogue, l *toolchains.Lock, reqs []toolchains.Request, o fetchtool.Options) ([]Change, error) {
	var changes []Change
	for _, q := range reqs {
		q.Lock, q.Locking = nil, true // as if nothing was pinned
		ch, err := c.Choose(q)
		if err != nil {
			return changes, err
		}
		e, err := pin(ctx, ch, o)
		if err != nil {
			return changes, fmt.Errorf("lock %s: %w", ch.Spec.Name, err)
		}
		if e == nil {
			continue // nothing to pin: installed
		}
		change := Change{Name: e.Name, Version: e.Version, Text: "as before"}
		if have := l.Find(e.Name, e.Version, e.Source); have == nil || !equal(have, e) {
			change.Changed, change.Text = true, describe(have, e)
			l.Set(e)
		}
		changes = append(changes, change)
	}
	return changes, nil
}

// Check says which of the releases are not pinned in l as they are chosen.
func Check(c *toolchains.Catalogue, l *toolchains.Lock, reqs []toolchains.Request) []error {
	var errs []error
	for _, q := range reqs {
		q.Lock, q.Locking = l, false
		if _, err := c.Choose(q); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

func pin(ctx context.Context, ch *toolchains.Choice, o fetchtool.Options) (*toolchains.Locked, error) {
	e := &toolchains.Locked{Name: ch.Toolchain.Name, Version: ch.Release.Version, Source: ch.Source.Kind}
	switch ch.Source.Kind {
	case "deb":
		client := deb.Client{Dir: filepath.Join(o.Downloads, "deb"), Offline: o.Offline, Progress: o.Progress}
		ps, err := client.Index(ctx, ch.Spec.Packages)
		if err != nil {
			return nil, err
		}
		for _, p := range ps {
			e.Packages = append(e.Packages, &toolchains.LockedPackage{Name: p.Name, Version: p.Version, Arch: p.Arch, Size: p.Size, SHA256: p.SHA256})
		}
		return e, nil
	case "archive":
		e.URL = ch.Spec.URLs[0]
		if ch.Spec.SHA256 != "" && ch.Spec.Size > 0 {
			e.Size, e.SHA256 = ch.Spec.Size, ch.Spec.SHA256
			return e, nil
		}
		return e, download(ctx, ch, e, o)
	case "embedded":
		size, sum, err := open.Digest(e.Name, e.Version)
		e.Size, e.SHA256 = size, sum
		return e, err
	}
	return nil, nil
}

// download gets an archive to learn its digest. It stays in the downloads, so fetching it next costs nothing.
func download(ctx context.Context, ch *toolchains.Choice, e *toolchains.Locked, o fetchtool.Options) error {
	s := ch.Spec
	client := fetch.Client{Offline: o.Offline}
	if o.Progress != nil {
		client.Progress = func(done, total int64) { o.Progress(done, total, s.Name) }
	}
	tmp := filepath.Join(o.Downloads, "locking-"+e.Name+"-"+e.Version)
	r, err := client.Fetch(ctx, fetch.Source{URLs: s.URLs, Size: s.Size, SHA256: s.SHA256, SHA1: s.SHA1, MD5: s.MD5,
		Archive: true, UserAgent: s.UserAgent, HTTP1: s.HTTP1}, tmp)
	if err != nil {
		return err
	}
	if r.URL != "" {
		e.URL = r.URL
	}
	e.Size, e.SHA256 = r.Size, r.SHA256
	return os.Rename(tmp, filepath.Join(o.Downloads, r.SHA256))
}

func equal(a, b *toolchains.Locked) bool {
	if a.Source != b.Source || a.Size != b.Size || a.SHA256 != b.SHA256 || len(a.Packages) != len(b.Packages) {
		return false
	}
	for i := range a.Packages {
		if *a.Packages[i] != *b.Packages[i] {
			return false
		}
	}
	return true
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
	text := fmt.Sprintf("%s sha256 %s, %d bytes", verb, after.SHA256, after.Size)
	if after.Source == "embedded" {
		return text + ", the open stand-in"
	}
	return text + ", from " + after.URL
}
