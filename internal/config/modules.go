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

// Modules is where a workspace's modules are that are named without a path, as pipelines are in Folder.
const Modules = "modules"

const (
	maxModules = 1000 // folders that a pipeline's modules may be read from
	maxCalls   = 16   // how deep calls may be in each other
)

// ModuleFolder is where the files of a module are.
type ModuleFolder struct {
	FS   fs.FS  // it leads nowhere else
	Dir  string // slash path in FS
	Root string // of FS: "" for the workspace, else an absolute path
	ID   string // of Root, on every machine the same for the same files; no path. "" for the workspace
	// Absent is a folder of the workspace that the source would name if it were there; "" if there is none such.
	Absent string
}

// Name is the folder's slash path in the workspace, or absolute.
func (f ModuleFolder) Name() string { return path.Join(f.Root, f.Dir) }

// Finder returns the folder of a module that a pipeline calls by name. Its errors include the next step, and are the
// Extra of the diagnostics that show them.
type Finder func(source string) (ModuleFolder, error)

// loader reads modules, each folder once.
type loader struct {
	p      *Pipeline
	find   Finder
	read   map[string]*Module // by the folder's name
	chain  []link             // from the pipeline to the module that is being read
	single bool               // what it calls is not read
}

// link is a call, and the folder that it names.
type link struct {
	dir string
	at  hcl.Range
}

// module reads the files of a module, and what it calls.
func (l *loader) module(m *Module, from ModuleFolder, files []string, pipeline bool) hcl.Diagnostics {
	if root := (Root{Dir: from.Root, ID: from.ID}); root.Dir != "" && !slices.Contains(l.p.Roots, root) {
		l.p.Roots = append(l.p.Roots, root)
	}
	b := &builder{m: m, pipeline: pipeline}
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

// sentence ends what an error says, if it is not a question.
func sentence(err error) string {
	if text := err.Error(); strings.HasSuffix(text, "?") {
		return text
	}
	return err.Error() + "."
}

// call reads the module that a call names.
func (l *loader) call(c *Call, from ModuleFolder) hcl.Diagnostics {
	folder, err := from.Called(c.Source, l.find)
	if err != nil {
		diags := errorf(c.SourceRange, "No such module", "%s", sentence(err))
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
			lines = append(lines, fmt.Sprintf("  %s calls %s", where(k.at), k.dir))
		}
		return errorf(c.SourceRange, "A module calls itself",
			"None of these could ever be whole:\n%s\nRemove one of the calls.", strings.Join(lines, "\n"))
	}
	if m := l.read[dir]; m != nil {
		c.Module = m
		return nil
	}
	if len(l.read) == maxModules || len(l.chain) == maxCalls {
		return errorf(c.SourceRange, "Too many modules",
			"A pipeline may have %d modules, and calls may be %d deep.", maxModules, maxCalls)
	}
	l.p.Dirs = append(l.p.Dirs, dir) // also when it is not there yet
	files, err := folder.files()
	if err != nil {
		return errorf(c.SourceRange, "A module cannot be read",
			"%s, which is the folder %s: %s. %s", c.Source, dir, err, folder.advice(c.Source, dir))
	}
	m := &Module{Source: c.Source, Dir: dir}
	c.Module, l.read[dir] = m, m
	l.chain = append(l.chain, link{dir, c.Range})
	diags := l.module(m, folder, files, false)
	l.chain = l.chain[:len(l.chain)-1]
	return diags
}

// advice says what a source that leads to no module may be meant to be: the module of that name among the
// workspace's, seen from the folder in whose file it stands.
func (f ModuleFolder) advice(source, dir string) string {
	own := path.Join(Modules, path.Base(source))
	from := strings.TrimSuffix(dir, path.Clean(source))
	if info, err := fs.Stat(f.FS, own); err == nil && info.IsDir() && own != dir && from == workspace.Folder+"/" {
		return fmt.Sprintf("Paths begin at the folder of the file in which they stand. Did you mean ../%s?", own)
	}
	return "Paths begin at the folder of the file in which they stand: correct the path, or write the module there."
}

// files are those of the module in the folder.
func (f ModuleFolder) files() ([]string, error) {
	files, err := fs.Glob(f.FS, path.Join(workspace.EscapeGlob(f.Dir), "*.hcl"))
	files = slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, workspace.VarSuffix) })
	if err == nil && len(files) == 0 {
		err = errors.New("it has no *.hcl files")
		if info, e := fs.Stat(f.FS, f.Dir); e != nil {
			err = errors.New("there is no such folder")
		} else if !info.IsDir() {
			err = errors.New("it is no folder")
		}
	}
	return files, err
}

// LoadModule reads the module in a folder by itself, and nothing that it calls. It is returned as the module of a
// pipeline without a name.
func LoadModule(folder ModuleFolder) (*Pipeline, hcl.Diagnostics) {
	p := &Pipeline{Module: &Module{Dir: folder.Name()}, Files: make(map[string]*hcl.File)}
	files, err := folder.files()
	if err != nil {
		return p, errorf(hcl.Range{}, "A module cannot be read", "The folder %s: %s.", folder.Name(), err)
	}
	l := &loader{p: p, single: true}
	return p, l.module(p.Module, folder, files, false)
}

// Text is what is written at a place, "" where its file is not among those read.
func (p *Pipeline) Text(r hcl.Range) string {
	if f := p.Files[r.Filename]; f != nil && r.CanSliceBytes(f.Bytes) {
		return string(r.SliceBytes(f.Bytes))
	}
	return ""
}

// Called returns the folder of the module that a file in f names. Relative sources start in f; find finds the others.
func (f ModuleFolder) Called(source string, find Finder) (ModuleFolder, error) {
	if source != "." && source != ".." && !strings.HasPrefix(source, "./") && !strings.HasPrefix(source, "../") {
		if find == nil {
			return ModuleFolder{}, fmt.Errorf("%q is no relative path: write \"./FOLDER\" or \"../FOLDER\"", source)
		}
		return find(source)
	}
	dir := path.Join(f.Dir, source)
	if !fs.ValidPath(dir) || strings.Contains(source, "\\") {
		return ModuleFolder{}, fmt.Errorf("%q leads out of the folder that the caller's modules are in", source)
	}
	return ModuleFolder{FS: f.FS, Dir: dir, Root: f.Root, ID: f.ID}, nil
}

// With is the module as a profile has it: what stands outside of profiles, and what the profile of that name adds.
func (m *Module) With(profile string) Parts {
	i := slices.IndexFunc(m.Profiles, func(pr *Profile) bool { return pr.Name == profile })
	if i < 0 {
		return m.Parts
	}
	pr := m.Profiles[i]
	out := Parts{
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

// with is the block with the arguments that another sets.
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
