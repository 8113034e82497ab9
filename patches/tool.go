package patches

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/hexmage/hexmage/patches/rename"
)

// ToolName and ToolVersion name the built-in tool. The version changes when what it writes for the same input does.
const (
	ToolName    = "patch"
	ToolVersion = "2"
)

// Run is `hexmage tool patch`: it writes a patched copy of a source tree. Its exit code is 0, 1 when the series does not fit
// the sources, 2 for wrong arguments. With --check it writes no copy.
func Run(ctx context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) int {
	var r Request
	flags := flag.NewFlagSet("patch", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&r.Source, "source", "", "`folder` of the sources")
	flags.StringVar(&r.SDKInclude, "sdk-include", "", "the SDK's include/QNN `folder`")
	name := flags.String("series", "", "`name` of a series that comes with hexmage, or name=folder")
	flags.IntVar(&r.Fuzz, "fuzz", 0, "leave out up to so many `lines` of context at each end of a hunk")
	flags.StringVar(&r.Out, "out", "", "`folder` for the patched copy")
	report := flags.String("report", "", "`file` for the report, in JSON")
	check := flags.Bool("check", false, "only say what would be done")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	usage := func(format string, args ...any) int {
		fmt.Fprintf(stderr, "patch: "+format+"\n", args...)
		return 2
	}
	switch {
	case flags.NArg() > 0:
		return usage("unexpected argument %q", flags.Arg(0))
	case r.Source == "" || *name == "":
		return usage("--source and --series are needed")
	case r.Out == "" && !*check:
		return usage("--out is needed, or --check")
	}
	var err error
	r.Series, r.SeriesFS, err = OpenSeries(*name)
	if err != nil {
		return usage("%v", err)
	}
	do := Apply
	if *check {
		do = Check
	}
	rep, err := do(ctx, r)
	fmt.Fprint(stdout, rep.Text())
	if err != nil {
		fmt.Fprintf(stderr, "patch: %v\n", err)
		return 1
	}
	if *report != "" {
		data, err := json.MarshalIndent(rep, "", "  ")
		if err == nil {
			err = os.WriteFile(*report, append(data, '\n'), 0o644)
		}
		if err != nil {
			fmt.Fprintf(stderr, "patch: report: %v\n", err)
			return 1
		}
	}
	return 0
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
