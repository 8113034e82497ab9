package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/version"
	"github.com/hexmage/hexmage/patches"
	"github.com/hexmage/hexmage/patches/lint"
	"github.com/hexmage/hexmage/patches/record"
	"github.com/hexmage/hexmage/patches/rename"
	"github.com/hexmage/hexmage/patches/series"
	"github.com/hexmage/hexmage/qnn/sdk"
	"github.com/hexmage/hexmage/toolchains"
)

// patchCmd is `hexmage patch …`.
type patchCmd struct {
	Check patchCheckCmd `cmd:"" help:"Say what a series would do to a source tree, and whether it fits. Changes nothing."`
	Apply patchApplyCmd `cmd:"" help:"Apply a series to a source tree, in place or in a copy: all of it or nothing."`
	Diff  patchDiffCmd  `cmd:"" help:"Print what apply would do, as a unified diff."`
	New   patchNewCmd   `cmd:"" help:"Record the edits of a work tree as patches of a series."`
	Lint  patchLintCmd  `cmd:"" help:"List what in op sources an SDK does not have, before compiling."`
}

// Help has the examples of `hexmage patch --help`.
func (*patchCmd) Help() string {
	return `What the SDK's headers declare decides which patches and rules of a series are needed.
A step "patch" of a pipeline does the same. All of it: docs/patches.md.

Examples:

    hexmage patch lint LLaMAPackage --sdk $QAIRT_SDK_ROOT      what will not compile, and what to do
    hexmage patch check LLaMAPackage --sdk $QAIRT_SDK_ROOT     what the series mllm would do
    hexmage patch diff LLaMAPackage --sdk qairt@2.41.0.251128  the same as a diff
    hexmage patch apply LLaMAPackage --sdk qairt --out patched
    hexmage patch new patches/own/2.31-2.34 LLaMAPackage --title "Unique names"
    hexmage patch check src --sdk qairt --series own=patches/own`
}

// patchArgs are what the commands that apply a series have in common.
type patchArgs struct {
	Source string `arg:"" help:"Folder of the sources."`
	SDK    string `name:"sdk" required:"" placeholder:"SDK" help:"The QAIRT SDK whose headers decide what is needed: its root, or qairt[@VERSION] of the store."`
	Series string `default:"mllm" help:"A series that comes with hexmage, or NAME=FOLDER. Default: mllm."`
	Fuzz   int    `default:"0" placeholder:"N" help:"Leave out up to N lines of context at each end of a hunk. Default: none."`
}

