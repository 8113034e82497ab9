package langserver

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/rooted"
	"github.com/hexmage/hexmage/internal/workspace"
)

// pause is how long nothing is typed before what is there is checked.
const pause = 100 * time.Millisecond

// maxTold is how many mistakes of one file an editor is told.
const maxTold = 200

// checker checks what open documents belong to, in the background, one after the other.
type checker struct {
	s       *server
	publish func(diagnosticsParams)
	wake    chan struct{}

	mu    sync.Mutex
	dirty []string // files, the last changed last
	gone  []string // files that were closed

	// What follows is of the goroutine that checks.
	queue   []unit
	found   map[unit]map[string][]diagnostic // by file
	members map[unit]map[string]bool         // open files because of which it is checked
	shown   map[string]bool                  // files of which the editor was told something
	reads   map[unit][]string                // files of pipelines, where that is known
}

// unit is what is checked as a whole: a pipeline of a workspace, or a folder or file by itself.
type unit struct {
	root     string // of the workspace; "": none
	pipeline string
	single   string // a module's folder, or a file that is in no workspace
}

func newChecker(s *server) *checker {
	return &checker{s: s, wake: make(chan struct{}, 1), found: map[unit]map[string][]diagnostic{}, members: map[unit]map[string]bool{}, shown: map[string]bool{}, reads: map[unit][]string{}}
}

func (c *checker) changed(file string) { c.note(&c.dirty, file) }
func (c *checker) closed(file string)  { c.note(&c.gone, file) }

func (c *checker) note(to *[]string, file string) {
	c.mu.Lock()
	*to = append(slices.DeleteFunc(*to, func(f string) bool { return f == file }), file)
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default: // it is awake
	}
}

// run checks until the context ends.
func (c *checker) run(ctx context.Context) {
	timer := time.NewTimer(0)
	<-timer.C
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.wake:
			timer.Reset(pause)
			continue
		case <-timer.C:
		}
		c.take(ctx)
		if len(c.queue) == 0 {
			continue
		}
		u := c.queue[0]
		c.queue = c.queue[1:]
		c.check(ctx, u)
		timer.Reset(0)
	}
}

// take finds out what has to be checked because of what happened.
func (c *checker) take(ctx context.Context) {
	c.mu.Lock()
	dirty, gone := c.dirty, c.gone
	c.dirty, c.gone = nil, nil
	c.mu.Unlock()
	slices.Reverse(dirty)
	var first []unit
	for _, file := range dirty {
		open := c.s.open.get(file) != nil
		for _, u := range c.units(ctx, file) {
			if open && c.members[u] == nil {
				c.members[u] = map[string]bool{}
			}
			if open {
				c.members[u][file] = true
			}
			if c.members[u] != nil && !slices.Contains(first, u) {
				first = append(first, u)
			}
		}
	}
	for _, file := range gone {
		for u, of := range c.members {
			if !of[file] {
				continue
			}
			if delete(of, file); len(of) == 0 {
				delete(c.members, u)
				c.show(u, nil)
			} else if !slices.Contains(first, u) {
				first = append(first, u) // it is as on disk again
			}
		}
	}
	c.queue = append(first, slices.DeleteFunc(c.queue, func(u unit) bool { return slices.Contains(first, u) || c.members[u] == nil })...)
}

// units are what a file belongs to.
func (c *checker) units(ctx context.Context, file string) []unit {
	ws := c.s.host.Workspace(file, c.s.open)
	if ws == nil {
		return []unit{{single: file}}
	}
	rel, err := filepath.Rel(ws.Root, file)
	if err != nil || !filepath.IsLocal(rel) {
		return []unit{{single: file}}
	}
	rel = filepath.ToSlash(rel)
	names := ws.Pipelines()
	of := func(names ...string) (all []unit) {
		for _, n := range names {
			all = append(all, unit{root: ws.Root, pipeline: n})
		}
		return all
	}
	dir, base := path.Split(rel)
	dir = path.Clean(dir)
	switch name := strings.TrimSuffix(strings.TrimSuffix(base, ".hcl"), strings.TrimSuffix(workspace.VarSuffix, ".hcl")); {
	case dir == workspace.Folder && slices.Contains(names, name):
		return of(name)
	case dir == workspace.Folder && strings.HasSuffix(base, workspace.VarSuffix):
		return of(names...)
	case path.Dir(dir) == workspace.Folder && slices.Contains(names, path.Base(dir)):
		return of(path.Base(dir))
	}
	var users []unit
	for _, u := range of(names...) {
		files, ok := c.reads[u]
		if !ok {
			files = c.learn(ctx, ws, u)
		}
		if slices.Contains(files, file) {
			users = append(users, u)
		}
	}
	switch {
	case len(users) > 0:
		return users
	case dir != "." && c.isModule(ws, file):
		return []unit{{root: ws.Root, single: filepath.Dir(file)}}
	case len(names) == 0:
		return []unit{{single: file}}
	}
	return of(names[:min(1, len(names))]...) // the catalogue, or the lock: whatever pipeline there is reads it
}

