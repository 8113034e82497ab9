package report

import (
	"fmt"
	"strings"
)

// few is how many copies of a step have a line each when nothing happened to them. Of more, those that were executed or
// failed are what people look for, and the others are counted.
const few = 8

// What may be held back, and how its lines begin.
const (
	heldCached = iota
	heldNotRun
	heldNot // it is shown at once
)

// held tells whether nothing happened to the step that people need a line for.
func (st *stepState) held() int {
	switch {
	case st.failed > 0 || st.executed > 0 || len(st.workers) > 0:
		return heldNot
	case st.skipped > 0:
		return heldNotRun
	}
	return heldCached
}

// ended returns the line of a step that ended, or "" when it waits for those of its other copies.
func (l *lines) ended(st *stepState) string {
	g, kind := st.group, st.held()
	if l.o.Verbose || kind == heldNot || g.planned <= few {
		return l.stepLine(st) + l.complete(g)
	}
	g.actions[kind] += st.actions
	g.count[kind]++
	if len(g.held) <= few {
		g.held = append(g.held, st)
	}
	return l.complete(g)
}

// complete returns the lines that were held back, if the group has ended.
func (l *lines) complete(g *group) string {
	if g.late || g.ended < g.planned {
		return ""
	}
	return l.release(g)
}

// release returns the lines that were held back: of a few, each; of many, one that counts them.
func (l *lines) release(g *group) string {
	var b strings.Builder
	held, all := g.held, g.count[heldCached]+g.count[heldNotRun]
	if all <= few {
		for _, st := range held {
			b.WriteString(l.stepLine(st))
		}
	} else {
		for kind, word := range []string{heldCached: l.dim("cached  "), heldNotRun: l.yellow("not run ")} {
			if g.count[kind] > 0 {
				fmt.Fprintf(&b, "  %s %-28s %s\n", word, g.name, l.dim(plural(g.actions[kind], "action")))
			}
		}
	}
	g.held, g.actions, g.count = nil, [2]int{}, [2]int{}
	return b.String()
}

// rest returns all lines that are still held back.
func (l *lines) rest() string {
	var b strings.Builder
	for _, g := range l.steps.order {
		b.WriteString(l.release(g))
	}
	return b.String()
}
