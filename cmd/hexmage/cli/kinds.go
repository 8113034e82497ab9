package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/nearest"
	"github.com/hexmage/hexmage/internal/step"
)

// listKinds prints one line for each kind of step, or, if only is a kind, all about that kind.
func listKinds(a *app, kinds map[string]step.Kind, only string) error {
	if only != "" && kinds[only] == nil {
		return usageError("there is no kind %q. %s", only, orList("There are", only, slices.Sorted(maps.Keys(kinds))))
	}
	var rows [][]string
	for _, d := range step.Describe(kinds) {
		switch {
		case only != "" && d.Kind != only:
		case a.JSON:
			if err := a.printJSON(d); err != nil {
				return err
			}
		case only != "":
			printKind(a.Env.Stdout, d)
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

// printKind writes what there is to know of a kind.
func printKind(w io.Writer, k step.Description) {
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
}

// paragraph wraps a text behind a margin of n blanks.
func paragraph(text string, n int) string {
	margin := strings.Repeat(" ", n)
	return margin + strings.Join(wrap(text, 100-n), "\n"+margin)
}
