package equiv

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclparse"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/oppackage"
)

//go:embed differences.hcl
var differencesFile []byte

// Known is a difference that is meant.
type Known struct {
	Word    string   `hcl:"word,label"` // as in Difference, a path.Match pattern in which * crosses slashes too
	Side    string   `hcl:"side"`       // "ours" or "theirs": who has it
	Targets []string `hcl:"targets,optional"`
	Lines   string   `hcl:"lines,optional"` // "compile" or "link"
	Reason  string   `hcl:"reason"`
}

// KnownDifferences returns the table that comes with hexmage.
func KnownDifferences() ([]Known, error) {
	body, diags := hclparse.NewParser().ParseHCL(differencesFile, "differences.hcl")
	var file struct {
		Known []Known `hcl:"difference,block"`
	}
	if !diags.HasErrors() {
		diags = append(diags, gohcl.DecodeBody(body.Body, nil, &file)...)
	}
	if diags.HasErrors() {
		return nil, errors.Join(diags.Errs()...)
	}
	for _, k := range file.Known {
		if k.Side != "ours" && k.Side != "theirs" || k.Reason == "" {
			return nil, fmt.Errorf("differences.hcl: %q: it needs a side, ours or theirs, and a reason", k.Word)
		}
	}
	return file.Known, nil
}

// Difference is a word that one side's lines have and the other's do not.
type Difference struct {
	Side  string   `json:"side"` // "ours" or "theirs"
	Word  string   `json:"word"`
	Lines []string `json:"lines"` // sources of the compilations, "link"
	All   bool     `json:"all"`   // all lines of that sort are concerned
	// Reason is the known difference's; "" is a difference that nobody meant.
	Reason string `json:"reason,omitempty"`
}

// Target is the comparison of one target.
type Target struct {
	Target      string       `json:"target"`
	Missing     bool         `json:"missing,omitempty"` // their makefile has no such target
	Compiles    int          `json:"compiles"`          // that both have
	Same        int          `json:"same"`              // words of lines that both have
	Differences []Difference `json:"differences"`
}

// Unexplained counts the differences without a reason.
func (t Target) Unexplained() int {
	n := 0
	for _, d := range t.Differences {
		if d.Reason == "" {
			n++
		}
	}
	return n
}

// Compare compares what another makefile would run for a package with the package's lines, target by target.
func Compare(ctx context.Context, m Make, makefile string, p oppackage.Package, arches []oppackage.Arch) ([]Target, error) {
	text, err := boundedfile.Read(makefile, maxMakefile)
	if err != nil {
		return nil, err
	}
	known, err := KnownDifferences()
	if err != nil {
		return nil, err
	}
	root, err := os.MkdirTemp("", "hexmage-make-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(root)
	s, err := newSDKs(root, text)
	if err != nil {
		return nil, err
	}
	var out []Target
	for _, a := range arches {
		theirs, err := m.lines(ctx, makefile, s, a.Target, "-B")
		if errors.Is(err, ErrNoTarget) {
			out = append(out, Target{Target: a.Target, Missing: true})
			continue
		}
		if err != nil {
			return nil, err
		}
		var ours [][]string
		compiles, link := oppackage.Lines(a, p, s.roots())
		for _, c := range compiles {
			ours = append(ours, c.Args)
		}
		out = append(out, compareLines(a.Target, s.parse(append(ours, link.Args)), s.parse(theirs), known))
	}
	return out, nil
}

func (s sdks) parse(lines [][]string) map[string]Line {
	out := map[string]Line{}
	for _, words := range lines {
		words = slices.Clone(words)
		for i := range words {
			words[i] = s.name(words[i])
		}
		if l, ok := parse(words); ok {
			key := l.Source
			if l.Link() {
				key = "link"
			}
			out[key] = l
		}
	}
	return out
}

// compareLines compares line by line, and gathers what many lines have in common.
func compareLines(target string, ours, theirs map[string]Line, known []Known) Target {
	t := Target{Target: target}
	type place struct{ side, word string }
	at := map[place][]string{}
	compiles := 0
	note := func(side, word, line string) {
		p := place{side, word}
		at[p] = append(at[p], line)
	}
	for key, l := range ours {
		other, ok := theirs[key]
		if !ok {
			note("ours", "line "+key, key)
			continue
		}
		if !l.Link() {
			compiles++
		}
		mine, yours := l.words(), other.words()
		for w := range mine {
			if yours[w] {
				t.Same++
			} else {
				note("ours", w, key)
			}
		}
		for w := range yours {
			if !mine[w] {
				note("theirs", w, key)
			}
		}
	}
	for key := range theirs {
		if _, ok := ours[key]; !ok {
			note("theirs", "line "+key, key)
		}
	}
	t.Compiles = compiles
	for p, lines := range at {
		slices.Sort(lines)
		d := Difference{Side: p.side, Word: p.word, Lines: lines, All: len(lines) == compiles && !slices.Contains(lines, "link")}
		for _, k := range known {
			if k.explains(target, d) {
				d.Reason = k.Reason
				break
			}
		}
		t.Differences = append(t.Differences, d)
	}
	slices.SortFunc(t.Differences, func(a, b Difference) int { return strings.Compare(a.Side+" "+a.Word, b.Side+" "+b.Word) })
	return t
}

func (k Known) explains(target string, d Difference) bool {
	if k.Side != d.Side || len(k.Targets) > 0 && !slices.Contains(k.Targets, target) {
		return false
	}
	link := slices.Contains(d.Lines, "link")
	if k.Lines == "link" && (!link || len(d.Lines) > 1) || k.Lines == "compile" && link {
		return false
	}
	flat := strings.NewReplacer("/", "\x00") // so that * goes over it
	ok, err := path.Match(flat.Replace(k.Word), flat.Replace(d.Word))
	return err == nil && ok
}

// Write tells the comparison to people.
func Write(w io.Writer, targets []Target) error {
	for i, t := range targets {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if t.Missing {
			fmt.Fprintf(w, "%s: the other makefile has no such target\n", t.Target)
			continue
		}
		fmt.Fprintf(w, "%s: %d compilations and the link, %d words the same, %d different, %d of these without a reason\n", t.Target, t.Compiles, t.Same, len(t.Differences), t.Unexplained())
		tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, d := range t.Differences {
			where := strings.Join(d.Lines, " ")
			switch {
			case d.All:
				where = "all sources"
			case len(d.Lines) > 2:
				where = fmt.Sprintf("%d sources", len(d.Lines))
			}
			reason := d.Reason
			if reason == "" {
				reason = "NOT MEANT"
			}
			sign := "+"
			if d.Side == "theirs" {
				sign = "-"
			}
			fmt.Fprintf(tw, "  %s %s\t%s\t%s\n", sign, d.Word, where, reason)
		}
		if err := tw.Flush(); err != nil {
			return err
		}
	}
	return nil
}
