package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hexmage/hexmage/internal/ansi"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/facts"
	"github.com/hexmage/hexmage/runner/check"
	"github.com/hexmage/hexmage/runner/push"
	"github.com/hexmage/hexmage/toolchains"
)

// compatCmd is `hexmage compat [--soc NAME] [--rules] [--ops] [FILE…]`.
type compatCmd struct {
	Files []string `arg:"" optional:"" help:"Files, and folders of some, that are to be on a device together: says what keeps them from working together, and with --soc on that."`
	Rules bool     `help:"List the rules instead."`
	Ops   bool     `help:"List ONNX operations: types on the NPU of --soc, replacements of unsupported ones."`
}

// Help has the examples of `hexmage compat --help`.
func (*compatCmd) Help() string {
	return `Examples:

    hexmage compat                    every SoC, with the first SDKs that know it
    hexmage compat --soc SM8750       which QAIRT goes with which Hexagon SDK and NDK, and why the others do not
    hexmage compat --soc SM8750 --json
    hexmage compat --soc SM8750 --ops which ONNX operations its NPU runs in which types, and replacements of others
    hexmage compat --rules            the rules that plans are checked against
    hexmage compat --soc SM8750 push/ the libraries and contexts in a folder: of one SDK, whole, for that phone?`
}

// Run prints what of the catalogue works with what, and why the rest does not.
func (c *compatCmd) Run(ctx context.Context, a *app) error {
	d, err := a.domain(a.here())
	if err != nil {
		return err
	}
	switch {
	case c.Rules && len(c.Files) > 0:
		return usageError("--rules and files are two questions")
	case len(c.Files) > 0:
		return a.compatFiles(ctx, d.catalogue(), c.Files)
	case c.Rules:
		return a.compatRules(d.catalogue())
	case c.Ops && len(a.SoC) == 0:
		return usageError("--ops: types depend on the SoC; add --soc SM8750")
	case len(a.SoC) == 0:
		return a.compatSoCs(d.catalogue())
	}
	soc, err := a.oneSoC("")
	if err != nil {
		return err
	}
	s, err := d.catalogue().FindSoC(soc)
	if err != nil {
		return usageError("%v", err)
	}
	if c.Ops {
		return a.compatOps(d.catalogue(), s)
	}
	m, diags := d.catalogue().Matrix(s)
	if diags.HasErrors() {
		return a.printDiags(diags, nil)
	}
	if a.JSON {
		return a.printJSON(struct {
			SoC socRecord `json:"soc"`
			*facts.Matrix
		}{recordOf(d.catalogue(), s), m})
	}
	fmt.Fprint(a.Env.Stdout, matrixText(a, recordOf(d.catalogue(), s), m))
	return nil
}

// compatFiles says what is to be said of files that are to be on a device together: exit code 1 when they will not
// work.
func (a *app) compatFiles(ctx context.Context, c *toolchains.Catalogue, names []string) error {
	want := qnn.Target{}
	head := "any SoC"
	if len(a.SoC) > 0 {
		soc, err := a.oneSoC("")
		if err != nil {
			return err
		}
		s, err := c.FindSoC(soc)
		if err != nil {
			return usageError("%v", err)
		}
		want = *s.Target()
		head = s.Name + ", Hexagon " + s.Arch
	}
	set := pushSet{files: map[string]push.File{}}
	for _, name := range names {
		at := absolute(a.WorkDir, name)
		name = filepath.Base(at)
		if isFolder(at) {
			name = "."
		}
		if err := set.add(at, name); err != nil {
			return usageError("%w", err)
		}
	}
	found, err := check.Together(ctx, set.files, want)
	if err != nil {
		return engineError(err)
	}
	if a.JSON {
		err = a.printJSON(struct {
			SoC string `json:"soc,omitempty"`
			*check.Set
		}{want.SoC, found})
	} else {
		a.printSet(head, len(set.files), found)
	}
	if err == nil && len(found.Problems) > 0 {
		err = &exitError{Code: ExitFailed}
	}
	return err
}

