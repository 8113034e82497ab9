package step

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/addrs"
)

// The lines between which a document holds what Markdown returns.
const (
	docsBegin = "<!-- kinds: generated, do not edit -->"
	docsEnd   = "<!-- end of kinds -->"
)

// Description is what there is to say of a kind: for people, for editors that complete and check, and for the documentation.
type Description struct {
	Kind        string     `json:"kind"`
	Summary     string     `json:"summary"`
	Arguments   []Argument `json:"arguments"`
	Outputs     []Output   `json:"outputs"`
	OutputsFrom string     `json:"outputs_from,omitempty"` // an argument whose elements are outputs too
	OwnOutputs  bool       `json:"own_outputs,omitempty"`  // it has those of its `output` blocks
	Toolchains  []string   `json:"toolchains,omitempty"`   // that it uses without being told
	Example     string     `json:"example,omitempty"`
}

// Output is an output that every step of a kind has.
type Output struct {
	Name  string `json:"name"`
	Class string `json:"class"`
	Doc   string `json:"doc"`
}

// Describe describes kinds, sorted by name, toolchain blocks last.
func Describe(kinds map[string]Kind) []Description {
	var all []Description
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		s := kinds[name].Schema()
		d := Description{name, s.Summary, s.Arguments, []Output{}, s.OutputsFrom, s.OwnOutputs, s.Toolchains, s.Example}
		for _, o := range s.Outputs {
			d.Outputs = append(d.Outputs, Output{o.Name, o.Class.String(), o.Doc})
		}
		all = append(all, d)
	}
	slices.SortStableFunc(all, func(a, b Description) int {
		switch {
		case a.Kind == addrs.Toolchain:
			return 1
		case b.Kind == addrs.Toolchain:
			return -1
		}
		return 0
	})
	return all
}

// Block is how a step of the kind begins.
func (d Description) Block() string {
	if d.Kind == addrs.Toolchain {
		return d.Kind
	}
	return fmt.Sprintf("step %q", d.Kind)
}

// Text is all that there is to say of an argument beside its name and its type.
func (a Argument) Text() string {
	s := a.Doc
	if a.Values != "" {
		s += " Values: " + a.Values + "."
	}
	if a.Default != "" {
		s += " Default: " + a.Default + "."
	}
	return strings.TrimSpace(s)
}

// Markdown describes kinds: a section for each.
func Markdown(kinds map[string]Kind) string {
	var b strings.Builder
	for _, d := range Describe(kinds) {
		d.markdown(&b)
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// UpdateDocs returns the document with its generated section made anew.
func UpdateDocs(doc []byte, kinds map[string]Kind) ([]byte, error) {
	begin, end := bytes.Index(doc, []byte(docsBegin)), bytes.Index(doc, []byte(docsEnd))
	if begin < 0 || end < begin {
		return nil, errors.New("the document has no section for kinds: it needs the lines " + docsBegin + " and " + docsEnd)
	}
	var out bytes.Buffer
	out.Write(doc[:begin+len(docsBegin)])
	out.WriteString("\n\n" + Markdown(kinds) + "\n")
	out.Write(doc[end:])
	return out.Bytes(), nil
}

func (d Description) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "### %s\n\n%s\n\n", d.Block(), cell(d.Summary))
	if len(d.Arguments) > 0 {
		b.WriteString("| argument | type | |\n|---|---|---|\n")
		for _, a := range d.Arguments {
			text := a.Text()
			if a.Required {
				text = strings.TrimSpace("**Required.** " + text)
			}
			fmt.Fprintf(b, "| `%s` | %s | %s |\n", a.Name, cell(a.Type), cell(text))
		}
		b.WriteString("\n")
	}
	if len(d.Outputs) > 0 || d.OutputsFrom != "" {
		b.WriteString("| output | class | |\n|---|---|---|\n")
		for _, o := range d.Outputs {
			fmt.Fprintf(b, "| `%s` | %s | %s |\n", o.Name, o.Class, cell(o.Doc))
		}
		if d.OutputsFrom != "" {
			fmt.Fprintf(b, "| one for each of `%s` | file | |\n", d.OutputsFrom)
		}
		b.WriteString("\n")
	}
	if d.OwnOutputs {
		b.WriteString("Its outputs are those of its own `output` blocks.\n\n")
	}
	if len(d.Toolchains) > 0 {
		fmt.Fprintf(b, "It uses these toolchains, where the pipeline declares them, without being told: `%s`.\n\n", strings.Join(d.Toolchains, "`, `"))
	}
	if d.Example != "" {
		fmt.Fprintf(b, "```hcl\n%s\n```\n\n", d.Example)
	}
}

// cell spells text so that it stays in one cell of a table.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(s)
}
