package langserver

import (
	"context"
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
	"github.com/hexmage/hexmage/internal/rooted"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/internal/workspace"
)

const (
	maxFiles  = 200 // files of a folder that the server reads as one module
	maxDetail = 80  // bytes of an expression that the server shows
)

// entry is a word that may stand at a place.
type entry struct {
	Word
	block bool
	at    []hcl.Range // declarations, with files named as by config.Pipeline.Files, or absolute
}

// key is a place where words may stand. Its name has the names that lead to the place:
//
//	inBody   "", "step", "step exec" (a kind), "step/output" (in a step)
//	inLabel  "step", "target", "toolchain"
//	inText   "module source", "step exec mode"
//	inKey    "profile variables"
//	inValue  "" (roots of references), "var", "step.exec", "step.exec.hello.outputs", "target." (attributes)
type key struct {
	place place
	name  string
}

// view is a document with the words that may stand in it.
type view struct {
	open    *documents
	doc     *document
	ws      *Workspace // nil if the document is in no workspace
	kinds   map[string]step.Description
	words   map[key][]entry
	sources map[string]string // of module blocks
}

func newView(s *server, doc *document) *view {
	return &view{s.open, doc, s.workspace(doc.file), map[string]step.Description{}, map[key][]entry{}, map[string]string{}}
}

func (v *view) add(p place, name string, all ...entry) {
	v.words[key{p, name}] = append(v.words[key{p, name}], all...)
}

// load collects the words of the language, the workspace, and the files of the document's pipeline or module.
func (v *view) load() {
	if strings.HasSuffix(v.doc.file, workspace.VarSuffix) {
		v.addValues()
		return
	}
	for name, b := range language() {
		v.add(inBody, name, entries(b.arguments)...)
		for _, inner := range b.blocks {
			doc := language()[inner].doc + language()[name+"/"+inner].doc
			v.add(inBody, name, entry{Word: Word{Name: inner, Doc: doc}, block: true})
		}
	}
	for _, root := range lang.Roots() {
		v.add(inValue, "", entry{Word: Word{Name: root}})
	}
	v.add(inValue, lang.Each, entries(described("key", "Key of this copy.", "value", "Value of this copy."))...)
	v.add(inValue, lang.Path, entries(described("module", "Folder of the module.", "pipeline", "Folder of the pipeline.",
		"workspace", "Folder with `pipelines/`."))...)
	v.add(inValue, lang.Profile, entries(described("name", "Name of the chosen profile."))...)
	if v.ws != nil {
		words := v.ws.Words()
		for p, byName := range map[place]map[string][]Word{inBody: words.Arguments, inLabel: words.Labels, inText: words.Values,
			inValue: words.References} {
			for name, all := range byName {
				v.add(p, name, entries(all)...)
			}
		}
		v.addKinds(words.Kinds)
	}
	for _, file := range v.files() {
		text := v.open.read(file)
		f, _ := lang.Parse(text, file) // the checker reports the errors
		if f == nil {
			continue
		}
		if body, ok := f.Body.(*hclsyntax.Body); ok {
			v.addBlocks(body, text)
		}
	}
}

func entries(words []Word) (all []entry) {
	for _, w := range words {
		all = append(all, entry{Word: w})
	}
	return all
}