func (a *app) printSet(head string, n int, s *check.Set) {
	w := a.Env.Stdout
	fmt.Fprintf(w, "%s: %s", a.painted("1", head), counted(n, "file", "files"))
	for _, id := range slices.Sorted(maps.Keys(s.Builds)) {
		fmt.Fprintf(w, ", %s of %s", counted(len(s.Builds[id]), "library", "libraries"), id)
	}
	if len(s.Contexts) > 0 {
		fmt.Fprint(w, ", "+counted(len(s.Contexts), "context", "contexts"))
	}
	fmt.Fprintln(w)
	for _, p := range s.Problems {
		fmt.Fprintf(w, "  %s  %s\n", a.painted("31", "problem"),
			strings.Join(wrap(p.Error(), a.width()-11), "\n           "))
	}
	for _, f := range s.Warnings {
		fmt.Fprintf(w, "  %s  %s\n", a.painted("33", "warning"),
			strings.Join(wrap(f.Text(), a.width()-11), "\n           "))
	}
	if slices.Equal(s.Systems, []string{qnn.Linux}) {
		fmt.Fprintf(w, "  %s     its libraries are for Linux: a phone with Android does not load them\n",
			a.painted("33", "note"))
	}
	if len(s.Problems)+len(s.Warnings) == 0 {
		fmt.Fprintf(w, "  %s       nothing that is known speaks against it\n", a.painted("32", "ok"))
	}
}

// counted is "1 file" or "2 files".
func counted(n int, one, more string) string {
	if n != 1 {
		one = more
	}
	return fmt.Sprintf("%d %s", n, one)
}

// socRecord is a SoC as JSON has it.
type socRecord struct {
	Name          string   `json:"name"`
	MarketingName string   `json:"marketing_name,omitempty"`
	Aliases       []string `json:"aliases,omitempty"`
	Arch          string   `json:"arch"`
	SoCModel      int      `json:"soc_model"`
	AndroidIDs    []int    `json:"soc_ids,omitempty"`
	VTCMMB        int      `json:"vtcm_mb,omitempty"`
	LPAI          string   `json:"lpai,omitempty"`
	Features      []string `json:"features,omitempty"`
	Note          string   `json:"note,omitempty"`
}

func recordOf(c *toolchains.Catalogue, s *qnn.SoC) socRecord {
	return socRecord{s.Name, s.MarketingName, s.Aliases, s.Arch, s.SoCModel, s.AndroidIDs, s.VTCMMB, s.LPAI,
		c.Features(s), s.Note}
}

// compatSoCs prints the SoCs with the least that each needs.
func (a *app) compatSoCs(c *toolchains.Catalogue) error {
	rows := [][]string{{"SoC", "", "Hexagon", "soc_model", "soc_id", "VTCM", "first QAIRT", "first Hexagon SDK",
		"tools"}}
	type entry struct {
		socRecord
		Needs facts.Needs `json:"needs"`
	}
	var all []entry
	for _, s := range c.SortedSoCs() {
		n, diags := c.Needs(s)
		if diags.HasErrors() {
			return a.printDiags(diags, nil)
		}
		all = append(all, entry{recordOf(c, s), n})
		tools := ""
		if n.Tools != "" {
			tools = n.Tools + "+"
		}
		first := orDash(n.QAIRT)
		if n.QAIRT != "" && s.MinSDK == "" {
			first += " ?"
		}
		rows = append(rows, []string{s.Name, s.MarketingName, s.Arch, strconv.Itoa(s.SoCModel),
			numbersText(s.AndroidIDs),
			megabytes(s.VTCMMB),
			first, orDash(n.Hexagon), orDash(tools)})
	}
	if a.JSON {
		return a.printJSON(all)
	}
	fmt.Fprint(a.Env.Stdout, columns(rows))
	fmt.Fprint(a.Env.Stdout, "\n?: the oldest that is known to know it; nobody has published which QAIRT is the "+
		"first.\nWhat goes together for one of them: hexmage compat --soc SM8750\n")
	return nil
}