// request opens what the arguments name.
func (p *patchArgs) request(ctx context.Context, a *app) (patches.Request, error) {
	source, err := a.place(absolute(a.WorkDir, p.Source))
	r := patches.Request{Source: source, Fuzz: p.Fuzz}
	if err != nil {
		return r, err
	}
	if info, err := os.Stat(r.Source); err != nil || !info.IsDir() {
		return r, usageError("%s is no folder of sources: name the one that has the op package's files", p.Source)
	}
	if p.Fuzz < 0 {
		return r, usageError("--fuzz %d: it is a number of lines", p.Fuzz)
	}
	sdk, err := a.sdkHeaders(ctx, p.SDK)
	if err != nil {
		return r, err
	}
	r.SDKInclude = sdk.include
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

// headersOf is an SDK whose headers are on this machine.
type headersOf struct {
	include string // its include/QNN folder
	version string // "" when it does not say
}

// String names the SDK for messages.
func (h headersOf) String() string {
	if h.version == "" {
		return "the SDK"
	}
	return "qairt " + h.version
}

// sdkHeaders finds the SDK that --sdk names.
func (a *app) sdkHeaders(ctx context.Context, what string) (headersOf, error) {
	var h headersOf
	root := absolute(a.WorkDir, what)
	if w := parseWanted(what); w.name == "qairt" && !isFolder(root) {
		l, err := a.find(ctx, what, "")
		if err != nil {
			return h, err
		}
		root, h.version = l.Path, l.Version
	} else if is, err := sdk.Identify(root); err == nil {
		h.version = is.Version
	}
	h.include = filepath.Join(root, "include", "QNN")
	if !isFolder(h.include) {
		if filepath.Base(root) == "QNN" && isFolder(filepath.Join(root, "HTP")) {
			h.include = root // somebody has named the folder of headers itself
			return h, nil
		}
		return h, usageError("--sdk %s: there is no folder %s; name the root of a QAIRT SDK, or qairt[@VERSION] "+
			"that `hexmage toolchain list` has", what, h.include)
	}
	return h, nil
}

func isFolder(p string) bool {
	info, err := os.Stat(p)
	return err == nil && info.IsDir()
}

// patched is what check and apply tell programs.
type patched struct {
	OK        bool               `json:"ok"`
	Error     string             `json:"error,omitempty"`
	Conflicts []*series.Conflict `json:"conflicts,omitempty"`
	Out       string             `json:"out,omitempty"` // the folder that was changed or written
	patches.Report
}

// tellPatched prints a report and what went wrong.
func (a *app) tellPatched(rep patches.Report, err error, out string) error {
	if a.JSON {
		p := patched{OK: err == nil, Report: rep}
		if err != nil {
			p.Error, p.Conflicts = err.Error(), conflicts(err)
		} else {
			p.Out = out
		}
		if err := a.printJSON(p); err != nil {
			return err
		}
	} else {
		fmt.Fprint(a.Env.Stdout, rep.Text())
		if err == nil {
			fmt.Fprintln(a.Env.Stdout, summary(rep, out))
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
	places := 0
	var found [][]rename.Place
	for _, n := range rep.Renames {
		found = append(found, n.Changed)
	}
	for _, e := range rep.Edits {
		found = append(found, e.Changed)
	}
	for _, f := range found {
		places += len(f)
	}
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

// conflicts returns the conflicts that an error joins.
func conflicts(err error) (out []*series.Conflict) {
	switch e := err.(type) {
	case *series.Conflict:
		return []*series.Conflict{e}
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			out = append(out, conflicts(one)...)
		}
		return out
	}
	if next := errors.Unwrap(err); next != nil {
		return conflicts(next)
	}
	return nil
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
	return a.tellPatched(rep, err, "")
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
	return a.tellPatched(rep, err, out)
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
		return a.tellPatched(rep, err, "")
	}
	if a.JSON {
		return a.printJSON(struct {
			Diff string `json:"diff"`
			patches.Report
		}{string(diff), rep})
	}
	isData(a.Env.Stdout)
	if a.colourOut() {
		diff = paintDiff(diff)
	}
	_, err = a.Env.Stdout.Write(diff)
	return err
}

// colourOut says whether what goes to standard output is to be coloured.
func (a *app) colourOut() bool {
	if a.Colour != "auto" {
		return a.Colour == "always"
	}
	return onTerminal(a.Env.Stdout) && a.Env.Var("NO_COLOR") == "" && a.Env.Var("TERM") != "dumb"
}

// paintDiff colours a unified diff as git does.
func paintDiff(diff []byte) []byte {
	var out bytes.Buffer
	inHunk := false
	for line := range bytes.Lines(diff) {
		code := ""
		switch {
		case bytes.HasPrefix(line, []byte("diff --git ")):
			inHunk, code = false, "1"
		case bytes.HasPrefix(line, []byte("@@ ")):
			inHunk, code = true, "36"
		case !inHunk:
			code = "1"
		case line[0] == '+':
			code = "32"
		case line[0] == '-':
			code = "31"
		}
		text, end := bytes.TrimSuffix(line, []byte("\n")), ""
		if len(text) < len(line) {
			end = "\n"
		}
		if code == "" {
			out.Write(line)
		} else {
			fmt.Fprintf(&out, "\x1b[%sm%s\x1b[0m%s", code, text, end)
		}
	}
	return out.Bytes()
}

// patchLintCmd is `hexmage patch lint DIR --sdk SDK`.
type patchLintCmd struct {
	Folder string `arg:"" default:"." help:"Folder of the sources. Default: the working directory."`
	SDK    string `name:"sdk" required:"" placeholder:"SDK" help:"The QAIRT SDK to compile with: its root, or qairt[@VERSION]. Of a release that is not on this machine it is said what its version tells."`
	Data   string `placeholder:"FILE" help:"More changes of the API, beside those that hexmage knows."`
}

// Help has the examples of `hexmage patch lint --help`.
func (*patchLintCmd) Help() string {
	return `Exit code 1 when there is something. "error" will not compile; "maybe" is of a release that nobody has looked at.

Examples:

    hexmage patch lint src --sdk $QAIRT_SDK_ROOT
    hexmage patch lint src --sdk qairt@2.36.1          an SDK that is not here: by its version
    hexmage patch lint src --sdk qairt --json | jq -r '"\(.file):\(.line) \(.name)"'`
}

// allHeaders are the headers whose names the lint asks for.
const allHeaders = "**/*.{h,hpp}"

// Run lists what will not compile.
func (c *patchLintCmd) Run(ctx context.Context, a *app) error {
	dir := absolute(a.WorkDir, c.Folder)
	if !isFolder(dir) {
		return usageError("%s is no folder of sources: name the one that has the op package's files", c.Folder)
	}
	data, err := lint.Shipped()
	if err != nil {
		return engineError(err)
	}
	if c.Data != "" {
		text, err := os.ReadFile(absolute(a.WorkDir, c.Data))
		if err != nil {
			return usageError("--data: %v", err)
		}
		own, err := lint.Parse(c.Data, text)
		if err != nil {
			return &exitError{Code: ExitUsage, Err: err}
		}
		data.Removed, data.Added = append(data.Removed, own.Removed...), append(data.Added, own.Added...)
		data.Shapes, data.Unguarded = append(data.Shapes, own.Shapes...), append(data.Unguarded, own.Unguarded...)
	}
	sdk, done, err := c.sdk(ctx, a)
	if err != nil {
		return err
	}
	defer done()
	found, err := lint.Run(ctx, os.DirFS(dir), data, sdk)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		return &exitError{Code: ExitFailed, Err: fmt.Errorf("patch lint: %w", err)}
	}
	if a.JSON {
		for _, f := range found {
			if err := a.printJSON(f); err != nil {
				return err
			}
		}
	} else {
		said := map[string]bool{}
		for _, f := range found {
			c.print(a, f, !said[f.Name+f.Message])
			said[f.Name+f.Message] = true
		}
		switch n := len(found); {
		case n == 0:
			fmt.Fprintf(a.Env.Stdout, "nothing that %s does not have\n", sdk.Name)
		case n == 1:
			fmt.Fprintln(a.Env.Stdout, "1 finding")
		default:
			fmt.Fprintf(a.Env.Stdout, "%d findings\n", n)
		}
	}
	if len(found) > 0 {
		return &exitError{Code: ExitFailed}
	}
	return nil
}

// sdk finds the SDK's headers, or, of a release that is not here, its version.
func (c *patchLintCmd) sdk(ctx context.Context, a *app) (lint.SDK, func(), error) {
	w := parseWanted(c.SDK)
	isRelease := w.name == "qairt" && !isFolder(absolute(a.WorkDir, c.SDK))
	if isRelease && w.version != "" && !a.stored(ctx, w) {
		if err := a.between(w); err != nil {
			return lint.SDK{}, nil, err
		}
		name := w.String()
		fmt.Fprintf(a.Env.Stderr,
			"hexmage: %s is not on this machine: what its version tells counts, not its headers\n", name)
		return lint.SDK{Name: "qairt " + w.version, Version: w.version}, func() {}, nil
	}
	h, err := a.sdkHeaders(ctx, c.SDK)
	if err != nil {
		return lint.SDK{}, nil, err
	}
	headers := patches.OpenHeaders(h.include)
	names, err := headers.Names(allHeaders)
	if err != nil {
		headers.Close()
		return lint.SDK{}, nil, &exitError{Code: ExitUsage, Err: err}
	}
	return lint.SDK{Name: h.String(), Version: h.version, Names: names, Header: headers.Has}, headers.Close, nil
}

// between refuses a version of which nothing can be told, since it is none, or older or newer than all that are
// known.
func (a *app) between(w wanted) error {
	d, err := a.domain(a.here())
	if err != nil {
		return err
	}
	t, _, err := d.catalogue().Find(w.name, "")
	if err != nil {
		return &exitError{Code: ExitUsage, Err: err}
	}
	byVersion := func(a, b *toolchains.Release) int { return version.Compare(a.Version, b.Version) }
	oldest, newest := slices.MinFunc(t.Releases, byVersion).Version, slices.MaxFunc(t.Releases, byVersion).Version
	if w.version[0] < '0' || w.version[0] > '9' || version.CompareShared(w.version, oldest) < 0 ||
		version.CompareShared(w.version, newest) > 0 {
		return usageError("patch lint: nothing is known of %s: hexmage knows %s %s to %s; name the folder of an SDK "+
			"that you have, which tells by its headers", w, w.name, oldest, newest)
	}
	return nil
}

// stored says whether a release is known and on this machine.
func (a *app) stored(ctx context.Context, w wanted) bool {
	d, err := a.domain(a.here())
	if err != nil {
		return false
	}
	if _, _, err := d.catalogue().Find(w.name, w.version); err != nil {
		return false
	}
	quiet := *a
	quiet.Env.Stderr = new(strings.Builder)
	_, err = quiet.find(ctx, w.String(), "")
	var e *exitError
	return !errors.As(err, &e)
}

// print shows a finding; what is wrong with its name and what to do only for the first of that name.
func (c *patchLintCmd) print(a *app, f lint.Finding, first bool) {
	w := a.Env.Stdout
	sure := a.painted("31", "error")
	if !f.Certain {
		sure = a.painted("33", "maybe")
	}
	fmt.Fprintf(w, "%s:%d:%d: %s: %s", filepath.ToSlash(filepath.Join(c.Folder, f.File)), f.Line, f.Col, sure, f.Name)
	if first {
		fmt.Fprintf(w, ": %s", f.Message)
	}
	text, before := excerpt(f)
	fmt.Fprintf(w, "\n  %5d | %s\n        | %s%s\n", f.Line, text, strings.Repeat(" ", before), a.painted("32", "^"))
	if !first {
		return
	}
	fmt.Fprintf(w, "        instead: %s\n", f.Instead)
	if f.Rule != "" {
		fmt.Fprintf(w, "        the series mllm does it (%s): hexmage patch apply %s --sdk %s\n", f.Rule, c.Folder,
			c.SDK)
	}
}

// width is how much of a source line is shown.
const width = 100

// excerpt returns the part of a finding's line that is shown, and how many columns of it are before the finding.
func excerpt(f lint.Finding) (text string, before int) {
	line := []rune(strings.ReplaceAll(f.Text, "\t", " "))
	if at := f.Col - 1; at <= len(f.Text) {
		before = len([]rune(f.Text[:at]))
	}
	start, end := 0, len(line)
	if end > width {
		start = min(max(0, before-width/2), end-width)
		end = start + width
	}
	text = string(line[start:end])
	if start > 0 {
		text, before = "…"+string(line[start+1:end]), before-start
	}
	if end < len(line) {
		text += "…"
	}
	return strings.TrimRight(text, " "), before
}

// patchNewCmd is `hexmage patch new FOLDER [TREE]`.
type patchNewCmd struct {
	Folder   string `arg:"" help:"Folder of the series' range, such as patches/own/2.31-2.34. It is made if it is not there."`
	Tree     string `arg:"" default:"." help:"The edited tree. Default: the working directory."`
	Before   string `placeholder:"DIR" help:"The tree before the edits. Default: the last commit of the git work tree that TREE is in."`
	Since    string `placeholder:"REV" help:"Also one patch for each commit after REV."`
	Title    string `placeholder:"TEXT" help:"What the edits that are not committed are for, in a line. It becomes the patch's name and description."`
	Header   string `default:"HTP/core/*.h" placeholder:"PATH" help:"Header, or pattern of headers, that --lacks and --declares ask. Default: HTP/core/*.h."`
	Lacks    string `placeholder:"NAME" help:"Only for SDKs whose headers lack NAME."`
	Declares string `placeholder:"NAME" help:"Only for SDKs whose headers declare NAME."`
}

// Help has the examples of `hexmage patch new --help`.
func (*patchNewCmd) Help() string {
	return `Every patch is applied again to what was before, and kept only if it gives what was edited.

Examples:

    hexmage patch new patches/own/2.31-2.34 ops --title "Unique tensor names"    what is not committed
    hexmage patch new patches/own/2.31-2.34 ops --since v1.0                     each commit since v1.0, and that
    hexmage patch new patches/own/2.31-2.34 edited --before original             two folders
    hexmage patch new patches/own/2.31-2.34 ops --lacks old_name --declares new_name`
}

// Run records.
func (c *patchNewCmd) Run(ctx context.Context, a *app) error {
	folder, tree := absolute(a.WorkDir, c.Folder), absolute(a.WorkDir, c.Tree)
	if !patches.IsRange(filepath.Base(folder)) {
		return usageError("%s: the last part of the folder is to be named <from>-<to>, by two releases, such as "+
			"patches/own/2.31-2.34", c.Folder)
	}
	if c.Before != "" && c.Since != "" {
		return usageError("--before is for two folders, --since for a git work tree: choose one")
	}
	title := c.Title
	if title == "" {
		title = "Edits of " + filepath.Base(tree)
	}
	var when *rename.When
	if c.Lacks != "" || c.Declares != "" {
		when = &rename.When{Header: c.Header, Lacks: c.Lacks, Declares: c.Declares}
		if err := when.Check(); err != nil {
			return &exitError{Code: ExitUsage, Err: err}
		}
	}
	var edits []record.Edit
	var err error
	if c.Before != "" {
		var e record.Edit
		e, err = record.Folders(ctx, absolute(a.WorkDir, c.Before), tree, title)
		edits = []record.Edit{e}
	} else {
		edits, err = record.Git(ctx, tree, c.Since, title)
	}
	if errors.Is(err, record.ErrNothing) {
		return &exitError{Code: ExitFailed, Err: fmt.Errorf("patch new: %w in %s", err, c.Tree)}
	}
	if err != nil {
		return &exitError{Code: ExitFailed, Err: fmt.Errorf("patch new: %w", err)}
	}
	if folder, err = a.place(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o777); err != nil {
		return &exitError{Code: ExitFailed, Err: err}
	}
	names, err := record.Write(folder, edits, when)
	if err != nil {
		return &exitError{Code: ExitFailed, Err: fmt.Errorf("patch new: %w", err)}
	}
	if a.JSON {
		type recorded struct {
			Patch string   `json:"patch"`
			Title string   `json:"title"`
			Files []string `json:"files"`
		}
		var out []recorded
		for i, e := range edits {
			out = append(out, recorded{names[i], e.Title, e.Files})
		}
		return a.printJSON(out)
	}
	for i, e := range edits {
		fmt.Fprintf(a.Env.Stdout, "%s: %s\n", filepath.Join(c.Folder, names[i]), e.Title)
		for _, f := range e.Files {
			fmt.Fprintf(a.Env.Stdout, "  %s\n", f)
		}
	}
	series := filepath.ToSlash(filepath.Dir(filepath.Clean(c.Folder)))
	if !filepath.IsAbs(series) {
		series = "./" + series
	}
	fmt.Fprintf(a.Env.Stdout, "use it in a step \"patch\" with series = %q\n", series)
	return nil
}
