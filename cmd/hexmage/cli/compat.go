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
	"github.com/hexmage/hexmage/internal/report"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/facts"
	"github.com/hexmage/hexmage/runner/check"
	"github.com/hexmage/hexmage/runner/push"
	"github.com/hexmage/hexmage/toolchains"
)

// compatCmd is `hexmage compat [--soc NAME] [--rules] [--ops] [FILE…]`.
type compatCmd struct {
	Files []string `arg:"" optional:"" help:"Check whether these files and folders work together on one device, and print conflicts. With --soc, also check whether they work on the SoC."`
	Rules bool     `help:"List the rules that decide which releases work together."`
	Ops   bool     `help:"List the ONNX operations and data types that the NPU supports. Also lists replacements for unsupported operations. Needs --soc."`
}

// Help returns the examples of `hexmage compat --help`.
func (*compatCmd) Help() string {
	return `Examples:

    hexmage compat                       all SoCs, each with the earliest SDK releases that support it

    hexmage compat --soc SM8750          compatible releases of QAIRT, Hexagon SDK and NDK
    hexmage compat --soc SM8750 --json   compatible releases, as JSON
    hexmage compat --soc SM8750 --ops    ONNX operations that the NPU of this SoC supports

    hexmage compat --rules               all compatibility rules
    hexmage compat --soc SM8750 push/    whether the files in push/ fit together, and run on SM8750`
}

// Run prints which SoCs, toolchains and releases work together, with reasons.
func (c *compatCmd) Run(ctx context.Context, a *app) error {
	d, err := a.domain()
	if err != nil {
		return err
	}
	switch {
	case c.Rules && len(c.Files) > 0:
		return usageError("--rules does not apply to files; omit --rules or the files")
	case len(c.Files) > 0:
		return a.compatFiles(ctx, d.catalog, c.Files)
	case c.Rules:
		return a.compatRules(d.catalog)
	case c.Ops && len(a.SoC) == 0:
		return usageError("--ops needs a SoC; add one, such as --soc SM8750")
	case len(a.SoC) == 0:
		return a.compatSoCs(d.catalog)
	}
	s, err := a.givenSoC(d.catalog)
	if err != nil {
		return err
	}
	if c.Ops {
		return a.compatOps(d.catalog, s)
	}
	m, diags := d.catalog.Matrix(s)
	if diags.HasErrors() {
		return a.printDiags(diags, nil)
	}
	record := recordOf(d.catalog, s)
	return a.show(struct {
		SoC socRecord `json:"soc"`
		*facts.Matrix
	}{record, m}, "%s", matrixText(a, record, m))
}

// givenSoC returns the SoC of --soc.
func (a *app) givenSoC(c *toolchains.Catalog) (*qnn.SoC, error) {
	name, err := a.oneSoC("")
	if err != nil {
		return nil, err
	}
	s, err := c.FindSoC(name)
	if err != nil {
		return nil, usageError("%w", err)
	}
	return s, nil
}

// compatFiles reports problems of files for one device. Incompatible files give exit code 1.
func (a *app) compatFiles(ctx context.Context, c *toolchains.Catalog, names []string) error {
	want := qnn.Target{}
	head := "any SoC"
	if len(a.SoC) > 0 {
		s, err := a.givenSoC(c)
		if err != nil {
			return err
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
	err = a.show(struct {
		SoC string `json:"soc,omitempty"`
		*check.Set
	}{want.SoC, found}, "%s", a.setText(head, len(set.files), found))
	if err == nil && len(found.Problems) > 0 {
		err = &exitError{Code: ExitFailed}
	}
	return err
}

func (a *app) setText(head string, n int, s *check.Set) string {
	text := a.painted("1", head) + ": " + report.Count(n, "file")
	for _, id := range slices.Sorted(maps.Keys(s.Builds)) {
		libraries := strings.Replace(report.Count(len(s.Builds[id]), "library"), "librarys", "libraries", 1)
		text += ", " + libraries + " of " + id
	}
	if len(s.Contexts) > 0 {
		text += ", " + report.Count(len(s.Contexts), "context")
	}
	line := func(color, mark, said string) {
		text += "\n  " + a.painted(color, mark) + strings.Repeat(" ", 9-len(mark)) +
			strings.Join(wrap(said, a.width()-11), "\n           ")
	}
	for _, p := range s.Problems {
		line("31", "problem", p.Error())
	}
	for _, f := range s.Warnings {
		line("33", "warning", f.Text())
	}
	if slices.Equal(s.Systems, []string{qnn.Linux}) {
		line("33", "note", "the libraries are for Linux, so Android cannot load them")
	}
	if len(s.Problems)+len(s.Warnings) == 0 {
		line("32", "ok", "no known conflict")
	}
	return text + "\n"
}

// socRecord is the JSON form of a SoC.
type socRecord struct {
	*qnn.SoC
	Features []string `json:"features,omitempty"`
}

func recordOf(c *toolchains.Catalog, s *qnn.SoC) socRecord { return socRecord{s, c.Features(s)} }

// compatSoCs prints the SoCs with the oldest release for each.
func (a *app) compatSoCs(c *toolchains.Catalog) error {
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
		rows = append(rows, []string{s.Name, s.MarketingName, s.Arch, strconv.Itoa(s.SoCModel),
			numbersText(s.AndroidIDs), orDash(also(s.VTCMMB > 0, fmt.Sprintf("%d MB", s.VTCMMB))),
			orDash(n.QAIRT) + also(n.QAIRT != "" && s.MinSDK == "", " ?"), orDash(n.Hexagon),
			orDash(also(n.Tools != "", n.Tools+"+"))})
	}
	return a.show(all, "%s\n? marks the oldest release that is known to support the SoC. Older releases may support "+
		"the SoC too.\nCompatible releases for a SoC: hexmage compat --soc SM8750\n", columns(rows))
}

// compatOps prints the facts about ONNX operations that apply to a SoC.
func (a *app) compatOps(c *toolchains.Catalog, s *qnn.SoC) error {
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
			all = append(all, operation{Op: op, Types: c.TypesOn(s, p), Source: p.Confidence + ": " + p.Source})
		}
	}
	for _, r := range c.UnsupportedOps {
		all = append(all, operation{Op: r.Op, MinRank: r.Rank, Replacement: r.Change,
			Source: r.Confidence + ": " + r.Source})
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
	return a.show(all, "%s", columns(rows))
}

