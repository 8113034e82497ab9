package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hexmage/hexmage/patches"
	"github.com/hexmage/hexmage/patches/lint"
)

// patchLintCmd is `hexmage patch lint DIR --sdk SDK`.
type patchLintCmd struct {
	Folder string `arg:"" default:"." help:"Folder of the sources. Default: the working directory."`
	SDK    string `name:"sdk" required:"" placeholder:"SDK" help:"The QAIRT SDK to compile with: its root, or qairt[@VERSION]. Of a release that is not on this machine it is said what its version tells."`
	Data   string `placeholder:"FILE" help:"More changes of the API, beside those that hexmage knows."`
}

// allHeaders are the headers whose names the lint asks for.
const allHeaders = "**/*.{h,hpp}"

// Run lists what will not compile.
func (c *patchLintCmd) Run(ctx context.Context, a *app) error {
	dir := absolute(a.dir, c.Folder)
	if !isFolder(dir) {
		return usage("%s is no folder of sources", c.Folder)
	}
	data, err := lint.Shipped()
	if err != nil {
		return engine(err)
	}
	if c.Data != "" {
		text, err := os.ReadFile(absolute(a.dir, c.Data))
		if err != nil {
			return usage("--data: %v", err)
		}
		own, err := lint.Parse(c.Data, text)
		if err != nil {
			return &exitError{ExitUsage, err}
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
		return &exitError{ExitFailed, fmt.Errorf("patch lint: %w", err)}
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
			fmt.Fprintf(a.env.Stdout, "nothing that %s does not have\n", sdk.Name)
		case n == 1:
			fmt.Fprintln(a.env.Stdout, "1 finding")
		default:
			fmt.Fprintf(a.env.Stdout, "%d findings\n", n)
		}
	}
	if len(found) > 0 {
		return &exitError{code: ExitFailed}
	}
	return nil
}

// sdk finds the SDK's headers, or, of a release that is not here, its version.
func (c *patchLintCmd) sdk(ctx context.Context, a *app) (lint.SDK, func(), error) {
	w := parseWanted(c.SDK)
	isRelease := w.name == "qairt" && !isFolder(absolute(a.dir, c.SDK))
	if isRelease && w.version != "" && !a.stored(ctx, w) {
		name := w.String()
		fmt.Fprintf(a.env.Stderr, "hexmage: %s is not on this machine: what its version tells counts, not its headers\n", name)
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
		return lint.SDK{}, nil, &exitError{ExitUsage, err}
	}
	return lint.SDK{Name: h.String(), Version: h.version, Names: names, Header: headers.Has}, headers.Close, nil
}

// stored says whether a release is known and on this machine.
func (a *app) stored(ctx context.Context, w wanted) bool {
	d, err := a.domain(a.here())
	if err != nil {
		return false
	}
	if _, _, err := d.catalogue.Find(w.name, w.version); err != nil {
		return false
	}
	quiet := *a
	quiet.env.Stderr = new(strings.Builder)
	_, _, err = quiet.find(ctx, w.String(), "")
	var e *exitError
	return !errors.As(err, &e)
}

// print shows a finding; what is wrong with its name and what to do only for the first of that name.
func (c *patchLintCmd) print(a *app, f lint.Finding, first bool) {
	w := a.env.Stdout
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
		fmt.Fprintf(w, "        the series mllm does it (%s): hexmage patch apply %s --sdk %s\n", f.Rule, c.Folder, c.SDK)
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
