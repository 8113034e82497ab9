package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hexmage/hexmage/internal/report"
	"github.com/hexmage/hexmage/oppackage"
	"github.com/hexmage/hexmage/patches"
)

// patchCmd is `hexmage patch …`.
type patchCmd struct {
	Check patchCheckCmd `cmd:"" help:"List the changes that an op package needs for an SDK."`
	Apply patchApplyCmd `cmd:"" help:"Adapt the sources of an op package to an SDK, in place or in a copy."`
	Diff  patchDiffCmd  `cmd:"" help:"Print a diff of the changes that an op package needs for an SDK."`
}

// Help returns the examples of `hexmage patch --help`.
func (*patchCmd) Help() string {
	return `The changes come from a series, which is a folder of patches and rewrite rules. Each command uses only
the patches and rules that the SDK needs. In a pipeline, a step of kind patch does the same as hexmage patch apply.
See docs/patches.md.

Examples:

    hexmage patch check LLaMAPackage                               list the changes, with a shipped series
    hexmage patch check LLaMAPackage --sdk $QAIRT_SDK_ROOT         list the changes for an installed SDK
    hexmage patch diff LLaMAPackage --sdk qairt@2.41.0.251128      print the changes as a diff, for one release
    hexmage patch apply LLaMAPackage --sdk qairt --out patched     write a changed copy of the sources to patched/
    hexmage patch check src --sdk qairt --series own=patches/own   list the changes of your own series`
}

// patchArgs are the arguments of commands that apply a series.
type patchArgs struct {
	Source string `arg:"" help:"Folder with the sources of the op package."`
	SDK    string `name:"sdk" default:"qairt" placeholder:"SDK" help:"Use this SDK. SDK is the folder of a QAIRT SDK, or a release such as qairt@2.41.0.251128. Default: the default release of QAIRT."`
	Series string `placeholder:"SERIES" help:"Use this series. SERIES is the name of a shipped series, or the name and folder of your own series as NAME=DIR. Default: the shipped series that matches the sources."`
}

// request opens the files of the arguments.
func (p *patchArgs) request(ctx context.Context, a *app) (patches.Request, error) {
	source, err := a.place(absolute(a.WorkDir, p.Source))
	r := patches.Request{Source: source}
	if err != nil {
		return r, err
	}
	if !isFolder(r.Source) {
		return r, usageError("%s contains no sources; name the folder of the op package", p.Source)
	}
	if r.SDKInclude, err = a.sdkHeaders(ctx, p.SDK); err != nil {
		return r, err
	}
	if p.Series == "" {
		r.AllowFew = true
		if p.Series, err = patches.Fitting(ctx, r); err != nil {
			return r, err
		}
	}
	name, dir, own := strings.Cut(p.Series, "=")
	if own {
		if dir, err = a.place(absolute(a.WorkDir, dir)); err != nil {
			return r, err
		}
		name += "=" + dir
	}
	if r.Series, r.SeriesFS, err = patches.OpenSeries(name); err != nil {
		return r, usageError("%w", err)
	}
	return r, nil
}

// sdkHeaders returns the include/QNN folder of the SDK that --sdk names.
func (a *app) sdkHeaders(ctx context.Context, name string) (string, error) {
	root := absolute(a.WorkDir, name)
	if parseWanted(name).name == "qairt" && !isFolder(root) {
		l, err := a.find(ctx, name, "")
		if err != nil {
			return "", err
		}
		root = l.Path
	}
	include := filepath.Join(root, "include", "QNN")
	switch {
	case isFolder(include):
		return include, nil
	case filepath.Base(root) == "QNN" && isFolder(filepath.Join(root, "HTP")):
		return root, nil // --sdk names the header folder itself
	}
	return "", usageError("--sdk %s: folder %s not found; name the root of a QAIRT SDK, or qairt[@VERSION] from "+
		"`hexmage toolchain list`", name, include)
}

func isFolder(p string) bool {
	info, err := os.Stat(p)
	return err == nil && info.IsDir()
}

// patched is the JSON output of check and apply.
type patched struct {
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
	Out   string `json:"out,omitempty"` // changed or written folder
	Note  string `json:"note,omitempty"`
	patches.Report
}

// packageNote returns a note if the sources are an op package without a series, else "".
func packageNote(source string) string {
	if b := oppackage.FindBackend(os.DirFS(source)); b != nil {
		return b.String()
	}
	return ""
}

