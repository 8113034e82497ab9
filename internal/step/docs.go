package step

import (
	"bytes"
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/addrs"
)

// The lines between which a document holds what Markdown returns.
const (
	docsBegin = "<!-- kinds: generated, do not edit -->"
	docsEnd   = "<!-- end of kinds -->"
)

// Markdown describes kinds by their schemas: a section for each, sorted by name, toolchain blocks last.
func Markdown(kinds map[string]Kind) string {
	var names []string
	for name := range kinds {
		if name != addrs.Toolchain {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "### step \"%s\"\n\n", name)
		markdownKind(&b, kinds[name].Schema())
	}
	if k, ok := kinds[addrs.Toolchain]; ok {
		b.WriteString("### toolchain\n\n")
		markdownKind(&b, k.Schema())
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

func markdownKind(b *strings.Builder, s Schema) {
	if s.Summary != "" {
		fmt.Fprintf(b, "%s\n\n", cell(s.Summary))
	}
	if len(s.Arguments) > 0 {
		b.WriteString("| argument | type | |\n|---|---|---|\n")
		for _, a := range s.Arguments {
			fmt.Fprintf(b, "| `%s` | %s | %s |\n", a.Name, cell(a.Type), cell(a.text()))
		}
		b.WriteString("\n")
	} else if len(s.Args) > 0 {
		b.WriteString("| argument | type | |\n|---|---|---|\n")
		for _, name := range sortedNames(s.Args) {
			ty, required := argument(s.Args[name])
			doc := s.ArgDocs[name]
			if required {
				doc = strings.TrimSpace("**Required.** " + doc)
			}
			fmt.Fprintf(b, "| `%s` | %s | %s |\n", name, cell(ty), cell(doc))
		}
		b.WriteString("\n")
	}
	if len(s.Outputs) > 0 || s.OutputsFrom != "" {
		b.WriteString("| output | class | |\n|---|---|---|\n")
		for _, o := range s.Outputs {
			fmt.Fprintf(b, "| `%s` | %s | %s |\n", o.Name, o.Class, cell(o.Doc))
		}
		if s.OutputsFrom != "" {
			fmt.Fprintf(b, "| one for each of `%s` | file | |\n", s.OutputsFrom)
		}
		b.WriteString("\n")
	}
	if s.OwnOutputs {
		b.WriteString("Its outputs are those of its own `output` blocks.\n\n")
	}
	if len(s.Toolchains) > 0 {
		fmt.Fprintf(b, "It uses these toolchains, where the pipeline declares them, without being told: `%s`.\n\n", strings.Join(s.Toolchains, "`, `"))
	}
	if s.Example != "" {
		fmt.Fprintf(b, "```hcl\n%s\n```\n\n", s.Example)
	}
}

// text is all that there is to say of an argument beside its type.
func (a Argument) text() string {
	s := a.Doc
	if a.Required {
		s = "**Required.** " + s
	}
	if a.Values != "" {
		s += " Values: " + a.Values + "."
	}
	if a.Default != "" {
		s += " Default: " + a.Default + "."
	}
	return strings.TrimSpace(s)
}

// argument returns the type of an argument as the language spells it, or what its blocks hold.
func argument(spec hcldec.Spec) (ty string, required bool) {
	switch s := spec.(type) {
	case *hcldec.AttrSpec:
		return typeexpr.TypeString(s.Type), s.Required
	case *hcldec.DefaultSpec:
		return argument(s.Primary)
	case *hcldec.ValidateSpec:
		return argument(s.Wrapped)
	case *hcldec.RefineValueSpec:
		return argument(s.Wrapped)
	case *hcldec.BlockAttrsSpec:
		return "block of " + typeexpr.TypeString(s.ElementType), s.Required
	case *hcldec.BlockSpec:
		return "block " + nested(s.Nested), s.Required
	case *hcldec.BlockListSpec:
		return "blocks " + nested(s.Nested), s.MinItems > 0
	case *hcldec.BlockTupleSpec:
		return "blocks " + nested(s.Nested), s.MinItems > 0
	case *hcldec.BlockSetSpec:
		return "blocks " + nested(s.Nested), s.MinItems > 0
	case *hcldec.BlockMapSpec:
		return "blocks \"" + strings.Join(s.LabelNames, "\" \"") + "\" " + nested(s.Nested), false
	case *hcldec.BlockObjectSpec:
		return "blocks \"" + strings.Join(s.LabelNames, "\" \"") + "\" " + nested(s.Nested), false
	}
	if ty := hcldec.ImpliedType(spec); ty != cty.NilType {
		return typeexpr.TypeString(ty), false
	}
	return "", false
}

func nested(spec hcldec.Spec) string {
	obj, ok := spec.(hcldec.ObjectSpec)
	if !ok {
		return "{ … }"
	}
	var parts []string
	for _, name := range sortedNames(obj) {
		ty, required := argument(obj[name])
		if required {
			ty += ", required"
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", name, ty))
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}

func sortedNames(m hcldec.ObjectSpec) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// cell spells text so that it stays in one cell of a table.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(s)
}
