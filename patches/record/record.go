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
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/internal/rooted"
	"github.com/hexmage/hexmage/patches/rename"
	"github.com/hexmage/hexmage/patches/series"
	"github.com/hexmage/hexmage/patches/srctree"
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

var numbered = lazyregexp.New(`^(\d{4})-.*\.patch$`)

// Write adds the edits to a range's folder, made if it is not there: numbered *.patch files behind those that it has, and an entry
// for each in rules.hcl, with when if it is given. It returns the files' names. On an error the folder is as it was.
func Write(dir string, edits []Edit, when *rename.When) (names []string, err error) {
	made := false
	if err := os.Mkdir(dir, 0o777); err == nil {
		made = true
	} else if !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	var written []string
	defer func() {
		if err == nil {
			return
		}
		for _, f := range written {
			os.Remove(f)
		}
		if made {
			os.Remove(dir)
		}
	}()
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	last := 0
	for _, e := range entries {
		if m := numbered.FindStringSubmatch(e.Name()); m != nil {
			n, err := strconv.Atoi(m[1])
			if err != nil {
				return nil, err
			}
			last = max(last, n)
		}
	}
	if last+len(edits) > 9999 {
		return nil, fmt.Errorf("%s has no number left below 9999", dir)
	}
	place, err := rooted.Resolve(dir, "rules.hcl")
	if err != nil {
		return nil, err
	}
	rules := place.Path
	old, err := os.ReadFile(rules)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	file, diags := hclwrite.ParseConfig(old, rules, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, errors.Join(diags.Errs()...)
	}
	for i, e := range edits {
		name := fmt.Sprintf("%04d-%s.patch", last+1+i, slug(e.Title))
		if err := writeNew(filepath.Join(dir, name), e.Text); err != nil {
			return nil, err
		}
		written = append(written, filepath.Join(dir, name))
		names = append(names, name)
		if len(file.Body().Blocks()) > 0 {
			file.Body().AppendNewline()
		}
		b := file.Body().AppendNewBlock("patch", []string{name}).Body()
		b.SetAttributeValue("description", cty.StringVal(e.Title))
		if when != nil {
			b.AppendNewline()
			w := b.AppendNewBlock("when", nil).Body()
			w.SetAttributeValue("header", cty.StringVal(when.Header))
			if when.Lacks != "" {
				w.SetAttributeValue("lacks", cty.StringVal(when.Lacks))
			}
			if when.Declares != "" {
				w.SetAttributeValue("declares", cty.StringVal(when.Declares))
			}
		}
	}
	next := rules + ".hexmage-new"
	if err := writeNew(next, hclwrite.Format(file.Bytes())); err != nil {
		return nil, err
	}
	written = append(written, next)
	return names, os.Rename(next, rules)
}

func writeNew(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
