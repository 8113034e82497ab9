package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/hexmage/hexmage"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/langserver"
	"github.com/hexmage/hexmage/internal/safepath"
	"github.com/hexmage/hexmage/internal/suggest"
	"github.com/hexmage/hexmage/internal/workspace"
)

// files returns the files of the workspace, on disk or open in an editor.
func (a *app) files() fs.FS {
	if a.texts == nil {
		return safepath.FS(a.here())
	}
	return langserver.Overlay(safepath.FS(a.here()), a.here(), a.texts)
}

// place returns the path at which a command writes. It rejects links that lead out of the workspace, the working
// directory or the folders if these contain the path. Other paths are unchanged.
func (a *app) place(at string, folders ...string) (string, error) {
	for _, dir := range append([]string{a.Root, a.WorkDir}, folders...) {
		rel, ok := below(dir, at)
		if dir == "" || !ok {
			continue
		}
		real, err := safepath.Resolve(dir, filepath.FromSlash(rel))
		if err != nil {
			return "", usageError("%w", err)
		}
		return real.Path, nil
	}
	return at, nil
}

// load reads a pipeline of the workspace or a shipped one, with its modules.
func (a *app) load(pipeline string) (*config.Pipeline, hcl.Diagnostics) {
	files, shipped := a.files(), config.ModuleFolder{FS: hexmage.Shipped}
	if !workspace.Has(files, pipeline) && workspace.Has(shipped.FS, pipeline) {
		var err error
		if shipped, err = a.shipped(); err != nil {
			return &config.Pipeline{Name: pipeline, Module: &config.Module{}}, hcl.Diagnostics{{
				Severity: hcl.DiagError, Summary: "Shipped pipelines", Detail: err.Error(), Extra: err}}
		}
	}
	cfg, diags := config.LoadWith(files, shipped, pipeline, a.module)
	for _, wanted := range a.Toolchain {
		if cfg != nil {
			diags = append(diags, setVersion(cfg, wanted)...)
		}
	}
	return cfg, diags
}

// setVersion sets the release of a toolchain from --toolchain.
func setVersion(cfg *config.Pipeline, wanted string) hcl.Diagnostics {
	w := parseWanted(wanted)
	fail := func(summary, detail string) hcl.Diagnostics {
		return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: summary, Detail: detail}}
	}
	if w.name == "" || w.version == "" {
		return fail("--toolchain takes NAME@VERSION",
			fmt.Sprintf("%q lacks a name or a version. Write NAME@VERSION, as in --toolchain qairt@2.42.0.251225.",
				wanted))
	}
	others := cfg.SetVersion(w.name, w.version)
	switch near := suggest.Name(w.name, others); {
	case others == nil:
		return nil
	case near != "":
		return fail("Unknown toolchain in --toolchain",
			fmt.Sprintf("The pipeline has no toolchain %s. Did you mean %s?", w.name, near))
	case len(others) == 0:
		return fail("Unknown toolchain in --toolchain",
			fmt.Sprintf("The pipeline has no toolchains. Remove --toolchain %s.", wanted))
	}
	return fail("Unknown toolchain in --toolchain",
		fmt.Sprintf("The pipeline has no toolchain %s. Available: %s.", w.name, strings.Join(others, ", ")))
}

// module returns a module by its name: the workspace's, else the shipped one.
func (a *app) module(source string) (config.ModuleFolder, error) {
	if strings.HasPrefix(source, "git::") || strings.HasPrefix(source, "git@") || strings.Contains(source, "://") {
		return config.ModuleFolder{}, errors.New("a module's source must be a name or a relative path, not an " +
			"address. Add the repository to the workspace, for example with `git submodule add`, and use a path such " +
			"as \"../modules/NAME\"")
	}
	if !hclsyntax.ValidIdentifier(source) {
		return config.ModuleFolder{}, fmt.Errorf("invalid source %q; use the name of a shipped module, or a relative "+
			"path that begins with ./ or ../", source)
	}
	own, ok := moduleOf(a.files(), source)
	if ok {
		return own, nil
	}
	if _, ok := moduleOf(hexmage.Shipped, source); !ok {
		var all []string
		if entries, err := fs.ReadDir(hexmage.Shipped, config.Modules); err == nil {
			for _, e := range entries {
				if e.IsDir() {
					all = append(all, e.Name())
				}
			}
		}
		if near := suggest.Name(source, all); near != "" {
			return config.ModuleFolder{}, fmt.Errorf("unknown module %q. Did you mean %s?", source, near)
		}
		return config.ModuleFolder{}, fmt.Errorf("unknown module %q. Shipped modules: %s. For a module of this "+
			"workspace, use a relative path, such as \"../%s/%s\"",
			source, strings.Join(all, ", "), config.Modules, source)
	}
	f, err := a.shipped()
	f.Dir, f.Absent = own.Dir, own.Dir
	return f, err
}

// moduleOf returns a module of a workspace.
func moduleOf(workspace fs.FS, name string) (config.ModuleFolder, bool) {
	dir := path.Join(config.Modules, name)
	st, err := fs.Stat(workspace, dir)
	return config.ModuleFolder{FS: workspace, Dir: dir}, err == nil && st.IsDir()
}

// oneSoC returns the SoC of --soc, or otherwise without the flag. Several SoCs are an error.
func (a *app) oneSoC(otherwise string) (string, error) {
	switch {
	case len(a.SoC) == 0:
		return otherwise, nil
	case len(a.SoC) > 1:
		return "", usageError("this command takes one SoC, but --soc selects several: %s", strings.Join(a.SoC, ", "))
	}
	return strings.TrimPrefix(a.SoC[0], "+"), nil
}
