package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/hexmage/hexmage/internal/workspace"
)

// Modules is the name of the workspace's folder for modules that a pipeline calls by name.
const Modules = "modules"

const (
	maxModules = 1000 // module folders of one pipeline
	maxCalls   = 16   // nesting depth of calls
)

// ModuleFolder is the location of a module's files.
type ModuleFolder struct {
	FS   fs.FS  // confined to Root
	Dir  string // slash path in FS
	Root string // root folder of FS: "" for the workspace, else an absolute path
	ID   string // ID of the content of Root, equal on all machines; "" for the workspace
	// Absent is "", or the workspace folder that would be the module if it existed.
	Absent string
}

// Name returns the folder's slash path in the workspace, or the absolute path of a folder outside the workspace.
func (f ModuleFolder) Name() string { return path.Join(f.Root, f.Dir) }

// Finder returns the folder of a module that a pipeline calls by name. An error from a Finder must include the next
// step for the user, and becomes the Extra field of the diagnostic.
type Finder func(source string) (ModuleFolder, error)

// loader reads modules, each folder once.
type loader struct {
	p      *Pipeline
	find   Finder
	read   map[string]*Module // by the folder's name
	chain  []link             // calls from the pipeline to the current module
	single bool               // skip the modules it calls
}

// link is a call and its folder.
type link struct {
	dir string
	at  hcl.Range
}

// module reads the files of a module and the modules it calls.
func (l *loader) module(m *Module, from ModuleFolder, files []string, pipeline bool) hcl.Diagnostics {
	if root := (Root{Dir: from.Root, ID: from.ID}); root.Dir != "" && !slices.Contains(l.p.Roots, root) {
		l.p.Roots = append(l.p.Roots, root)
	}
	b := &builder{m: m, pipeline: pipeline, first: make(map[string]hcl.Range)}
	var diags hcl.Diagnostics
	for _, f := range files {
		name := path.Join(from.Root, f)
		file, ds := l.p.parse(from.FS, f, name)
		diags = append(diags, ds...)
		if file == nil {
			continue
		}
		diags = append(diags, b.file(file.Body)...)
	}
	diags = append(diags, b.finish()...)
	calls := slices.Clone(m.Calls)
	for _, pr := range m.Profiles {
		calls = append(calls, pr.Calls...)
	}
	for _, c := range calls {
		if c.Source != "" && !l.single {
			diags = append(diags, l.call(c, from)...)
		}
	}
	return diags
}

// sentence returns the error with a period, unless it ends with a question mark.
func sentence(err error) string {
	if text := err.Error(); strings.HasSuffix(text, "?") {
		return text
	}
	return err.Error() + "."
}

// call reads the module of a call.
func (l *loader) call(c *Call, from ModuleFolder) hcl.Diagnostics {
	folder, err := from.Called(c.Source, l.find)
	if err != nil {
		diags := errorf(c.SourceRange, "Invalid module source", "%s", sentence(err))
		diags[0].Extra = err
		return diags
	}
	dir := folder.Name()
	if folder.Absent != "" {
		l.p.Absent = append(l.p.Absent, folder.Absent)
	}
	for i, k := range l.chain {
		if k.dir != dir {
			continue
		}
		var lines []string
		for _, k := range append(l.chain[i:], link{dir, c.Range}) {
			lines = append(lines, fmt.Sprintf("  %s calls %s", Where(k.at), k.dir))
		}
		return errorf(c.SourceRange, "Module call cycle",
			"These modules call each other:\n%s\nRemove one of the calls.", strings.Join(lines, "\n"))
	}
	if m := l.read[dir]; m != nil {
		c.Module = m
		return nil
	}
	if len(l.read) == maxModules || len(l.chain) == maxCalls {
		return errorf(c.SourceRange, "Too many modules",
			"The limits are %d modules in a pipeline and %d levels of calls. Remove some of the calls.",
			maxModules, maxCalls)
	}
	l.p.Dirs = append(l.p.Dirs, dir) // also if it is missing
	files, err := folder.files()
	if err != nil {
		return errorf(c.SourceRange, "Unreadable module",
			"Cannot read %s (folder %s): %s. %s", c.Source, dir, err, folder.advice(c.Source, dir))
	}
	m := &Module{Source: c.Source, Dir: dir}
	c.Module, l.read[dir] = m, m
	l.chain = append(l.chain, link{dir, c.Range})
	diags := l.module(m, folder, files, false)
	l.chain = l.chain[:len(l.chain)-1]
	return diags
}

// advice suggests a source for one that leads to no module: the module of that name in the workspace, relative to the
// folder of the calling file.
func (f ModuleFolder) advice(source, dir string) string {
	own := path.Join(Modules, path.Base(source))
	from := strings.TrimSuffix(dir, path.Clean(source))
	if info, err := fs.Stat(f.FS, own); err == nil && info.IsDir() && own != dir && from == workspace.Folder+"/" {
		return fmt.Sprintf("Relative paths start at the folder of the calling file. Did you mean ../%s?", own)
	}
	return "Relative paths start at the folder of the calling file. Correct the path, or create the module there."
}

