package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hexmage/hexmage/patches/record"
	"github.com/hexmage/hexmage/patches/rename"
)

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

// Run records.
func (c *patchNewCmd) Run(ctx context.Context, a *app) error {
	folder, tree := absolute(a.dir, c.Folder), absolute(a.dir, c.Tree)
	if from, to, ok := strings.Cut(filepath.Base(folder), "-"); !ok || from == "" || to == "" {
		return usage("%s: the last part of the folder is to be named <from>-<to>, such as patches/own/2.31-2.34", c.Folder)
	}
	if c.Before != "" && c.Since != "" {
		return usage("--before is for two folders, --since for a git work tree: choose one")
	}
	title := c.Title
	if title == "" {
		title = "Edits of " + filepath.Base(tree)
	}
	var when *rename.When
	if c.Lacks != "" || c.Declares != "" {
		when = &rename.When{Header: c.Header, Lacks: c.Lacks, Declares: c.Declares}
		if err := errors.Join(rename.CheckScope([]string{"*"}, rename.Expect{Max: 1}, when)...); err != nil {
			return &exitError{ExitUsage, err}
		}
	}
	var edits []record.Edit
	var err error
	if c.Before != "" {
		var e record.Edit
		e, err = record.Folders(ctx, absolute(a.dir, c.Before), tree, title)
		edits = []record.Edit{e}
	} else {
		edits, err = record.Git(ctx, tree, c.Since, title)
	}
	if errors.Is(err, record.ErrNothing) {
		return &exitError{ExitFailed, fmt.Errorf("patch new: %w in %s", err, c.Tree)}
	}
	if err != nil {
		return &exitError{ExitFailed, fmt.Errorf("patch new: %w", err)}
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o777); err != nil {
		return &exitError{ExitFailed, err}
	}
	names, err := record.Write(folder, edits, when)
	if err != nil {
		return &exitError{ExitFailed, fmt.Errorf("patch new: %w", err)}
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
		fmt.Fprintf(a.env.Stdout, "%s: %s\n", filepath.Join(c.Folder, names[i]), e.Title)
		for _, f := range e.Files {
			fmt.Fprintf(a.env.Stdout, "  %s\n", f)
		}
	}
	series := filepath.ToSlash(filepath.Dir(filepath.Clean(c.Folder)))
	if !filepath.IsAbs(series) {
		series = "./" + series
	}
	fmt.Fprintf(a.env.Stdout, "use it in a step \"patch\" with series = %q\n", series)
	return nil
}
