package patches

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/patches/rename"
)

// Tool is the tool's name, and its behaviour version: it changes when what it writes for the same input does.
const Tool tool.Name[Spec] = "patch/2"

// Spec says what to patch.
type Spec struct {
	Source     string `json:"source"`           // folder of the sources
	SDKInclude string `json:"sdk_include"`      // the SDK's include/QNN folder
	Series     string `json:"series"`           // the series' name, for the report
	Rules      string `json:"rules"`            // the series' folder
	Out        string `json:"out"`              // folder for the patched copy
	Report     string `json:"report,omitempty"` // file for the report, in JSON
}

// Run is the tool: it writes a patched copy of a source tree, and says on stdout what it has done.
func Run(ctx context.Context, s Spec, env tool.Env) error {
	if s.Source == "" || s.Out == "" {
		return errors.New("source and out are needed")
	}
	name, rules, err := OpenSeries(s.Series + "=" + s.Rules)
	if err != nil {
		return err
	}
	rep, err := Apply(ctx, Request{Source: s.Source, SDKInclude: s.SDKInclude, Series: name, SeriesFS: rules, Out: s.Out})
	fmt.Fprint(env.Stdout, rep.Text())
	if err != nil || s.Report == "" {
		return err
	}
	data, err := json.MarshalIndent(rep, "", "  ")
	if err == nil {
		err = os.WriteFile(s.Report, append(data, '\n'), 0o644)
	}
	return err
}

// OpenSeries opens a series that comes with hexmage, by its name, or name=folder.
func OpenSeries(arg string) (string, fs.FS, error) {
	name, dir, own := strings.Cut(arg, "=")
	if !own {
		fsys, err := Shipped(name)
		return name, fsys, err
	}
	if info, err := os.Stat(dir); err != nil {
		return "", nil, fmt.Errorf("series %s: %w", name, err)
	} else if !info.IsDir() {
		return "", nil, fmt.Errorf("series %s: %s is not a folder", name, dir)
	}
	return name, os.DirFS(dir), nil
}

// Text shows a report to people, one line for each patch and rule and one for each place that was changed.
func (r Report) Text() string {
	var b strings.Builder
	for _, p := range r.Patches {
		fmt.Fprintf(&b, "%s/%s/%s: %s%s\n", r.Series, p.Range, p.File, p.State, because(p.Reason))
		for _, m := range p.Moved {
			fmt.Fprintf(&b, "  %s: hunk %d: found at line %d, %+d lines from where it says", m.File, m.Hunk, m.Line, m.Offset)
			if m.Fuzz > 0 {
				fmt.Fprintf(&b, ", without %d lines of context", m.Fuzz)
			}
			b.WriteByte('\n')
		}
	}
	for _, n := range r.Renames {
		fmt.Fprintf(&b, "%s/%s: %s -> %s: %s%s", r.Series, n.Range, n.From, n.To, n.State, because(n.Reason))
		writePlaces(&b, n.Changed)
		for _, p := range n.Left {
			fmt.Fprintf(&b, "  %s left alone: a member of %s\n", p, p.Type)
		}
	}
	for _, e := range r.Edits {
		fmt.Fprintf(&b, "%s/%s: %s %q: %s%s", r.Series, e.Range, e.Sort, e.Rule, e.State, because(e.Reason))
		writePlaces(&b, e.Changed)
	}
	return b.String()
}

func writePlaces(b *strings.Builder, places []rename.Place) {
	if len(places) == 1 {
		b.WriteString(", 1 place")
	} else if len(places) > 1 {
		fmt.Fprintf(b, ", %d places", len(places))
	}
	b.WriteByte('\n')
	for _, p := range places {
		fmt.Fprintf(b, "  %s\n", p)
	}
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}
