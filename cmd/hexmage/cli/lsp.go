package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/hexmage/hexmage"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/langserver"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/internal/version"
	"github.com/hexmage/hexmage/internal/workspace"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/facts"
	"github.com/hexmage/hexmage/steps"
	"github.com/hexmage/hexmage/toolchains"
)

// lspCmd is `hexmage lsp`.
type lspCmd struct {
	Stdio bool `help:"Speak on standard input and output, which is the only way there is: some editors add the flag."`
}

// Help has the examples of `hexmage lsp --help`.
func (*lspCmd) Help() string {
	return `Editors start it (docs/editor.md). It runs nothing, writes no file of yours, and uses no network.

Examples:

    hexmage lsp                                        on standard input and output, until the editor ends it`
}

// Run serves an editor.
func (*lspCmd) Run(ctx context.Context, a *app) error {
	isData(a.Env.Stdout)
	own := *a
	own.Offline = true
	h := &editorHost{a: &own, made: map[string]*langserver.Workspace{}}
	err := langserver.Serve(ctx, stdio{a.Env.Stdin, a.Env.Stdout}, langserver.Host{
		Version: binaryVersion(), Workspace: h.workspace, Log: a.Env.Stderr,
		Kinds: func() []step.Description { return step.Describe(steps.Workspace{}.Kinds()) },
	})
	if err != nil && ctx.Err() == nil {
		return &exitError{Code: ExitFailed, Err: err}
	}
	return ctx.Err()
}

// stdio is the connection to who started the process.
type stdio struct {
	io.Reader
	io.Writer
}