func (a *app) compatRules(c *toolchains.Catalog) error {
	type rule struct {
		ID         string `json:"id"`
		Severity   string `json:"severity"`
		Summary    string `json:"summary,omitempty"`
		Source     string `json:"source,omitempty"`
		Confidence string `json:"confidence,omitempty"`
	}
	var all []rule
	rows := [][]string{{"rule", "severity", "", "confidence", "known from"}}
	for _, r := range c.Rules {
		source, confidence := r.KnownFrom()
		all = append(all, rule{r.ID, r.Severity, r.Summary, source, confidence})
		rows = append(rows, []string{r.ID, r.Severity, r.Summary, confidence, source})
	}
	return a.show(all, "%s", columns(rows))
}

// band is a range of releases with the same rules and verdicts.
type band struct {
	versions []string
	tools    []string
	verdict  facts.Verdict
	notes    []int // footnotes
	first    int   // index of its first release
}

// label returns "2.42.0.251225 – 2.50.0.260828", oldest first.
func (b band) label() string {
	if len(b.versions) == 1 {
		return b.versions[0]
	}
	return b.versions[len(b.versions)-1] + " – " + b.versions[0]
}

// footnotes numbers the findings of bands. Findings of one rule with one remedy share a note, with the first finding's
// text.
type footnotes struct{ said []qnn.Finding }

func (f *footnotes) number(x qnn.Finding) int {
	i := slices.IndexFunc(f.said, func(have qnn.Finding) bool { return have.Rule == x.Rule && have.Remedy == x.Remedy })
	if i < 0 {
		i = len(f.said)
		f.said = append(f.said, x)
	}
	return i + 1
}

// bands joins neighboring releases with the same verdicts of the same rules, apart from version numbers.
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

// head returns the facts of a SoC in a few lines.
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
		text += fmt.Sprintf("HTP features: %s\n", strings.Join(s.Features, ", "))
	}
	return text
}

// matrixText formats the matrix for people.
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
	for _, name := range slices.Sorted(maps.Keys(m.Others)) {
		all := bands(m.Others[name], false, notes)
		if !slices.ContainsFunc(all, func(x band) bool { return len(x.notes) > 0 }) {
			continue
		}
		rows = [][]string{{name}, {""}}
		for _, n := range slices.Backward(all) {
			rows[0] = append(rows[0], n.label())
			rows[1] = append(rows[1], mark(a, n.verdict, n.notes))
		}
		b.WriteString(columns(rows))
	}
	if len(notes.said) > 0 {
		b.WriteString("\n")
	}
	for i, f := range notes.said {
		fmt.Fprintf(&b, "%3d  %s\n", i+1, strings.Join(wrap(f.Text(), max(40, a.width()-5)), "\n     "))
	}
	return b.String()
}

// mark returns a verdict with the numbers of its notes: "yes", "yes 3", "maybe 3" or "no 1 2".
func mark(a *app, v facts.Verdict, notes []int) string {
	text, color := "yes", "32"
	switch {
	case !v.Works:
		text, color = "no", "31"
	case v.Doubtful:
		text, color = "maybe", "33"
	case len(notes) > 0:
		color = "33"
	}
	slices.Sort(notes)
	for _, n := range slices.Compact(notes) {
		text += " " + strconv.Itoa(n)
	}
	return a.painted(color, text)
}

// width returns the width of text in columns.
func (a *app) width() int { return cmp.Or(a.Env.Width, 120) }

// columns aligns rows, with two blanks between columns and none at the end of a line.
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

// shown returns the width of a text without its colors.
func shown(s string) int { return utf8.RuneCountInString(ansi.Strip(s)) }

// wrap breaks a text into lines at blanks.
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

func orDash(s string) string { return cmp.Or(s, "–") }
