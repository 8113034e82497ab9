package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/ansi"
	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/internal/nearest"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/facts"
	"github.com/hexmage/hexmage/runner/diagnose"
	"github.com/hexmage/hexmage/steps"
	"github.com/hexmage/hexmage/toolchains"
)

// explainable is a sort of thing that show explains, whatever pipelines there are.
type explainable struct {
	word  string // before its name
	means string
	names []offer
	has   func(name string) bool
	show  func(name string) error
}

// explainables are those sorts.
func (a *app) explainables(ctx context.Context) ([]explainable, error) {
	d, err := a.domain(a.here())
	if err != nil {
		return nil, err
	}
	cat, err := a.failures(a.here())
	if err != nil {
		return nil, err
	}
	c := d.catalogue()
	return []explainable{
		{"kind", "a kind of step, or toolchain", d.kindOffers(), func(name string) bool { return d.kinds[name] != nil },
			func(name string) error { return listKinds(a, steps.Workspace{}.Kinds(), name) }},
		{"soc", "a SoC", d.socOffers(), func(name string) bool { _, err := c.FindSoC(name); return err == nil },
			func(name string) error { return a.showSoC(c, name) }},
		{"arch", "a Hexagon arch",
			archOffers(c), func(name string) bool { return c.FindArch(strings.ToLower(name)) != nil },
			func(name string) error { return a.showArch(c, name) }},
		{addrs.Toolchain, "a toolchain of the catalogue, NAME or NAME@VERSION",
			d.toolchainOffers(), func(name string) bool {
				_, _, err := c.Find(parseWanted(name).name, "")
				return err == nil
			},
			func(name string) error { return a.showToolchain(ctx, name) }},
		{"error", "a code such as 0x80000406, or what diagnose knows a failure as",
			failureOffers(cat), func(name string) bool {
				return cat.Entry(name) != nil ||
					len(cat.Codes.Decode(name)) > 0
			},
			func(name string) error { return a.showError(cat, name) }},
	}, nil
}

func (d *domain) kindOffers() (all []offer) {
	for _, name := range slices.Sorted(maps.Keys(d.kinds)) {
		all = append(all, offer{name, d.kinds[name].Schema().Summary})
	}
	return all
}

func (d *domain) socOffers() (all []offer) {
	for _, s := range d.catalogue().SortedSoCs() {
		all = append(all, offer{s.Name, strings.TrimSpace(s.Arch + " " + s.MarketingName)})
	}
	return all
}

func (d *domain) toolchainOffers() (all []offer) {
	for _, t := range d.catalogue().Toolchains {
		all = append(all, offer{t.Name, t.Description})
	}
	return all
}

func archOffers(c *toolchains.Catalogue) (all []offer) {
	for _, x := range c.Arches {
		all = append(all, offer{x.Name, ""})
	}
	return all
}

func failureOffers(cat *diagnose.Catalogue) (all []offer) {
	for _, e := range cat.Entries {
		all = append(all, offer{e.ID, e.Cause})
	}
	return all
}

func offered(all []offer) (names []string) {
	for _, o := range all {
		names = append(names, o.value)
	}
	return names
}

// socName matches the names that Qualcomm gives its SoCs.
var socName = lazyregexp.New(`(?i)^(?:SM|SA|SC|SXR|SSG|SW|QC[MS]|QRB|QCA|X[12][EP])[0-9]`)

// explain shows what is of no pipeline: by its sort and its name, or by the name alone, where things of one sort only
// have it. none says that it is no pipeline.
func (c *showCmd) explain(ctx context.Context, a *app, none error) error {
	all, err := a.explainables(ctx)
	if err != nil {
		return err
	}
	var words, ways []string
	names := a.pipelines()
	var show func(name string) error
	for _, x := range all {
		words = append(words, x.word)
		names = append(names, offered(x.names)...)
		switch {
		case x.word != c.What:
		case c.Address == "":
			return usageError("say which: `hexmage show %s NAME`. There are %s", x.word,
				strings.Join(few(offered(x.names)), ", "))
		default:
			return x.show(c.Address)
		}
		if c.Address == "" && x.has(c.What) {
			show, ways = x.show, append(ways, fmt.Sprintf("`hexmage show %s %s`", x.word, c.What))
		}
	}
	near := nearest.Name(c.What, names)
	if c.Address != "" {
		near = nearest.Name(c.What, append(words, a.pipelines()...))
	}
	switch {
	case len(ways) == 1:
		return show(c.What)
	case len(ways) > 1:
		return usageError("%s is several things: say which, %s", c.What, strings.Join(ways, " or "))
	case c.Address == "" && socName.MatchString(c.What):
		d, err := a.domain(a.here())
		if err == nil {
			_, err = d.catalogue().FindSoC(c.What)
		}
		return givenError{usageError("%w", err)}
	case near != "":
		return givenError{usageError("there is no pipeline %q here, nor anything of the catalogue that is called "+
			"so. Did you mean %s?", c.What, strings.TrimSpace(near+" "+c.Address))}
	}
	return givenError{usageError("%w. Of the catalogue it shows %s, each before a name", none,
		strings.Join(words, ", "))}
}

