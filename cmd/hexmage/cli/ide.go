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

	"github.com/hexmage/hexmage/internal/planner"
	"github.com/hexmage/hexmage/internal/version"
	"github.com/hexmage/hexmage/oppackage"
	"github.com/hexmage/hexmage/oppackage/editor"
)

// ideCmd is `hexmage ide DIR`.
type ideCmd struct {
	Folder string `arg:"" optional:"" name:"dir" default:"." help:"Folder of the op package: the one with src and include."`
	packageFlags
	Pipeline  string `placeholder:"NAME" help:"Take the toolchains of this pipeline, and first the arch of its target. Default: qairt, hexagon and ndk of the catalogue."`
	Workspace string `placeholder:"FOLDER" help:"Folder that VS Code opens. Default: DIR."`
}

// Run fetches the toolchains if they are not there, and writes.
func (c *ideCmd) Run(ctx context.Context, a *app) error {
	dir, err := a.place(absolute(a.WorkDir, c.Folder))
	if err != nil {
		return err
	}
	p, arches, err := c.read(a, dir)
	if err != nil {
		return err
	}
	if len(c.Arch) == 0 {
		arches = editor.Order(arches)
	}
	roots, err := c.roots(ctx, a, arches)
	if err != nil {
		return err
	}
	if c.Pipeline != "" {
		if arches, err = c.ofPipeline(a, arches, roots); err != nil {
			return err
		}
	}
	commands, err := editor.Commands(dir, arches, p, roots)
	if err != nil {
		return engineError(err)
	}
	at, err := a.place(filepath.Join(dir, editor.Folder, "compile_commands.json"), dir)
	if err != nil {
		return err
	}
	if err := a.put(at, commands); err != nil {
		return err
	}
	if at, err = a.place(filepath.Join(dir, ".clangd"), dir); err != nil {
		return err
	}
	old, err := readOrNone(at)
	if err != nil {
		return usageError("%w", err)
	}
	clangd, err := editor.Clangd(old)
	if err != nil {
		return usageError("%s: %w", at, err)
	}
	if err := a.put(at, clangd); err != nil {
		return err
	}
	return c.vscode(a, dir)
}

// vscode writes the settings of the folder that VS Code opens, if it has none.
func (c *ideCmd) vscode(a *app, dir string) error {
	workspace := dir
	if c.Workspace != "" {
		workspace = absolute(a.WorkDir, c.Workspace)
	}
	folder, err := filepath.Rel(workspace, dir)
	if err != nil || folder == ".." || strings.HasPrefix(folder, "../") {
		return usageError("%s is not below %s", dir, workspace)
	}
	at, err := a.place(filepath.Join(workspace, ".vscode", "settings.json"), workspace)
	if err != nil {
		return err
	}
	old, err := readOrNone(at)
	if err != nil {
		return usageError("%w", err)
	}
	settings, err := editor.Settings(filepath.ToSlash(folder))
	if err != nil {
		return engineError(err)
	}
	if len(bytes.TrimSpace(old)) == 0 {
		return a.put(at, settings)
	}
	if !bytes.Contains(old, []byte(editor.Folder+"/compile_commands.json")) {
		fmt.Fprintf(a.Env.Stderr, "hexmage: %s exists. Add these settings:\n%s", at, settings)
	}
	return nil
}

// roots says where the SDKs are.
func (c *ideCmd) roots(ctx context.Context, a *app, arches []oppackage.Arch) (oppackage.Roots, error) {
	var p *planned
	workspace := a.here()
	var err error
	if c.Pipeline != "" {
		p, workspace, err = a.plan(c.Pipeline, nil)
	} else {
		names := []string{"hexagon"}
		for _, arch := range arches {
			names = append(names, arch.Needs...)
		}
		slices.Sort(names)
		p, err = a.toolchainsOf(slices.Compact(names))
	}
	if err != nil {
		return oppackage.Roots{}, err
	}
	ls, err := a.fetch(ctx, p, workspace, false)
	if err != nil {
		return oppackage.Roots{}, err
	}
	var r oppackage.Roots
	for _, l := range ls {
		switch l.Name {
		case "qairt":
			r.QAIRT = l.Path
		case "hexagon":
			r.Hexagon = l.Path
			if r.Tools, err = newestTools(l.Path); err != nil {
				return r, usageError("%w", err)
			}
		case "ndk":
			r.NDK = l.Path
		}
	}
	return r, nil
}

