// Package explain says in what two actions differ.
//
// It reads the older action's messages from where executing leaves them, beside the result or in the store, and walks
// both trees of inputs side by side, into those folders only whose digests differ. It does not know pipelines or
// runs, and where something is no longer in the store it says so instead of guessing.
package explain

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
)

// What differs.
const (
	Toolchain = "toolchain"
	Input     = "input"
	Program   = "program" // of the host
	Argument  = "argument"
	Variable  = "variable" // of the environment
	Output    = "output"
	Property  = "property" // of the platform: executor, tool, network, …
	Timeout   = "timeout"
	Caching   = "caching"
)

// How it differs.
const (
	Changed = "changed"
	Added   = "added"
	Removed = "removed"
)

// Difference is one thing in which two actions differ.
type Difference struct {
	What string `json:"what"`
	// a slash path in the exec root, a toolchain, a variable, the number of an argument
	Name   string `json:"name,omitempty"`
	Change string `json:"change"`
	Old    string `json:"old,omitempty"` // a value, or a digest's first digits, with what else is to be said
	New    string `json:"new,omitempty"`
	From   string `json:"from,omitempty"` // where an input comes from: "workspace src/a.c"

	Inside     []Difference `json:"inside,omitempty"` // of a toolchain: what in it differs, where that is known
	MoreInside int          `json:"more_inside,omitempty"`
}

// Comparison is all in which two actions differ, as far as that is known.
type Comparison struct {
	Differences []Difference `json:"differences"`
	More        int          `json:"more,omitempty"`    // differences beyond the limit
	Unknown     []string     `json:"unknown,omitempty"` // what cannot be told, and why
}

// Compare says in what the actions differ: at most limit Differences, toolchains and inputs first. Both actions'
// Directory messages are looked for in the store; those that are not there are named in Comparison.Unknown.
func Compare(ctx context.Context, blobs store.Blobs, before, now *action.Action, limit int) (Comparison, error) {
	c := &comparer{blobs: blobs, limit: limit}
	if before.InputRoot != now.InputRoot {
		if err := c.folders(ctx, "", before.InputRoot, now.InputRoot); err != nil {
			return Comparison{}, err
		}
	}
	slices.SortStableFunc(c.Differences, func(a, b Difference) int { return rank(a) - rank(b) })
	c.pairs(programs(before.Command.Platform), programs(now.Command.Platform), Program)
	c.arguments(before.Command.Args, now.Command.Args)
	c.pairs(before.Command.Env, now.Command.Env, Variable)
	c.outputs(before.Command.Outputs, now.Command.Outputs)
	c.pairs(properties(before.Command.Platform), properties(now.Command.Platform), Property)
	if before.Timeout != now.Timeout {
		c.add(Difference{What: Timeout, Change: Changed, Old: before.Timeout.String(), New: now.Timeout.String()})
	}
	if before.DoNotCache != now.DoNotCache {
		c.add(Difference{What: Caching, Change: Changed, Old: caching(before), New: caching(now)})
	}
	return c.Comparison, nil
}

// rank puts toolchains before other inputs.
func rank(d Difference) int {
	if d.What == Toolchain {
		return 0
	}
	return 1
}

func caching(a *action.Action) string {
	if a.DoNotCache {
		return "off"
	}
	return "on"
}

type comparer struct {
	Comparison
	blobs store.Blobs
	limit int
}

func (c *comparer) add(d Difference) {
	if len(c.Differences) >= c.limit {
		c.More++
		return
	}
	d.Old, d.New = short(d.Old), short(d.New)
	c.Differences = append(c.Differences, d)
}

// maxValue is how many bytes of a value are shown.
const maxValue = 200

func short(s string) string {
	if len(s) <= maxValue {
		return s
	}
	return strings.ToValidUTF8(s[:maxValue], "") + "…"
}

// programs are the host programs among platform properties: their digests by name.
func programs(platform map[string]string) map[string]string {
	found := map[string]string{}
	for k, v := range platform {
		if name, ok := strings.CutPrefix(k, action.PropertyProgram); ok {
			found[name] = shortDigest(v)
		}
	}
	return found
}

// properties are the other platform properties.
func properties(platform map[string]string) map[string]string {
	found := map[string]string{}
	for k, v := range platform {
		if !strings.HasPrefix(k, action.PropertyProgram) {
			found[k] = v
		}
	}
	return found
}

func shortDigest(s string) string {
	if d, err := digest.Parse(s); err == nil {
		return d.Short()
	}
	return s
}

func (c *comparer) pairs(before, now map[string]string, what string) {
	names := maps.Clone(before)
	maps.Copy(names, now)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		o, had := before[name]
		n, has := now[name]
		if had && has && o == n {
			continue
		}
		c.add(Difference{What: what, Name: name, Change: change(had, has), Old: o, New: n})
	}
}

