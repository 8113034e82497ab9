package series

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/hexmage/hexmage/patches/srctree"
)

// change is a file before and after.
type change struct {
	Name     string // slash path
	Old, New srctree.File
}

// DiffTree returns the tree's changes as one unified diff in git's form, empty if there are none. A deleted file and a
// new file with the same bytes are a rename. A file with a zero byte is an error.
func DiffTree(t *srctree.Tree) ([]byte, error) {
	names, changed := t.Changes()
	var changes []change
	for _, name := range names {
		old, err := t.Original(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		changes = append(changes, change{Name: name, Old: old, New: changed[name]})
	}
	from := map[string]string{} // new name to old
	gone := map[string]bool{}   // names that a rename tells
	for _, c := range changes {
		if !c.Old.Deleted || c.New.Deleted || len(c.New.Data) == 0 {
			continue
		}
		for _, d := range changes {
			if d.New.Deleted && !d.Old.Deleted && !gone[d.Name] && bytes.Equal(d.Old.Data, c.New.Data) && d.Old.Mode == c.New.Mode {
				from[c.Name], gone[d.Name] = d.Name, true
				break
			}
		}
	}
	var out bytes.Buffer
	for _, c := range changes {
		if c.Old.Deleted && c.New.Deleted || gone[c.Name] || c.Old.Equal(c.New) {
			continue
		}
		if !srctree.Safe(c.Name) {
			return nil, fmt.Errorf("%q is no path inside a source tree", c.Name)
		}
		a := c.Name
		if old, renamed := from[c.Name]; renamed {
			a = old
		}
		fmt.Fprintf(&out, "diff --git %s %s\n", quote("a/"+a), quote("b/"+c.Name))
		switch {
		case a != c.Name:
			fmt.Fprintf(&out, "similarity index 100%%\nrename from %s\nrename to %s\n", quote(a), quote(c.Name))
			continue
		case c.Old.Deleted:
			fmt.Fprintf(&out, "new file mode %s\n", mode(c.New))
		case c.New.Deleted:
			fmt.Fprintf(&out, "deleted file mode %s\n", mode(c.Old))
		case c.Old.Mode != c.New.Mode:
			fmt.Fprintf(&out, "old mode %s\nnew mode %s\n", mode(c.Old), mode(c.New))
		}
		if bytes.IndexByte(c.Old.Data, 0) >= 0 || bytes.IndexByte(c.New.Data, 0) >= 0 {
			return nil, fmt.Errorf("%s is not a text: a patch of it would be binary, which this engine does not apply", c.Name)
		}
		hunks := diff.Diff("a", c.Old.Data, "b", c.New.Data)
		for range 3 { // its own header
			_, hunks, _ = bytes.Cut(hunks, []byte("\n"))
		}
		if len(hunks) == 0 {
			continue
		}
		fmt.Fprintf(&out, "--- %s\n+++ %s\n", side("a/", c.Name, c.Old), side("b/", c.Name, c.New))
		out.Write(hunks)
	}
	return out.Bytes(), nil
}

func mode(f srctree.File) string {
	if f.Mode&0o100 != 0 {
		return "100755"
	}
	return "100644"
}

func side(prefix, name string, f srctree.File) string {
	if f.Deleted {
		return "/dev/null"
	}
	s := quote(prefix + name)
	if strings.Contains(s, " ") && s[0] != '"' {
		s += "\t" // so that a time cannot be taken for a part of the name
	}
	return s
}

// quote writes a name as git does: one with quotes or control characters as a C string.
func quote(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == 0x7f }) {
		return name
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(name) {
		switch c := name[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
