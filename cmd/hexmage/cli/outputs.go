package cli

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/report"
)

// maxParts is how many parts of one output are listed. Of more, a line says how many there are and where.
const maxParts = 8

// showOutputs prints the tables among the outputs, and where the others are.
func (a *app) showOutputs(outs []event.OutputReady) error {
	w := bufio.NewWriter(a.env.Stdout)
	for i, n := range parts(outs) {
		switch {
		case n == 0:
			outs[i].Name = "" // it is one of those that the first stands for
		case n > maxParts:
			name, _, _ := strings.Cut(outs[i].Name, ".")
			outs[i].Name = name + ".*"
			outs[i].Path = fmt.Sprintf("%s (%d outputs)", filepath.Join(filepath.Dir(outs[i].Path), name+".*"), n)
		}
	}
	wide := 0
	for _, o := range outs {
		wide = max(wide, len(o.Name))
	}
	for _, o := range outs {
		switch {
		case o.Name == "":
		case o.Show == "table":
			if err := showTable(w, o); err != nil {
				return err
			}
		default:
			rel, err := filepath.Rel(a.env.Dir, o.Path)
			if err != nil {
				rel = o.Path
			}
			fmt.Fprintf(w, "  %-*s  %s\n", wide, o.Name, rel)
		}
	}
	_ = w.Flush() // a reader that went away has seen enough
	return nil
}

// parts returns for each output how many lines it stands for: 1 for itself, more for the first of many parts of one
// output of the pipeline, 0 for the others of these.
func parts(outs []event.OutputReady) []int {
	n := make([]int, len(outs))
	for i := 0; i < len(outs); {
		name, _, part := strings.Cut(outs[i].Name, ".")
		end := i + 1
		for part && outs[i].Show == "" && end < len(outs) && outs[end].Show == "" && strings.HasPrefix(outs[end].Name, name+".") {
			end++
		}
		if n[i] = end - i; n[i] <= maxParts {
			for k := i; k < end; k++ {
				n[k] = 1
			}
		}
		i = end
	}
	return n
}

func showTable(w *bufio.Writer, o event.OutputReady) error {
	b, err := os.ReadFile(o.Path)
	if err != nil {
		return engine(err)
	}
	t, err := report.ParseTable(b)
	if err != nil {
		return engine(fmt.Errorf("output %q: %w", o.Name, err))
	}
	t.Write(w)
	return nil
}
