package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/hexmage/hexmage/internal/planner"
	"github.com/hexmage/hexmage/internal/version"
	"github.com/hexmage/hexmage/oppackage"
	"github.com/hexmage/hexmage/oppackage/editor"
)

// ideCmd is `hexmage ide DIR`.
type ideCmd struct {
	Folder string `arg:"" optional:"" name:"dir" default:"." help:"Folder of the op package, which contains the folders src and include. Default: the working directory."`
	packageFlags
	Pipeline  string `placeholder:"NAME" help:"Use the toolchains and the target of this pipeline. Default: the default releases of qairt, hexagon and ndk."`
	Workspace string `placeholder:"DIR" help:"Write VS Code settings to DIR, the folder that you open in VS Code. Default: <dir>."`
}

// Run fetches missing toolchains and writes configuration files for an editor.
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

// vscode writes VS Code's settings for the folder, if it has none.
func (c *ideCmd) vscode(a *app, dir string) error {
	workspace := dir
	if c.Workspace != "" {
		workspace = absolute(a.WorkDir, c.Workspace)
	}
	folder, ok := below(workspace, dir)
	if !ok {
		return usageError("folder %s is outside the VS Code workspace %s", dir, workspace)
	}
	at, err := a.place(filepath.Join(workspace, ".vscode", "settings.json"), workspace)
	if err != nil {
		return err
	}
	old, err := readOrNone(at)
	if err != nil {
		return usageError("%w", err)
	}
	settings, err := editor.Settings(folder)
	if err != nil {
		return engineError(err)
	}
	if len(bytes.TrimSpace(old)) == 0 {
		return a.put(at, settings)
	}
	if !bytes.Contains(old, []byte(editor.Folder+"/compile_commands.json")) {
		a.say("%s already exists. Add these settings to the file:\n%s", at, bytes.TrimSpace(settings))
	}
	return nil
}

// roots returns the folders of the SDKs.
func (c *ideCmd) roots(ctx context.Context, a *app, arches []oppackage.Arch) (oppackage.Roots, error) {
	var p *planned
	var err error
	if c.Pipeline != "" {
		p, err = a.plan(c.Pipeline, nil)
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
	ls, err := a.fetch(ctx, p, false)
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

// ofPipeline returns the archs for which the pipeline's toolchains can build, starting with those of its own targets.
// Headers of other archs are missing.
func (c *ideCmd) ofPipeline(a *app, arches []oppackage.Arch,
	r oppackage.Roots) ([]oppackage.Arch, error) {
	d, err := a.domain()
	if err != nil {
		return nil, err
	}
	cfg, diags := a.load(c.Pipeline)
	if diags.HasErrors() {
		return nil, a.printDiags(diags, cfg.Shown())
	}
	wanted := map[string]bool{}
	for _, t := range planner.Targets(cfg, a.SoC) {
		if s, err := d.catalog.FindSoC(t.Name); err == nil {
			wanted[s.Arch] = true
		}
	}
	have := map[string]string{"qairt": r.QAIRT, "hexagon": r.Hexagon, "ndk": r.NDK}
	var can, lacks []string
	arches = slices.DeleteFunc(arches, func(x oppackage.Arch) bool {
		for _, name := range x.Needs {
			if have[name] == "" {
				lacks = append(lacks, fmt.Sprintf("%s, which compiles target %s", name, x.Target))
				return true
			}
		}
		can = append(can, x.Target)
		return false
	})
	if len(lacks) > 0 && (len(c.Arch) > 0 || len(can) == 0) {
		return nil, usageError("pipeline %s lacks toolchain %s", c.Pipeline, lacks[0])
	}
	if len(c.Arch) == 0 {
		slices.SortStableFunc(arches,
			func(x, y oppackage.Arch) int { return btoi(wanted[y.Version]) - btoi(wanted[x.Version]) })
	}
	return arches, nil
}

// newestTools returns the newest version of the Hexagon tools in an SDK.
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
		err = fmt.Errorf("the folder %s is empty, so the Hexagon SDK has no compiler; install the SDK again", at)
	}
	return best, err
}

// put writes a file and reports it, unless the file is up to date.
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
	a.printf("wrote %s\n", at)
	return nil
}

func readOrNone(at string) ([]byte, error) {
	data, err := os.ReadFile(at)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// Help returns the examples of `hexmage ide --help`.
func (*ideCmd) Help() string {
	return `Writes .hexmage/compile_commands.json, a section of .clangd, and .vscode/settings.json. Keeps your own
settings in these files. Run the command again after you add source files.

clangd shows the code as compiled for one target: the first target of --arch, else the target of --pipeline,
else the newest Hexagon arch.

Examples:

    hexmage ide LLaMAPackage                                          the Hexagon code of the ops
    hexmage ide LLaMAPackage --arch htp_aarch64                       the CPU reference code of the ops
    hexmage ide LLaMAPackage --pipeline qwen3-aot-v79 --workspace .   the Hexagon code, with the SDKs of a pipeline`
}
