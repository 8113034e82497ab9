package explain

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
)

// toolchains is the folder of an exec root in which toolchains appear, one each.
const toolchains = "toolchains"

// maxDepth is how deep folders may be.
const maxDepth = 500

// folders compares the two folders at a path of the exec root, one level deep, and goes into those that differ. A toolchain
// is one difference: what changed in an SDK is not what changed in the pipeline.
func (c *comparer) folders(at string, before, now digest.Digest) error {
	if strings.Count(at, "/") > maxDepth {
		return fmt.Errorf("folders are more than %d deep at %s", maxDepth, at)
	}
	o, err := merkle.Ref(before).Open(c.ctx, c.blobs)
	if err == nil {
		var n *merkle.Dir
		if n, err = merkle.Ref(now).Open(c.ctx, c.blobs); err == nil {
			return c.entries(at, o, n)
		}
	}
	if !gone(err) {
		return err
	}
	where := "in " + at
	if at == "" {
		where = "among the inputs"
	}
	c.Unknown = append(c.Unknown, fmt.Sprintf("what changed %s: it is no longer in the cache (%s → %s)", where, before.Short(), now.Short()))
	return nil
}

func (c *comparer) entries(at string, before, now *merkle.Dir) error {
	names := map[string]bool{}
	for _, d := range []*merkle.Dir{before, now} {
		for n := range d.Files {
			names[n] = true
		}
		for n := range d.Dirs {
			names[n] = true
		}
		for n := range d.Symlinks {
			names[n] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		p := path.Join(at, name)
		o, n := entry(before, name), entry(now, name)
		switch {
		case o == n:
		case at == toolchains:
			c.add(Difference{What: Toolchain, Name: name, Change: change(o != "", n != ""), Old: of(before, name), New: of(now, name)})
		case before.Dirs[name] != nil && now.Dirs[name] != nil:
			from, _ := before.Dirs[name].Ref()
			to, _ := now.Dirs[name].Ref()
			if err := c.folders(p, from, to); err != nil {
				return err
			}
		case before.Dirs[name] != nil && n == "" && p == toolchains, now.Dirs[name] != nil && o == "" && p == toolchains:
			if err := c.alone(p, before.Dirs[name], now.Dirs[name]); err != nil {
				return err
			}
		default:
			c.add(Difference{What: Input, Name: p, Change: change(o != "", n != ""), Old: o, New: n})
		}
	}
	return nil
}

// alone compares a folder with nothing.
func (c *comparer) alone(at string, before, now *merkle.Dir) error {
	empty := &merkle.Dir{}
	o, n := empty, empty
	var err error
	if before != nil {
		o, err = before.Open(c.ctx, c.blobs)
	} else {
		n, err = now.Open(c.ctx, c.blobs)
	}
	if gone(err) {
		c.Unknown = append(c.Unknown, "what is in "+at)
		return nil
	}
	if err != nil {
		return err
	}
	return c.entries(at, o, n)
}

// entry describes what has a name, "" for nothing. Things that differ have different descriptions.
func entry(d *merkle.Dir, name string) string {
	if f, ok := d.Files[name]; ok {
		s := fmt.Sprintf("%s (%d bytes)", f.Digest.Short(), f.Digest.Size())
		if f.Executable {
			s += ", executable"
		}
		return s
	}
	if sub := d.Dirs[name]; sub != nil {
		ref, _ := sub.Ref()
		return "folder " + ref.Short()
	}
	if to, ok := d.Symlinks[name]; ok {
		return "symlink to " + to
	}
	return ""
}

// of is the digest of a toolchain's root.
func of(d *merkle.Dir, name string) string {
	if sub := d.Dirs[name]; sub != nil {
		ref, _ := sub.Ref()
		return ref.Short()
	}
	return entry(d, name)
}