// compatOps prints the facts about ONNX operations that apply to a SoC.
func (a *app) compatOps(c *toolchains.Catalogue, s *qnn.SoC) error {
	type operation struct {
		Op          string   `json:"op"`
		MinRank     int      `json:"min_rank,omitempty"`
		Types       []string `json:"types,omitempty"`
		Replacement string   `json:"replacement,omitempty"`
		Source      string   `json:"source"`
	}
	var all []operation
	for _, p := range c.Precisions {
		for _, op := range p.Ops {
			all = append(all, operation{Op: op, Types: p.Takes[s.Arch], Source: p.Confidence + ": " + p.Source})
		}
	}
	for _, r := range c.UnsupportedOps {
		all = append(all, operation{Op: r.Op, MinRank: r.Rank, Replacement: r.Change,
			Source: r.Confidence + ": " + r.Source})
	}
	if a.JSON {
		return a.printJSON(all)
	}
	rows := [][]string{{"operation", "types or replacement", "known from"}}
	for _, o := range all {
		name, text := o.Op, strings.Join(o.Types, " ")
		if o.MinRank > 0 {
			name = fmt.Sprintf("%s, %d dimensions or more", name, o.MinRank)
		}
		if o.Replacement != "" {
			text = "unsupported: " + o.Replacement
		}
		rows = append(rows, []string{name, text, o.Source})
	}
	fmt.Fprint(a.Env.Stdout, columns(rows))
	return nil
}

func (a *app) compatRules(c *toolchains.Catalogue) error {
	type rule struct {
		ID         string `json:"id"`
		Severity   string `json:"severity"`
		Summary    string `json:"summary,omitempty"`
		Source     string `json:"source,omitempty"`
		Confidence string `json:"confidence,omitempty"`
	}
	var all []rule
	for _, r := range c.Rules {
		x := rule{ID: r.ID, Severity: r.Severity, Summary: r.Summary}
		x.Source, x.Confidence = r.KnownFrom()
		all = append(all, x)
	}
	if a.JSON {
		return a.printJSON(all)
	}
	rows := [][]string{{"rule", "severity", "", "confidence", "known from"}}
	for _, r := range all {
		rows = append(rows, []string{r.ID, r.Severity, r.Summary, r.Confidence, r.Source})
	}
	fmt.Fprint(a.Env.Stdout, columns(rows))
	return nil
}

// band is a run of releases of which the rules say the same.
type band struct {
	versions []string
	tools    []string
	verdict  facts.Verdict
	notes    []int // footnotes
	first    int   // index of its first release
}

// label is "2.42.0.251225 – 2.50.0.260828", oldest first.
func (b band) label() string {
	if len(b.versions) == 1 {
		return b.versions[0]
	}
	return b.versions[len(b.versions)-1] + " – " + b.versions[0]
}

// footnotes numbers what is said of bands. What a rule says of several, with the same remedy, is one note: that of
// the first.
type footnotes struct{ said []qnn.Finding }

func (f *footnotes) number(x qnn.Finding) int {
	i := slices.IndexFunc(f.said, func(have qnn.Finding) bool { return have.Rule == x.Rule && have.Remedy == x.Remedy })
	if i < 0 {
		i = len(f.said)
		f.said = append(f.said, x)
	}
	return i + 1
}

// bands puts neighbours together of which the same rules say the same, apart from the version in it.
func bands(releases []facts.ReleaseVerdict, byTools bool, notes *footnotes) []band {
	signature := func(r facts.ReleaseVerdict) string {
		s := fmt.Sprint(r.Works, r.Doubtful)
		for _, f := range r.Findings {
			s += " " + f.Rule + " " + f.Remedy
		}
		if byTools {
			s += " " + r.ToolsVersion
		}
		return s
	}
	var out []band
	last := ""
	for i, r := range releases {
		if sig := signature(r); len(out) == 0 || sig != last {
			out = append(out, band{verdict: r.Verdict, first: i})
			last = sig
		}
		b := &out[len(out)-1]
		b.versions = append(b.versions, r.Version)
		if r.ToolsVersion != "" && !slices.Contains(b.tools, r.ToolsVersion) {
			b.tools = append(b.tools, r.ToolsVersion)
		}
	}
	for i := range out {
		for _, f := range releases[out[i].first].Findings {
			out[i].notes = append(out[i].notes, notes.number(f))
		}
	}
	return out
}