func change(had, has bool) string {
	switch {
	case !had:
		return Added
	case !has:
		return Removed
	}
	return Changed
}

// arguments compares what is between the arguments that both have in common at the beginning and at the end.
func (c *comparer) arguments(before, now []string) {
	from := 0
	for from < len(before) && from < len(now) && before[from] == now[from] {
		from++
	}
	endB, endN := len(before), len(now)
	for endB > from && endN > from && before[endB-1] == now[endN-1] {
		endB--
		endN--
	}
	for i := from; i < max(endB, endN); i++ {
		d := Difference{What: Argument, Name: strconv.Itoa(i), Change: change(i < endB, i < endN)}
		if i < endB {
			d.Old = before[i]
		}
		if i < endN {
			d.New = now[i]
		}
		if d.Change == Changed && d.Old == d.New {
			continue
		}
		c.add(d)
	}
}

func (c *comparer) outputs(before, now []string) {
	for _, o := range before {
		if !slices.Contains(now, o) {
			c.add(Difference{What: Output, Name: o, Change: Removed})
		}
	}
	for _, o := range now {
		if !slices.Contains(before, o) {
			c.add(Difference{What: Output, Name: o, Change: Added})
		}
	}
}

// gone tells whether the error only means that something is not in the store.
func gone(err error) bool {
	return errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrCorrupt)
}

// maxMessage is how large an Action or a Command may be, in bytes.
const maxMessage = 16 << 20

// Load finds an action that was executed once, and the store that has its messages: the results are asked first, if
// they are not nil, then the store. The error is store.ErrNotFound when the action is not known any more.
func Load(ctx context.Context, blobs store.Blobs, results store.Results,
	key digest.Digest) (*action.Action, store.Blobs, error) {
	if results != nil {
		if m, err := results.Messages(ctx, key); err == nil {
			blobs = store.Overlay(blobs, m)
		}
	}
	b, err := store.ReadBlob(ctx, blobs, key, maxMessage)
	if err != nil {
		return nil, nil, err
	}
	a, command, err := action.DecodeAction(b, key.Function())
	if err != nil {
		return nil, nil, err
	}
	if b, err = store.ReadBlob(ctx, blobs, command, maxMessage); err != nil {
		return nil, nil, err
	}
	a.Command, err = action.DecodeCommand(b)
	return a, blobs, err
}

// String is the difference in a line: "input src/a.c changed: 1a2b3c4d5e6f (12 bytes) → 99aabbccddee (14 bytes)".
func (d Difference) String() string {
	s := d.What
	if d.Name != "" {
		s += " " + d.Name
	}
	switch {
	case d.Change == Added && d.New != "":
		s += " is new: " + d.New
	case d.Change == Added:
		s += " is new"
	case d.Change == Removed && d.Old != "":
		s += " is gone: " + d.Old
	case d.Change == Removed:
		s += " is gone"
	default:
		s += fmt.Sprintf(" changed: %s → %s", d.Old, d.New)
	}
	if d.From != "" {
		s += "   from " + d.From
	}
	return s
}

// Reason is the difference in a few words: "src/a.c changed".
func (d Difference) Reason() string {
	name := d.Name
	switch {
	case d.What == Input && strings.HasPrefix(d.From, "workspace "):
		name = strings.TrimPrefix(d.From, "workspace ")
	case d.What == Input:
	case d.What == Argument:
		return argumentReason(d)
	case name == "":
		name = d.What
	default:
		name = d.What + " " + name
	}
	switch d.Change {
	case Added:
		return name + " is new"
	case Removed:
		return name + " is gone"
	}
	return name + " changed"
}

func argumentReason(d Difference) string {
	cut := func(s string) string {
		if r := []rune(s); len(r) > 30 {
			return string(r[:29]) + "…"
		}
		return s
	}
	switch d.Change {
	case Added:
		return "argument " + cut(d.New) + " is new"
	case Removed:
		return "argument " + cut(d.Old) + " is gone"
	}
	if cut(d.Old) == cut(d.New) {
		return "argument " + d.Name + " changed"
	}
	return "argument " + cut(d.Old) + " is now " + cut(d.New)
}

// Reason is the first difference in a few words, and how many more there are.
func (c Comparison) Reason() string {
	n := len(c.Differences) + c.More
	switch {
	case n == 0 && len(c.Unknown) > 0:
		return "its inputs changed"
	case n == 0:
		return ""
	case n == 1:
		return c.Differences[0].Reason()
	}
	return fmt.Sprintf("%s, and %d more", c.Differences[0].Reason(), n-1)
}

// Place says where the inputs and toolchains among the differences come from, by the spec of the newer action.
func (c Comparison) Place(spec *action.Spec) {
	for i := range c.Differences {
		switch d := &c.Differences[i]; d.What {
		case Input:
			d.From = from(spec, d.Name)
		case Toolchain:
			d.From = from(spec, path.Join(toolchains, d.Name))
		}
	}
}

