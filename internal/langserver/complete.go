package langserver

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/internal/workspace"
)

// complete returns what may stand at a place.
func (v *view) complete(p position) completionList {
	offset := v.lines.offset(p)
	c := cursorAt(v.doc.text, offset)
	var items []completionItem
	switch c.place {
	case inBody:
		items = v.names(c, offset)
	case inLabel:
		items = v.labels(c)
	case inText:
		items = v.texts(c)
	case inKey:
		items = v.keys(c)
	case inValue:
		items = v.references(c)
	}
	edit := v.lines.span(c.start, offset)
	out := completionList{Items: []completionItem{}}
	for i, item := range items {
		item.TextEdit.Range = edit
		if item.TextEdit.NewText == "" {
			item.TextEdit.NewText = item.Label
		}
		item.SortText = fmt.Sprintf("%04d", i)
		out.Items = append(out.Items, item)
	}
	return out
}

func item(w Word, kind int) completionItem {
	i := completionItem{Label: w.Name, Kind: kind, Detail: w.Detail}
	if w.Doc != "" {
		i.Documentation = &markup{"markdown", w.Doc}
	}
	return i
}

func items(ws []Word, kind int) []completionItem {
	var all []completionItem
	for _, w := range ws {
		all = append(all, item(w, kind))
	}
	return all
}

// names are those of arguments and blocks.
func (v *view) names(c cursor, offset int) []completionItem {
	arguments, blocks := v.fits(c.path)
	rest, _ := v.lines.line(v.lines.position(offset).Line)
	after := strings.TrimSpace(string(rest[min(len(rest), offset-v.lines.starts[v.lines.position(offset).Line]):]))
	have := v.have(c, offset)
	var out []completionItem
	for _, a := range arguments {
		if slices.Contains(have, a.Name) {
			continue
		}
		i := item(a, itemProperty)
		if after == "" {
			i.TextEdit.NewText = a.Name + " = "
		}
		out = append(out, i)
	}
	return append(out, items(blocks, itemKeyword)...)
}

// fits are the arguments and blocks that may stand in the block at the end of a path.
func (v *view) fits(path []header) (arguments, inner []Word) {
	if len(path) == 0 && strings.HasSuffix(v.doc.file, workspace.VarSuffix) {
		return v.settable(), nil
	}
	if len(path) == 0 {
		for _, name := range topLevel() {
			b, _ := blockNamed(name)
			inner = append(inner, Word{Name: name, Doc: b.doc})
		}
		return nil, inner
	}
	last := path[len(path)-1]
	if len(path) > 1 && path[len(path)-2].name == "step" {
		for _, b := range blocksOfSteps() {
			if b.name == last.name {
				return b.arguments, nil
			}
		}
		return nil, nil // a block of the kind's: what is in it is said where it is named
	}
	switch last.name {
	case "step", addrs.Toolchain:
		kind := addrs.Toolchain
		if last.name == "step" && len(last.labels) > 0 {
			kind = last.labels[0]
		}
		d, _ := v.kind(kind)
		for _, a := range d.Arguments {
			w := argumentWord(a)
			if strings.HasPrefix(a.Type, "block") {
				inner = append(inner, w)
			} else {
				arguments = append(arguments, w)
			}
		}
		if last.name == "step" {
			arguments = append(arguments, metaArguments()...)
			for _, b := range blocksOfSteps() {
				inner = append(inner, Word{Name: b.name, Doc: b.doc})
			}
		} else {
			arguments = append(arguments, metaArguments()[2], metaArguments()[10])
		}
	case "target":
		for _, w := range v.words().TargetAttributes {
			if slices.Contains(v.words().Settable, w.Name) {
				arguments = append(arguments, w)
			}
		}
	default:
		b, _ := blockNamed(last.name)
		arguments = b.arguments
		for _, name := range b.blocks {
			of, _ := blockNamed(name)
			inner = append(inner, Word{Name: name, Doc: of.doc})
		}
	}
	if last.name == "module" && len(last.labels) == 1 {
		arguments = slices.Concat(v.variablesOf(last.labels[0]), arguments)
	}
	return arguments, inner
}

// settable are the variables to which the document, a file of values, gives values: of its pipeline, or of all.
func (v *view) settable() []Word {
	if v.ws == nil {
		return nil
	}
	names := v.ws.Pipelines()
	own := strings.TrimSuffix(filepath.Base(v.doc.file), workspace.VarSuffix)
	if dir := v.dir(); filepath.Dir(dir) == filepath.Join(v.ws.Root, workspace.Folder) {
		own = filepath.Base(dir)
	}
	if slices.Contains(names, own) {
		names = []string{own}
	}
	var out []Word
	for _, name := range names {
		p, _ := v.ws.Load(context.Background(), name)
		if p == nil {
			continue
		}
		for _, x := range p.Variables {
			if !slices.ContainsFunc(out, func(w Word) bool { return w.Name == x.Name }) {
				out = append(out, variableWord(x))
			}
		}
	}
	return out
}

