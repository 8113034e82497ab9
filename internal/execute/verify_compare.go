package execute

import (
	"context"
	"fmt"
	"path"
	"slices"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
)

// maxDifferences is how many differing files of one action are described; the rest is counted.
const maxDifferences = 20

// comparer compares what two runs of an action left.
type comparer struct {
	blobs store.Blobs
	roots string
	found []event.Difference
	more  int
}

func (c *comparer) add(d event.Difference) {
	if len(c.found) == maxDifferences {
		c.more++
		return
	}
	c.found = append(c.found, d)
}

func (c *comparer) results(ctx context.Context, first, second *action.Result) error {
	if first.ExitCode != second.ExitCode {
		d := event.Difference{Kind: "exit code", Offset: -1, Detail: fmt.Sprintf("%d, then %d", first.ExitCode, second.ExitCode)}
		if lines := lastLines(second.Stderr, 3); len(lines) > 0 {
			d.Lines = lines
		}
		c.add(d)
		return nil
	}
	return c.dirs(ctx, "", top(first), top(second))
}

// top is the folder that holds a result's outputs, under their whole paths.
func top(r *action.Result) map[string]merkle.Entry {
	all := map[string]merkle.Entry{}
	for _, f := range r.Files {
		all[f.Path] = merkle.Entry{File: &merkle.File{Digest: f.Digest, Executable: f.Executable}}
	}
	for _, d := range r.Dirs {
		all[d.Path] = merkle.Entry{Dir: merkle.Ref(d.Root)}
	}
	return all
}

func (c *comparer) dirs(ctx context.Context, at string, first, second map[string]merkle.Entry) error {
	names := make([]string, 0, len(first))
	for name := range first {
		names = append(names, name)
	}
	for name := range second {
		if _, ok := first[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		a, inFirst := first[name]
		b, inSecond := second[name]
		p := path.Join(at, name)
		switch {
		case !inSecond:
			c.add(event.Difference{Path: p, Kind: "missing", Offset: -1, Detail: "only the first run wrote this " + noun(a)})
		case !inFirst:
			c.add(event.Difference{Path: p, Kind: "extra", Offset: -1, Detail: "only the second run wrote this " + noun(b)})
		default:
			if err := c.entries(ctx, p, a, b); err != nil {
				return fmt.Errorf("%s: %w", p, err)
			}
		}
	}
	return nil
}

func noun(e merkle.Entry) string {
	switch {
	case e.File != nil:
		return "file"
	case e.Dir != nil:
		return "folder"
	}
	return "symlink"
}

func (c *comparer) entries(ctx context.Context, p string, a, b merkle.Entry) error {
	switch {
	case noun(a) != noun(b):
		c.add(event.Difference{Path: p, Kind: "type", Offset: -1, Detail: fmt.Sprintf("a %s, then a %s", noun(a), noun(b))})
	case a.Dir != nil:
		return c.folders(ctx, p, a.Dir, b.Dir)
	case a.File == nil:
		if a.Symlink != b.Symlink {
			c.add(event.Difference{Path: p, Kind: "content", Offset: -1, Detail: fmt.Sprintf("a symlink to %q, then to %q", a.Symlink, b.Symlink)})
		}
	case a.File.Digest != b.File.Digest:
		return c.files(ctx, p, *a.File, *b.File)
	case a.File.Executable != b.File.Executable:
		c.add(event.Difference{Path: p, Kind: "mode", Offset: -1, Detail: fmt.Sprintf("%s, then %s", mode(a.File), mode(b.File))})
	}
	return nil
}

func mode(f *merkle.File) string {
	if f.Executable {
		return "executable"
	}
	return "not executable"
}

// folders looks into folders only where their digests differ.
func (c *comparer) folders(ctx context.Context, p string, a, b *merkle.Dir) error {
	refA, okA := a.Ref()
	refB, okB := b.Ref()
	if okA && okB && refA == refB {
		return nil
	}
	a, err := a.Open(ctx, c.blobs)
	if err != nil {
		return err
	}
	if b, err = b.Open(ctx, c.blobs); err != nil {
		return err
	}
	return c.dirs(ctx, p, inside(a), inside(b))
}

func inside(d *merkle.Dir) map[string]merkle.Entry {
	all := map[string]merkle.Entry{}
	for name, f := range d.Files {
		all[name] = merkle.Entry{File: &f}
	}
	for name, sub := range d.Dirs {
		all[name] = merkle.Entry{Dir: sub}
	}
	for name, target := range d.Symlinks {
		all[name] = merkle.Entry{Symlink: target}
	}
	return all
}
