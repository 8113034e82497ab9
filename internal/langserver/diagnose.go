package langserver

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/workspace"
)

const (
	pause          = 100 * time.Millisecond // between a change and a check, for more changes
	maxDiagnostics = 200                    // of one file
)

// checker checks open documents in the background.
type checker struct {
	s       *server
	publish func(diagnosticsParams)
	wake    chan struct{}

	dirty sync.Map // files to check

	found map[unit]map[string][]diagnostic // by file; only the goroutine that checks uses it
}

// unit is a pipeline, or a file by itself.
type unit struct{ root, pipeline, file string }

// changed has the checker check files.
func (c *checker) changed(files ...string) {
	for _, file := range files {
		c.dirty.Store(file, true)
	}
	select {
	case c.wake <- struct{}{}:
	default: // it is awake
	}
}

// run checks until the context ends.
func (c *checker) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.wake:
		}
		time.Sleep(pause)
		_ = c.s.guard("check", func() error { // guard logs it
			c.check(ctx)
			return nil
		})
	}
}

// check checks the units of dirty documents, and drops the diagnostics of units without open documents.
func (c *checker) check(ctx context.Context) {
	current, changed := map[unit]bool{}, map[unit]string{}
	for _, file := range c.s.open.files() {
		_, dirty := c.dirty.LoadAndDelete(file)
		for _, u := range c.units(ctx, file) {
			current[u] = true
			if dirty {
				changed[u] = file
			}
		}
	}
	for u := range c.found {
		if !current[u] {
			c.show(u, nil)
		}
	}
	for u, file := range changed {
		if ctx.Err() == nil {
			c.checkUnit(ctx, u, file)
		}
	}
}

// units returns the units of a file: its pipeline, or the pipelines that read it.
func (c *checker) units(ctx context.Context, file string) (all []unit) {
	ws := c.s.workspace(file)
	if ws == nil {
		return []unit{{file: file}}
	}
	names := ws.Pipelines()
	for _, name := range names {
		own := filepath.Join(ws.Root, workspace.Folder, name)
		if file == own+".hcl" || filepath.Dir(file) == own {
			return []unit{{root: ws.Root, pipeline: name}}
		}
	}
	for _, name := range names {
		if p, _ := ws.Load(ctx, name); p != nil {
			for f := range p.Files {
				if absolute(ws.Root, f) == file {
					all = append(all, unit{root: ws.Root, pipeline: name})
				}
			}
		}
	}
	if len(all) == 0 { // a module that no pipeline calls, or the catalog or the lock file, which each pipeline reads
		all = append(all, unit{file: file})
		for _, name := range names[:min(1, len(names))] {
			all = append(all, unit{root: ws.Root, pipeline: name})
		}
	}
	return all
}

// absolute returns the path of a file, from its name in a workspace.
func absolute(root, name string) string {
	if name = filepath.FromSlash(name); filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(root, name)
}

func (c *checker) diagnose(ctx context.Context, u unit) (hcl.Diagnostics, error) {
	if u.file != "" {
		_, diags := lang.Parse(c.s.open.read(u.file), u.file)
		return diags, nil
	}
	ws := c.s.workspace(filepath.Join(u.root, workspace.Folder, u.pipeline))
	if ws == nil {
		return nil, nil // it is gone
	}
	return ws.Check(ctx, u.pipeline)
}

// checkUnit checks a unit because of an open file, and publishes its diagnostics.
func (c *checker) checkUnit(ctx context.Context, u unit, open string) {
	var diags hcl.Diagnostics
	err := c.s.guard("check "+u.pipeline, func() (err error) {
		diags, err = c.diagnose(ctx, u)
		return err
	})
	if err != nil && !diags.HasErrors() {
		diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Check failed", Detail: err.Error()})
	}
	found := map[string][]diagnostic{}
	for _, d := range diags {
		file, out := open, diagnostic{Severity: int(d.Severity), Source: "hexmage", Message: d.Summary}
		if d.Detail != "" {
			out.Message += ": " + d.Detail
		}
		if d.Subject != nil {
			file = absolute(u.root, d.Subject.Filename)
			text := c.s.open.read(file)
			out.Range = spanOf(text, d.Subject.Start.Byte, d.Subject.End.Byte)
			if text == nil { // of a shipped module, which the editor cannot open
				file, out.Message = open, config.Where(*d.Subject)+": "+out.Message
			}
		}
		if len(found[file]) < maxDiagnostics {
			found[file] = append(found[file], out)
		}
	}
	c.show(u, found)
}

// show publishes the diagnostics of the files that a unit has or had diagnostics in.
func (c *checker) show(u unit, found map[string][]diagnostic) {
	files := map[string][]diagnostic{}
	maps.Copy(files, c.found[u])
	maps.Copy(files, found)
	if c.found[u] = found; found == nil {
		delete(c.found, u)
	}
	for file := range files {
		p := diagnosticsParams{URI: c.s.open.uri(file), Diagnostics: []diagnostic{}}
		for _, of := range c.found { // pipelines share modules
			p.Diagnostics = append(p.Diagnostics, of[file]...)
		}
		slices.SortFunc(p.Diagnostics, func(a, b diagnostic) int {
			return cmp.Or(a.Range.Start.Line-b.Range.Start.Line, cmp.Compare(a.Message, b.Message),
				a.Range.Start.Character-b.Range.Start.Character)
		})
		p.Diagnostics = slices.Compact(p.Diagnostics)
		if doc := c.s.open.get(file); doc != nil {
			p.Version = &doc.version
		}
		c.publish(p)
	}
}
