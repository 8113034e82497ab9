package langserver

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/workspace"
)

// dir is the folder of the document.
func (v *view) dir() string { return filepath.Dir(v.doc.file) }

// definition returns where what stands at a place is declared.
func (v *view) definition(p position) []location {
	offset := v.lines.offset(p)
	s := v.sources()[0]
	if u, part := s.useAt(offset); u != nil {
		return v.declaredAt(u.ref, part)
	}
	b := innermost(s.body, offset)
	if b == nil || b.Type != "module" || len(b.Labels) != 1 {
		return []location{}
	}
	for _, a := range b.Body.Attributes {
		if !within(a.SrcRange, offset) {
			continue
		}
		p, _ := v.called(b)
		switch {
		case p == nil:
		case a.Name == "source":
			if files := sortedFiles(p); len(files) > 0 {
				return []location{{URI: v.open.uri(v.absolute(files[0]))}}
			}
		case within(a.NameRange, offset):
			for _, x := range p.Variables {
				if x.Name == a.Name {
					return v.locations(x.Range)
				}
			}
		}
	}
	return []location{}
}

func sortedFiles(p *config.Pipeline) []string {
	var names []string
	for name := range p.Files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// absolute is a file's path, of a name in the workspace.
func (v *view) absolute(name string) string {
	if v.ws == nil {
		return name
	}
	return absolute(v.ws.Root, name)
}

func (v *view) locations(ranges ...hcl.Range) []location {
	out := []location{}
	for _, r := range ranges {
		file := v.absolute(r.Filename)
		out = append(out, location{v.open.uri(file), newLines(v.open.read(file)).span(r.Start.Byte, r.End.Byte)})
	}
	return out
}

// declaredAt is where what a reference means is declared; part is which of its names is asked about.
func (v *view) declaredAt(r lang.Ref, part int) []location {
	all := v.declarations(r.Object())
	if r.Root == lang.Target || r.Root == lang.Targets {
		all = v.declarations(lang.Target)
		if i := slices.IndexFunc(all, func(d *declaration) bool { return d.name == r.Name }); i >= 0 {
			all = all[i : i+1]
		}
	}
	if r.Root == lang.Module && r.Attr != "" && part > 1 {
		for _, d := range all {
			p, _ := v.called(d.block)
			if p == nil {
				continue
			}
			var at []hcl.Range
			outputs := slices.Clone(p.Outputs)
			for _, pr := range p.Profiles {
				outputs = append(outputs, pr.Outputs...)
			}
			for _, o := range outputs {
				if o.Name == r.Attr {
					at = append(at, o.Range)
				}
			}
			if len(at) > 0 {
				return v.locations(at...)
			}
		}
	}
	out := []location{}
	for _, d := range all {
		start, end := d.start, d.end
		if r.Output != "" && part > 2 {
			for _, b := range d.block.Body.Blocks {
				if b.Type == "output" && slices.Equal(b.Labels, []string{r.Output}) {
					start, end = b.DefRange().Start.Byte, b.DefRange().End.Byte
				}
			}
		}
		out = append(out, location{v.open.uri(d.file), newLines(v.open.read(d.file)).span(start, end)})
	}
	return out
}

// renamed is what is renamed at a place: the declarations of an object, and where the name is there.
type renamed struct {
	object     string
	name       string
	start, end int
}

// prefixes begin the objects that can be renamed.
func prefixes() []string { return []string{"var.", "local.", "step.", "module."} }

func (v *view) renamable(offset int) (renamed, error) {
	s := v.sources()[0]
	if u, _ := s.useAt(offset); u != nil {
		r := u.ref
		at, name, ok := nameIn(u)
		if ok && len(v.declarations(r.Object())) > 0 {
			return renamed{r.Object(), name, at.Start.Byte, at.End.Byte}, nil
		}
	}
	for _, d := range s.declared {
		if d.start <= offset && offset <= d.end && slices.ContainsFunc(prefixes(), func(p string) bool { return strings.HasPrefix(d.object, p) }) {
			return renamed{d.object, d.name, d.start, d.end}, nil
		}
	}
	return renamed{}, fmt.Errorf("here is no name that can be renamed: those of steps, variables, locals and modules can")
}

// nameIn is where in a reference the name of what it means is, without the dot before it.
func nameIn(u *use) (hcl.Range, string, bool) {
	n := 1
	switch u.ref.Root {
	case lang.Var, lang.Local, lang.Module:
	case lang.StepRoot:
		n = 2
	default:
		return hcl.Range{}, "", false
	}
	if n >= len(u.traversal) {
		return hcl.Range{}, "", false
	}
	a, ok := u.traversal[n].(hcl.TraverseAttr)
	if !ok { // step["exec"]["x"], which nobody writes
		return hcl.Range{}, "", false
	}
	r := a.SrcRange
	r.Start.Byte = r.End.Byte - len(a.Name)
	return r, a.Name, true
}

func (v *view) prepareRename(p position) (*prepared, error) {
	x, err := v.renamable(v.lines.offset(p))
	if err != nil {
		return nil, err
	}
	return &prepared{v.lines.span(x.start, x.end), x.name}, nil
}

// edits are what is replaced, by what the editor calls a file.
type edits struct {
	open  *documents
	lines map[string]*lines // by file
	had   map[location]bool
	out   map[string][]textEdit
}

func (e *edits) add(file string, text []byte, start, end int, name string) {
	if e.lines[file] == nil {
		e.lines[file] = newLines(text)
	}
	at := location{e.open.uri(file), e.lines[file].span(start, end)}
	if !e.had[at] { // a module may be called, and read, in several ways
		e.had[at] = true
		e.out[at.URI] = append(e.out[at.URI], textEdit{at.Range, name})
	}
}

// rename returns the edits that give what stands at a place another name, in all files that say it.
func (v *view) rename(ctx context.Context, p position, name string) (*workspaceEdit, error) {
	x, err := v.renamable(v.lines.offset(p))
	if err != nil {
		return nil, err
	}
	if !hclsyntax.ValidIdentifier(name) {
		return nil, fmt.Errorf("%q is no name: names start with a letter or _ and go on with letters, digits, _ and -", name)
	}
	to := strings.TrimSuffix(x.object, x.name) + name
	if to != x.object && len(v.declarations(to)) > 0 {
		return nil, fmt.Errorf("there is a %s already", to)
	}
	for _, s := range v.sources() {
		if s.bad || s.body == nil {
			return nil, fmt.Errorf("%s does not parse: mend it first", s.file)
		}
	}
	e := &edits{v.open, map[string]*lines{}, map[location]bool{}, map[string][]textEdit{}}
	for _, s := range v.sources() {
		for _, d := range s.declared {
			if d.object == x.object {
				e.add(s.file, s.text, d.start, d.end, name)
			}
		}
		for i := range s.uses {
			if s.uses[i].ref.Object() == x.object {
				if at, _, ok := nameIn(&s.uses[i]); ok {
					e.add(s.file, s.text, at.Start.Byte, at.End.Byte, name)
				}
			}
		}
	}
	if strings.HasPrefix(x.object, "var.") {
		if err := v.renameValues(ctx, e, x.name, name); err != nil {
			return nil, err
		}
	}
	return &workspaceEdit{e.out}, nil
}

// renameValues renames a variable where it is given its value: in profiles, in files with values, and in calls of the
// module.
func (v *view) renameValues(ctx context.Context, e *edits, was, name string) error {
	for _, s := range v.sources() {
		for _, b := range s.body.Blocks {
			if b.Type == "profile" {
				renameKeys(e, s, b.Body.Attributes["variables"], was, name)
			}
		}
	}
	if v.ws == nil {
		return nil
	}
	pipeline := v.pipeline()
	for _, p := range v.ws.Pipelines() {
		if pipeline != "" && p != pipeline {
			continue
		}
		cfg, _ := v.ws.Load(ctx, p)
		if cfg == nil {
			continue
		}
		if pipeline != "" {
			if err := v.renameInVarFiles(e, cfg, was, name); err != nil {
				return err
			}
			continue
		}
		v.renameInCalls(e, cfg.Module, was, name, map[*config.Module]bool{})
	}
	return nil
}

func renameKeys(e *edits, s *source, a *hclsyntax.Attribute, was, name string) {
	if a == nil {
		return
	}
	o, ok := a.Expr.(*hclsyntax.ObjectConsExpr)
	if !ok {
		return
	}
	for _, x := range o.Items {
		key, ok := x.KeyExpr.(*hclsyntax.ObjectConsKeyExpr)
		if ok && hcl.ExprAsKeyword(key.Wrapped) == was {
			r := key.Range()
			e.add(s.file, s.text, r.Start.Byte, r.End.Byte, name)
		}
	}
}

// pipeline is the one that the document is of; "" when it is a module's.
func (v *view) pipeline() string {
	folder := filepath.Join(v.ws.Root, workspace.Folder)
	switch dir := v.dir(); {
	case dir == folder:
		return strings.TrimSuffix(filepath.Base(v.doc.file), ".hcl")
	case filepath.Dir(dir) == folder && slices.Contains(v.ws.Pipelines(), filepath.Base(dir)):
		return filepath.Base(dir)
	}
	return ""
}

func (v *view) renameInVarFiles(e *edits, cfg *config.Pipeline, was, name string) error {
	for _, f := range cfg.VarFiles {
		a := f.Values[was]
		switch {
		case a == nil:
		case !f.Own:
			return fmt.Errorf("%s gives var.%s a value, and that of other pipelines: rename it by hand", f.Name, was)
		default:
			file := v.absolute(f.Name)
			e.add(file, v.open.read(file), a.NameRange.Start.Byte, a.NameRange.End.Byte, name)
		}
	}
	return nil
}

// renameInCalls renames an argument in the calls of the document's module.
func (v *view) renameInCalls(e *edits, m *config.Module, was, name string, seen map[*config.Module]bool) {
	if m == nil || seen[m] {
		return
	}
	seen[m] = true
	parts := []config.Parts{m.Parts}
	for _, pr := range m.Profiles {
		parts = append(parts, pr.Parts)
	}
	for _, p := range parts {
		for _, c := range p.Calls {
			v.renameInCalls(e, c.Module, was, name, seen)
			a := c.Arguments[was]
			if a == nil || c.Module == nil || v.absolute(c.Module.Dir) != v.dir() {
				continue
			}
			file := v.absolute(a.NameRange.Filename)
			e.add(file, v.open.read(file), a.NameRange.Start.Byte, a.NameRange.End.Byte, name)
		}
	}
}
