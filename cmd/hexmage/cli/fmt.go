package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/workspace"
)

// fmtCmd is `hexmage fmt [FILE…]`.
type fmtCmd struct {
	Files []string `arg:"" optional:"" help:"Format these files. Default: all .hcl files in pipelines/ and modules/."`
	Check bool     `help:"Only list unformatted files, and exit with 1 if there are any."`
}

// Help returns the examples of `hexmage fmt --help`.
func (*fmtCmd) Help() string {
	return `Examples:

    hexmage fmt           all pipelines and modules of the workspace
    hexmage fmt --check   for CI: exit with 1 if a file is not formatted`
}

// Run formats the files in place.
func (c *fmtCmd) Run(_ context.Context, a *app) error {
	var files []string
	for _, f := range c.Files {
		files = append(files, absolute(a.WorkDir, f))
	}
	if len(files) == 0 {
		if a.Root == "" {
			return usageError("folder pipelines/ not found; name the files to format")
		}
		for _, folder := range []string{workspace.Folder, config.Modules} {
			err := filepath.WalkDir(filepath.Join(a.Root, folder), func(path string, d fs.DirEntry, err error) error {
				if err != nil {
					return err
				}
				if d.Type()&fs.ModeSymlink != 0 { // refuses a link out of the workspace
					_, err = a.place(path)
				}
				if filepath.Ext(path) == ".hcl" && !d.IsDir() {
					files = append(files, path)
				}
				return err
			})
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	for i, f := range files {
		var err error
		if _, e := os.Stat(f); len(c.Files) > 0 && errors.Is(e, fs.ErrNotExist) {
			return usageError("no such file: %s; correct the name, or omit all names to format the whole workspace",
				c.Files[i])
		}
		if files[i], err = a.place(f); err != nil {
			return err
		}
	}
	changed, diags, err := config.FormatFiles(files, c.Check)
	if err != nil {
		return usageError("%w", err)
	}
	for _, f := range changed {
		if rel, err := filepath.Rel(a.Env.Dir, f); err == nil {
			f = rel
		}
		if err := a.show(map[string]string{"file": f}, "%s\n", f); err != nil {
			return err
		}
	}
	if diags.HasErrors() {
		sources := map[string][]byte{}
		for _, d := range diags {
			if d.Subject != nil {
				sources[d.Subject.Filename], _ = os.ReadFile(d.Subject.Filename) // on an error, no source line is shown
			}
		}
		return a.printData(diags, a.Env.Dir, sources)
	}
	if c.Check && len(changed) > 0 {
		return &exitError{Code: ExitFailed}
	}
	return nil
}
