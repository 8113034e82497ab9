package langserver

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/rooted"
	"github.com/hexmage/hexmage/internal/workspace"
)

// maxFiles is how many files of a folder are looked at together.
const maxFiles = 200

// view is what one request sees: a document, and the files that are one pipeline or module with it.
type view struct {
	host  Host
	open  *documents
	doc   *document
	lines *lines
	ws    *Workspace // nil: it is in none

	loaded []*source // see sources
	known  *Words    // see words
}

func newView(h Host, open *documents, doc *document) *view {
	v := &view{host: h, open: open, doc: doc, lines: newLines(doc.text)}
	if filepath.IsAbs(doc.file) {
		v.ws = h.Workspace(doc.file, open)
	}
	return v
}

// words are what may be named in the document.
func (v *view) words() *Words {
	if v.known == nil {
		v.known = &Words{}
		if v.ws != nil {
			*v.known = v.ws.Words()
		} else {
			v.known.Kinds = v.host.Kinds()
		}
	}
	return v.known
}

// source is a file that was parsed, as far as it could be.
type source struct {
	file string
	text []byte
	body *hclsyntax.Body // nil: not at all
	bad  bool            // only in part

	declared []*declaration
	uses     []use
}

// declaration is what a reference can mean.
type declaration struct {
	object     string // as lang.Ref.Object
	file       string
	start, end int // of the name, in bytes
	name       string
	in         string           // the profile that has it
	block      *hclsyntax.Block // nil: a local
	attr       *hclsyntax.Attribute
}

// use is a reference.
type use struct {
	traversal hcl.Traversal
	ref       lang.Ref
}

// sources are the document, first, and the other files of the same pipeline or module.
func (v *view) sources() []*source {
	if v.loaded == nil {
		v.loaded = append(v.loaded, parsed(v.doc.file, v.doc.text))
		if filepath.IsAbs(v.doc.file) {
			for _, file := range siblings(v.ws, v.open, v.doc.file) {
				v.loaded = append(v.loaded, parsed(file, v.open.read(file)))
			}
		}
	}
	return v.loaded
}

// siblings are the other files that are one pipeline or module with a file.
func siblings(ws *Workspace, open *documents, file string) []string {
	dir := filepath.Dir(file)
	if ws != nil && dir == filepath.Join(ws.Root, workspace.Folder) || strings.HasSuffix(file, workspace.VarSuffix) {
		return nil
	}
	return filesOf(open, dir, file)
}

