package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/internal/suggest"
)

// listKinds prints one line for each kind of step, or the details of the kind only.
func listKinds(a *app, kinds map[string]step.Kind, only string) error {
	if only != "" && kinds[only] == nil {
		return usageError("unknown kind %q. %s", only, orList("Available:", only, slices.Sorted(maps.Keys(kinds))))
	}
	var rows [][]string
	for _, d := range step.Describe(kinds) {
		switch {
		case only == d.Kind:
			return a.showRecord(d)
		case only != "":
		case a.JSON:
			if err := writeJSON(a.Env.Stdout, d); err != nil {
				return err
			}
		default:
			rows = append(rows, []string{d.Kind, d.Summary})
		}
	}
	a.print(columns(rows))
	return nil
}

// maxListed is the largest number of names in an error.
const maxListed = 40

// orList suggests a similar name, or lists all names.
func orList(there, name string, names []string) string {
	if near := suggest.Name(name, names); near != "" {
		return fmt.Sprintf("Did you mean %s?", near)
	}
	return there + " " + some(names, maxListed)
}

// paragraph wraps a text and indents it by n blanks.
func paragraph(text string, n int) string {
	margin := strings.Repeat(" ", n)
	return margin + strings.Join(wrap(text, 100-n), "\n"+margin)
}
