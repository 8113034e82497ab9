package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/workspace"
	"github.com/hexmage/hexmage/steps"
)

// fmtCmd is `hexmage fmt [FILE…]`.
type fmtCmd struct {
	Files []string `arg:"" optional:"" help:"Files to format. Default: all *.hcl in pipelines/ and modules/."`
	Check bool     `help:"Change nothing; exit with 1 if a file is not in the canonical format."`

	Upgrade bool `help:"Rewrite what is spelt in an old way, too, and say what and where."`
}

// Help has the examples of `hexmage fmt --help`.
func (*fmtCmd) Help() string {
	return `Examples:

    hexmage fmt                                        all pipelines of the workspace
    hexmage fmt --check                                for CI: names the files, exits with 1
    hexmage fmt --upgrade                              and today's spelling for what warns of an old one
    hexmage fmt --upgrade --check                      what that would be`
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
		for _, pattern := range []string{workspace.Folder + "/*.hcl", workspace.Folder + "/*/*.hcl", workspace.Folder + "/*/*/*.hcl", "modules/*/*.hcl"} {
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
			return usageError("there is no file %s: name files to format, or none for those of the workspace", c.Files[i])
		}
		if files[i], err = a.place(f); err != nil {
			return err
		}
	}
	var old *config.Old
	if c.Upgrade {
		old = oldForms()
	}
	changed, changes, diags, err := config.FormatFiles(files, c.Check, old)
	if err != nil {
		return &exitError{Code: ExitUsage, Err: err}
	}
	shown := func(file string) string {
		if rel, err := filepath.Rel(a.Env.Dir, file); err == nil {
			return rel
		}
		return file
	}
	for _, f := range changed {
		var own []config.Change
		for _, x := range changes {
			if x.File == f && x.Left == "" {
				x.File = shown(f)
				own = append(own, x)
			}
		}
		if a.JSON {
			if err := a.printJSON(fmtChanged{shown(f), own}); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintln(a.Env.Stdout, shown(f))
		for _, x := range own {
			fmt.Fprintf(a.Env.Stdout, "  %d: %s → %s\n", x.Line, x.Was, x.Now)
		}
	}
	for _, x := range changes {
		if x.Left == "" {
			continue
		}
		if x.File = shown(x.File); a.JSON {
			if err := a.printJSON(x); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(a.Env.Stderr, "left: %s:%d: %s: %s\n", x.File, x.Line, x.Was, x.Left)
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
		return &exitError{Code: ExitFailed}
	}
	return nil
}

// fmtChanged is a file that is not as it should be, or was not.
type fmtChanged struct {
	File    string          `json:"file"`
	Changes []config.Change `json:"changes,omitempty"` // of an upgrade
}

// oldForms are the forms of which planning warns.
func oldForms() *config.Old {
	old := &config.Old{TargetName: "soc", Axes: map[string]config.OldAxes{}}
	for name, k := range (steps.Workspace{}).Kinds() {
		if s := k.Schema(); s.Matrix != "" {
			old.Axes[name] = config.OldAxes{Matrix: s.Matrix, In: s.InVariants}
		}
	}
	return old
}
