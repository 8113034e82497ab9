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
	"github.com/hexmage/hexmage/internal/nearest"
	"github.com/hexmage/hexmage/internal/rooted"
	"github.com/hexmage/hexmage/internal/workspace"
)

// files are those of a workspace, as they are on disk, or in an editor.
func (a *app) files(workspace string) fs.FS {
	if a.texts == nil {
		return rooted.FS(workspace)
	}
	return langserver.Overlay(rooted.FS(workspace), workspace, a.texts)
}

// place returns where a command writes, or changes what is there: at the path, but through no link that leads out of
// the workspace, or out of the working directory or the folders where these do not have the path. What else the user
// named is as it is.
func (a *app) place(at string, folders ...string) (string, error) {
	for _, dir := range append([]string{a.Root, a.WorkDir}, folders...) {
		rel, err := filepath.Rel(dir, at)
		if dir == "" || err != nil || !filepath.IsLocal(rel) {
			continue
		}
		real, err := rooted.Resolve(dir, rel)
		if err != nil {
			return "", usageError("%w", err)
		}
		return real.Path, nil
	}
	return at, nil
}

// load reads a pipeline, the workspace's own or a shipped one, and the modules that it calls.
func (a *app) load(root, pipeline string) (*config.Pipeline, hcl.Diagnostics) {
	files, shipped := a.files(root), config.ModuleFolder{FS: hexmage.Shipped}
	if !workspace.Has(files, pipeline) && workspace.Has(shipped.FS, pipeline) {
		var err error
		if shipped, err = a.shipped(); err != nil {
			return &config.Pipeline{Name: pipeline, Module: &config.Module{}}, hcl.Diagnostics{{
				Severity: hcl.DiagError, Summary: "Shipped pipelines", Detail: err.Error(), Extra: err}}
		}
	}
	cfg, diags := config.LoadWith(files, shipped, pipeline, a.finder(root))
	for _, with := range a.With {
		if cfg != nil {
			diags = append(diags, setVersion(cfg, with)...)
		}
	}
	return cfg, diags
}

// setVersion has the pipeline take another release of a toolchain, as --with says.
func setVersion(cfg *config.Pipeline, with string) hcl.Diagnostics {
	w := parseWanted(with)
	fail := func(summary, detail string) hcl.Diagnostics {
		return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: summary, Detail: detail}}
	}
	if w.name == "" || w.version == "" {
		return fail("--with takes NAME@VERSION",
			fmt.Sprintf("%q is none: say it as in --with qairt@2.42.0.251225.", with))
	}
	others := cfg.SetVersion(w.name, w.version)
	switch near := nearest.Name(w.name, others); {
	case others == nil:
		return nil
	case near != "":
		return fail("--with names no toolchain",
			fmt.Sprintf("The pipeline has no toolchain %s. Did you mean %s?", w.name, near))
	case len(others) == 0:
		return fail("--with names no toolchain",
			fmt.Sprintf("The pipeline has no toolchains: leave out --with %s.", with))
	}
	return fail("--with names no toolchain",
		fmt.Sprintf("The pipeline has no toolchain %s; it has %s.", w.name, strings.Join(others, ", ")))
}

// finder finds the modules that a workspace's pipelines name.
func (a *app) finder(workspace string) config.Finder {
	return func(source string) (config.ModuleFolder, error) { return a.module(workspace, source) }
}

// module finds a module by its name: the workspace's own, else the shipped one.
func (a *app) module(workspace, source string) (config.ModuleFolder, error) {
	if strings.HasPrefix(source, "git::") || strings.HasPrefix(source, "git@") || strings.Contains(source, "://") {
		return config.ModuleFolder{}, errors.New("a module's source is a name or a relative path, and this source is " +
			"an address: add the repository to the workspace, for example with `git submodule add`, and write the " +
			"folder's path, such as \"../modules/NAME\"")
	}
	if !hclsyntax.ValidIdentifier(source) {
		return config.ModuleFolder{}, fmt.Errorf("invalid source %q: write the name of a shipped module, or a "+
			"relative path, which begins with ./ or ../", source)
	}
	own, ok := moduleOf(a.files(workspace), source)
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
		if near := nearest.Name(source, all); near != "" {
			return config.ModuleFolder{}, fmt.Errorf("no module %q is shipped. Did you mean %s?", source, near)
		}
		return config.ModuleFolder{}, fmt.Errorf("no module %q is shipped; there are: %s. One of this workspace is "+
			"named by its relative path, such as \"../%s/%s\"", source, strings.Join(all, ", "), config.Modules, source)
	}
	f, err := a.shipped()
	f.Dir, f.Absent = own.Dir, own.Dir
	return f, err
}

// moduleOf is the module of that name in a workspace.
func moduleOf(workspace fs.FS, name string) (config.ModuleFolder, bool) {
	dir := path.Join(config.Modules, name)
	st, err := fs.Stat(workspace, dir)
	return config.ModuleFolder{FS: workspace, Dir: dir}, err == nil && st.IsDir()
}

// oneSoC is the SoC of --soc, for what is of one; otherwise stands where none is given.
func (a *app) oneSoC(otherwise string) (string, error) {
	switch {
	case len(a.SoC) == 0:
		return otherwise, nil
	case len(a.SoC) > 1:
		return "", usageError("one --soc, please: %s are several", strings.Join(a.SoC, ", "))
	}
	return strings.TrimPrefix(a.SoC[0], "+"), nil
}
