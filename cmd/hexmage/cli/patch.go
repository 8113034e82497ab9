package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hexmage/hexmage/oppackage"
	"github.com/hexmage/hexmage/patches"
)

// patchCmd is `hexmage patch …`.
type patchCmd struct {
	Check patchCheckCmd `cmd:"" help:"List each place that a rule or patch would change."`
	Apply patchApplyCmd `cmd:"" help:"Change the sources, in place or in a copy."`
	Diff  patchDiffCmd  `cmd:"" help:"Print the changes of apply as a unified diff."`
}

// Help has the examples of `hexmage patch --help`.
func (*patchCmd) Help() string {
	return `The SDK's headers decide which patches and rules of a series are needed.
Step "patch" of a pipeline does the same: docs/patches.md.

Examples:

    hexmage patch check LLaMAPackage                           with the shipped series that fits
    hexmage patch check LLaMAPackage --sdk $QAIRT_SDK_ROOT
    hexmage patch diff LLaMAPackage --sdk qairt@2.41.0.251128  the same as a diff
    hexmage patch apply LLaMAPackage --sdk qairt --out patched
    hexmage patch check src --sdk qairt --series own=patches/own`
}

// patchArgs are what the commands that apply a series have in common.
type patchArgs struct {
	Source string `arg:"" help:"Folder of the sources."`
	SDK    string `name:"sdk" default:"qairt" placeholder:"SDK" help:"SDK root, or qairt[@VERSION]. Default: qairt."`
	Series string `placeholder:"NAME" help:"Shipped series, or NAME=FOLDER. Default: the shipped one that fits."`
}

// request opens what the arguments name.
func (p *patchArgs) request(ctx context.Context, a *app) (patches.Request, error) {
	source, err := a.place(absolute(a.WorkDir, p.Source))
	r := patches.Request{Source: source}
	if err != nil {
		return r, err
	}
	if info, err := os.Stat(r.Source); err != nil || !info.IsDir() {
		return r, usageError("%s is no folder of sources: name the one that has the op package's files", p.Source)
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
		return r, &exitError{Code: ExitUsage, Err: err}
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
		return root, nil // --sdk names the folder of headers itself
	}
	return "", usageError("--sdk %s: folder %s not found; name the root of a QAIRT SDK, or qairt[@VERSION] "+
		"that `hexmage toolchain list` has", name, include)
}

func isFolder(p string) bool {
	info, err := os.Stat(p)
	return err == nil && info.IsDir()
}

// patched is what check and apply tell programs.
type patched struct {
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
	Out   string `json:"out,omitempty"` // the folder that was changed or written
	Note  string `json:"note,omitempty"`
	patches.Report
}

// packageNote says that the sources are an op package that no series is for; "" for others.
func packageNote(source string) string {
	if b := oppackage.FindBackend(os.DirFS(source)); b != nil {
		return b.String()
	}
	return ""
}

// tellPatched prints a report and what went wrong.
func (a *app) tellPatched(r patches.Request, rep patches.Report, err error, out string) error {
	if a.JSON {
		p := patched{OK: err == nil, Note: packageNote(r.Source), Report: rep}
		if err != nil {
			p.Error = err.Error()
		} else {
			p.Out = out
		}
		if err := a.printJSON(p); err != nil {
			return err
		}
	} else {
		shown := rep
		if r.AllowFew { // the user asked for the changes, not for a series
			shown = rep.Changes()
		}
		fmt.Fprint(a.Env.Stdout, shown.Text())
		if err == nil {
			fmt.Fprintln(a.Env.Stdout, summary(rep, out))
		}
		if note := packageNote(r.Source); note != "" {
			fmt.Fprintln(a.Env.Stdout, "note:", note)
		}
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

// summary says in a line what was done, or would be.
func summary(rep patches.Report, out string) string {
	if len(rep.Changed) == 0 {
		return "nothing to change"
	}
	places := rep.Places()
	what := fmt.Sprintf("%d files", len(rep.Changed))
	if len(rep.Changed) == 1 {
		what = rep.Changed[0]
	}
	switch {
	case places == 1:
		what += ", 1 place by rules"
	case places > 1:
		what += fmt.Sprintf(", %d places by rules", places)
	}
	if out == "" {
		return "would change " + what
	}
	return "changed " + what + " in " + out
}

// patchCheckCmd is `hexmage patch check SOURCE --sdk SDK`.
type patchCheckCmd struct {
	patchArgs
}

// Run says what would be done.
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
	Out string `placeholder:"DIR" help:"Write a patched copy to DIR, which must be empty or not exist, and leave the sources as they are."`
}

// Run applies.
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

// Run prints the diff and nothing else.
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
		return a.printJSON(struct {
			Diff string `json:"diff"`
			patches.Report
		}{string(diff), rep})
	}
	isData(a.Env.Stdout)
	_, err = a.Env.Stdout.Write(diff)
	return err
}
