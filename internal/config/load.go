package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/hexmage/hexmage/internal/nearest"
)

// Folder is where pipelines live in a workspace.
const Folder = "pipelines"

// varSuffix ends the names of files with values of variables.
const varSuffix = ".hexvars.hcl"

// MaxFile is the greatest size of a pipeline file, in bytes.
const MaxFile = 4 << 20

// Names returns the names of the pipelines in a workspace, sorted. A workspace without a pipelines folder has none.
func Names(workspace fs.FS) ([]string, error) {
	names, _, err := list(workspace)
	return names, err
}

// list is Names, and the folders that were listed for it.
func list(workspace fs.FS) (names, dirs []string, err error) {
	dirs = []string{Folder}
	entries, err := fs.ReadDir(workspace, Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, dirs, nil
	}
	if err != nil {
		return nil, dirs, fmt.Errorf("list pipelines: %w", err)
	}
	for _, e := range entries {
		name := e.Name()
		switch {
		case e.IsDir():
			dirs = append(dirs, path.Join(Folder, name))
			if found, err := fs.Glob(workspace, path.Join(Folder, name, "*.hcl")); err != nil || len(found) == 0 {
				continue
			}
			names = append(names, name)
		case strings.HasSuffix(name, ".hcl") && !strings.HasSuffix(name, varSuffix):
			names = append(names, strings.TrimSuffix(name, ".hcl"))
		}
	}
	slices.Sort(names)
	return names, dirs, nil
}

// Load reads the pipeline of that name: pipelines/<name>.hcl, or all *.hcl of the folder pipelines/<name>, and the
// values of variables in pipelines/*.hexvars.hcl (those named after another pipeline are not for this one). The pipeline
// is returned also when there are errors, as far as it could be read, so that diagnostics can show their source.
func Load(workspace fs.FS, name string) (*Pipeline, hcl.Diagnostics) {
	p := &Pipeline{Name: name, Files: make(map[string]*hcl.File)}
	names, dirs, err := list(workspace)
	p.Dirs = dirs
	if err != nil {
		return p, errorf(nil, "The pipelines cannot be listed", "%s.", err)
	}
	files, diags := pipelineFiles(workspace, name, names)
	if diags.HasErrors() {
		return p, diags
	}
	if dir := path.Join(Folder, name); path.Dir(files[0]) == dir && !slices.Contains(p.Dirs, dir) { // a link to a folder
		p.Dirs = append(p.Dirs, dir)
	}
	b := &builder{p: p}
	for _, f := range files {
		file, ds := parse(workspace, f)
		diags = append(diags, ds...)
		if file == nil {
			continue
		}
		p.Files[f] = file
		diags = append(diags, b.file(file.Body)...)
	}
	diags = append(diags, loadVarFiles(p, workspace, names)...)
	return p, diags
}

func pipelineFiles(workspace fs.FS, name string, names []string) ([]string, hcl.Diagnostics) {
	if !fs.ValidPath(name) || strings.Contains(name, "/") || name == "." {
		return nil, errorf(nil, "No name of a pipeline", "%q is not the name of a pipeline. %s", name, nameAdvice(name, names))
	}
	file := path.Join(Folder, name+".hcl")
	folder, _ := fs.Glob(workspace, path.Join(Folder, escapeGlob(name), "*.hcl")) // the pattern is well formed
	_, err := fs.Stat(workspace, file)
	switch {
	case err == nil && len(folder) > 0:
		return nil, errorf(nil, "Two pipelines have the same name",
			"Both %s and the folder %s define pipeline %q. Rename or remove one of them.", file, path.Dir(folder[0]), name)
	case err == nil:
		return []string{file}, nil
	case len(folder) > 0:
		return folder, nil
	}
	return nil, errorf(nil, fmt.Sprintf("There is no pipeline %q", name), "%s does not exist. %s", file, nameAdvice(name, names))
}

func escapeGlob(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}

func nameAdvice(name string, names []string) string {
	if near := nearest.Name(name, names); near != "" {
		return fmt.Sprintf("Did you mean %s?", near)
	}
	if len(names) == 0 {
		return "The workspace has no pipelines yet: write the first one, pipelines/" + name + ".hcl."
	}
	return "There are: " + strings.Join(names, ", ") + "."
}

func loadVarFiles(p *Pipeline, workspace fs.FS, names []string) hcl.Diagnostics {
	var diags hcl.Diagnostics
	found, _ := fs.Glob(workspace, path.Join(Folder, "*"+varSuffix)) // the pattern is well formed
	isPipeline := make(map[string]bool, len(names))
	for _, n := range names {
		isPipeline[n] = true
	}
	var own []*VarFile
	for _, f := range found {
		base := strings.TrimSuffix(path.Base(f), varSuffix)
		if base != p.Name && isPipeline[base] {
			continue
		}
		file, ds := parse(workspace, f)
		diags = append(diags, ds...)
		if file == nil {
			continue
		}
		p.Files[f] = file
		values, ds := file.Body.JustAttributes()
		diags = append(diags, ds...)
		v := &VarFile{Name: f, Own: base == p.Name, Values: values}
		if v.Own {
			own = append(own, v)
		} else {
			p.VarFiles = append(p.VarFiles, v)
		}
	}
	p.VarFiles = append(p.VarFiles, own...)
	return diags
}