// files returns the files of the module.
func (f ModuleFolder) files() ([]string, error) {
	files, err := fs.Glob(f.FS, path.Join(workspace.EscapeGlob(f.Dir), "*.hcl"))
	files = slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, workspace.VarSuffix) })
	if err == nil && len(files) == 0 {
		err = errors.New("the folder has no *.hcl files")
		if info, e := fs.Stat(f.FS, f.Dir); e != nil {
			err = errors.New("the folder does not exist")
		} else if !info.IsDir() {
			err = errors.New("the path is not a folder")
		}
	}
	return files, err
}

// LoadModule reads the module in a folder, and returns it as a pipeline without a name. It does not read the modules
// that the module calls.
func LoadModule(folder ModuleFolder) (*Pipeline, hcl.Diagnostics) {
	p := &Pipeline{Module: &Module{Dir: folder.Name()}, Files: make(map[string]*hcl.File)}
	files, err := folder.files()
	if err != nil {
		return p, errorf(hcl.Range{}, "Unreadable module", "Cannot read the folder %s: %s.", folder.Name(), err)
	}
	l := &loader{p: p, single: true}
	return p, l.module(p.Module, folder, files, false)
}

// Text returns the source text of the range, or "" if hexmage did not read the file.
func (p *Pipeline) Text(r hcl.Range) string {
	if f := p.Files[r.Filename]; f != nil && r.CanSliceBytes(f.Bytes) {
		return string(r.SliceBytes(f.Bytes))
	}
	return ""
}

// Called locates the module that a file in the folder f calls. A relative source is relative to f. The function find
// locates modules with any other source.
func (f ModuleFolder) Called(source string, find Finder) (ModuleFolder, error) {
	if source != "." && source != ".." && !strings.HasPrefix(source, "./") && !strings.HasPrefix(source, "../") {
		if find == nil {
			return ModuleFolder{}, fmt.Errorf("%q is not a relative path; write \"./FOLDER\" or \"../FOLDER\"", source)
		}
		return find(source)
	}
	dir := path.Join(f.Dir, source)
	if !fs.ValidPath(dir) || strings.Contains(source, "\\") {
		return ModuleFolder{}, fmt.Errorf("%q points outside the folder tree of the calling module", source)
	}
	return ModuleFolder{FS: f.FS, Dir: dir, Root: f.Root, ID: f.ID}, nil
}

// With returns the module's declarations outside profiles, plus the declarations of the named profile.
func (m *Module) With(profile string) ProfileBlocks {
	i := slices.IndexFunc(m.Profiles, func(pr *Profile) bool { return pr.Name == profile })
	if i < 0 {
		return m.ProfileBlocks
	}
	pr := m.Profiles[i]
	out := ProfileBlocks{
		Locals:     slices.Concat(m.Locals, pr.Locals),
		Toolchains: slices.Clone(m.Toolchains),
		Steps:      slices.Concat(m.Steps, pr.Steps),
		Calls:      slices.Concat(m.Calls, pr.Calls),
		Outputs:    slices.Concat(m.Outputs, pr.Outputs),
		Checks:     slices.Concat(m.Checks, pr.Checks),
	}
	for _, over := range pr.Toolchains {
		if i := slices.IndexFunc(out.Toolchains, func(b *Block) bool { return b.At == over.At }); i >= 0 {
			out.Toolchains[i] = out.Toolchains[i].with(over)
		} else {
			out.Toolchains = append(out.Toolchains, over)
		}
	}
	return out
}

// inherited returns the profiles of a module without profiles of its own: the ones that all called modules with
// profiles share. The first that one of these modules declares the default is the default. known caches the results.
func (m *Module) inherited(known map[*Module][]*Profile) []*Profile {
	if all, ok := known[m]; ok {
		return all
	}
	known[m] = nil
	var all []*Profile
	said := map[string]bool{}
	first := true
	for _, c := range m.Calls {
		if c.Module == nil {
			continue
		}
		of := c.Module.Profiles
		if len(of) == 0 {
			of = c.Module.inherited(known)
		}
		if len(of) == 0 {
			continue
		}
		has := map[string]bool{}
		for _, pr := range of {
			has[pr.Name], said[pr.Name] = true, said[pr.Name] || pr.Default
			if first {
				all = append(all,
					&Profile{Name: pr.Name, Description: pr.Description, Range: pr.Range, Inherited: true})
			}
		}
		all = slices.DeleteFunc(all, func(pr *Profile) bool { return !has[pr.Name] })
		first = false
	}
	if i := slices.IndexFunc(all, func(pr *Profile) bool { return said[pr.Name] }); i >= 0 {
		all[i].Default = true
	}
	known[m] = all
	return all
}

// with returns the block with the arguments of over.
func (b *Block) with(over *Block) *Block {
	out := *b
	out.Names = slices.Concat(b.Names, over.Names)
	out.Default = b.Default || over.Default
	if over.When != nil {
		out.When = over.When
	}
	if over.Description != "" {
		out.Description = over.Description
	}
	out.Body = merged(b.Body, over.Body)
	return &out
}