// Close has a Read that waits end, where that can be.
func (s stdio) Close() error {
	if c, ok := s.Reader.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// editorHost tells the server of workspaces.
type editorHost struct {
	a    *app
	mu   sync.Mutex
	made map[string]*langserver.Workspace // by root
}

func (h *editorHost) workspace(file string, open langserver.Texts) *langserver.Workspace {
	root := findUp(filepath.Dir(file), workspace.Folder)
	if root == "" {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.made[root] == nil {
		own := *h.a
		own.Root, own.WorkDir, own.catalogues, own.texts = root, root, new(catalogues), open
		h.made[root] = (&editorWorkspace{a: &own}).forServer()
	}
	return h.made[root]
}

// editorWorkspace is a workspace with what an editor has open.
type editorWorkspace struct{ a *app }

// forServer is what the server is told of the workspace.
func (w *editorWorkspace) forServer() *langserver.Workspace {
	return &langserver.Workspace{
		Root:      w.a.Root,
		Pipelines: func() []string { return names(w.a.files(w.a.Root)) },
		Load: func(ctx context.Context, pipeline string) (*config.Pipeline, hcl.Diagnostics) {
			return w.a.load(ctx, w.a.Root, pipeline)
		},
		Check: w.check,
		Find: func(source string) (config.ModuleFolder, error) {
			find, done := w.a.finder(context.Background(), w.a.Root)
			defer done()
			return find(source)
		},
		Words: w.words,
	}
}

// check is `hexmage validate` of one pipeline.
func (w *editorWorkspace) check(ctx context.Context, pipeline string) (hcl.Diagnostics, error) {
	own := *w.a
	var all hcl.Diagnostics
	own.onDiags = func(diags hcl.Diagnostics) { all = append(all, diags...) }
	_, err := own.validateIn(ctx, own.Root, pipeline)
	var said *exitError
	if errors.As(err, &said) && said.Err == nil {
		err = nil
	}
	return all, err
}

// words are what may be named. Of a workspace whose own catalogue is wrong, which is told elsewhere, the shipped one
// is.
func (w *editorWorkspace) words() langserver.Words {
	own := *w.a
	own.onDiags = func(hcl.Diagnostics) {}
	cat, _ := own.catalogues.load(nil)
	kinds := steps.Workspace{}.Kinds()
	if d, err := own.domain(own.Root); err == nil {
		cat, kinds = d.catalogue(), d.kinds
	}
	out := langserver.Words{Kinds: step.Describe(kinds), Settable: facts.Settable(), TargetAttributes: targetWords()}
	if cat != nil {
		for _, s := range cat.SortedSoCs() {
			out.Targets = append(out.Targets, socWord(s))
		}
		for _, t := range cat.Toolchains {
			out.Toolchains = append(out.Toolchains, toolchainWord(t))
		}
	}
	out.Modules = w.modules()
	for name, f := range lang.Functions(workspace.NewFiles(own.Root)) {
		out.Functions = append(out.Functions, langserver.Word{Name: name, Detail: signature(f), Doc: f.Description()})
	}
	slices.SortFunc(out.Functions, func(a, b langserver.Word) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func signature(f function.Function) string {
	var params []string
	for _, p := range f.Params() {
		params = append(params, p.Name)
	}
	if p := f.VarParam(); p != nil {
		params = append(params, p.Name+"…")
	}
	return "(" + strings.Join(params, ", ") + ")"
}

// modules are those with a name: the workspace's and the shipped ones.
func (w *editorWorkspace) modules() []langserver.Word {
	var out []langserver.Word
	for _, fsys := range []fs.FS{w.a.files(w.a.Root), hexmage.Shipped} {
		entries, _ := fs.ReadDir(fsys, config.Modules) // a workspace may have none
		for _, e := range entries {
			name := e.Name()
			if !e.IsDir() || slices.ContainsFunc(out, func(m langserver.Word) bool { return m.Name == name }) {
				continue
			}
			p, _ := config.LoadModule(config.ModuleFolder{FS: fsys, Dir: path.Join(config.Modules, name)})
			out = append(out, langserver.Word{Name: name, Doc: p.Description})
		}
	}
	return out
}

// targetWords are the attributes of a target.
func targetWords() []langserver.Word {
	docs := map[string]string{
		"arch":      "Its Hexagon arch, such as `\"v79\"`.",
		"soc":       "The SoC's name.",
		"soc_id":    "The first number that Android knows it by; 0 where none is known.",
		"soc_model": "Its number in the vendor's tools.",
		"vtcm_mb":   "Its vector memory, in MB.",
	}
	var out []langserver.Word
	for _, name := range slices.Sorted(maps.Keys(facts.TargetType().AttributeTypes())) {
		out = append(out, langserver.Word{Name: name, Doc: docs[name]})
	}
	return out
}

func socWord(s *qnn.SoC) langserver.Word {
	doc := fmt.Sprintf("Hexagon %s, SoC model %d", s.Arch, s.SoCModel)
	if s.VTCMMB > 0 {
		doc += fmt.Sprintf(", %d MB of VTCM", s.VTCMMB)
	}
	doc += "."
	if s.MinSDK != "" {
		doc += " QAIRT knows it since " + s.MinSDK + "."
	}
	if s.Note != "" {
		doc += "\n\n" + qnn.Sentence(s.Note)
	}
	return langserver.Word{Name: s.Name, Detail: s.Marketing, Doc: doc}
}

func toolchainWord(t *toolchains.Toolchain) langserver.Toolchain {
	out := langserver.Toolchain{Word: langserver.Word{Name: t.Name, Detail: t.Description, Doc: t.Page}}
	for _, r := range t.Releases {
		w := langserver.Word{Name: r.Version}
		if r.Version == t.Default {
			w.Detail = "default"
		}
		var doc []string
		if r.ToolsVersion != "" {
			doc = append(doc, "Tools "+r.ToolsVersion+".")
		}
		if len(r.Arches) > 0 {
			doc = append(doc, "Builds for "+strings.Join(r.Arches, ", ")+".")
		}
		if r.Note != "" {
			doc = append(doc, qnn.Sentence(r.Note))
		}
		w.Doc = strings.Join(doc, " ")
		out.Versions = append(out.Versions, w)
	}
	// the newest first
	slices.SortStableFunc(out.Versions, func(a, b langserver.Word) int { return version.Compare(b.Name, a.Name) })
	attributes := steps.ToolchainAttributes(t)
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		out.Attributes = append(out.Attributes, langserver.Word{Name: name, Doc: attributes[name]})
	}
	return out
}
