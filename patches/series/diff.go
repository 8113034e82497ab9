package series

import (
	"bytes"
	"fmt"
	"io/fs"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
	"github.com/rogpeppe/go-internal/diff"

	"github.com/hexmage/hexmage/patches/srctree"
)

// DiffTree returns the tree's changes as one diff in git's format. Without changes, the diff is empty. A file with a
// zero byte is an error.
func DiffTree(t *srctree.Tree) ([]byte, error) {
	names, changed := t.Changes()
	var out bytes.Buffer
	for _, name := range names {
		old, err := t.Original(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		now := changed[name]
		if old.Deleted && now.Deleted || old.Equal(now) {
			continue
		}
		if bytes.IndexByte(old.Data, 0) >= 0 || bytes.IndexByte(now.Data, 0) >= 0 {
			return nil, fmt.Errorf("%s: binary file: patches support only text", name)
		}
		f := gitdiff.File{OldName: name, NewName: name, IsNew: old.Deleted, IsDelete: now.Deleted}
		switch {
		case f.IsNew:
			f.OldName, f.NewMode = "", mode(now)
		case f.IsDelete:
			f.NewName, f.OldMode = "", mode(old)
		case old.Mode != now.Mode:
			f.OldMode, f.NewMode = mode(old), mode(now)
		}
		if text := diff.Diff("a", old.Data, "b", now.Data); len(text) > 0 {
			parsed, _, err := gitdiff.Parse(bytes.NewReader(text))
			if err != nil || len(parsed) != 1 {
				return nil, fmt.Errorf("%s: diff: %w", name, err)
			}
			f.TextFragments = parsed[0].TextFragments
		}
		out.WriteString(f.String())
	}
	return out.Bytes(), nil
}

// mode returns git's mode of a file.
func mode(f srctree.File) fs.FileMode {
	if f.Mode&0o100 != 0 {
		return 0o100755
	}
	return 0o100644
}
