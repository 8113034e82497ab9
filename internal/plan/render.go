package plan

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
)

// Notes add to a plan what is not part of it: what a build would do.
type Notes struct {
	Spec     func(n *Instance, spec string) string // a line for an action, "" for none; nil: none for any
	Instance func(n *Instance) string              // a line for a step, the same
	Last     string                                // the last line of all; "" for none
}

// Text returns the plan for people: each step in order, its actions with their command lines, its outputs, and the notes. It
// says why a step is deferred, and shows what is known of it.
func Text(p *Plan, notes Notes) string {
	var b strings.Builder
	fmt.Fprintf(&b, "pipeline %s", p.Pipeline)
	if p.Profile != "" {
		fmt.Fprintf(&b, ", profile %s", p.Profile)
	}
	b.WriteString("\n")
	if p.Description != "" {
		fmt.Fprintf(&b, "%s\n", p.Description)
	}
	for _, n := range p.Instances {
		textInstance(&b, n, notes)
	}
	if len(p.Exports) > 0 {
		b.WriteString("\noutputs\n")
	}
	for _, e := range p.Exports {
		fmt.Fprintf(&b, "  %s = %s\n", e.Name, exportText(e))
	}
	if missing := p.Missing(); len(missing) > 0 {
		fmt.Fprintf(&b, "\nthis machine cannot run it yet\n")
		for _, m := range missing {
			fmt.Fprintf(&b, "  missing: %s\n", m)
		}
	}
	if notes.Last != "" {
		fmt.Fprintf(&b, "\n%s\n", notes.Last)
	}
	return b.String()
}

func exportText(e Export) string {
	switch {
	case e.Artifact.Artifact != nil && e.Artifact.Sub != "":
		return fmt.Sprintf("%s/%s (%s)", e.Artifact.Artifact, e.Artifact.Sub, e.Class)
	case e.Artifact.Artifact != nil:
		return fmt.Sprintf("%s (%s)", e.Artifact.Artifact, e.Class)
	case e.Resolve != nil:
		var names []string
		for _, o := range e.AwaitValues {
			names = append(names, o.String())
		}
		return "known once " + strings.Join(names, ", ") + " is"
	}
	return e.Literal
}

func textInstance(b *strings.Builder, n *Instance, notes Notes) {
	fmt.Fprintf(b, "\n%s  (%s)\n", n.At, n.Where)
	if n.Description != "" {
		fmt.Fprintf(b, "  %s\n", n.Description)
	}
	if n.Deferred != "" {
		fmt.Fprintf(b, "  deferred: %s\n", n.Deferred)
	}
	if notes.Instance != nil {
		if line := notes.Instance(n); line != "" {
			fmt.Fprintf(b, "  %s\n", line)
		}
	}
	for _, m := range n.Missing {
		fmt.Fprintf(b, "  missing: %s\n", m)
	}
	if s := metaText(n); s != "" {
		fmt.Fprintf(b, "  %s\n", s)
	}
	for _, s := range n.Specs {
		textSpec(b, n, s, notes)
	}
	for _, name := range slices.Sorted(maps.Keys(n.Classes)) {
		fmt.Fprintf(b, "  output %s (%s)%s\n", name, n.Classes[name], artifactText(n.Outputs[name]))
	}
}

func metaText(n *Instance) string {
	var parts []string
	for _, at := range n.After {
		parts = append(parts, "after "+at.String())
	}
	if n.Timeout > 0 {
		parts = append(parts, "timeout "+n.Timeout.String())
	}
	if n.Retries > 0 {
		parts = append(parts, fmt.Sprintf("retries %d", n.Retries))
		if len(n.RetryExitCodes) > 0 {
			parts = append(parts, fmt.Sprintf("also after exit codes %d", n.RetryExitCodes))
		}
	}
	for _, r := range slices.Sorted(maps.Keys(n.Resources)) {
		parts = append(parts, fmt.Sprintf("%s %d", r, n.Resources[r]))
	}
	if n.Cache != CacheDefault {
		parts = append(parts, "cache "+n.Cache)
	}
	return strings.Join(parts, ", ")
}

func textSpec(b *strings.Builder, n *Instance, s action.Spec, notes Notes) {
	name := s.Name
	if name == "" {
		name = n.At.Kind
	}
	if n.Deferred != "" {
		name += " (preview)"
	}
	fmt.Fprintf(b, "  action %s", name)
	if s.Description != "" {
		fmt.Fprintf(b, ": %s", s.Description)
	}
	b.WriteString("\n")
	if notes.Spec != nil {
		if line := notes.Spec(n, s.Name); line != "" {
			fmt.Fprintf(b, "    %s\n", line)
		}
	}
	if len(s.Args) > 0 {
		fmt.Fprintf(b, "    $ %s\n", action.Quote(s.Args))
	}
	for _, k := range slices.Sorted(maps.Keys(s.Env)) {
		fmt.Fprintf(b, "    env %s=%s\n", k, action.Quote([]string{s.Env[k]}))
	}
	if s.Stdin != "" {
		fmt.Fprintf(b, "    stdin %s\n", s.Stdin)
	}
	for _, k := range slices.Sorted(maps.Keys(s.Platform)) {
		fmt.Fprintf(b, "    %s = %s\n", k, s.Platform[k])
	}
	inputs := append([]action.Input(nil), s.Inputs...)
	sort.SliceStable(inputs, func(i, j int) bool { return inputs[i].Path < inputs[j].Path })
	for _, in := range inputs {
		fmt.Fprintf(b, "    in  %s\n", inputText(in))
	}
	for _, o := range s.Outputs {
		slash := ""
		if o.Tree {
			slash = "/"
		}
		fmt.Fprintf(b, "    out %s%s\n", o.Path, slash)
	}
}

// inputText says what appears where: "src/a.c <- workspace file src/a.c".
func inputText(in action.Input) string {
	from := ""
	switch {
	case in.Artifact != nil:
		from = in.Artifact.String()
	case in.Spec != nil && in.Spec.Spec == "":
		from = "its own " + in.Spec.Path
	case in.Spec != nil:
		from = fmt.Sprintf("%s of action %s", in.Spec.Path, in.Spec.Spec)
	case in.Host != nil && len(in.Host.Globs) > 0:
		from = fmt.Sprintf("workspace %s (%s)", in.Host.Path, strings.Join(in.Host.Globs, ", "))
	case in.Host != nil:
		from = "workspace " + in.Host.Path
	case in.Content != nil:
		from = fmt.Sprintf("%d bytes of the plan", len(in.Content.Data))
	}
	if in.Sub != "" {
		from += "/" + in.Sub
	}
	path := in.Path
	if path == "" {
		path = "."
	}
	return path + " <- " + from
}

func artifactText(a action.Artifact) string {
	switch {
	case len(a.Parts) == 1 && a.Parts[0].Path == "":
		return strings.TrimPrefix(inputText(a.Parts[0]), ". <-")
	case len(a.Parts) > 1 || len(a.Parts) == 1:
		return fmt.Sprintf(" of %d parts", len(a.Parts))
	}
	return ""
}
