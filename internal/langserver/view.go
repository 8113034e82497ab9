package langserver

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/safepath"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/internal/workspace"
)

const (
	maxFiles  = 200 // files of a folder that the server reads as one module
	maxDetail = 80  // bytes of an expression that the server shows
)

// view is a document with the words that may stand in it.
type view struct {
	open *documents
	doc  *document
	ws   *Workspace // nil if the document is in no workspace
	// words by the text before them: "step exec{", "step/output{" (in a step), `step "`, "step exec mode =",
	// "step.exec.hello.outputs.", "target.*." (of any target)
	words   map[string][]Word
	kinds   map[string]step.Description
	sources map[string]string // of module blocks
}

func newView(s *server, doc *document) *view {
	ws := s.host.Workspace(doc.file, s.open.text)
	return &view{&s.open, doc, ws, language(), map[string]step.Description{}, map[string]string{}}
}

func (v *view) add(key string, all ...Word) { v.words[key] = append(v.words[key], all...) }

// complete returns the words that may stand at a position.
func (v *view) complete(p position) []completionItem {
	offset := offsetOf(v.doc.text, p)
	c := cursorAt(v.doc.text, offset)
	rest, _, _ := bytes.Cut(v.doc.text[offset:], []byte("\n"))
	out := []completionItem{}
	seen := map[string]bool{}
	word := string(v.doc.text[c.start:c.end])
	for _, w := range v.wordsAt(c) {
		if seen[w.Name] || !w.block && w.Name != word && slices.Contains(c.siblings, w.Name) {
			continue
		}
		seen[w.Name] = true
		i := completionItem{Label: w.Name, Detail: w.Detail}
		i.TextEdit = textEdit{spanOf(v.doc.text, c.start, offset), w.Name}
		i.SortText = fmt.Sprintf("%04d", len(out))
		if w.Doc != "" {
			i.Documentation = &markup{"markdown", w.Doc}
		}
		if c.place == inBody && !w.block && len(bytes.TrimSpace(rest)) == 0 {
			i.TextEdit.NewText += " = "
		}
		out = append(out, i)
	}
	return out
}

// hover explains the word at a position.
func (v *view) hover(p position) *hover {
	c, found := v.word(p)
	for _, w := range found {
		text := "**" + strings.Join(append(c.parts, w.Name), ".") + "** " + w.Detail + "\n\n" + w.Doc
		return &hover{markup{"markdown", strings.TrimSpace(text)}, spanOf(v.doc.text, c.start, c.end)}
	}
	return nil
}

// definition returns the declarations of the word at a position.
func (v *view) definition(p position) []location {
	_, found := v.word(p)
	out := []location{}
	for _, w := range found {
		for _, r := range w.at {
			file := r.Filename
			if v.ws != nil {
				file = absolute(v.ws.Root, file)
			}
			out = append(out, location{v.open.uri(file), spanOf(v.open.read(file), r.Start.Byte, r.End.Byte)})
		}
	}
	return out
}

// word returns the cursor of the word at a position, and the words with its name.
func (v *view) word(p position) (c cursor, found []Word) {
	c = cursorAt(v.doc.text, offsetOf(v.doc.text, p))
	for _, w := range v.wordsAt(c) {
		if w.Name == string(v.doc.text[c.start:c.end]) {
			found = append(found, w)
		}
	}
	return c, found
}

// wordsAt returns the words that may stand at a cursor.
func (v *view) wordsAt(c cursor) (all []Word) {
	if c.place == nowhere {
		return nil
	}
	v.load()
	for _, key := range v.keys(c) {
		all = append(all, v.words[key]...)
	}
	return all
}

