package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

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
	names := c.Files
	if len(names) == 0 {
		if a.Root == "" {
			return usageError("folder pipelines/ not found; name the files to format")
		}
		names = []string{filepath.Join(a.Root, workspace.Folder), filepath.Join(a.Root, config.Modules)}
	}
	var files []string
	for _, name := range names {
		at := absolute(a.WorkDir, name)
		err := filepath.WalkDir(at, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && path != at && strings.HasPrefix(d.Name(), "."):
				return filepath.SkipDir
			case d.IsDir():
				return nil
			}
			format := path == at || filepath.Ext(path) == ".hcl"
			if !format && d.Type()&fs.ModeSymlink == 0 {
				return nil
			}
			file, err := a.place(path) // refuses a link out of the workspace
			if format {
				files = append(files, file)
			}
			return err
		})
		switch {
		case errors.Is(err, fs.ErrNotExist) && len(c.Files) > 0:
			return usageError("no such file: %s; correct the name, or omit all names to format the whole workspace",
				name)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
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
