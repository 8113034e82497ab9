// Package explain compares the cache keys of two actions.
//
// Load reads the messages of an action from the result or from the store. Materials collects the inputs of cache keys
// in the form that package history compares. Compare compares two actions, and reads only folders that differ. The
// package does not know pipelines or runs.
package explain

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/history"
	"github.com/hexmage/hexmage/internal/store"
)

// Input is the value of Difference.What for an input file or folder.
const Input = history.Input

// Values of Difference.Change.
const (
	Changed = "changed"
	Added   = "added"
	Removed = "removed"
)

// Difference is one difference between two actions.
type Difference struct {
	What string `json:"what"` // the first word of a change's name in package history
	// a slash path in the exec root, or the name of a toolchain, variable or argument, or the number of an argument
	Name   string `json:"name,omitempty"`
	Change string `json:"change"`
	Old    string `json:"old,omitempty"` // value, or the first digits of a digest and a version or size
	New    string `json:"new,omitempty"`
	From   string `json:"from,omitempty"` // origin of an input, such as "workspace src/a.c"

	Inside     []Difference `json:"inside,omitempty"` // for a toolchain: the changed files, if known
	MoreInside int          `json:"more_inside,omitempty"`
}

// Comparison holds all differences between two actions.
type Comparison struct {
	Differences []Difference `json:"differences"`
	More        int          `json:"more,omitempty"`    // number of further differences that are not listed
	Unknown     []string     `json:"unknown,omitempty"` // notes on missing information
}

// Made is an action, with the versions of the toolchains in its plan, by toolchain name.
type Made struct {
	Action     *action.Action
	Toolchains map[string]string
}

// Compare compares two actions, and reads their Directory messages from the store. If outline is true, it does not
// compare single files of toolchains.
func Compare(ctx context.Context, blobs store.Blobs, before, now Made, outline bool) Comparison {
	m := NewMaterials(nil)
	document := func(of Made) (*history.Document, *history.Action) {
		a := &history.Action{Key: of.Action.Key(of.Action.InputRoot.Function()).Hex()}
		m.Add(ctx, a, of.Action, blobs)
		open := func(name string) (history.Folder, bool) { return m.Folder(ctx, name) }
		return &history.Document{Toolchains: of.Toolchains, Open: open}, a
	}
	x, a := document(before)
	y, b := document(now)
	return Of(history.DiffActions(x, a, y, b, outline))
}

// Of converts a Difference of package history to a Comparison.
func Of(d history.Difference) Comparison {
	c := Comparison{More: d.More, Unknown: d.Unknown}
	for _, h := range d.Changes {
		what, name, _ := strings.Cut(h.Name, " ")
		if what == history.Caching {
			h.A, h.B = cmp.Or(h.A, "on"), cmp.Or(h.B, "on")
		}
		n := Difference{What: what, Name: name, Change: change(h), Old: h.A, New: h.B, MoreInside: h.More}
		for _, in := range h.Inside {
			n.Inside = append(n.Inside,
				Difference{What: Input, Name: in.Name, Change: change(in), Old: in.A, New: in.B})
		}
		if what == history.Output { // has no value
			n.Old, n.New = "", ""
		}
		c.Differences = append(c.Differences, n)
	}
	return c
}

func change(h history.Change) string {
	switch {
	case h.A == "":
		return Added
	case h.B == "":
		return Removed
	}
	return Changed
}

// maxMessage is the maximum size of an Action or a Command in bytes.
const maxMessage = 16 << 20

// Load returns an action that ran, and a store that contains the action's messages. It searches results (if not nil),
// and then blobs. If it does not find the action, the error is store.ErrNotFound.
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

// String formats the difference as one line, such as "input src/a.c changed: 1a2b3c4d5e6f (12 bytes) → 99aabbccddee (14
// bytes)".
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

// Reason formats the difference as a short text, such as "src/a.c changed".
func (d Difference) Reason() string {
	name := d.Name
	switch {
	case d.What == Input && strings.HasPrefix(d.From, "workspace "):
		name = strings.TrimPrefix(d.From, "workspace ")
	case d.What == Input:
	case d.What == history.Argument:
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

// Reason formats the first difference as a short text, and adds the number of further differences: "src/a.c changed,
// and 2 more".
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

// Place sets the field From of each Difference about an input or toolchain. It finds the origin in the spec of the
// newer action.
func (c Comparison) Place(spec *action.Spec) {
	for i := range c.Differences {
		switch d := &c.Differences[i]; d.What {
		case Input:
			d.From = from(spec, d.Name)
		case history.Toolchain:
			d.From = from(spec, path.Join(toolchains, d.Name))
		}
	}
}

// from returns the origin of the file at a path of the exec root, or "" if it is unknown.
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
		return strings.TrimSpace("action " + in.Spec.Spec + " of this step")
	case in.Content != nil:
		return "the plan"
	}
	return ""
}

// below returns the part of path p below folder.
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

// toolchains is the folder of an exec root that holds one folder for each toolchain.
const toolchains = "toolchains"
