package history

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/tool"
)

// Difference lists the inputs that differ between two cache keys.
type Difference struct {
	// changed arguments, environment variables, tools and other inputs; each name begins with one of the words below
	Changes []Change
	More    int      // the number of further changes
	Unknown []string // comparisons that were not possible, with the reason
}

// The first word of a change's name, in display order. The comments say what follows the word.
const (
	Argument  = "argument"  // then its number, or its name in the document of a built-in tool
	Variable  = "variable"  // an environment variable, then its name
	Toolchain = "toolchain" // then its name
	Program   = "program"   // a program of the host, then its name
	Property  = "property"  // a platform property, then its name
	Input     = "input"     // then its path in the exec root
	Output    = "output"    // then its path in the exec root
	Caching   = "caching"
)

// Limits for comparing actions, because a document may come from an untrusted source.
const (
	maxActionChanges = 1000
	maxInside        = 20
	maxDepth         = 200
	maxEntries       = 2 << 20 // of folders, over all compared actions
)

const gone = "the document does not contain the inputs, because the cache evicted them before the export"

// DiffActions compares the cache keys of two actions: action a of document x, and action b of document y. If outline is
// true, it does not compare single files of toolchains, because many actions share one SDK with thousands of folders.
func DiffActions(x *Document, a *Action, y *Document, b *Action, outline bool) Difference {
	c := newComparer(x, y)
	c.outline = outline
	return c.actions(a, b)
}

// comparer compares actions of two documents.
type comparer struct {
	x, y *Document
	left int // how many more folder entries it may read

	outline bool // omit the files of toolchains
}

func newComparer(x, y *Document) *comparer { return &comparer{x: x, y: y, left: maxEntries} }

func (c *comparer) actions(a, b *Action) (d Difference) {
	if a.Key == b.Key {
		return d
	}
	if a.Of == nil || b.Of == nil {
		d.Unknown = append(d.Unknown, gone)
		return d
	}
	d.arguments(arguments(a.Of), arguments(b.Of))
	rest := func(of map[string]string) map[string]string {
		of = maps.Clone(of)
		maps.DeleteFunc(of, func(name, _ string) bool { return isArgument(name) })
		return of
	}
	for _, change := range pairs(rest(a.Of), rest(b.Of)) { // named arguments come first
		d.add(change)
	}
	switch {
	case c.x.Digests != c.y.Digests:
		d.Unknown = append(d.Unknown, fmt.Sprintf("differences in inputs and programs (one run has %s digests, "+
			"the other %s digests)", c.x.Digests, c.y.Digests))
		d.Changes = slices.DeleteFunc(d.Changes, func(h Change) bool { return strings.HasPrefix(h.Name, Program+" ") })
	case a.Root != b.Root:
		c.folders(&d, "", a.Root, b.Root)
	}
	order := []string{Argument, Variable, Toolchain, Program, Property, Input, Output, Caching}
	rank := func(h Change) int {
		what, _, _ := strings.Cut(h.Name, " ")
		return slices.Index(order, what)
	}
	slices.SortStableFunc(d.Changes, func(h, k Change) int { return rank(h) - rank(k) })
	if len(d.Changes) == 0 && len(d.Unknown) == 0 {
		d.Unknown = append(d.Unknown, "the cache keys differ, but the documents do not contain the cause")
	}
	return d
}

func (d *Difference) add(c Change) {
	if len(d.Changes) >= maxActionChanges {
		d.More++
		return
	}
	d.Changes = append(d.Changes, c)
}

func isArgument(name string) bool {
	number, ok := strings.CutPrefix(name, Argument+" ")
	_, err := strconv.ParseUint(number, 10, 31)
	return ok && err == nil
}

// arguments returns the arguments of a command, in order.
func arguments(of map[string]string) (all []string) {
	for {
		arg, ok := of[Argument+" "+strconv.Itoa(len(all))]
		if !ok {
			return all
		}
		all = append(all, arg)
	}
}

// arguments compares the arguments between the common prefix and the common suffix.
func (d *Difference) arguments(a, b []string) {
	from := 0
	for from < len(a) && from < len(b) && a[from] == b[from] {
		from++
	}
	for len(a) > from && len(b) > from && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	at := func(all []string, i int) string {
		if i < len(all) {
			return all[i]
		}
		return ""
	}
	for i := from; i < max(len(a), len(b)); i++ {
		if x, y := at(a, i), at(b, i); x != y {
			d.add(Change{Name: Argument + " " + strconv.Itoa(i), A: x, B: y})
		}
	}
}