func (v *view) addKinds(kinds []step.Description) {
	for _, d := range kinds {
		name := "step " + d.Kind
		v.kinds[d.Kind] = d
		if d.Kind == lang.Toolchain {
			name = d.Kind
		} else {
			v.add(inLabel, "step", entry{Word: Word{d.Kind, d.Summary, "```hcl\n" + d.Example + "\n```"}})
		}
		for _, a := range d.Arguments {
			w := Word{a.Name, a.Type, a.Text()}
			if a.Required {
				w.Detail += ", required"
			}
			v.add(inBody, name, entry{Word: w, block: strings.HasPrefix(a.Type, "block")})
			for _, choice := range a.Choices {
				v.add(inText, name+" "+a.Name, entry{Word: Word{Name: choice}})
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
	entries, _ := os.ReadDir(dir) // it fails if the folder does not exist yet
	for _, e := range entries {
		file := filepath.Join(dir, e.Name())
		values := strings.HasSuffix(file, workspace.VarSuffix)
		if file != v.doc.file && filepath.Ext(file) == ".hcl" && !values && len(all) < maxFiles {
			all = append(all, file)
		}
	}
	return all
}

// addBlocks adds the declarations of a file or profile.
func (v *view) addBlocks(body *hclsyntax.Body, text []byte) {
	for _, b := range body.Blocks {
		e := entry{Word: Word{Doc: constant(b.Body, "description")}, at: []hcl.Range{b.DefRange()}}
		if len(b.Labels) > 0 {
			e.Name = b.Labels[len(b.Labels)-1]
		}
		switch labels := len(b.Labels); {
		case b.Type == "profile":
			v.addBlocks(b.Body, text)
		case b.Type == "locals":
			for _, name := range slices.Sorted(maps.Keys(b.Body.Attributes)) {
				a := b.Body.Attributes[name]
				v.add(inValue, lang.Local, entry{Word: Word{Name: name, Detail: source(a, text)}, at: []hcl.Range{a.NameRange}})
			}
		case b.Type == "variable" && labels == 1:
			e.Detail = source(b.Body.Attributes["type"], text)
			v.add(inValue, lang.Var, e)
			v.add(inKey, "profile variables", e)
		case b.Type == "step" && labels == 2:
			v.addStep(b, e)
		case b.Type == "toolchain" && labels == 1:
			e.Detail = constant(b.Body, "version")
			v.add(inValue, lang.Toolchain, e)
		case b.Type == "module" && labels == 1:
			e.Detail = constant(b.Body, "source")
			v.add(inValue, lang.Module, e)
			v.sources[e.Name] = e.Detail
		case b.Type == "target" && labels == 1:
			v.add(inValue, lang.Target, e)
			v.add(inValue, lang.Targets, e)
		}
	}
}

// addStep adds a step and its outputs: those of its kind and its own.
func (v *view) addStep(b *hclsyntax.Block, e entry) {
	kind := v.kinds[b.Labels[0]]
	e.Detail = kind.Summary
	at, outputs := "step."+b.Labels[0], "step."+strings.Join(b.Labels, ".")+".outputs"
	v.add(inValue, "step", entry{Word: Word{Name: b.Labels[0], Detail: kind.Summary}})
	v.add(inValue, at, e)
	v.add(inValue, at+"."+e.Name, entry{Word: Word{Name: "outputs"}})
	for _, o := range kind.Outputs {
		v.add(inValue, outputs, entry{Word: Word{o.Name, o.Class, o.Doc}, at: e.at})
	}
	for _, b := range b.Body.Blocks {
		if b.Type == "output" && len(b.Labels) == 1 {
			w := Word{Name: b.Labels[0], Detail: strings.Join(slices.Sorted(maps.Keys(b.Body.Attributes)), ", ")}
			v.add(inValue, outputs, entry{Word: w, at: []hcl.Range{b.DefRange()}})
		}
	}
	if a := b.Body.Attributes[kind.OutputsFrom]; a != nil {
		if list, ok := a.Expr.(*hclsyntax.TupleConsExpr); ok {
			for _, x := range list.Exprs {
				v.add(inValue, outputs, entry{Word: Word{Name: literal(x), Detail: "file"}, at: []hcl.Range{x.Range()}})
			}
		}
	}
}

// addModule adds the variables and outputs of the module that a module block calls.
func (v *view) addModule(call string) {
	dir, err := filepath.Rel(v.ws.Root, filepath.Dir(v.doc.file))
	if err != nil || v.sources[call] == "" {
		return
	}
	files := Overlay(rooted.FS(v.ws.Root), v.ws.Root, v.open.text)
	folder, err := config.ModuleFolder{FS: files, Dir: filepath.ToSlash(dir)}.Called(v.sources[call], v.ws.Find)
	if err != nil {
		return // the checker reports it
	}
	p, _ := config.LoadModule(folder)
	v.add(inBody, "module "+call, variables(p)...)
	outputs := slices.Clone(p.Outputs)
	for _, pr := range p.Profiles {
		outputs = append(outputs, pr.Outputs...)
	}
	for _, o := range outputs {
		e := entry{Word: Word{Name: o.Name, Doc: o.Description}, at: []hcl.Range{o.Range}}
		v.add(inValue, "module."+call, e)
	}
	for _, file := range slices.Sorted(maps.Keys(p.Files)) {
		w := Word{Name: v.sources[call], Doc: p.Description}
		v.add(inText, "module "+call+" source", entry{Word: w, at: []hcl.Range{{Filename: file}}})
	}
}

func variables(p *config.Pipeline) (all []entry) {
	for _, x := range p.Variables {
		w := Word{Name: x.Name, Doc: x.Description, Detail: typeexpr.TypeString(x.Type)}
		all = append(all, entry{Word: w, at: []hcl.Range{x.Range}})
	}
	return all
}

// addValues adds the variables that the document, a file of values, may set: of its pipeline, or of all.
func (v *view) addValues() {
	if v.ws == nil {
		return
	}
	names := v.ws.Pipelines()
	if own := strings.TrimSuffix(filepath.Base(v.doc.file), workspace.VarSuffix); slices.Contains(names, own) {
		names = []string{own}
	}
	for _, name := range names {
		if p, _ := v.ws.Load(context.Background(), name); p != nil {
			v.add(inBody, "", variables(p)...)
		}
	}
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