// filesOf are the files of a module's folder, but for one.
func filesOf(open *documents, dir, but string) []string {
	var all []string
	entries, _ := os.ReadDir(dir) // of a folder that is not there yet, none are
	for _, e := range entries {
		all = append(all, filepath.Join(dir, e.Name()))
	}
	for _, name := range open.Names() {
		if filepath.Dir(name) == dir {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	all = slices.DeleteFunc(slices.Compact(all), func(f string) bool {
		return f == but || !strings.HasSuffix(f, ".hcl") || strings.HasSuffix(f, workspace.VarSuffix)
	})
	return all[:min(len(all), maxFiles)]
}

func parsed(file string, text []byte) *source {
	s := &source{file: file, text: text}
	f, diags := lang.Parse(text, file) // what is wrong is told elsewhere
	s.bad = diags.HasErrors()
	if f == nil {
		return s
	}
	s.body, _ = f.Body.(*hclsyntax.Body)
	if s.body != nil {
		s.add(s.body, "")
	}
	return s
}

func blocksOf(f *hcl.File) hclsyntax.Blocks {
	if b, ok := f.Body.(*hclsyntax.Body); ok {
		return b.Blocks
	}
	return nil
}

// add takes what a body declares, of a file or of the profile named.
func (s *source) add(body *hclsyntax.Body, profile string) {
	for _, b := range body.Blocks {
		if b.Type == "profile" && profile == "" && len(b.Labels) == 1 {
			s.declare("profile "+b.Labels[0], b, 0, "")
			s.add(b.Body, b.Labels[0])
			s.refer(b.Body.Attributes)
			continue
		}
		switch {
		case b.Type == "locals":
			for _, a := range b.Body.Attributes {
				s.declared = append(s.declared, &declaration{object: "local." + a.Name, file: s.file, start: a.NameRange.Start.Byte, end: a.NameRange.End.Byte, name: a.Name, in: profile, attr: a})
			}
		case b.Type == "variable" && len(b.Labels) == 1:
			s.declare("var."+b.Labels[0], b, 0, profile)
		case b.Type == "step" && len(b.Labels) == 2:
			s.declare(addrs.Step{Kind: b.Labels[0], Name: b.Labels[1]}.String(), b, 1, profile)
		case b.Type == "toolchain" && len(b.Labels) == 1:
			s.declare("toolchain."+b.Labels[0], b, 0, profile)
		case b.Type == "module" && len(b.Labels) == 1:
			s.declare("module."+b.Labels[0], b, 0, profile)
		case b.Type == "output" && len(b.Labels) == 1:
			s.declare("output."+b.Labels[0], b, 0, profile)
		case b.Type == "target" && len(b.Labels) == 1:
			s.declare("target", b, 0, profile)
		}
		s.inside(b.Body)
	}
}

func (s *source) declare(object string, b *hclsyntax.Block, label int, profile string) {
	start, end := s.unquoted(b.LabelRanges[label])
	s.declared = append(s.declared, &declaration{object: object, file: s.file, start: start, end: end, name: b.Labels[label], in: profile, block: b})
}

// unquoted is where a label is, without its quotes.
func (s *source) unquoted(r hcl.Range) (start, end int) {
	start, end = r.Start.Byte, r.End.Byte
	if end-start >= 2 && end <= len(s.text) && s.text[start] == '"' && s.text[end-1] == '"' {
		return start + 1, end - 1
	}
	return start, end
}

// inside takes the references of a block, and of the blocks in it.
func (s *source) inside(body *hclsyntax.Body) {
	s.refer(body.Attributes)
	for _, b := range body.Blocks {
		s.inside(b.Body)
	}
}

func (s *source) refer(attrs hclsyntax.Attributes) {
	for _, a := range attrs {
		for _, t := range hclsyntax.Variables(a.Expr) {
			if r, diags := lang.ParseRef(t); !diags.HasErrors() || r.Root == lang.StepRoot && r.Step.Name != "" {
				s.uses = append(s.uses, use{t, r})
			}
		}
	}
}

// declarations are those of an object; one may stand in several profiles.
func (v *view) declarations(object string) []*declaration {
	var out []*declaration
	for _, s := range v.sources() {
		for _, d := range s.declared {
			if d.object == object {
				out = append(out, d)
			}
		}
	}
	return out
}

// named are the names that objects with a prefix such as "var." have, sorted.
func (v *view) named(prefix string) []*declaration {
	var out []*declaration
	for _, s := range v.sources() {
		for _, d := range s.declared {
			if strings.HasPrefix(d.object, prefix) {
				out = append(out, d)
			}
		}
	}
	slices.SortFunc(out, func(a, b *declaration) int { return strings.Compare(a.object, b.object) })
	return slices.CompactFunc(out, func(a, b *declaration) bool { return a.object == b.object })
}

// text is what a constant argument of the declaration's block is, or "".
func (d *declaration) text(argument string) string {
	if d.block == nil {
		return ""
	}
	return constantText(d.block.Body, argument)
}

func constantText(body *hclsyntax.Body, argument string) string {
	if a := body.Attributes[argument]; a != nil {
		text, _ := constantOf(a.Expr)
		return text
	}
	return ""
}

// called is the module that a call's block names, and the folder that its files are in; nil when there is none.
func (v *view) called(b *hclsyntax.Block) (*config.Pipeline, string) {
	source := constantText(b.Body, "source")
	if source == "" {
		return nil, ""
	}
	return v.module(source, filepath.Dir(v.doc.file))
}

// module is the module that a source names in a file of the folder.
func (v *view) module(source, dir string) (*config.Pipeline, string) {
	var folder config.ModuleFolder
	switch {
	case strings.HasPrefix(source, "./"), strings.HasPrefix(source, "../"), source == ".", source == "..":
		if v.ws == nil {
			return nil, ""
		}
		at := filepath.Join(dir, filepath.FromSlash(source))
		rel, err := filepath.Rel(v.ws.Root, at)
		if err != nil || !filepath.IsLocal(rel) {
			return nil, ""
		}
		folder = config.ModuleFolder{FS: Overlay(rooted.FS(v.ws.Root), v.ws.Root, v.open), Dir: filepath.ToSlash(rel), Root: filepath.ToSlash(v.ws.Root)}
	case v.ws == nil:
		return nil, ""
	default:
		var err error
		if folder, err = v.ws.Find(source); err != nil {
			return nil, ""
		}
		if folder.Root == "" {
			folder.Root = filepath.ToSlash(v.ws.Root)
		}
	}
	p, _ := config.LoadModule(folder)
	if p == nil || len(p.Files) == 0 {
		return nil, ""
	}
	return p, filepath.FromSlash(folder.Name())
}