// nearOrFew is orList of names that are many.
func nearOrFew(there, name string, names []string) string {
	if near := nearest.Name(name, names); near != "" {
		return orList(there, name, []string{near})
	}
	return orList(there, name, few(names))
}

// groundsOf says of some attributes of a record how sure each is, and where it is known from.
func groundsOf(fact func(attribute string) qnn.Fact, attributes ...string) map[string]string {
	all := map[string]string{}
	for _, name := range attributes {
		f := fact(name)
		all[name] = f.Confidence + ": " + f.Source
	}
	return all
}

// showRecord prints a record: as JSON, or the fields that its JSON has for people.
func (a *app) showRecord(record any) error {
	if a.JSON {
		return a.printJSON(record)
	}
	b, err := json.Marshal(record)
	if err != nil {
		return engineError(err)
	}
	var text strings.Builder
	writeFields(&text, json.NewDecoder(bytes.NewReader(b)), "")
	fmt.Fprint(a.Env.Stdout, ansi.Visible(strings.TrimPrefix(text.String(), "\n")+"\n", false))
	return nil
}

// writeFields writes a JSON value that was encoded just now: each field and each element on a line of its own, and what
// is in it indented.
func writeFields(b *strings.Builder, dec *json.Decoder, indent string) {
	value, _ := dec.Token()
	if _, nested := value.(json.Delim); !nested {
		fmt.Fprintf(b, " %v", value)
		return
	}
	for dec.More() {
		var name any = "-"
		if value == json.Delim('{') {
			name, _ = dec.Token()
			name = fmt.Sprint(name, ":")
		}
		fmt.Fprintf(b, "\n%s%v", indent, name)
		writeFields(b, dec, indent+"  ")
	}
	_, _ = dec.Token()
}

// showSoC shows what the catalogue has of a SoC.
func (a *app) showSoC(c *toolchains.Catalogue, name string) error {
	s, err := c.FindSoC(name)
	if err != nil {
		return givenError{usageError("%w", err)}
	}
	needs, diags := c.Needs(s)
	if diags.HasErrors() {
		return a.printDiags(diags, nil)
	}
	known := []string{"arch", "soc_model"}
	for attribute, is := range map[string]bool{"vtcm_mb": s.VTCMMB > 0, "soc_ids": len(s.AndroidIDs) > 0,
		"min_sdk": s.MinSDK != "", "seen_sdk": s.SeenSDK != "", "bandwidth_gbs": s.Bandwidth > 0} {
		if is {
			known = append(known, attribute)
		}
	}
	return a.showRecord(struct {
		Format string `json:"format"`
		socRecord
		MissingFeatures []string          `json:"missing_features,omitempty"`
		Bandwidth       float64           `json:"bandwidth_gbs,omitempty"`
		Needs           facts.Needs       `json:"needs"`
		Grounds         map[string]string `json:"known_from"`
	}{"hexmage-show/0", recordOf(c, s), s.MissingFeatures, s.Bandwidth, needs,
		groundsOf(func(attribute string) qnn.Fact { return s.Fact(&c.Facts, attribute) }, known...)})
}

// archShown is what there is to know of a Hexagon arch.
type archShown struct {
	Format    string            `json:"format"`
	Arch      string            `json:"arch"`
	HTP       bool              `json:"htp"`
	CompileAs string            `json:"compile_as,omitempty"`
	Features  []string          `json:"features,omitempty"`
	Since     map[string]string `json:"since,omitempty"`
	Seen      map[string]string `json:"seen,omitempty"`
	ContextMB int               `json:"context_mb,omitempty"`
	ProcessMB int               `json:"process_mb,omitempty"`
	SoCs      []string          `json:"socs,omitempty"`
	Note      string            `json:"note,omitempty"`
	Grounds   map[string]string `json:"known_from"`
}

