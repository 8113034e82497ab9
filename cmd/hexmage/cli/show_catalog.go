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
	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/internal/suggest"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/facts"
	"github.com/hexmage/hexmage/runner/diagnose"
	"github.com/hexmage/hexmage/steps"
	"github.com/hexmage/hexmage/toolchains"
)

// explainable is a class of things that show explains without a pipeline.
type explainable struct {
	word  string // word before a name
	means string
	names []offer
	has   func(name string) bool
	show  func(name string) error
}

// explainables returns these classes.
func (a *app) explainables(ctx context.Context) ([]explainable, error) {
	d, err := a.domain()
	if err != nil {
		return nil, err
	}
	cat, err := a.failures()
	if err != nil {
		return nil, err
	}
	c := d.catalog
	return []explainable{
		{"kind", "a kind of step or toolchain", d.kindOffers(), func(name string) bool { return d.kinds[name] != nil },
			func(name string) error { return listKinds(a, steps.Workspace{}.Kinds(), name) }},
		{"soc", "a SoC", d.socOffers(), func(name string) bool { _, err := c.FindSoC(name); return err == nil },
			func(name string) error { return a.showSoC(c, name) }},
		{"arch", "a Hexagon arch",
			archOffers(c), func(name string) bool { return c.FindArch(strings.ToLower(name)) != nil },
			func(name string) error { return a.showArch(c, name) }},
		{addrs.Toolchain, "a toolchain of the catalog, NAME or NAME@VERSION",
			d.toolchainOffers(), func(name string) bool {
				_, _, err := c.Find(parseWanted(name).name, "")
				return err == nil
			},
			func(name string) error { return a.showToolchain(ctx, name) }},
		{"error", "a code such as 0x80000406, or the name of a failure",
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
	for _, s := range d.catalog.SortedSoCs() {
		all = append(all, offer{s.Name, strings.TrimSpace(s.Arch + " " + s.MarketingName)})
	}
	return all
}

func (d *domain) toolchainOffers() (all []offer) {
	for _, t := range d.catalog.Toolchains {
		all = append(all, offer{t.Name, t.Description})
	}
	return all
}

func archOffers(c *toolchains.Catalog) (all []offer) {
	for _, x := range c.Arches {
		all = append(all, offer{x.Name, ""})
	}
	return all
}

func failureOffers(cat *diagnose.Catalog) (all []offer) {
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

// socName matches Qualcomm's names of SoCs.
var socName = lazyregexp.New(`(?i)^(?:SM|SA|SC|SXR|SSG|SW|QC[MS]|QRB|QCA|X[12][EP])[0-9]`)

// explain shows a thing without a pipeline by its class and name, or by its name alone if it is unique. none is the
// error if the name is unknown.
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
			return usageError("missing name; use `hexmage show %s NAME`. Known names: %s", x.word,
				some(offered(x.names), maxListed))
		default:
			return x.show(c.Address)
		}
		if c.Address == "" && x.has(c.What) {
			show, ways = x.show, append(ways, fmt.Sprintf("`hexmage show %s %s`", x.word, c.What))
		}
	}
	near := suggest.Name(c.What, names)
	if c.Address != "" {
		near = suggest.Name(c.What, append(words, a.pipelines()...))
	}
	switch {
	case len(ways) == 1:
		return show(c.What)
	case len(ways) > 1:
		return usageError("the name %s is ambiguous; use %s", c.What, strings.Join(ways, " or "))
	case c.Address == "" && socName.MatchString(c.What):
		return all[slices.IndexFunc(all, func(x explainable) bool { return x.word == "soc" })].show(c.What)
	case near != "":
		return givenError{usageError("unknown name %q. Did you mean %s?",
			c.What, strings.TrimSpace(near+" "+c.Address))}
	}
	return givenError{usageError("%w. For a catalog entry, write one of these words before the name: %s", none,
		strings.Join(words, ", "))}
}

// grounds have the confidence and source of each set attribute of a record.
type grounds map[string]qnn.Fact

// groundsOf returns the grounds of the set attributes.
func groundsOf(fact func(attribute string) qnn.Fact, set map[string]bool) grounds {
	all := grounds{}
	for name, is := range set {
		if is {
			all[name] = fact(name)
		}
	}
	return all
}

// lines formats the grounds for people.
func (g grounds) lines() map[string]string {
	lines := map[string]string{}
	for name, f := range g {
		lines[name] = f.Confidence + ": " + f.Source
	}
	return lines
}

// showRecord prints a record as JSON, or its JSON fields for people.
func (a *app) showRecord(record any) error {
	text, err := fieldsText(record)
	if err != nil {
		return engineError(err)
	}
	return a.show(record, "%s", text)
}

// fieldsText formats the JSON fields of a record for people.
func fieldsText(record any) (string, error) {
	b, err := json.Marshal(record)
	var text strings.Builder
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	writeFields(&text, dec, "", false)
	return strings.TrimPrefix(text.String(), "\n") + "\n", err
}

