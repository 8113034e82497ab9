// Package record turns edits into patches of a series: the difference of two folders, or the commits and uncommitted edits of a
// git work tree.
//
// Every patch it returns has been read again and applied to what was before, and gives what came after. It knows nothing of
// when a patch is needed, does not run git, and refuses what the engine does not apply: binary files, links, submodules.
package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/internal/srctree"
	"github.com/hexmage/hexmage/patches/series"
)

// Edit is one patch to be.
type Edit struct {
	Title string // one line
	Text  []byte // the unified diff
	Files []string
}

// ErrNothing says that there are no edits.
var ErrNothing = errors.New("there are no edits to record")

// Folders returns the difference of two folders as one edit. Version control folders do not count.
func Folders(ctx context.Context, before, after, title string) (Edit, error) {
	everything := func(string, bool) bool { return false }
	old, err := readFolder(ctx, before, everything)
	if err != nil {
		return Edit{}, err
	}
	now, err := readFolder(ctx, after, everything)
	if err != nil {
		return Edit{}, err
	}
	return edit(title, old, now)
}

// readFolder reads the files of a folder but those to skip.
func readFolder(ctx context.Context, dir string, skip func(name string, folder bool) bool) (map[string]srctree.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	files, err := srctree.Load(ctx, root.FS(), skip)
	if err != nil {
		return nil, fmt.Errorf("in %s: %w", dir, err)
	}
	return files, nil
}

// edit makes a patch of two states of a tree, and tries it.
func edit(title string, before, after map[string]srctree.File) (Edit, error) {
	names := map[string]bool{}
	for name := range before {
		names[name] = true
	}
	for name := range after {
		names[name] = true
	}
	var changes []series.Change
	old := map[string]srctree.File{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		c := series.Change{Name: name, Old: srctree.File{Deleted: true}, New: srctree.File{Deleted: true}}
		if f, ok := before[name]; ok {
			c.Old = f
		}
		if f, ok := after[name]; ok {
			c.New = f
		}
		if c.Old.Deleted == c.New.Deleted && c.Old.Mode == c.New.Mode && bytes.Equal(c.Old.Data, c.New.Data) {
			continue
		}
		if !c.Old.Deleted {
			old[name] = c.Old
		}
		changes = append(changes, c)
	}
	if len(changes) == 0 {
		return Edit{}, ErrNothing
	}
	text, err := series.Diff(changes)
	if err != nil {
		return Edit{}, err
	}
	e := Edit{Title: title, Text: text}
	p, err := series.Parse(title, bytes.NewReader(text))
	if err != nil {
		return Edit{}, err
	}
	e.Files = p.Files()
	tree := srctree.Of(old)
	r, err := p.Apply(tree, series.Options{})
	if err != nil || r.State != series.Applied || len(r.Moved) > 0 {
		return Edit{}, errors.Join(err, fmt.Errorf("the patch of %d files does not give what was edited", len(changes)))
	}
	for _, c := range changes {
		data, err := tree.Read(c.Name)
		if c.New.Deleted != (err != nil) || !c.New.Deleted && !bytes.Equal(data, c.New.Data) {
			return Edit{}, fmt.Errorf("the patch does not give %s as it was edited", c.Name)
		}
	}
	return e, nil
}

var notInNames = lazyregexp.New(`[^a-z0-9]+`)

// slug makes a part of a file's name from a title.
func slug(title string) string {
	s := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(title), "-"), "-")
	if len(s) > 52 {
		s = strings.Trim(s[:52], "-")
	}
	if s == "" {
		s = "edits"
	}
	return s
}
