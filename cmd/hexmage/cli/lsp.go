package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

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
	Stdio bool `help:"Use standard input and output. The server always does this. Some editors pass this flag."`
}

// Help returns the examples of `hexmage lsp --help`.
func (*lspCmd) Help() string {
	return `Your editor starts this command: see docs/editor.md. The language server does not run steps, change files or
use the network.

Examples:

    hexmage lsp                    serve on standard input and output
    hexmage lsp --profile device   serve, and check pipelines in profile device`
}

// Run runs a language server for an editor.
func (*lspCmd) Run(ctx context.Context, a *app) error {
	isData(a.Env.Stdout)
	own := *a
	own.Offline = true
	h := langserver.Host{Version: binaryVersion(), Workspace: own.editorWorkspace, Log: a.Env.Stderr}
	stdio := struct {
		io.ReadCloser
		io.Writer
	}{io.NopCloser(a.Env.Stdin), a.Env.Stdout}
	err := langserver.Serve(ctx, stdio, h)
	if err != nil && ctx.Err() == nil {
		return &exitError{Code: ExitFailed, Err: err}
	}
	return ctx.Err()
}

// editorWorkspace returns the workspace of a file, with the texts that an editor has open.
func (a *app) editorWorkspace(file string, open langserver.Texts) *langserver.Workspace {
	own := *a
	if own.Root = findUp(filepath.Dir(file), workspace.Folder); own.Root == "" {
		return nil
	}
	own.WorkDir, own.texts = own.Root, open
	return &langserver.Workspace{
		Root:      own.Root,
		Pipelines: func() []string { return names(own.files()) },
		Load: func(_ context.Context, pipeline string) (*config.Pipeline, hcl.Diagnostics) {
			return own.load(pipeline)
		},
		Check: own.editorCheck,
		Find:  own.module,
		Words: own.editorWords,
	}
}

// editorCheck is `hexmage validate` of one pipeline.
func (a *app) editorCheck(_ context.Context, pipeline string) (hcl.Diagnostics, error) {
	own := *a
	var all hcl.Diagnostics
	own.onDiags = func(diags hcl.Diagnostics) { all = append(all, diags...) }
	_, err := own.validate(pipeline)
	var printed *exitError
	if errors.As(err, &printed) && printed.Err == nil {
		err = nil
	}
	return all, err
}

// editorWords returns the names of a workspace's domain. If the workspace's own catalog has errors, which editorCheck
// returns, it uses the shipped catalog.
func (a *app) editorWords() ([]step.Description, map[string][]langserver.Word) {
	own := *a
	own.onDiags = func(hcl.Diagnostics) {}
	var cat *toolchains.Catalog
	kinds := steps.Workspace{}.Kinds()
	if d, err := own.domain(); err == nil {
		cat, kinds = d.catalog, d.kinds
	} else {
		cat, _ = own.catalogs.load(nil)
	}
	attributes := map[string]string{
		"arch":      "Hexagon arch, such as `\"v79\"`.",
		"soc":       "Name of the SoC.",
		"soc_id":    "First number of the SoC in Android; 0 if unknown.",
		"soc_model": "Number of the SoC in Qualcomm's tools.",
		"vtcm_mb":   "Size of the vector memory (VTCM), in MB.",
	}
	words := map[string][]langserver.Word{"target.*.": wordsOf(attributes)}
	maps.DeleteFunc(attributes, func(name, _ string) bool { return !slices.Contains(facts.Settable(), name) })
	words["target{"] = wordsOf(attributes)
	for _, s := range cat.SortedSoCs() {
		doc := fmt.Sprintf("Hexagon %s, SoC model %d. %s", s.Arch, s.SoCModel, qnn.Sentence(s.Note))
		words[`target "`] = append(words[`target "`], langserver.Word{Name: s.Name, Detail: s.MarketingName, Doc: doc})
	}
	for _, t := range cat.Toolchains {
		w := langserver.Word{Name: t.Name, Detail: t.Description, Doc: t.DownloadPage}
		words[`toolchain "`] = append(words[`toolchain "`], w)
		words["toolchain "+t.Name+" version ="] = releaseWords(t)
		words["toolchain."+t.Name+"."] = wordsOf(steps.ToolchainAttributes(t))
	}
	for _, files := range []fs.FS{own.files(), hexmage.Shipped} {
		entries, _ := fs.ReadDir(files, config.Modules) // a workspace may have none
		for _, e := range entries {
			words["module source ="] = append(words["module source ="], langserver.Word{Name: e.Name()})
		}
	}
	functions := lang.Functions(workspace.NewFiles(own.Root))
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		f := functions[name]
		words[""] = append(words[""], langserver.Word{Name: name, Detail: signature(f), Doc: f.Description()})
	}
	return step.Describe(kinds), words
}

// wordsOf returns words from their documentation by name.
func wordsOf(docs map[string]string) (words []langserver.Word) {
	for _, name := range slices.Sorted(maps.Keys(docs)) {
		words = append(words, langserver.Word{Name: name, Doc: docs[name]})
	}
	return words
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

// releaseWords returns the versions of a toolchain, the newest first.
func releaseWords(t *toolchains.Toolchain) (words []langserver.Word) {
	for _, r := range t.Releases {
		w := langserver.Word{Name: r.Version, Doc: qnn.Sentence(r.Note)}
		if r.Version == t.Default {
			w.Detail = "default"
		}
		words = append(words, w)
	}
	slices.SortStableFunc(words, func(a, b langserver.Word) int { return version.Compare(b.Name, a.Name) })
	return words
}
