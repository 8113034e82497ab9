package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/nearest"
	"github.com/hexmage/hexmage/internal/workspace"
)

// maxBlocks is how many blocks a pipeline file may have, not counting those in blocks.
const maxBlocks = 100_000

// MaxFile is the greatest size of a pipeline file, in bytes.
const MaxFile = 4 << 20

// Load reads the pipeline of that name: pipelines/<name>.hcl, or all *.hcl of the folder pipelines/<name>, the
// values of variables in *.hexvars.hcl of pipelines (those named after another pipeline are not for this one) and of the folder, and the modules that it
// calls. find says where modules are that a source names otherwise than by a relative path; it may be nil. The pipeline
// is returned also when there are errors, as far as it could be read, so that diagnostics can show their source.
func Load(fsys fs.FS, name string, find Finder) (*Pipeline, hcl.Diagnostics) {
	return load(fsys, name, find, nil)
}

func load(fsys fs.FS, name string, find Finder, rest *Rest) (*Pipeline, hcl.Diagnostics) {
	p := &Pipeline{Name: name, Module: &Module{Dir: workspace.Folder}, Files: make(map[string]*hcl.File)}
	names, dirs, err := workspace.List(fsys)
	p.Dirs = dirs
	if err != nil {
		return p, errorf(nil, "The pipelines cannot be listed", "%s.", err)
	}
	files, diags := pipelineFiles(fsys, name, names)
	if diags.HasErrors() {
		return p, diags
	}
	if dir := path.Join(workspace.Folder, name); path.Dir(files[0]) == dir {
		p.Module.Dir = dir
		if !slices.Contains(p.Dirs, dir) { // a link to a folder
			p.Dirs = append(p.Dirs, dir)
		}
	}
	l := &loader{p: p, find: find, rest: rest, read: make(map[string]*Module)}
	diags = append(diags, l.module(p.Module, ModuleFolder{FS: fsys, Dir: p.Module.Dir}, files, true)...)
	diags = append(diags, loadVarFiles(p, fsys, names)...)
	return p, diags
}