func variableWord(x *config.Variable) Word {
	return Word{Name: x.Name, Detail: typeName(x.Type), Doc: x.Description}
}

// variablesOf are the variables of the module that a call names.
func (v *view) variablesOf(call string) []Word {
	var out []Word
	for _, d := range v.declarations("module." + call) {
		if p, _ := v.called(d.block); p != nil {
			for _, x := range p.Variables {
				out = append(out, variableWord(x))
			}
			break
		}
	}
	return out
}

// kind describes a kind of step.
func (v *view) kind(name string) (step.Description, bool) {
	for _, d := range v.words().Kinds {
		if d.Kind == name {
			return d, true
		}
	}
	return step.Description{}, false
}

func argumentWord(a step.Argument) Word {
	detail := a.Type
	if a.Required {
		detail += ", required"
	}
	return Word{Name: a.Name, Detail: detail, Doc: a.Text()}
}

// have are the arguments that the block at the end of the cursor's path has already, as far as it parses.
func (v *view) have(c cursor, offset int) []string {
	body := v.sources()[0].body
	b := innermost(body, offset)
	switch {
	case body == nil, (b == nil) != (len(c.path) == 0):
		return nil
	case b != nil:
		if last := c.path[len(c.path)-1]; b.Type != last.name || !slices.Equal(b.Labels, last.labels) {
			return nil
		}
		body = b.Body
	}
	var names []string
	for name := range body.Attributes {
		if name != c.prefix {
			names = append(names, name)
		}
	}
	return names
}

// innermost is the block around an offset, nil where none is.
func innermost(body *hclsyntax.Body, offset int) *hclsyntax.Block {
	if body == nil {
		return nil
	}
	for _, b := range body.Blocks {
		if b.OpenBraceRange.End.Byte <= offset && offset <= b.CloseBraceRange.Start.Byte {
			if in := innermost(b.Body, offset); in != nil {
				return in
			}
			return b
		}
	}
	return nil
}

// labels are those that a block may have.
func (v *view) labels(c cursor) []completionItem {
	if len(c.path) == 0 || c.label > 0 {
		return nil
	}
	switch c.path[len(c.path)-1].name {
	case "step":
		var out []completionItem
		for _, d := range v.words().Kinds {
			if d.Kind != addrs.Toolchain {
				out = append(out, item(Word{Name: d.Kind, Detail: d.Summary, Doc: kindDoc(d)}, itemValue))
			}
		}
		return out
	case addrs.Toolchain:
		var out []completionItem
		for _, t := range v.words().Toolchains {
			out = append(out, item(t.Word, itemValue))
		}
		return out
	case "target":
		return items(v.words().Targets, itemValue)
	}
	return nil
}

// toolchain returns what is known of a toolchain.
func (v *view) toolchain(name string) (Toolchain, bool) {
	for _, t := range v.words().Toolchains {
		if t.Name == name {
			return t, true
		}
	}
	return Toolchain{}, false
}

// texts are those that an argument may be.
func (v *view) texts(c cursor) []completionItem {
	if len(c.path) == 0 {
		return nil
	}
	last := c.path[len(c.path)-1]
	switch {
	case last.name == addrs.Toolchain && c.argument == "version" && len(last.labels) == 1:
		t, _ := v.toolchain(last.labels[0])
		return items(t.Versions, itemValue)
	case last.name == "module" && c.argument == "source":
		return items(v.words().Modules, itemModule)
	case last.name == "step" && len(last.labels) > 0:
		d, _ := v.kind(last.labels[0])
		for _, a := range d.Arguments {
			if a.Name == c.argument {
				var out []completionItem
				for _, choice := range a.Choices {
					out = append(out, item(Word{Name: choice}, itemValue))
				}
				return out
			}
		}
	}
	return nil
}

// keys are those of an object that has the names of variables.
func (v *view) keys(c cursor) []completionItem {
	if len(c.path) == 0 || c.path[len(c.path)-1].name != "profile" || c.argument != "variables" {
		return nil
	}
	return v.declared("var.", itemProperty)
}

// declared are the names of what files declare with a prefix.
func (v *view) declared(prefix string, kind int) []completionItem {
	var out []completionItem
	for _, d := range v.named(prefix) {
		out = append(out, item(Word{Name: d.name, Detail: v.detail(d), Doc: d.text("description")}, kind))
	}
	return out
}