// head is what is known of a SoC, in a few lines.
func (s socRecord) head(a *app) string {
	known := []string{"Hexagon " + s.Arch, fmt.Sprintf("soc_model %d", s.SoCModel)}
	if len(s.AndroidIDs) > 0 {
		known = append(known, "Android soc_id "+numbersText(s.AndroidIDs))
	}
	if s.VTCMMB > 0 {
		known = append(known, fmt.Sprintf("%d MB VTCM", s.VTCMMB))
	}
	if s.LPAI != "" {
		known = append(known, "LPAI "+s.LPAI)
	}
	text := fmt.Sprintf("%s  %s\n%s\n", a.painted("1", s.Name), s.MarketingName, strings.Join(known, " · "))
	if len(s.Features) > 0 {
		text += fmt.Sprintf("its HTP can: %s\n", strings.Join(s.Features, ", "))
	}
	return text
}

// matrixText is the matrix for people.
func matrixText(a *app, s socRecord, m *facts.Matrix) string {
	var b strings.Builder
	b.WriteString(s.head(a))
	for _, f := range m.Target {
		fmt.Fprintf(&b, "%s\n", strings.Join(wrap(f.Text(), a.width()), "\n"))
	}
	notes := &footnotes{}
	qairt, hexagon := bands(m.QAIRT, false, notes), bands(m.Hexagon, true, notes)
	rows := [][]string{{"QAIRT \\ Hexagon SDK"}, {""}}
	for _, h := range slices.Backward(hexagon) {
		rows[0] = append(rows[0], h.label())
		rows[1] = append(rows[1], "tools "+strings.Join(h.tools, ", "))
	}
	for _, q := range qairt {
		row := []string{q.label()}
		for _, h := range slices.Backward(hexagon) {
			pair := m.Pairs[q.first*len(m.Hexagon)+h.first]
			said := slices.Concat(q.notes, h.notes)
			for _, f := range pair.Findings {
				said = append(said, notes.number(f))
			}
			row = append(row, mark(a, pair.Verdict, said))
		}
		rows = append(rows, row)
	}
	b.WriteString("\n" + columns(rows))
	b.WriteString("\n")
	rows = [][]string{{"NDK"}, {""}}
	for _, n := range slices.Backward(bands(m.NDK, false, notes)) {
		rows[0] = append(rows[0], n.label())
		rows[1] = append(rows[1], mark(a, n.verdict, n.notes))
	}
	b.WriteString(columns(rows))
	if len(notes.said) > 0 {
		b.WriteString("\n")
	}
	for i, f := range notes.said {
		fmt.Fprintf(&b, "%3d  %s\n", i+1, strings.Join(wrap(f.Text(), max(40, a.width()-5)), "\n     "))
	}
	return b.String()
}

// mark is "yes", "yes 3", "maybe 3" or "no 1 2": whether it works, as far as is known, and what is to be said of it.
func mark(a *app, v facts.Verdict, notes []int) string {
	text, colour := "yes", "32"
	switch {
	case !v.Works:
		text, colour = "no", "31"
	case v.Doubtful:
		text, colour = "maybe", "33"
	case len(notes) > 0:
		colour = "33"
	}
	slices.Sort(notes)
	for _, n := range slices.Compact(notes) {
		text += " " + strconv.Itoa(n)
	}
	return a.painted(colour, text)
}

// width is how many columns a line of text may take.
func (a *app) width() int { return cmp.Or(a.Env.Width, 120) }

// columns aligns rows; two blanks between columns, none at the end of a line.
func columns(rows [][]string) string {
	var widths []int
	for _, r := range rows {
		for i, cell := range r {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], shown(cell))
		}
	}
	var b strings.Builder
	for _, r := range rows {
		line := ""
		for i, cell := range r {
			line += cell + strings.Repeat(" ", widths[i]-shown(cell)+2)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// shown is how many columns a text takes: colours take none.
func shown(s string) int { return utf8.RuneCountInString(ansi.Strip(s)) }

// wrap cuts a text into lines at blanks.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && shown(line)+1+shown(word) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return append(lines, line)
}

func numbersText(ns []int) string {
	var out []string
	for _, n := range ns {
		out = append(out, strconv.Itoa(n))
	}
	return strings.Join(out, ", ")
}

func megabytes(n int) string {
	if n == 0 {
		return "–"
	}
	return strconv.Itoa(n) + " MB"
}

func orDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}
