// Package unpack makes the tree of a toolchain from archives that are there.
//
//	archives ─► Layout.Archives ─► internal/archive (what of them, and where) ─┐
//	a folder that a vendor's client made ─► Layout.Finish ◄────────────────────┘
//	                                          │ links and scripts are added, all of it is verified
//	                                          ▼ the tree, and its Digest
//
// There is a whole tree that passed every check, or none. The package does not know where the archives came from or whether they are
// the right ones, asks no network, and knows neither the catalogue nor the lock.
package unpack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/archive"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/toolchains/verify"
)

// Layout says what of the archives becomes the tree, what is added, and what must hold of it.
type Layout struct {
	StripPrefix string            `json:"strip_prefix,omitempty"` // the folder whose content is taken
	Only        []string          `json:"only,omitempty"`         // patterns of the files to take; none: all
	CaseMatters bool              `json:"case_matters,omitempty"` // names that differ in case only are fine
	Links       map[string]string `json:"links,omitempty"`        // path in the tree → target
	Wraps       []Wrap            `json:"wraps,omitempty"`
	Verify      verify.Checks     `json:"verify,omitzero"`
}

// Options are what a Layout does not say.
type Options struct {
	System   bool                                 // the archives are packages of a distribution: their links begin at its root
	Digest   func(sum string) error               // told the Digest of what was unpacked, before anything is added; its error is the result; may be nil
	Progress func(done, total int64, text string) // total 0: not known; called from any goroutine
}

// Check refuses paths that lead out of the tree.
func (l Layout) Check() error {
	ps := slices.Collect(maps.Keys(l.Links))
	for _, w := range l.Wraps {
		ps = append(append(ps, w.Path, w.Program), w.Libraries...)
	}
	slices.Sort(ps)
	for _, p := range ps {
		if !Local(p) {
			return fmt.Errorf("path %q leaves the tree", p)
		}
	}
	return nil
}

// Local tells whether a slash path is one of a tree, in its shortest form.
func Local(p string) bool {
	return p != "" && path.Clean(p) == p && !path.IsAbs(p) && p != ".." && !strings.HasPrefix(p, "../")
}

// Takes tells whether a member of an archive, by its name there, is one of those that are taken.
func (l Layout) Takes(name string) bool {
	name = strings.TrimSuffix(name, "/")
	if prefix := strings.Trim(l.StripPrefix, "/"); prefix != "" && prefix != "." {
		rest, ok := strings.CutPrefix(name, prefix+"/")
		if !ok {
			return false
		}
		name = rest
	}
	return l.keep(name)
}

func (l Layout) keep(name string) bool {
	return len(l.Only) == 0 || slices.ContainsFunc(l.Only, func(p string) bool { return doublestar.MatchUnvalidated(p, name) })
}

// Archives unpacks the archives, one over the other, to out, which does not exist or is empty; when it fails out is as it was.
func (l Layout) Archives(ctx context.Context, out string, o Options, archives ...string) error {
	o.Progress(0, 0, "unpack")
	err := archive.Unpack(ctx, out, archive.Options{
		StripPrefix:   l.StripPrefix,
		Keep:          l.keep,
		RelativeLinks: o.System,
		CaseMatters:   l.CaseMatters,
		Progress:      func(done, total int64) { o.Progress(done, total, "unpack") },
		Finish:        func(root *os.Root) error { return l.Finish(ctx, root, o) },
	}, archives...)
	return err
}

// Finish makes the tree of what is in the folder.
func (l Layout) Finish(ctx context.Context, root *os.Root, o Options) error {
	if o.Digest != nil {
		o.Progress(0, 0, "hash the tree")
		sum, err := Digest(ctx, root.Name())
		if err == nil {
			err = o.Digest(sum)
		}
		if err != nil {
			return err
		}
	}
	if _, err := root.Lstat(action.HostFile); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is a file %s in it, which would open the machine to what is run with it", action.HostFile)
	}
	for _, p := range slices.Sorted(maps.Keys(l.Links)) {
		if err := link(root, p, l.Links[p]); err != nil {
			return err
		}
	}
	for _, w := range l.Wraps {
		if err := w.write(root); err != nil {
			return err
		}
	}
	o.Progress(0, 0, "verify")
	return verify.Tree(ctx, root.Name(), l.Verify)
}

// link adds a link, unless the archive has something there.
func link(root *os.Root, name, to string) error {
	if _, err := root.Lstat(name); err == nil {
		return nil
	}
	if path.IsAbs(to) || strings.HasPrefix(path.Join(path.Dir(name), to), "..") {
		return fmt.Errorf("link %q points out of the tree: %q", name, to)
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	return root.Symlink(to, name)
}

// Digest is the digest of the folder dir: that of its root's Directory message, with SHA-256, as 64 hexadecimal digits.
// It says names, contents, which files are programs, and where links lead.
func Digest(ctx context.Context, dir string) (string, error) {
	d, err := merkle.Scan(ctx, merkle.HashFiles(digest.SHA256), dir, merkle.ScanOptions{})
	if err != nil {
		return "", err
	}
	root, _ := d.Encode(digest.SHA256)
	return root.Hex(), nil
}
