// Package explain says in what two actions differ.
//
// It reads the older action's messages from where executing leaves them, beside the result or in the store, and walks both
// trees of inputs side by side, into those folders only whose digests differ. It does not know pipelines or runs, and where
// something is no longer in the store it says so instead of guessing.
package explain

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
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
	What   string `json:"what"`
	Name   string `json:"name,omitempty"` // a slash path in the exec root, a toolchain, a variable, the number of an argument
	Change string `json:"change"`
	Old    string `json:"old,omitempty"` // a value, or a digest's first digits, with what else is to be said
	New    string `json:"new,omitempty"`
	From   string `json:"from,omitempty"` // where an input comes from: "workspace src/a.c"
}

// Comparison is all in which two actions differ, as far as that is known.
type Comparison struct {
	Differences []Difference `json:"differences"`
	More        int          `json:"more,omitempty"`    // differences beyond the limit
	Unknown     []string     `json:"unknown,omitempty"` // what cannot be told, and why
}

// Compare says in what the actions differ: at most limit Differences, toolchains and inputs first. Both actions' Directory
// messages are looked for in the store; those that are not there are named in Comparison.Unknown.
func Compare(ctx context.Context, blobs store.Blobs, before, now *action.Action, limit int) (Comparison, error) {
	c := &comparer{ctx: ctx, blobs: blobs, limit: limit}
	if before.InputRoot != now.InputRoot {
		if err := c.folders("", before.InputRoot, now.InputRoot); err != nil {
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
	ctx   context.Context
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
