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
)

// ToolName and ToolVersion name the built-in tool. The version changes when what it writes for the same input does.
const (
	ToolName    = "patch"
	ToolVersion = "1"
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
	r.Series, r.SeriesFS, err = openSeries(*name)
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

func openSeries(arg string) (string, fs.FS, error) {
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

// Text shows a report to people, one line for each patch and rename and one for each place that was renamed.
func (r Report) Text() string {
	var b strings.Builder
	for _, p := range r.Patches {
		fmt.Fprintf(&b, "%s/%s/%s: %s%s\n", r.Series, p.Range, p.File, p.State, because(p.Reason))
	}
	for _, n := range r.Renames {
		fmt.Fprintf(&b, "%s/%s: %s -> %s: %s%s", r.Series, n.Range, n.From, n.To, n.State, because(n.Reason))
		if len(n.Changed) > 0 {
			fmt.Fprintf(&b, ", %d places", len(n.Changed))
		}
		b.WriteByte('\n')
		for _, p := range n.Changed {
			fmt.Fprintf(&b, "  %s\n", p)
		}
	}
	return b.String()
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}