// keys returns the keys of view.words for a cursor.
func (v *view) keys(c cursor) []string {
	if c.place == inValue {
		key := strings.Join(append(c.parts, ""), ".")
		switch n := len(c.parts); {
		case n == 2 && c.parts[0] == lang.Module:
			v.addModule(c.parts[1])
		case n == 1 && c.parts[0] == lang.Target:
			return []string{key, "target.*."}
		case n == 2 && (c.parts[0] == lang.Target || c.parts[0] == lang.Targets):
			return []string{"target.*."}
		}
		return []string{key}
	}
	name := c.block[0]
	if len(v.words[c.parent+"/"+name+"{"]) > 0 {
		name = c.parent + "/" + name
	}
	labeled := strings.Join(append([]string{name}, c.block[1:min(2, len(c.block))]...), " ")
	if name == lang.Module && len(c.block) > 1 {
		v.addModule(c.block[1])
	}
	switch c.place {
	case inLabel:
		return []string{name + ` "`}
	case inBody:
		return slices.Compact([]string{labeled + "{", name + "{"})
	}
	return []string{labeled + " " + c.argument + " =", name + " " + c.argument + " ="}
}

// format returns the edits that give the document the canonical layout. A document with syntax errors is an error.
func (v *view) format() ([]textEdit, error) {
	out, diags := config.Format(v.doc.text, v.doc.file)
	if diags.HasErrors() {
		return nil, fmt.Errorf("cannot format a file with errors: %w", diags)
	}
	if bytes.Equal(out, v.doc.text) {
		return []textEdit{}, nil
	}
	return []textEdit{{spanOf(v.doc.text, 0, len(v.doc.text)), string(out)}}, nil
}

// load collects the words of the workspace, and of the files of the document's pipeline or module.
func (v *view) load() {
	if strings.HasSuffix(v.doc.file, workspace.VarSuffix) {
		v.words = nil // values are constants
		return
	}
	for _, root := range lang.Roots() {
		v.add("", Word{Name: root})
	}
	if v.ws != nil {
		kinds, words := v.ws.Words()
		v.addKinds(kinds)
		for key, all := range words {
			v.add(key, all...)
		}
	}
	for _, file := range v.files() {
		text := v.open.read(file)
		if f, _ := lang.Parse(text, file); f != nil { // checkUnit reports the errors
			v.addBlocks(f.Body.(*hclsyntax.Body), text)
		}
	}
}

func (v *view) addKinds(kinds []step.Description) {
	for _, d := range kinds {
		name := "step " + d.Kind
		v.kinds[d.Kind] = d
		if d.Kind == lang.Toolchain {
			name = d.Kind
		} else {
			v.add(`step "`, Word{Name: d.Kind, Detail: d.Summary, Doc: "```hcl\n" + d.Example + "\n```"})
		}
		for _, a := range d.Arguments {
			w := Word{Name: a.Name, Detail: a.Type, Doc: a.Text(), block: strings.HasPrefix(a.Type, "block")}
			if a.Required {
				w.Detail += ", required"
			}
			v.add(name+"{", w)
			for _, choice := range a.Choices {
				v.add(name+" "+a.Name+" =", Word{Name: choice})
			}
		}
	}
}

// files returns the files of the document's pipeline or module.
func (v *view) files() []string {
	all := []string{v.doc.file}
	dir := filepath.Dir(v.doc.file)
	if v.ws == nil || dir == filepath.Join(v.ws.Root, workspace.Folder) {
		return all
	}
	names, _ := fs.Glob(os.DirFS(dir), "*.hcl") // it fails if the folder does not exist yet
	for _, name := range names[:min(len(names), maxFiles)] {
		if file := filepath.Join(dir, name); file != v.doc.file && !strings.HasSuffix(file, workspace.VarSuffix) {
			all = append(all, file)
		}
	}
	return all
}

// addBlocks adds the declarations of a file or profile.
func (v *view) addBlocks(body *hclsyntax.Body, text []byte) {
	for _, b := range body.Blocks {
		w := Word{Doc: constant(b.Body, "description"), at: []hcl.Range{b.DefRange()}}
		if len(b.Labels) > 0 {
			w.Name = b.Labels[len(b.Labels)-1]
		}
		switch labels := len(b.Labels); {
		case b.Type == "profile":
			v.addBlocks(b.Body, text)
		case b.Type == "locals":
			for _, name := range slices.Sorted(maps.Keys(b.Body.Attributes)) {
				a := b.Body.Attributes[name]
				v.add("local.", Word{Name: name, Detail: source(a, text), at: []hcl.Range{a.NameRange}})
			}
		case b.Type == "variable" && labels == 1:
			w.Detail = source(b.Body.Attributes["type"], text)
			v.add("var.", w)
			v.add("profile variables =", w)
		case b.Type == "step" && labels == 2:
			v.addStep(b, w)
		case b.Type == "toolchain" && labels == 1:
			w.Detail = constant(b.Body, "version")
			v.add("toolchain.", w)
		case b.Type == "module" && labels == 1:
			w.Detail = constant(b.Body, "source")
			v.add("module.", w)
			v.sources[w.Name] = w.Detail
		case b.Type == "target" && labels == 1:
			v.add("target.", w)
			v.add("targets.", w)
		}
	}
}

