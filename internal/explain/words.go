package explain

import (
	"fmt"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
)

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

// Place says where the inputs among the differences come from, by the spec of the newer action.
func (c Comparison) Place(spec *action.Spec) {
	for i := range c.Differences {
		if d := &c.Differences[i]; d.What == Input {
			d.From = from(spec, d.Name)
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
