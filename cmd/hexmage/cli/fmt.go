package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/workspace"
)

// fmtCmd is `hexmage fmt [FILE…]`.
type fmtCmd struct {
	Files []string `arg:"" optional:"" help:"Files to format. Default: all *.hcl in pipelines/ and modules/."`
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
		files = append(files, absolute(a.WorkDir, f))
	}
	if len(files) == 0 {
		if a.Root == "" {
			return usageError("there is no pipelines folder here: name the files to format")
		}
		for _, pattern := range []string{workspace.Folder + "/*.hcl", workspace.Folder + "/*/*.hcl",
			workspace.Folder + "/*/*/*.hcl", "modules/*/*.hcl"} {
			found, err := filepath.Glob(filepath.Join(a.Root, pattern))
			if err != nil {
				return engineError(err)
			}
			files = append(files, found...)
		}
	}
	for i, f := range files {
		var err error
		if _, e := os.Stat(f); len(c.Files) > 0 && errors.Is(e, fs.ErrNotExist) {
			return usageError("there is no file %s: name files to format, or none for those of the workspace",
				c.Files[i])
		}
		if files[i], err = a.place(f); err != nil {
			return err
		}
	}
	changed, diags, err := config.FormatFiles(files, c.Check)
	if err != nil {
		return &exitError{Code: ExitUsage, Err: err}
	}
	for _, f := range changed {
		if rel, err := filepath.Rel(a.Env.Dir, f); err == nil {
			f = rel
		}
		if !a.JSON {
			fmt.Fprintln(a.Env.Stdout, f)
		} else if err := a.printJSON(fmtChanged{f}); err != nil {
			return err
		}
	}
	if diags.HasErrors() {
		sources := map[string][]byte{}
		for _, d := range diags {
			if d.Subject != nil {
				sources[d.Subject.Filename], _ = os.ReadFile(d.Subject.Filename) // without it no line is shown
			}
		}
		return a.printData(diags, a.Env.Dir, sources)
	}
	if c.Check && len(changed) > 0 {
		return &exitError{Code: ExitFailed}
	}
	return nil
}

// fmtChanged is a file that is not, or was not, in the canonical format.
type fmtChanged struct {
	File string `json:"file"`
}