func pipelineFiles(fsys fs.FS, name string, names []string) ([]string, hcl.Diagnostics) {
	if !fs.ValidPath(name) || strings.Contains(name, "/") || name == "." {
		return nil, errorf(nil, "No name of a pipeline", "%q is not the name of a pipeline. %s", name, nameAdvice(name, names))
	}
	file := path.Join(workspace.Folder, name+".hcl")
	folder, _ := workspace.FilesOf(fsys, name)
	_, err := fs.Stat(fsys, file)
	switch {
	case err == nil && len(folder) > 0:
		return nil, errorf(nil, "Two pipelines have the same name",
			"Both %s and the folder %s define pipeline %q. Rename or remove one of them.", file, path.Dir(folder[0]), name)
	case err == nil:
		return []string{file}, nil
	case len(folder) > 0:
		return folder, nil
	}
	for _, at := range []string{file, path.Join(workspace.Folder, name)} {
		if _, err := fs.Stat(fsys, at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, errorf(nil, "A file cannot be read", "%s.", err)
		}
	}
	return nil, errorf(nil, fmt.Sprintf("There is no pipeline %q", name), "%s does not exist. %s", file, nameAdvice(name, names))
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

func loadVarFiles(p *Pipeline, fsys fs.FS, names []string) hcl.Diagnostics {
	var diags hcl.Diagnostics
	found, _ := fs.Glob(fsys, path.Join(workspace.Folder, "*"+workspace.VarSuffix)) // the pattern is well formed
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
		file, ds := p.parse(fsys, f, f, nil)
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

// partSize is about how many bytes of a file are parsed at once. HCL keeps a list of all tokens, 96 bytes each, and grows
// it as it goes: for a file of a megabyte, which has ten thousand steps, that takes 200 MB more than what is made of it.
const partSize = 4 << 10

// parse reads a file of fsys, which is called name in diagnostics, and adds it to those of the pipeline. It returns nil for one that cannot be read. Of a large one,
// rest takes what it can, if it is not nil.
func (p *Pipeline) parse(fsys fs.FS, file, name string, rest *Rest) (*hcl.File, hcl.Diagnostics) {
	info, err := fs.Stat(fsys, file)
	if err == nil && !info.Mode().IsRegular() { // a pipe would be waited for
		err = errors.New("it is no regular file")
	}
	if err == nil && info.Size() > MaxFile {
		err = fmt.Errorf("it has %d bytes, more than the %d that are allowed", info.Size(), MaxFile)
	}
	var src []byte
	if err == nil {
		src, err = fs.ReadFile(fsys, file)
	}
	if err != nil {
		p.Absent = append(p.Absent, name)
		return nil, errorf(nil, "A file cannot be read", "%s", unreadable(name, err))
	}
	if crlf := []byte("\r\n"); bytes.Contains(src, crlf) {
		// However lines end, the scripts in a file are the same: a shell takes a carriage return for a part of its line.
		src = bytes.ReplaceAll(src, crlf, []byte("\n"))
	}
	f, diags := parseSource(src, name, rest)
	if f == nil {
		p.Absent = append(p.Absent, name)
		return nil, diags
	}
	f.Bytes = src
	p.Files[name] = f
	return f, diags
}

// unreadable says what is wrong with a file, and what to do.
func unreadable(name string, err error) string {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Sprintf("%s may not be read by you: chmod u+r %s, or ask whose it is.", name, name)
	}
	return fmt.Sprintf("%s: %s.", name, err)
}

// textOf is what is in a file, without a copy of it: nobody changes what was read, and what is made of a file shares its text.
func textOf(src []byte) string { return unsafe.String(unsafe.SliceData(src), len(src)) }

func parseSource(src []byte, name string, rest *Rest) (*hcl.File, hcl.Diagnostics) {
	text := textOf(src)
	if rest != nil && len(text) >= restSize {
		if f := rest.take(text, name); f != nil {
			return f, nil
		}
	}
	f, diags := parseParts(text, name, partSize)
	if f != nil || diags.HasErrors() && len(text) > lang.MaxPart {
		return f, diags
	}
	return lang.Parse(src, name, hcl.InitialPos)
}

// restSize is the size in bytes from which on a file is so large that steps of it are left for later.
const restSize = 64 << 10

// part is a piece of a file that is parsed by itself.
type part struct {
	src   string
	name  string // of the file
	start hcl.Pos
	brief bool // what is wrong is found, and told, when the file is read again

	file    *hcl.File
	written bool // it is what lang.ParseWritten reads
	diags   hcl.Diagnostics
}

// parseParts parses a file in parts that begin where a line looks like the header of a block, some at once, and puts them together. When each part
// is right by itself, so is the whole, and it has the same blocks: no block, comment, text or heredoc goes on from one to
// the next. Otherwise, and for files that are small, it returns nil; the whole file has to be parsed then. Of a file that is too
// large for that, what is wrong with the part is told.
func parseParts(src, name string, size int) (*hcl.File, hcl.Diagnostics) {
	if len(src) < 2*size {
		return nil, nil
	}
	body := &hclsyntax.Body{Attributes: hclsyntax.Attributes{}}
	start := hcl.InitialPos
	for start.Byte < len(src) {
		var parts []*part // a few: what is wrong with a file ends it early
		for len(parts) < 8*runtime.GOMAXPROCS(0) && start.Byte < len(src) {
			parts = append(parts, nextPart(src, name, &start, size))
		}
		var all sync.WaitGroup
		for _, p := range parts {
			all.Go(p.parse)
		}
		all.Wait()
		for _, p := range parts {
			if diags := p.addTo(body); len(diags) > 0 {
				return nil, diags
			}
		}
	}
	return &hcl.File{Body: body, Nav: navigation{body}}, nil
}

// nextPart returns the part of a file that begins at a place, of about size bytes, and moves the place behind it.
func nextPart(src, name string, start *hcl.Pos, size int) *part {
	end := start.Byte + partLength(src[start.Byte:], size)
	p := &part{src: src[start.Byte:end], name: name, start: *start}
	start.Byte, start.Line = end, start.Line+strings.Count(p.src, "\n")
	return p
}

func (p *part) parse() {
	if body, ok := lang.ParseWritten(p.src, p.name, p.start, p.brief); ok {
		p.file, p.written = &hcl.File{Body: body}, true
		return
	}
	p.file, p.diags = lang.Parse([]byte(p.src), p.name, p.start)
}

// addTo adds what was parsed.
func (p *part) addTo(body *hclsyntax.Body) hcl.Diagnostics {
	if len(p.diags) > 0 {
		return p.diags
	}
	b := p.file.Body.(*hclsyntax.Body)
	for _, a := range b.Attributes { // a second one of the same name would not be noticed
		return errorf(&a.NameRange, "An argument outside of blocks", "A pipeline file consists of blocks, and this one is too large to be read whole. Remove %s, or move it into its block.", a.Name)
	}
	if body.Blocks = append(body.Blocks, b.Blocks...); len(body.Blocks) > maxBlocks {
		return errorf(&body.Blocks[maxBlocks].TypeRange, "Too many blocks", "A file may have %d blocks. Use for_each for what is alike.", maxBlocks)
	}
	if p.start.Byte == 0 {
		body.SrcRange = b.SrcRange
	}
	body.SrcRange.End, body.EndRange = b.SrcRange.End, b.EndRange
	return nil
}

// partLength is how long a part of about size bytes is: to the next line that looks like the header of a block.
func partLength(src string, size int) int {
	for i := size; i < len(src); i++ {
		if src[i-1] == '\n' && isHeader(src[i:]) {
			return i
		}
	}
	return len(src)
}

// isHeader says whether a line begins with a word, a space, and a label or brace.
func isHeader(line string) bool {
	for i, c := range line {
		switch {
		case c >= 'a' && c <= 'z' || c == '_':
		case c == ' ' && i > 0 && i+1 < len(line):
			return line[i+1] == '"' || line[i+1] == '{'
		default:
			return false
		}
	}
	return false
}

// navigation says in which block of a file something is, for diagnostics.
type navigation struct {
	root *hclsyntax.Body
}

// ContextString returns the header of the block at the offset, as HCL's own navigation does.
func (n navigation) ContextString(offset int) string {
	for _, b := range n.root.Blocks {
		if !b.Range().ContainsOffset(offset) {
			continue
		}
		var s strings.Builder
		s.WriteString(b.Type)
		for _, l := range b.Labels {
			fmt.Fprintf(&s, " %q", l)
		}
		return s.String()
	}
	return ""
}
