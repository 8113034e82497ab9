package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/suggest"
	"github.com/hexmage/hexmage/internal/workspace"
)

// Load reads a pipeline and the modules that the pipeline calls. The pipeline is the file pipelines/<name>.hcl, or all
// *.hcl files in the folder pipelines/<name>. Values of variables come from *.hexvars.hcl files in the folders
// pipelines and pipelines/<name>. In the folder pipelines, Load skips files named after another pipeline. The function
// find, which may be nil, locates modules whose source is not a relative path. After errors, Load returns the parts
// that it could read, so that diagnostics can quote them.
func Load(fsys fs.FS, name string, find Finder) (*Pipeline, hcl.Diagnostics) {
	return LoadWith(fsys, ModuleFolder{}, name, find)
}

// LoadWith is like Load, but uses the pipeline in the parameter shipped if the workspace lacks the pipeline. Paths and
// values of variables still come from the workspace.
func LoadWith(fsys fs.FS, shipped ModuleFolder, name string, find Finder) (*Pipeline, hcl.Diagnostics) {
	p := &Pipeline{Name: name, Module: &Module{Dir: workspace.Folder}, Files: make(map[string]*hcl.File)}
	names, dirs, err := workspace.List(fsys)
	if p.Dirs = dirs; len(dirs) == 0 {
		p.Absent = append(p.Absent, workspace.Folder)
	}
	if err != nil {
		return p, errorf(hcl.Range{}, "Cannot list pipelines", "%s.", err)
	}
	from := ModuleFolder{FS: fsys}
	if shipped.FS != nil {
		others, _ := workspace.Names(shipped.FS)
		if slices.Contains(others, name) && !workspace.Has(fsys, name) {
			from = shipped
		}
		names = slices.Compact(slices.Sorted(slices.Values(append(names, others...))))
	}
	files, diags := pipelineFiles(from.FS, name, names)
	if diags.HasErrors() {
		return p, diags
	}
	from.Dir = path.Dir(files[0])
	p.Module.Dir = from.Name()
	if !slices.Contains(p.Dirs, p.Module.Dir) { // a link to a folder, or a folder outside the workspace
		p.Dirs = append(p.Dirs, p.Module.Dir)
	}
	l := &loader{p: p, find: find, read: make(map[string]*Module)}
	diags = append(diags, l.module(p.Module, from, files, true)...)
	if len(p.Profiles) == 0 {
		p.Profiles = p.inherited(map[*Module][]*Profile{})
	}
	diags = append(diags, loadVarFiles(p, fsys, names)...)
	return p, diags
}

func pipelineFiles(fsys fs.FS, name string, names []string) ([]string, hcl.Diagnostics) {
	if !fs.ValidPath(name) || strings.Contains(name, "/") || name == "." {
		return nil, errorf(hcl.Range{}, "Invalid pipeline name",
			"%q is not a valid pipeline name. %s", name, nameAdvice(name, names))
	}
	file := path.Join(workspace.Folder, name+".hcl")
	folder, _ := workspace.FilesOf(fsys, name)
	_, err := fs.Stat(fsys, file)
	switch {
	case err == nil && len(folder) > 0:
		return nil, errorf(hcl.Range{}, "Duplicate pipeline name",
			"Both %s and the folder %s define pipeline %q. Rename or remove one of them.", file, path.Dir(folder[0]),
			name)
	case err == nil:
		return []string{file}, nil
	case len(folder) > 0:
		return folder, nil
	}
	for _, at := range []string{file, path.Join(workspace.Folder, name)} {
		if _, err := fs.Stat(fsys, at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, errorf(hcl.Range{}, "Unreadable file", "%s.", err)
		}
	}
	return nil, errorf(hcl.Range{}, fmt.Sprintf("Unknown pipeline %q",
		name), "%s does not exist. %s", file, nameAdvice(name, names))
}

func nameAdvice(name string, names []string) string {
	if near := suggest.Name(name, names); near != "" {
		return fmt.Sprintf("Did you mean %s?", near)
	}
	if len(names) == 0 {
		return "The workspace has no pipelines yet. Create pipelines/" + name + ".hcl."
	}
	return "Available pipelines: " + strings.Join(names, ", ") + "."
}

func loadVarFiles(p *Pipeline, fsys fs.FS, names []string) hcl.Diagnostics {
	var diags hcl.Diagnostics
	found, _ := fs.Glob(fsys, path.Join(workspace.Folder, "*"+workspace.VarSuffix)) // the pattern is valid
	isPipeline := make(map[string]bool, len(names))
	for _, n := range names {
		isPipeline[n] = true
	}
	_, inFolder := workspace.FilesOf(fsys, p.Name)
	var own []*VarFile
	for _, f := range append(found, inFolder...) {
		base := strings.TrimSuffix(path.Base(f), workspace.VarSuffix)
		isOwn := base == p.Name || path.Dir(f) != workspace.Folder
		if !isOwn && isPipeline[base] {
			continue
		}
		file, ds := p.parse(fsys, f, f)
		diags = append(diags, ds...)
		if file == nil {
			continue
		}
		values, ds := file.Body.JustAttributes()
		diags = append(diags, ds...)
		v := &VarFile{Name: f, Own: isOwn, Values: values}
		if v.Own {
			own = append(own, v)
		} else {
			p.VarFiles = append(p.VarFiles, v)
		}
	}
	p.VarFiles = append(p.VarFiles, own...)
	return diags
}

// parse reads a file of fsys, which diagnostics call name, and adds it to the files of the pipeline. It returns nil for
// an unreadable file.
func (p *Pipeline) parse(fsys fs.FS, file, name string) (*hcl.File, hcl.Diagnostics) {
	info, err := fs.Stat(fsys, file)
	if err == nil && !info.Mode().IsRegular() { // reading a pipe would block
		err = errors.New("not a regular file")
	}
	if err == nil && info.Size() > lang.MaxSource {
		err = fmt.Errorf("the file has %d bytes; the limit is %d", info.Size(), lang.MaxSource)
	}
	var src []byte
	if err == nil {
		src, err = fs.ReadFile(fsys, file)
	}
	if err != nil {
		p.Absent = append(p.Absent, name)
		return nil, errorf(hcl.Range{}, "Unreadable file", "%s", unreadable(name, err))
	}
	if crlf := []byte("\r\n"); bytes.Contains(src, crlf) {
		// Normalize line ends, because a shell reads a carriage return as part of the line of a script.
		src = bytes.ReplaceAll(src, crlf, []byte("\n"))
	}
	f, diags := lang.Parse(src, name)
	if f == nil {
		p.Absent = append(p.Absent, name)
		return nil, diags
	}
	p.Files[name] = f
	return f, diags
}

// unreadable returns the error for an unreadable file, with a remedy.
func unreadable(name string, err error) string {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Sprintf("You have no permission to read %s. Run `chmod u+r %s`, or ask the owner.", name, name)
	}
	return fmt.Sprintf("%s: %s.", name, err)
}