// references are what may follow the names that are there of a reference.
func (v *view) references(c cursor) []completionItem {
	parts := append(slices.Clone(c.parts), "", "", "")
	switch n := len(c.parts); parts[0] {
	case "":
		var out []completionItem
		for _, root := range lang.Roots() {
			out = append(out, item(rootWord(root), itemVariable))
		}
		return append(out, items(v.words().Functions, itemFunction)...)
	case lang.Var, lang.Local:
		if n == 1 {
			return v.declared(parts[0]+".", itemVariable)
		}
	case lang.Each:
		if n == 1 {
			return items([]Word{described("key", "The key of this copy."), described("value", "The value of this copy.")}, itemField)
		}
	case lang.Path:
		if n > 1 {
			return nil
		}
		return items([]Word{described("module", "The folder of this file's module."), described("pipeline", "The folder of the pipeline."), described("workspace", "The folder that has `pipelines/`.")}, itemField)
	case lang.Profile:
		if n == 1 {
			return items([]Word{described("name", "The profile that was chosen.")}, itemField)
		}
	case lang.Target, lang.Targets:
		var out []completionItem
		for _, d := range v.declarations(lang.Target) {
			if n == 1 {
				out = append(out, item(Word{Name: d.name}, itemValue))
			}
		}
		if n == 1 && parts[0] == lang.Target || n == 2 {
			out = append(out, items(v.words().TargetAttributes, itemField)...)
		}
		return out
	case lang.Toolchain:
		if n == 1 {
			return v.declared("toolchain.", itemModule)
		}
		if t, ok := v.toolchain(parts[1]); ok && n == 2 {
			return items(t.Attributes, itemField)
		}
	case lang.Module:
		if n == 1 {
			return v.declared("module.", itemModule)
		}
		if n == 2 {
			return items(v.outputsOf(parts[1]), itemField)
		}
	case lang.StepRoot:
		return v.stepParts(c.parts)
	}
	return nil
}

func (v *view) outputsOf(call string) []Word {
	for _, d := range v.declarations("module." + call) {
		if p, _ := v.called(d.block); p != nil {
			var out []Word
			seen := map[string]bool{}
			add := func(name, doc string) {
				if !seen[name] {
					seen[name] = true
					out = append(out, Word{Name: name, Doc: doc})
				}
			}
			for _, o := range p.Outputs {
				add(o.Name, o.Description)
			}
			for _, pr := range p.Profiles {
				for _, o := range pr.Outputs {
					add(o.Name, o.Description)
				}
			}
			return out
		}
	}
	return nil
}

// stepParts follow "step", its kind, its name and "outputs".
func (v *view) stepParts(parts []string) []completionItem {
	var out []completionItem
	switch len(parts) {
	case 1:
		for _, d := range v.named("step.") {
			kind := d.block.Labels[0]
			if !slices.ContainsFunc(out, func(i completionItem) bool { return i.Label == kind }) {
				k, _ := v.kind(kind)
				out = append(out, item(Word{Name: kind, Detail: k.Summary}, itemModule))
			}
		}
	case 2:
		return v.declared("step."+parts[1]+".", itemVariable)
	case 3:
		return items([]Word{described("outputs", "What the step makes.")}, itemField)
	case 4:
		if parts[3] != "outputs" {
			return nil
		}
		return items(v.outputsOfStep(parts[1], parts[2]), itemField)
	}
	return out
}

// outputsOfStep are those of its kind, and its own.
func (v *view) outputsOfStep(kind, name string) []Word {
	var out []Word
	k, _ := v.kind(kind)
	for _, o := range k.Outputs {
		out = append(out, Word{o.Name, o.Class, o.Doc})
	}
	for _, d := range v.declarations(addrs.Step{Kind: kind, Name: name}.String()) {
		for _, b := range d.block.Body.Blocks {
			if b.Type == "output" && len(b.Labels) == 1 && !slices.ContainsFunc(out, func(w Word) bool { return w.Name == b.Labels[0] }) {
				w := Word{Name: b.Labels[0]}
				for _, class := range []string{"file", "tree", "value"} {
					if b.Body.Attributes[class] != nil {
						w.Detail = class
					}
				}
				out = append(out, w)
			}
		}
		if a := d.block.Body.Attributes[k.OutputsFrom]; a != nil && k.OutputsFrom != "" {
			for _, e := range exprsOf(a.Expr) {
				if text, ok := constantOf(e); ok {
					out = append(out, Word{Name: text, Detail: "file"})
				}
			}
		}
	}
	return out
}

func exprsOf(e hclsyntax.Expression) []hclsyntax.Expression {
	if t, ok := e.(*hclsyntax.TupleConsExpr); ok {
		return t.Exprs
	}
	return nil
}

func rootWord(root string) Word {
	docs := map[string]string{
		lang.Each: "`each.key` and `each.value` of a step or module with `for_each`.", lang.Local: "A name of a `locals` block.", lang.Matrix: "An axis of the step's matrix.",
		lang.Module: "An output of a module: `module.NAME.OUTPUT`.", lang.Path: "`path.module`, `path.pipeline`, `path.workspace`.", lang.Profile: "`profile.name`.",
		lang.StepRoot: "An output of a step: `step.KIND.NAME.outputs.OUTPUT`.", lang.Target: "What is built for.", lang.Targets: "All targets, by name.",
		lang.Toolchain: "What is known of a toolchain: `toolchain.NAME.version`, `.dir`.", lang.Var: "A variable: `var.NAME`.",
	}
	return Word{Name: root, Doc: docs[root]}
}
