package history

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/runlog"
)

// ResultOf returns the outcome of a run.
func ResultOf(r *runlog.Run) Result {
	switch {
	case !r.Ended:
		return Stopped
	case r.Failed > 0:
		return Failed
	case r.Summary.Actions > 0 && r.Executed+r.Cached+r.NotRun < r.Summary.Actions:
		return Stopped
	case r.Summary.ChecksFailed > 0:
		return ChecksFailed
	}
	return Succeeded
}

// Add adds an action to the step.
func (s *Step) Add(a Action) {
	if first := len(s.Actions) == 0; first || a.Start < s.Start {
		s.Start = a.Start
	}
	s.End = max(s.End, a.Start+a.Seconds)
	s.Work += a.Seconds
	s.Bytes += a.Bytes
	switch a.Outcome {
	case event.Executed:
		s.Executed++
	case event.Cached:
		s.Cached++
	default:
		s.Failed++
	}
	if a.Copy == s.Step {
		a.Copy = ""
	}
	s.Actions = append(s.Actions, a)
}

// maxReasons is the maximum number of reasons listed for a step; the others are counted as one.
const maxReasons = 20

// Sum counts the reasons for the step's actions, and computes a digest of all outputs. Call it after the last Add.
func (s *Step) Sum() {
	n := map[string]int{}
	known := len(s.Actions) > 0
	var made []string
	for _, a := range s.Actions {
		if a.Outcome != event.Cached {
			n[a.Reason]++
		}
		known = known && a.Made != nil
		for p, d := range a.Made {
			made = append(made, a.Copy+"\x00"+a.Name+"\x00"+p+"\x00"+d)
		}
	}
	if known {
		slices.Sort(made)
		s.Made = digest.SHA256.Bytes([]byte(strings.Join(made, "\x00"))).Hex()[:16]
	}
	for _, text := range slices.Sorted(maps.Keys(n)) {
		s.Reasons = append(s.Reasons, Reason{text, n[text]})
	}
	slices.SortStableFunc(s.Reasons, func(a, b Reason) int { return cmp.Compare(b.Actions, a.Actions) })
	if len(s.Reasons) > maxReasons {
		rest := Reason{Text: "other reasons"}
		for _, r := range s.Reasons[maxReasons:] {
			rest.Actions += r.Actions
		}
		s.Reasons = append(s.Reasons[:maxReasons:maxReasons], rest)
	}
}
