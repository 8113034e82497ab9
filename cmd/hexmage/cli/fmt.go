package cli

import (
	"context"
	"fmt"
	"path/filepath"

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
	for _, f := range changed {
		if rel, err := filepath.Rel(a.env.Dir, f); err == nil {
			f = rel
		}
		if !a.JSON {
			fmt.Fprintln(a.env.Stdout, f)
		} else if err := a.printJSON(map[string]string{"file": f}); err != nil {
			return err
		}
	}
	if diags.HasErrors() {
		return a.printDiags(diags, nil)
	}
	if c.Check && len(changed) > 0 {
		return &exitError{code: ExitFailed}
	}
	return nil
}
