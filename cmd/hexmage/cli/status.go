package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/build"
	"github.com/hexmage/hexmage/internal/plan"
)

// planStatus is what a run would do, for `hexmage plan`.
type planStatus struct {
	Cached   int            `json:"cached"`
	WillRun  int            `json:"will_run"`
	Deferred int            `json:"deferred"`
	Cannot   int            `json:"cannot_run"`
	Unknown  int            `json:"unknown_steps"` // steps whose actions are not known yet; not in the other numbers
	Actions  []actionStatus `json:"actions"`

	by     map[string]*actionStatus
	groups map[string][]*actionStatus // by step, of those with a plan that grew
}

type actionStatus struct {
	Step   string       `json:"step"`
	Name   string       `json:"name,omitempty"` // of the action in the step
	Status build.Status `json:"status"`
	Reason string       `json:"reason,omitempty"`
	Key    string       `json:"key,omitempty"`

	known bool // the action is known, not only the step
}

// maxReasons is for how many actions it is worked out what changed: the others change for the same reasons.
const maxReasons = 1000

// status works out why each action has the status it has.
func (w *why) status() *planStatus {
	s := &planStatus{Actions: make([]actionStatus, len(w.seen.Actions)), by: map[string]*actionStatus{}, groups: map[string][]*actionStatus{}}
	for i := range w.seen.Actions {
		v, to := &w.seen.Actions[i], &s.Actions[i]
		*to = actionStatus{Step: v.Instance.At.Short(), Status: v.Status, known: v.Spec != nil}
		if v.Spec != nil {
			to.Name = v.Spec.Name
		}
		if !v.Key.IsZero() {
			to.Key = v.Key.Hex()
		}
		s.add(to)
		if v.Status != build.WillRun || s.WillRun <= maxReasons {
			to.Reason = w.reason(v)
		}
		s.by[to.Step+"\x00"+to.Name] = to
		s.groups[to.Step] = append(s.groups[to.Step], to)
	}
	return s
}

// add counts it.
func (s *planStatus) add(to *actionStatus) {
	switch {
	case !to.known:
		s.Unknown++
	case to.Status == build.WillUse:
		s.Cached++
	case to.Status == build.WillRun:
		s.WillRun++
	case to.Status == build.Deferred:
		s.Deferred++
	default:
		s.Cannot++
	}
}

// String is a line: "will run: src/a.c changed".
func (s *actionStatus) String() string {
	if s.Reason == "" {
		return string(s.Status)
	}
	return string(s.Status) + ": " + s.Reason
}

// notes are the lines to print with the plan.
func (s *planStatus) notes() plan.Notes {
	if s == nil {
		return plan.Notes{}
	}
	return plan.Notes{
		Spec: func(n *plan.Instance, spec string) string {
			if to := s.by[n.At.Short()+"\x00"+spec]; to != nil && to.known {
				return to.String()
			}
			return ""
		},
		Instance: func(n *plan.Instance) string {
			if n.Deferred == "" {
				return "" // each of its actions has a line
			}
			return s.of(n.At.Short())
		},
		Last: s.counts(),
	}
}

// of is a line about a step that cannot show all its actions: "16 actions: 15 cached, 1 will run (src/a.c changed)".
func (s *planStatus) of(step string) string {
	group := s.groups[step]
	if len(group) == 1 && !group[0].known {
		return group[0].String()
	}
	some := planStatus{}
	why := ""
	for _, to := range group {
		some.add(to)
		if why == "" && to.Reason != "" {
			why = " (" + strings.TrimSpace(to.Name+": "+to.Reason) + ")"
		}
	}
	some.Actions = make([]actionStatus, len(group))
	return some.counts() + why
}

// counts is a line: "41 actions: 38 cached, 2 will run, 1 deferred".
func (s *planStatus) counts() string {
	known := len(s.Actions) - s.Unknown
	line := strconv.Itoa(known) + " actions"
	if known == 1 {
		line = "1 action"
	}
	var parts []string
	for _, c := range []struct {
		n    int
		what build.Status
	}{{s.Cached, build.WillUse}, {s.WillRun, build.WillRun}, {s.Deferred, build.Deferred}, {s.Cannot, build.WillFail}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	line += ": " + strings.Join(parts, ", ")
	switch {
	case s.Unknown == 1:
		line += "; of 1 step the actions are not known yet"
	case s.Unknown > 1:
		line += fmt.Sprintf("; of %d steps the actions are not known yet", s.Unknown)
	}
	return line
}