// writeFields writes an encoded JSON value: one line for each field and element, with indented content. The first field
// of an element follows its dash. It wraps long texts.
func writeFields(b *strings.Builder, dec *json.Decoder, indent string, element bool) {
	value, _ := dec.Token()
	if _, nested := value.(json.Delim); !nested {
		text := fmt.Sprint(value)
		switch {
		case value == nil:
			b.WriteString(" null")
		case strings.Contains(text, "\n"):
			b.WriteString("\n" + indent + strings.ReplaceAll(text, "\n", "\n"+indent))
		case len(text) > 90 && strings.Contains(text, " "):
			b.WriteString("\n" + paragraph(text, len(indent)))
		default:
			b.WriteString(" " + text)
		}
		return
	}
	for before := "\n" + indent; dec.More(); before = "\n" + indent {
		var name any = "-"
		if value == json.Delim('{') {
			name, _ = dec.Token()
			name = fmt.Sprint(name, ":")
			if element {
				before, element = " ", false
			}
		}
		fmt.Fprint(b, before, name)
		writeFields(b, dec, indent+"  ", name == "-")
	}
	_, _ = dec.Token()
}

// showSoC shows a SoC of the catalog.
func (a *app) showSoC(c *toolchains.Catalog, name string) error {
	s, err := c.FindSoC(name)
	if err != nil {
		return givenError{usageError("%w", err)}
	}
	needs, diags := c.Needs(s)
	if diags.HasErrors() {
		return a.printDiags(diags, nil)
	}
	return a.showRecord(struct {
		Format string `json:"format"`
		socRecord
		Needs   facts.Needs       `json:"needs"`
		Grounds map[string]string `json:"known_from"`
	}{"hexmage-show/0", recordOf(c, s), needs, groundsOfSoC(c, s).lines()})
}

func groundsOfSoC(c *toolchains.Catalog, s *qnn.SoC) grounds {
	return groundsOf(func(attribute string) qnn.Fact { return s.Fact(&c.Facts, attribute) }, map[string]bool{
		"arch": true, "soc_model": true, "vtcm_mb": s.VTCMMB > 0, "soc_ids": len(s.AndroidIDs) > 0,
		"min_sdk": s.MinSDK != "", "seen_sdk": s.SeenSDK != "", "bandwidth_gbs": s.Bandwidth > 0, "lpai": s.LPAI != "",
		"missing_features": len(s.MissingFeatures) > 0})
}

// archRecord is the JSON form of a Hexagon arch.
type archRecord struct {
	*qnn.Arch
	HTP  bool     `json:"htp"`
	SoCs []string `json:"socs,omitempty"`
}

// showArch shows a Hexagon arch of the catalog with its SoCs.
func (a *app) showArch(c *toolchains.Catalog, name string) error {
	x := c.FindArch(strings.ToLower(name))
	if x == nil {
		return givenError{usageError("unknown Hexagon arch %q; to add an arch, see docs/catalog.md. %s", name,
			orList("Available:", name, offered(archOffers(c))))}
	}
	return a.showRecord(struct {
		Format string `json:"format"`
		archRecord
		Grounds map[string]string `json:"known_from"`
	}{"hexmage-show/0", archRecordOf(c, x), groundsOfArch(c, x).lines()})
}

// archRecordOf returns the record of an arch with its SoCs.
func archRecordOf(c *toolchains.Catalog, x *qnn.Arch) archRecord {
	r := archRecord{x, x.HasHTP(), nil}
	for _, soc := range c.SortedSoCs() {
		if soc.Arch == x.Name {
			r.SoCs = append(r.SoCs, soc.Name)
		}
	}
	return r
}

func groundsOfArch(c *toolchains.Catalog, x *qnn.Arch) grounds {
	set := map[string]bool{"features": len(x.Features) > 0, "context_mb": x.ContextMB > 0,
		"process_mb": x.ProcessMB > 0}
	for of := range x.Since {
		set["since."+of] = true
	}
	for of := range x.Seen {
		set["seen."+of] = true
	}
	return groundsOf(func(attribute string) qnn.Fact { return x.Fact(&c.Facts, attribute) }, set)
}

// failureShown is a failure of the catalog.
type failureShown struct {
	ID       string   `json:"id"`
	Rank     string   `json:"rank"`
	Where    []string `json:"where"`
	Patterns []string `json:"patterns"`
	Warning  bool     `json:"warning,omitempty"`
	Benign   bool     `json:"benign,omitempty"`
	Cause    string   `json:"cause"`
	Remedy   string   `json:"remedy,omitempty"`
	Source   string   `json:"source"`
	Explains []string `json:"explains,omitempty"`
	Examples []string `json:"examples,omitempty"`
}

func failuresOf(entries []*diagnose.Entry) []failureShown {
	shown := []failureShown{}
	for _, e := range entries {
		shown = append(shown, failureShown{e.ID, string(e.Rank), e.Where, e.Patterns, e.Warning(), e.Benign, e.Cause,
			e.Remedy, e.Source, e.Explains, e.Examples})
	}
	return shown
}

// showError explains an error code with its failures, or a failure.
func (a *app) showError(cat *diagnose.Catalog, name string) error {
	codes := cat.Codes.Decode(name)
	entries := cat.WithCode(codes)
	if e := cat.Entry(name); e != nil {
		codes, entries = nil, []*diagnose.Entry{e}
	}
	if len(codes)+len(entries) == 0 {
		next := "`hexmage show facts --json` lists the failures."
		if near := suggest.Name(name, offered(failureOffers(cat))); near != "" {
			next = fmt.Sprintf("Did you mean %s?", near)
		}
		return givenError{usageError("%s is neither an error code, such as 0x80000406 or 14001, nor the name of a "+
			"failure. %s", name, next)}
	}
	return a.showRecord(struct {
		Format   string          `json:"format"`
		Codes    []diagnose.Code `json:"codes,omitempty"`
		Failures []failureShown  `json:"failures"`
	}{"hexmage-show/0", codes, failuresOf(entries)})
}