// folders compares two folders at a path of the exec root, level by level.
func (c *comparer) folders(d *Difference, at, a, b string) {
	where := cmp.Or(at, "the inputs")
	if !c.may(at) {
		d.unknown("other differences in " + where + " (too many entries to compare)")
		return
	}
	from, okA := c.x.folder(a)
	to, okB := c.y.folder(b)
	if !okA || !okB {
		d.unknown("differences in " + where + " (the cache evicted the files)")
		return
	}
	for _, h := range c.pairs(from, to) {
		p := path.Join(at, h.Name)
		dirA, isA := strings.CutPrefix(h.A, FolderPrefix)
		dirB, isB := strings.CutPrefix(h.B, FolderPrefix)
		switch {
		// the named arguments already show this change
		case p == tool.ArgsFile && len(d.Changes) > 0 && strings.HasPrefix(d.Changes[0].Name, Argument+" "):
		case at == toolchains:
			d.add(c.toolchain(h))
		case isA && isB, p == toolchains && (isA && h.B == "" || isB && h.A == ""):
			c.folders(d, p, dirA, dirB)
		default:
			d.add(Change{Name: Input + " " + p, A: h.A, B: h.B})
		}
	}
}

// folder returns a folder by its name. The empty name returns an empty folder.
func (d *Document) folder(ref string) (Folder, bool) {
	if f, ok := d.Trees[ref]; ok || ref == "" {
		return f, true
	}
	if d.Open == nil {
		return nil, false
	}
	return d.Open(ref)
}

func (d *Difference) unknown(text string) {
	if !slices.Contains(d.Unknown, text) && len(d.Unknown) < maxInside {
		d.Unknown = append(d.Unknown, text)
	}
}

// FolderPrefix begins the text for a subfolder in a Folder. The digest of the subfolder follows.
const FolderPrefix = "folder "

const toolchains = "toolchains" // the folder of an exec root that holds one folder for each toolchain

// may reports whether the limits allow another folder.
func (c *comparer) may(at string) bool { return c.left > 0 && strings.Count(at, "/") < maxDepth }

// pairs returns the names whose entries differ.
func (c *comparer) pairs(a, b Folder) []Change {
	c.left -= len(a) + len(b) + 1
	return pairs(a, b)
}

// toolchain returns the change of a toolchain, with its version and its changed files. Added and removed files come
// first, because they tell more than modified files.
func (c *comparer) toolchain(h Change) Change {
	of := func(d *Document, text string) string {
		text = strings.TrimPrefix(text, FolderPrefix)
		text = text[:min(len(text), 12)]
		if v := d.Toolchains[h.Name]; v != "" && text != "" {
			return v + " (" + text + ")"
		}
		return text
	}
	t := Change{Name: Toolchain + " " + h.Name, A: of(c.x, h.A), B: of(c.y, h.B)}
	if h.A == "" || h.B == "" || c.outline {
		return t
	}
	c.inside(&t, "", strings.TrimPrefix(h.A, FolderPrefix), strings.TrimPrefix(h.B, FolderPrefix))
	one := func(h Change) int {
		if h.A == "" || h.B == "" {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(t.Inside, func(x, y Change) int { return one(x) - one(y) })
	if n := len(t.Inside); n > maxInside {
		t.Inside, t.More = t.Inside[:maxInside], t.More+n-maxInside
	}
	return t
}

// inside adds the differences between two folders of a toolchain, as far as the documents contain them.
func (c *comparer) inside(t *Change, at, a, b string) {
	if !c.may(at) {
		return
	}
	from, okA := c.x.folder(a)
	to, okB := c.y.folder(b)
	if !okA || !okB {
		return // the document does not contain the files
	}
	for _, h := range c.pairs(from, to) {
		dirA, isA := strings.CutPrefix(h.A, FolderPrefix)
		dirB, isB := strings.CutPrefix(h.B, FolderPrefix)
		_, inX := c.x.folder(dirA)
		_, inY := c.y.folder(dirB)
		h.Name = path.Join(at, h.Name)
		switch {
		case isA && isB && inX && inY:
			c.inside(t, h.Name, dirA, dirB)
		case len(t.Inside) < maxActionChanges:
			t.Inside = append(t.Inside, h)
		default:
			t.More++
		}
	}
}