// showArch shows what the catalogue has of a Hexagon arch, with the SoCs that have it.
func (a *app) showArch(c *toolchains.Catalogue, name string) error {
	x := c.FindArch(strings.ToLower(name))
	if x == nil {
		return givenError{usageError("there is no Hexagon arch %q in the catalogue (a block arch in "+
			"toolchains/*.hcl of the workspace would add it). %s", name,
			orList("There are", name, offered(archOffers(c))))}
	}
	s := archShown{"hexmage-show/0", x.Name, x.HasHTP(), x.CompileAs, x.Features, x.Since, x.Seen, x.ContextMB,
		x.ProcessMB, nil, x.Note, nil}
	for _, soc := range c.SortedSoCs() {
		if soc.Arch == x.Name {
			s.SoCs = append(s.SoCs, soc.Name)
		}
	}
	var known []string
	for of := range x.Since {
		known = append(known, "since."+of)
	}
	for attribute, is := range map[string]bool{"features": len(x.Features) > 0, "context_mb": x.ContextMB > 0,
		"process_mb": x.ProcessMB > 0} {
		if is {
			known = append(known, attribute)
		}
	}
	s.Grounds = groundsOf(func(attribute string) qnn.Fact { return x.Fact(&c.Facts, attribute) }, known...)
	return a.showRecord(s)
}

// failureShown is a failure that the catalogue knows.
type failureShown struct {
	ID       string   `json:"id"`
	Rank     string   `json:"rank"`
	Where    []string `json:"where"`
	Warning  bool     `json:"warning,omitempty"`
	Benign   bool     `json:"benign,omitempty"`
	Cause    string   `json:"cause"`
	Remedy   string   `json:"remedy,omitempty"`
	Source   string   `json:"source,omitempty"`
	Explains []string `json:"explains,omitempty"`
	Examples []string `json:"examples,omitempty"`
}

// showError says what a code means, with the failures whose messages have it, or what is known of a failure.
func (a *app) showError(cat *diagnose.Catalogue, name string) error {
	codes := cat.Codes.Decode(name)
	entries := cat.WithCode(codes)
	if e := cat.Entry(name); e != nil {
		codes, entries = nil, []*diagnose.Entry{e}
	}
	if len(codes)+len(entries) == 0 {
		return givenError{usageError("%s is neither a code nor a failure of the catalogue: give a code as it was "+
			"printed, such as 0x80000406 or 14001. %s", name,
			nearOrFew("Some failures are", name, offered(failureOffers(cat))))}
	}
	shown := []failureShown{}
	for _, e := range entries {
		shown = append(shown, failureShown{e.ID, string(e.Rank), e.Where, e.Warning(), e.Benign, e.Cause, e.Remedy,
			e.Source, e.Explains, e.Examples})
	}
	if a.JSON {
		return a.printJSON(struct {
			Format   string          `json:"format"`
			Codes    []diagnose.Code `json:"codes,omitempty"`
			Failures []failureShown  `json:"failures"`
		}{"hexmage-show/0", codes, shown})
	}
	var b strings.Builder
	for _, code := range codes {
		fmt.Fprintln(&b, code)
	}
	for i, f := range shown {
		if i+len(codes) > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s  %s, seen in %s\n%s\n", a.painted("1", f.ID), f.sort(), strings.Join(f.Where, ", "),
			paragraph(f.Cause, 2))
		if f.Remedy != "" {
			fmt.Fprintln(&b, "  remedy\n"+paragraph(f.Remedy, 4))
		}
		if len(f.Explains) > 0 {
			fmt.Fprintln(&b, paragraph("explains "+strings.Join(f.Explains, ", "), 2))
		}
		if len(f.Examples) > 0 {
			fmt.Fprintf(&b, "  looks like\n    %s\n", strings.ReplaceAll(f.Examples[0], "\n", "\n    "))
		}
		if f.Source != "" {
			fmt.Fprintf(&b, "  known from %s\n", f.Source)
		}
	}
	fmt.Fprint(a.Env.Stdout, ansi.Visible(b.String(), a.coloured()))
	return nil
}

// sort is what the failure is, in a word or two.
func (f failureShown) sort() string {
	switch {
	case f.Benign:
		return "no failure, though it looks like one"
	case f.Warning:
		return "a warning"
	}
	return "a " + f.Rank
}