// from says where the file at a path of the exec root comes from, "" when the spec does not tell.
func from(spec *action.Spec, at string) string {
	best := -1
	var rest string
	for i, in := range spec.Inputs {
		r, ok := below(at, in.Path)
		if ok && (best < 0 || len(in.Path) > len(spec.Inputs[best].Path)) {
			best, rest = i, r
		}
	}
	if best < 0 {
		return ""
	}
	in := spec.Inputs[best]
	join := func(s, sub string) string { return strings.TrimSuffix(s+"/"+sub, "/") }
	inside := strings.TrimPrefix(join(in.Sub, rest), "/")
	switch {
	case in.Host != nil:
		return "workspace " + join(in.Host.Path, inside)
	case in.Artifact != nil:
		return in.Artifact.String()
	case in.Spec != nil:
		return strings.TrimSpace("the step's own action " + in.Spec.Spec)
	case in.Content != nil:
		return "the plan"
	}
	return ""
}

// below returns what of path p is below folder.
func below(p, folder string) (string, bool) {
	if folder == "" || folder == "." {
		return p, true
	}
	rest, ok := strings.CutPrefix(p, folder)
	if rest == "" {
		return "", ok
	}
	return strings.TrimPrefix(rest, "/"), ok && rest[0] == '/'
}

// toolchains is the folder of an exec root in which toolchains appear, one each.
const toolchains = "toolchains"

// maxDepth is how deep folders may be.
const maxDepth = 500

// folders compares the two folders at a path of the exec root, one level deep, and goes into those that differ. A
// toolchain is one difference: what changed in an SDK is not what changed in the pipeline.
func (c *comparer) folders(ctx context.Context, at string, before, now digest.Digest) error {
	if strings.Count(at, "/") > maxDepth {
		return fmt.Errorf("folders are more than %d deep at %s", maxDepth, at)
	}
	o, err := merkle.Ref(before).Open(ctx, c.blobs)
	if err == nil {
		var n *merkle.Dir
		if n, err = merkle.Ref(now).Open(ctx, c.blobs); err == nil {
			return c.entries(ctx, at, o, n)
		}
	}
	if !gone(err) {
		return err
	}
	where := "in " + at
	if at == "" {
		where = "among the inputs"
	}
	c.Unknown = append(c.Unknown,
		fmt.Sprintf("what changed %s: it is no longer in the cache (%s → %s)", where, before.Short(), now.Short()))
	return nil
}

func (c *comparer) entries(ctx context.Context, at string, before, now *merkle.Dir) error {
	return merkle.Zip(before, now, func(name string, was, is merkle.Entry) error {
		p := path.Join(at, name)
		o, n := described(was), described(is)
		switch {
		case o == n:
		case at == toolchains:
			c.add(Difference{What: Toolchain, Name: name, Change: change(o != "", n != ""), Old: of(was), New: of(is)})
		case was.Dir != nil && is.Dir != nil:
			from, _ := was.Dir.Ref()
			to, _ := is.Dir.Ref()
			return c.folders(ctx, p, from, to)
		case p == toolchains && (was.Dir != nil && n == "" || is.Dir != nil && o == ""):
			return c.oneSided(ctx, p, was.Dir, is.Dir)
		default:
			c.add(Difference{What: Input, Name: p, Change: change(o != "", n != ""), Old: o, New: n})
		}
		return nil
	})
}

// oneSided compares a folder with nothing.
func (c *comparer) oneSided(ctx context.Context, at string, before, now *merkle.Dir) error {
	empty := &merkle.Dir{}
	o, n := empty, empty
	var err error
	if before != nil {
		o, err = before.Open(ctx, c.blobs)
	} else {
		n, err = now.Open(ctx, c.blobs)
	}
	if gone(err) {
		c.Unknown = append(c.Unknown, "what is in "+at)
		return nil
	}
	if err != nil {
		return err
	}
	return c.entries(ctx, at, o, n)
}

// described is what an entry is, "" for nothing. Things that differ have different descriptions.
func described(e merkle.Entry) string {
	switch {
	case e.File != nil && e.File.Executable:
		return fmt.Sprintf("%s (%d bytes), executable", e.File.Digest.Short(), e.File.Digest.Size())
	case e.File != nil:
		return fmt.Sprintf("%s (%d bytes)", e.File.Digest.Short(), e.File.Digest.Size())
	case e.Dir != nil:
		return "folder " + of(e)
	case e.Symlink != "":
		return "symlink to " + e.Symlink
	}
	return ""
}

// of is the digest of a toolchain's root.
func of(e merkle.Entry) string {
	if e.Dir == nil {
		return described(e)
	}
	ref, _ := e.Dir.Ref()
	return ref.Short()
}