// addStep adds a step and its outputs: those of its kind and its own.
func (v *view) addStep(b *hclsyntax.Block, w Word) {
	kind := v.kinds[b.Labels[0]]
	w.Detail = kind.Summary
	v.add("step.", Word{Name: b.Labels[0], Detail: kind.Summary})
	v.add("step."+b.Labels[0]+".", w)
	at := "step." + strings.Join(b.Labels, ".") + "."
	v.add(at, Word{Name: "outputs"})
	at += "outputs."
	for _, o := range kind.Outputs {
		v.add(at, Word{Name: o.Name, Detail: o.Class, Doc: o.Doc, at: w.at})
	}
	for _, b := range b.Body.Blocks {
		if b.Type == "output" && len(b.Labels) == 1 {
			class := strings.Join(slices.Sorted(maps.Keys(b.Body.Attributes)), ", ")
			v.add(at, Word{Name: b.Labels[0], Detail: class, at: []hcl.Range{b.DefRange()}})
		}
	}
	if a := b.Body.Attributes[kind.OutputsFrom]; a != nil {
		if list, ok := a.Expr.(*hclsyntax.TupleConsExpr); ok {
			for _, x := range list.Exprs {
				v.add(at, Word{Name: literal(x), Detail: "file", at: []hcl.Range{x.Range()}})
			}
		}
	}
}

// addModule adds the variables and outputs of the module that a module block calls.
func (v *view) addModule(call string) {
	source := v.sources[call]
	if v.ws == nil || source == "" {
		return
	}
	dir, _ := filepath.Rel(v.ws.Root, filepath.Dir(v.doc.file)) // the document is below the root
	files := Overlay(safepath.FS(v.ws.Root), v.ws.Root, v.open.text)
	folder, err := config.ModuleFolder{FS: files, Dir: filepath.ToSlash(dir)}.Called(source, v.ws.Find)
	if err != nil {
		return // checkUnit reports it
	}
	p, _ := config.LoadModule(folder)
	v.add("module "+call+"{", variables(p)...)
	outputs := slices.Clone(p.Outputs)
	for _, pr := range p.Profiles {
		outputs = append(outputs, pr.Outputs...)
	}
	for _, o := range outputs {
		v.add("module."+call+".", Word{Name: o.Name, Doc: o.Description, at: []hcl.Range{o.Range}})
	}
	for _, file := range slices.Sorted(maps.Keys(p.Files)) {
		v.add("module "+call+" source =", Word{Name: source, Doc: p.Description, at: []hcl.Range{{Filename: file}}})
	}
}

func variables(p *config.Pipeline) (all []Word) {
	for _, x := range p.Variables {
		all = append(all, Word{x.Name, typeexpr.TypeString(x.Type), x.Description, false, []hcl.Range{x.Range}})
	}
	return all
}

// source returns the source of an argument's value on one line, or "" if it is long.
func source(a *hclsyntax.Attribute, text []byte) string {
	if a == nil || !a.Expr.Range().CanSliceBytes(text) || len(a.Expr.Range().SliceBytes(text)) > maxDetail {
		return ""
	}
	return strings.Join(strings.Fields(string(a.Expr.Range().SliceBytes(text))), " ")
}

// constant returns the value of an argument that is a string literal, or "".
func constant(body *hclsyntax.Body, argument string) string {
	if a := body.Attributes[argument]; a != nil {
		return literal(a.Expr)
	}
	return ""
}

func literal(x hclsyntax.Expression) string {
	t, ok := x.(*hclsyntax.TemplateExpr)
	if !ok || !t.IsStringLiteral() {
		return ""
	}
	value, _ := t.Value(nil)
	return value.AsString()
}