// ofPipeline are the targets that the pipeline's toolchains can build for, those of its own targets' archs first. No
// other would have a folder of headers that is there.
func (c *ideCmd) ofPipeline(a *app, arches []oppackage.Arch,
	r oppackage.Roots) ([]oppackage.Arch, error) {
	workspace, err := a.workspace(c.Pipeline)
	if err != nil {
		return nil, err
	}
	d, err := a.domain(workspace)
	if err != nil {
		return nil, err
	}
	cfg, diags := a.load(workspace, c.Pipeline)
	if diags.HasErrors() {
		return nil, a.printDiags(diags, cfg.Shown())
	}
	wanted := map[string]bool{}
	for _, t := range planner.Targets(cfg, a.SoC) {
		if s, err := d.catalogue().FindSoC(t.Name); err == nil {
			wanted[s.Arch] = true
		}
	}
	have := map[string]string{"qairt": r.QAIRT, "hexagon": r.Hexagon, "ndk": r.NDK}
	var can, lacks []string
	arches = slices.DeleteFunc(arches, func(x oppackage.Arch) bool {
		for _, name := range x.Needs {
			if have[name] == "" {
				lacks = append(lacks, fmt.Sprintf("%s, which %s is compiled with", name, x.Target))
				return true
			}
		}
		can = append(can, x.Target)
		return false
	})
	if len(lacks) > 0 && (len(c.Arch) > 0 || len(can) == 0) {
		return nil, usageError("pipeline %s has no toolchain %s", c.Pipeline, lacks[0])
	}
	if len(c.Arch) == 0 {
		slices.SortStableFunc(arches,
			func(x, y oppackage.Arch) int { return btoi(wanted[y.Version]) - btoi(wanted[x.Version]) })
	}
	return arches, nil
}

// newestTools is the version of the Hexagon tools in an SDK; of several, the newest.
func newestTools(sdk string) (string, error) {
	at := filepath.Join(sdk, "tools", "HEXAGON_Tools")
	entries, err := os.ReadDir(at)
	best := ""
	for _, e := range entries {
		if best == "" || version.Older(best, e.Name()) {
			best = e.Name()
		}
	}
	if err == nil && best == "" {
		err = fmt.Errorf("%s is empty: the Hexagon SDK has no tools", at)
	}
	return best, err
}

// put writes a file, and says so, unless it is there as it should be.
func (a *app) put(at string, data []byte) error {
	if old, err := os.ReadFile(at); err == nil && string(old) == string(data) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return usageError("%w", err)
	}
	if err := os.WriteFile(at, data, 0o644); err != nil {
		return usageError("%w", err)
	}
	fmt.Fprintf(a.Env.Stdout, "wrote %s\n", at)
	return nil
}

func readOrNone(at string) ([]byte, error) {
	data, err := os.ReadFile(at)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// Help has the examples of `hexmage ide --help`.
func (*ideCmd) Help() string {
	return `It writes .hexmage/compile_commands.json, a part of .clangd, and settings of VS Code (.vscode/settings.json).
What you have written into these stays. Run it again when sources are added. Of a file's entries clangd takes the first:
that of the first target of --arch; by default the newest Hexagon's, and with --pipeline that of the pipeline's own target.

Examples:

    hexmage ide LLaMAPackage                           in DIR; the HVX branch of ops for the newest arch
    hexmage ide LLaMAPackage --arch htp_aarch64        the reference branch
    hexmage ide LLaMAPackage --pipeline qwen3-aot-v79 --workspace .`
}