// tellPatched prints a report and an error.
func (a *app) tellPatched(r patches.Request, rep patches.Report, err error, out string) error {
	p, shown := patched{OK: err == nil, Note: packageNote(r.Source), Report: rep}, rep
	if r.AllowFew { // the user wants the changes, not a series
		shown = rep.Changes()
	}
	text := shown.Text()
	if err != nil {
		p.Error = err.Error()
	} else {
		p.Out = out
		text += summary(rep, out) + "\n"
	}
	text += also(p.Note != "", "note: "+p.Note+"\n")
	if err := a.show(p, "%s", text); err != nil {
		return err
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return err
	case a.JSON:
		return &exitError{Code: ExitFailed}
	}
	return &exitError{Code: ExitFailed, Err: fmt.Errorf("patch: %w", err)}
}

// summary describes the changes in one line.
func summary(rep patches.Report, out string) string {
	if len(rep.Changed) == 0 {
		return "nothing to change"
	}
	places := rep.Places()
	what := report.Count(len(rep.Changed), "file")
	if len(rep.Changed) == 1 {
		what = rep.Changed[0]
	}
	what += also(places > 0, ", "+report.Count(places, "place")+" by rules")
	if out == "" {
		return "would change " + what
	}
	return "changed " + what + " in " + out
}

// patchCheckCmd is `hexmage patch check SOURCE --sdk SDK`.
type patchCheckCmd struct {
	patchArgs
}

// Help returns the examples of `hexmage patch check --help`.
func (*patchCheckCmd) Help() string {
	return `The changes come from a series, which is a folder of patches and rewrite rules. Lists the patches and
rules that the SDK needs, and the places in the sources that they affect. Changes no files. See docs/patches.md.

Examples:

    hexmage patch check LLaMAPackage                         list the changes for the default release of QAIRT
    hexmage patch check LLaMAPackage --sdk $QAIRT_SDK_ROOT   list the changes for an installed SDK
    hexmage patch check src --series own=patches/own         list the changes of your own series`
}

// Run lists the changes that a patch series would make.
func (c *patchCheckCmd) Run(ctx context.Context, a *app) error {
	r, err := c.request(ctx, a)
	if err != nil {
		return err
	}
	rep, err := patches.Check(ctx, r)
	return a.tellPatched(r, rep, err, "")
}

// patchApplyCmd is `hexmage patch apply SOURCE --sdk SDK [--out DIR]`.
type patchApplyCmd struct {
	patchArgs
	Out string `placeholder:"DIR" help:"Write a changed copy of the sources to DIR, which must be empty or missing. Default: change the sources in place."`
}

// Help returns the examples of `hexmage patch apply --help`.
func (*patchApplyCmd) Help() string {
	return `The changes come from a series, which is a folder of patches and rewrite rules. Applies the patches and
rules that the SDK needs. See docs/patches.md.

Examples:

    hexmage patch apply LLaMAPackage                             change the sources in place
    hexmage patch apply LLaMAPackage --sdk qairt --out patched   write a changed copy of the sources to patched/`
}

// Run applies a patch series.
func (c *patchApplyCmd) Run(ctx context.Context, a *app) error {
	r, err := c.request(ctx, a)
	if err != nil {
		return err
	}
	do, out := patches.ApplyInPlace, c.Source
	if c.Out != "" {
		do, out = patches.Apply, c.Out
		if r.Out, err = a.place(absolute(a.WorkDir, c.Out)); err != nil {
			return err
		}
	}
	rep, err := do(ctx, r)
	return a.tellPatched(r, rep, err, out)
}

// patchDiffCmd is `hexmage patch diff SOURCE --sdk SDK`.
type patchDiffCmd struct {
	patchArgs
}

// Help returns the examples of `hexmage patch diff --help`.
func (*patchDiffCmd) Help() string {
	return `The changes come from a series, which is a folder of patches and rewrite rules. Prints the changes that
hexmage patch apply would make, in the format of git diff. Changes no files. See docs/patches.md.

Examples:

    hexmage patch diff LLaMAPackage --sdk qairt@2.41.0.251128   print a diff for one release of QAIRT
    hexmage patch diff LLaMAPackage > qairt.patch               write a patch file`
}

// Run prints the changes of a patch series as a diff.
func (c *patchDiffCmd) Run(ctx context.Context, a *app) error {
	r, err := c.request(ctx, a)
	if err != nil {
		return err
	}
	diff, rep, err := patches.Diff(ctx, r)
	if err != nil {
		return a.tellPatched(r, rep, err, "")
	}
	if a.JSON {
		return writeJSON(a.Env.Stdout, struct {
			Diff string `json:"diff"`
			patches.Report
		}{string(diff), rep})
	}
	isData(a.Env.Stdout)
	_, err = a.Env.Stdout.Write(diff)
	return err
}
