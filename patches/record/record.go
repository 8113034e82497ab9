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
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
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

// readFolder reads the regular files of a folder but those to skip, which is also asked about folders.
func readFolder(ctx context.Context, dir string, skip func(name string, folder bool) bool) (map[string]series.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	files := map[string]series.File{}
	return files, fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		switch {
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir() && name != "." && skip(name, true):
			return fs.SkipDir
		case d.IsDir() || skip(name, false):
		case d.Name() == ".git": // of a linked work tree
		case d.Type().IsRegular():
			files[name], err = readFile(root, name)
		case d.Type() != fs.ModeSymlink:
			return fmt.Errorf("%s in %s is neither a file nor a folder", name, dir)
		}
		return err
	})
}

func readFile(root *os.Root, name string) (series.File, error) {
	f, err := root.Open(name)
	if err != nil {
		return series.File{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return series.File{}, err
	}
	data, err := io.ReadAll(io.LimitReader(f, series.MaxFile+1))
	if err == nil && len(data) > series.MaxFile {
		err = fmt.Errorf("%s is larger than %d bytes", name, series.MaxFile)
	}
	return series.File{Data: data, Mode: fileMode(info.Mode()&0o100 != 0)}, err
}

func fileMode(executable bool) fs.FileMode {
	if executable {
		return 0o755
	}
	return 0o644
}

// edit makes a patch of two states of a tree, and tries it.
func edit(title string, before, after map[string]series.File) (Edit, error) {
	names := map[string]bool{}
	for name := range before {
		names[name] = true
	}
	for name := range after {
		names[name] = true
	}
	var changes []series.Change
	old := map[string]series.File{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		c := series.Change{Name: name, Old: series.File{Deleted: true}, New: series.File{Deleted: true}}
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
	tree := series.TreeOf(old)
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
