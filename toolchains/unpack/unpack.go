// Package unpack builds the tree of a toolchain from local archives.
//
//	archives ─► Layout.Archives ─► internal/archive: selected files and their paths ──┐
//	a folder of Qualcomm's client ─► Layout.Finish ◄──────────────────────────────────┘
//	                                          │ adds links and scripts, verifies everything:
//	                                          ▼ the tree, and its Digest
//
// It writes either a complete tree that passed every check, or nothing. The package does not know the origin of the
// archives or whether they are right. It uses no network, and does not know the catalog or the lock.
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

// Layout describes how to build a tree: the files from archives, additions, and checks.
type Layout struct {
	StripPrefix string            `json:"strip_prefix,omitempty"` // folder whose content becomes the tree
	Only        []string          `json:"only,omitempty"`         // patterns of the files to use; none: all
	CaseMatters bool              `json:"case_matters,omitempty"` // whether names may differ only in case
	Links       map[string]string `json:"links,omitempty"`        // path in the tree → target
	Wraps       []Wrap            `json:"wraps,omitempty"`
	Verify      verify.Checks     `json:"verify,omitzero"`
}

// Options configure unpacking.
type Options struct {
	System   bool                                 // whether the archives are packages of a distribution, whose links start at its root
	Digest   func(sum string) error               // receives the Digest of the unpacked files, before additions; if it returns an error, unpacking fails; may be nil
	Progress func(done, total int64, text string) // receives progress; total 0: unknown; called from any goroutine
}

// Check returns an error for paths outside the tree.
func (l Layout) Check() error {
	ps := slices.Collect(maps.Keys(l.Links))
	for _, w := range l.Wraps {
		ps = append(append(ps, w.Path, w.Program), w.Libraries...)
	}
	slices.Sort(ps)
	for _, p := range ps {
		if !Local(p) {
			return fmt.Errorf("path %q is outside the tree", p)
		}
	}
	return nil
}

// Local reports whether p is a slash path below the root, in its shortest form.
func Local(p string) bool {
	return p != "" && path.Clean(p) == p && !path.IsAbs(p) && p != ".." && !strings.HasPrefix(p, "../")
}

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

// Cut limits the layout to files that match the patterns, and removes the checks of other files.
func (l *Layout) Cut(only []string) {
	l.Only = only
	l.Verify = l.Verify.Cut(l.keep)
}

// Archives unpacks the archives in order into the folder out, which must be missing or empty. If Archives fails, out is
// unchanged.
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

// Finish adds links and scripts to the unpacked files in root, and checks the tree.
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
		return fmt.Errorf("the archive contains the reserved file %s, which would give programs access to the machine",
			action.HostFile)
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

// link adds a link, unless the archive has that path.
func link(root *os.Root, name, to string) error {
	if _, err := root.Lstat(name); err == nil {
		return nil
	}
	if path.IsAbs(to) || strings.HasPrefix(path.Join(path.Dir(name), to), "..") {
		return fmt.Errorf("link %q points outside the tree: %q", name, to)
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	return root.Symlink(to, name)
}

// Digest returns the SHA-256 of a folder's REAPI Directory message, as 64 hexadecimal digits. The digest covers names,
// contents, execute bits, and targets of links.
func Digest(ctx context.Context, dir string) (string, error) {
	d, err := merkle.Scan(ctx, merkle.HashFiles(digest.SHA256), dir, merkle.ScanOptions{})
	if err != nil {
		return "", err
	}
	root, _ := d.Encode(digest.SHA256)
	return root.Hex(), nil
}
