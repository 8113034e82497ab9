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

// Difference is in what an action was made of something else than another.
type Difference struct {
	// arguments, environment, tools, inputs, what else there is; their names begin with one of the words below
	Changes []Change
	More    int      // beyond those
	Unknown []string // what cannot be told, and why
}

// What the names of an action's changes begin with, in the order in which they are told.
const (
	Argument  = "argument"  // and its number, or its name in the document that a tool of hexmage's own is given
	Variable  = "variable"  // of the environment, and its name
	Toolchain = "toolchain" // and its name
	Program   = "program"   // of the host, and its name
	Property  = "property"  // of the platform, and its name
	Input     = "input"     // and its path in the exec root
	Output    = "output"    // and its path there
	Timeout   = "timeout"
	Caching   = "caching"
)

// Bounds of what is told, and of how long it is looked for: a document may be anybody's.
const (
	maxActionChanges = 1000
	maxInside        = 20
	maxDepth         = 200
	maxEntries       = 2 << 20 // in folders, of all actions that are compared
)

const gone = "what it was made of is not in the document: it was no longer in the cache when that was written"

// Differ compares the keys of action a of document x and action b of document y.
func Differ(x *Document, a *Action, y *Document, b *Action) Difference {
	return newComparer(x, y).actions(a, b)
}

// Outline is Differ without the files of toolchains: many actions have one SDK, and an SDK has thousands of folders.
func Outline(x *Document, a *Action, y *Document, b *Action) Difference {
	c := newComparer(x, y)
	c.outline = true
	return c.actions(a, b)
}

// comparer compares actions of two documents.
type comparer struct {
	x, y *Document
	left int // entries of folders that may be looked at yet

	outline bool // the files of toolchains are not compared
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
	for _, change := range pairs(rest(a.Of), rest(b.Of)) { // arguments with names come first
		d.add(change)
	}
	switch {
	case c.x.Digests != c.y.Digests:
		d.Unknown = append(d.Unknown, fmt.Sprintf("inputs and programs: the digests of one run are of %s, those of "+
			"the other of %s", c.x.Digests, c.y.Digests))
		d.Changes = slices.DeleteFunc(d.Changes, func(h Change) bool { return strings.HasPrefix(h.Name, Program+" ") })
	case a.Root != b.Root:
		c.folders(&d, "", a.Root, b.Root)
	}
	order := []string{Argument, Variable, Toolchain, Program, Property, Input, Output, Timeout, Caching}
	rank := func(h Change) int {
		what, _, _ := strings.Cut(h.Name, " ")
		return slices.Index(order, what)
	}
	slices.SortStableFunc(d.Changes, func(h, k Change) int { return rank(h) - rank(k) })
	if len(d.Changes) == 0 && len(d.Unknown) == 0 {
		d.Unknown = append(d.Unknown, "the keys differ, in nothing that the documents have")
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

// arguments are those of a command, in their order.
func arguments(of map[string]string) (all []string) {
	for {
		arg, ok := of[Argument+" "+strconv.Itoa(len(all))]
		if !ok {
			return all
		}
		all = append(all, arg)
	}
}

// arguments compares what is between the arguments that both have in common at the beginning and at the end.
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
		d.unknown("what else differs in " + where + ": there is too much of it")
		return
	}
	from, okA := c.x.folder(a)
	to, okB := c.y.folder(b)
	if !okA || !okB {
		d.unknown("what differs in " + where + ": its files are no longer known")
		return
	}
	for _, h := range c.pairs(from, to) {
		p := path.Join(at, h.Name)
		dirA, isA := strings.CutPrefix(h.A, FolderPrefix)
		dirB, isB := strings.CutPrefix(h.B, FolderPrefix)
		switch {
		// it is what has them
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

// folder returns a folder by its name. The empty name is an empty folder.
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

// FolderPrefix is what the text of a folder in a Folder begins with; its digest follows.
const FolderPrefix = "folder "

const toolchains = "toolchains" // the folder of an exec root in which toolchains are, one each

// may tells whether one more folder is to be looked at.
func (c *comparer) may(at string) bool { return c.left > 0 && strings.Count(at, "/") < maxDepth }

// pairs are the names at which two folders differ.
func (c *comparer) pairs(a, b Folder) []Change {
	c.left -= len(a) + len(b) + 1
	return pairs(a, b)
}

// toolchain is the change of a toolchain, with its version, and with what in it differs: files that only one has say
// more than files that are others.
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

// inside adds what differs in two folders of a toolchain, as far as the documents have them.
func (c *comparer) inside(t *Change, at, a, b string) {
	if !c.may(at) {
		return
	}
	from, okA := c.x.folder(a)
	to, okB := c.y.folder(b)
	if !okA || !okB {
		return // nothing tells which files are new
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