// isModule tells whether a file has blocks of a module's, and not of a catalogue's.
func (c *checker) isModule(ws *Workspace, file string) bool {
	f, diags := lang.Parse(c.s.open.read(file), file)
	if diags.HasErrors() || f == nil {
		return path.Base(filepath.ToSlash(filepath.Dir(filepath.Dir(file)))) == config.Modules
	}
	for _, b := range blocksOf(f) {
		if _, ok := blockNamed(b.Type); !ok {
			return false
		}
	}
	return true
}

// learn finds out which files a pipeline reads.
func (c *checker) learn(ctx context.Context, ws *Workspace, u unit) []string {
	cfg, _ := ws.Load(ctx, u.pipeline)
	var files []string
	if cfg != nil {
		for name := range cfg.Files {
			files = append(files, absolute(ws.Root, name))
		}
	}
	c.reads[u] = files
	return files
}

func absolute(root, name string) string {
	if filepath.IsAbs(filepath.FromSlash(name)) {
		return filepath.Clean(filepath.FromSlash(name))
	}
	return filepath.Join(root, filepath.FromSlash(name))
}

// check checks a unit, and tells the editor. A mistake of the server's own is told, too, in place of what is wrong.
func (c *checker) check(ctx context.Context, u unit) {
	anchor := c.anchor(u)
	found := map[string][]diagnostic{}
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(c.s.host.Log, "check %s: %v\n%s\n", u.pipeline, p, debug.Stack())
			found = map[string][]diagnostic{anchor: {{Severity: 1, Source: "hexmage", Message: fmt.Sprintf("A mistake in hexmage, please report it: %v", p)}}}
		}
		c.show(u, found)
	}()
	diags, err := c.diagnose(ctx, u)
	if err != nil && !diags.HasErrors() {
		diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "It cannot be checked", Detail: err.Error()})
	}
	texts := map[string]*lines{}
	for _, d := range diags {
		file, told := c.convert(u, d, anchor, texts)
		if len(found[file]) < maxTold && !slices.Contains(found[file], told) {
			found[file] = append(found[file], told)
		}
	}
}

func (c *checker) diagnose(ctx context.Context, u unit) (hcl.Diagnostics, error) {
	if u.root == "" {
		_, diags := lang.Parse(c.s.open.read(u.single), u.single)
		return diags, nil
	}
	ws := c.s.host.Workspace(filepath.Join(u.root, workspace.Folder, u.pipeline+".hcl"), c.s.open)
	if ws == nil {
		return nil, nil // it was removed meanwhile
	}
	if u.pipeline == "" {
		_, diags := config.LoadModule(config.ModuleFolder{FS: Overlay(rooted.FS(u.single), u.single, c.s.open), Dir: ".", Root: filepath.ToSlash(u.single)})
		return diags, nil
	}
	c.learn(ctx, ws, u)
	return ws.Check(ctx, u.pipeline)
}

// anchor is the file that shows what has no place: of those that are open the first.
func (c *checker) anchor(u unit) string {
	for _, file := range slices.Sorted(maps.Keys(c.members[u])) {
		return file
	}
	return absolute(u.root, path.Join(workspace.Folder, u.pipeline+".hcl"))
}

// convert says in which file a mistake is, and what of it an editor is told.
func (c *checker) convert(u unit, d *hcl.Diagnostic, anchor string, texts map[string]*lines) (string, diagnostic) {
	out := diagnostic{Severity: 1, Source: "hexmage", Message: d.Summary}
	if d.Detail != "" {
		out.Message += ": " + d.Detail
	}
	if d.Severity == hcl.DiagWarning {
		out.Severity = 2
	}
	if d.Subject == nil {
		return anchor, out
	}
	file := absolute(u.root, d.Subject.Filename)
	if texts[file] == nil {
		text := c.s.open.read(file)
		if text == nil {
			out.Message = config.Where(*d.Subject) + ": " + out.Message
			return anchor, out
		}
		texts[file] = newLines(text)
	}
	out.Range = texts[file].span(d.Subject.Start.Byte, d.Subject.End.Byte)
	return file, out
}

// show takes what was found of a unit, and tells the editor of files of which that is something else than before.
func (c *checker) show(u unit, found map[string][]diagnostic) {
	before := c.found[u]
	if c.found[u] = found; len(found) == 0 {
		delete(c.found, u)
	}
	files := map[string]bool{}
	for _, of := range []map[string][]diagnostic{before, found} {
		for file := range of {
			files[file] = true
		}
	}
	for file := range c.members[u] {
		files[file] = true // the editor learns that it was checked
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		all := []diagnostic{}
		for _, of := range c.found {
			for _, d := range of[file] {
				if !slices.Contains(all, d) {
					all = append(all, d)
				}
			}
		}
		slices.SortFunc(all, func(a, b diagnostic) int {
			if a.Range.Start.Line != b.Range.Start.Line {
				return a.Range.Start.Line - b.Range.Start.Line
			}
			return bytes.Compare([]byte(a.Message), []byte(b.Message))
		})
		p := diagnosticsParams{URI: c.s.open.uri(file), Diagnostics: all}
		if doc := c.s.open.get(file); doc != nil {
			p.Version = &doc.version
		} else if len(all) == 0 && !c.shown[file] {
			continue
		}
		c.shown[file] = len(all) > 0
		c.publish(p)
	}
}
