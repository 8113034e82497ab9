package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hexmage/hexmage/internal/build"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/explain"
)

// text writes the explanation for people.
func (e *explanation) text(b *strings.Builder) {
	line := string(e.Status)
	switch {
	case e.Status == build.WillUse && e.Last == nil:
		line += ": its result is known, though no run of it is on record here"
	case e.Status == build.WillUse && e.Last.Same:
		line += ": nothing differs from the last run"
	case e.Status == build.WillUse:
		line += ": its result is known from an earlier run than the last"
	case e.Reason != "":
		line += ": " + e.Reason
	}
	fmt.Fprintf(b, "%s\n  %s\n", strings.TrimSpace(e.Step+" "+e.Name), line)
	for _, x := range e.Waits {
		fmt.Fprintf(b, "    %s\n", strings.TrimSuffix(fmt.Sprintf("%s %s: %s", strings.TrimSpace(x.Step+" "+x.Name), x.Status, x.Reason), ": "))
	}
	e.Last.text(b, "last run")
	e.LastSuccess.text(b, "last success")
}

func (t *then) text(b *strings.Builder, what string) {
	if t == nil {
		return
	}
	how := string(t.Outcome)
	if t.Outcome != event.Cached {
		how += " in " + seconds(t.Seconds)
	}
	fmt.Fprintf(b, "  %s: %s, %s, key %.12s\n", what, t.Started.Local().Format("2006-01-02 15:04:05"), how, t.Key)
	if t.Same {
		b.WriteString("    nothing differs\n")
	}
	for i, d := range t.Comp.Differences {
		if i == shownFew {
			fmt.Fprintf(b, "    and %d more (--json shows them)\n", len(t.Comp.Differences)-i+t.Comp.More)
			break
		}
		fmt.Fprintf(b, "    %s\n", d)
	}
	for _, n := range t.Notes {
		fmt.Fprintf(b, "    not known: %s\n", n)
	}
}

// seconds is a duration for people.
func seconds(s float64) string {
	if s < 1 {
		return fmt.Sprintf("%.0f ms", 1000*s)
	}
	return fmt.Sprintf("%.1f s", s)
}

// MarshalJSON puts the differences beside what else is known of the run.
func (t *then) MarshalJSON() ([]byte, error) {
	type plain then
	return json.Marshal(struct {
		*plain
		Comp        *struct{}            `json:"Comp,omitempty"`
		Differences []explain.Difference `json:"differences"`
		More        int                  `json:"more_differences,omitempty"`
	}{plain: (*plain)(t), Differences: t.Comp.Differences, More: t.Comp.More})
}
