package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/hexmage/hexmage/internal/config"
)

// fmtCmd is `hexmage fmt [FILE…]`.
type fmtCmd struct {
	Files []string `arg:"" optional:"" help:"Files to format. Default: all *.hcl in pipelines/."`
	Check bool     `help:"Change nothing; exit with 1 if a file is not in the canonical format."`
}

// Help has the examples of `hexmage fmt --help`.
func (*fmtCmd) Help() string {
	return `Examples:

    hexmage fmt                                        all pipelines of the workspace
    hexmage fmt --check                                for CI: names the files, exits with 1`
}

// Run formats the files in place.
func (c *fmtCmd) Run(_ context.Context, a *app) error {
	var files []string
	for _, f := range c.Files {
		files = append(files, absolute(a.dir, f))
	}
	if len(files) == 0 {
		if a.root == "" {
			return usage("there is no pipelines folder here: name the files to format")
		}
		for _, pattern := range []string{"*.hcl", "*/*.hcl"} {
			found, err := filepath.Glob(filepath.Join(a.root, config.Folder, pattern))
			if err != nil {
				return engine(err)
			}
			files = append(files, found...)
		}
	}
	for i, f := range files {
		var err error
		if files[i], err = a.place(f); err != nil {
			return err
		}
	}
	changed, diags, err := config.FormatFiles(files, c.Check)
	if err != nil {
		return &exitError{ExitUsage, err}
	}
	shown := func(file string) string {
		if rel, err := filepath.Rel(a.env.Dir, file); err == nil {
			return rel
		}
		return file
	}
	for _, f := range changed {
		f = shown(f)
		if !a.JSON {
			fmt.Fprintln(a.env.Stdout, f)
		} else if err := a.printJSON(map[string]string{"file": f}); err != nil {
			return err
		}
	}
	if diags.HasErrors() {
		sources := map[string]*hcl.File{}
		for _, d := range diags {
			if d.Subject == nil {
				continue
			}
			at := *d.Subject
			if at.Filename = shown(at.Filename); sources[at.Filename] == nil {
				b, _ := os.ReadFile(d.Subject.Filename) // it was read just now; without it no line is shown
				sources[at.Filename] = &hcl.File{Bytes: b}
			}
			d.Subject = &at
		}
		return a.printDiags(diags, sources)
	}
	if c.Check && len(changed) > 0 {
		return &exitError{code: ExitFailed}
	}
	return nil
}
