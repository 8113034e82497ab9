package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/nearest"
	"github.com/hexmage/hexmage/internal/step"
)

// usedKind is a kind with the pipelines that use it.
type usedKind struct {
	step.Description
	Pipelines []string `json:"pipelines,omitempty"`
}

// listKinds prints one line for each kind of step, or, if only is a kind, all about that kind.
func listKinds(a *app, kinds map[string]step.Kind, only string) error {
	if only != "" && kinds[only] == nil {
		return usageError("there is no kind %q. %s", only, orList("There are", only, slices.Sorted(maps.Keys(kinds))))
	}
	users := a.kindUsers()
	var rows [][]string
	for _, d := range step.Describe(kinds) {
		k := usedKind{d, users[d.Kind]}
		switch {
		case only != "" && d.Kind != only:
		case a.JSON:
			if err := a.printJSON(k); err != nil {
				return err
			}
		case only != "":
			k.print(a.Env.Stdout)
		default:
			rows = append(rows, []string{d.Kind, d.Summary})
		}
	}
	_, err := io.WriteString(a.Env.Stdout, columns(rows))
	return err
}

// orList says which name was meant, or else which there are.
func orList(there, name string, names []string) string {
	if near := nearest.Name(name, names); near != "" {
		return fmt.Sprintf("Did you mean %s?", near)
	}
	return there + " " + strings.Join(names, ", ")
}

// kindUsers are the pipelines that use a kind, the workspace's and the shipped ones, by kind. One that cannot be read
// uses none.
func (a *app) kindUsers() map[string][]string {
	users := map[string][]string{}
	for _, name := range a.pipelines() {
		cfg, _ := a.skeleton(name)
		if cfg == nil {
			continue
		}
		used := map[string]bool{}
		noteKinds(cfg.Module, used, map[*config.Module]bool{})
		for kind, is := range used {
			if is {
				users[kind] = append(users[kind], name)
			}
		}
	}
	return users
}

// noteKinds notes the kinds that a module uses in any profile, and those of the modules that it calls.
func noteKinds(m *config.Module, used map[string]bool, seen map[*config.Module]bool) {
	if m == nil || seen[m] {
		return
	}
	seen[m] = true
	parts := []config.Parts{m.Parts}
	for _, pr := range m.Profiles {
		parts = append(parts, pr.Parts)
	}
	for _, p := range parts {
		for _, b := range slices.Concat(p.Toolchains, p.Steps) {
			used[b.At.Kind] = true
		}
		for _, c := range p.Calls {
			noteKinds(c.Module, used, seen)
		}
	}
}

// print writes what there is to know of a kind.
func (k usedKind) print(w io.Writer) {
	fmt.Fprintf(w, "%s\n\n%s\n", k.Block(), paragraph(k.Summary, 0))
	if len(k.Arguments) > 0 {
		fmt.Fprintln(w, "\nArguments:")
	}
	for _, a := range k.Arguments {
		required := ""
		if a.Required {
			required = ", required"
		}
		fmt.Fprintf(w, "\n  %s (%s%s)\n%s\n", a.Name, a.Type, required, paragraph(a.Text(), 4))
	}
	if len(k.Outputs) > 0 || k.OutputsFrom != "" || k.OwnOutputs {
		fmt.Fprintln(w, "\nOutputs:")
	}
	for _, o := range k.Outputs {
		fmt.Fprintf(w, "\n  %s (%s)\n%s\n", o.Name, o.Class, paragraph(o.Doc, 4))
	}
	if k.OutputsFrom != "" {
		fmt.Fprintf(w, "\n  one for each of %s (file)\n", k.OutputsFrom)
	}
	if k.OwnOutputs {
		fmt.Fprintln(w, "\n  those of its own output blocks")
	}
	if len(k.Toolchains) > 0 {
		fmt.Fprintf(w, "\nToolchains that it uses, where they are declared: %s\n", strings.Join(k.Toolchains, ", "))
	}
	if k.Example != "" {
		fmt.Fprintf(w, "\nExample:\n\n    %s\n", strings.ReplaceAll(k.Example, "\n", "\n    "))
	}
	if len(k.Pipelines) > 0 {
		fmt.Fprintf(w, "\nUsed by: %s\n", strings.Join(k.Pipelines, ", "))
	}
}

// paragraph wraps a text behind a margin of n blanks.
func paragraph(text string, n int) string {
	margin := strings.Repeat(" ", n)
	return margin + strings.Join(wrap(text, 100-n), "\n"+margin)
}
