package langserver

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"
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

// unit is a pipeline, or a file by itself.
type unit struct{ root, pipeline, file string }

// changed has the server check files.
func (s *server) changed(files ...string) {
	for _, file := range files {
		s.dirty.Store(file, true)
	}
	select {
	case s.wake <- struct{}{}:
	default: // it is awake
	}
}

// checkChanges checks files that change until the context ends.
func (s *server) checkChanges(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		}
		time.Sleep(pause)
		_ = s.guard("check", func() error { return s.check(ctx) }) // guard logs it
	}
}

// check checks the units of dirty documents, and drops the diagnostics of units without open documents.
func (s *server) check(ctx context.Context) error {
	current, changed, read := map[unit]bool{}, map[unit]string{}, map[unit][]string{}
	for _, file := range s.open.files() {
		_, dirty := s.dirty.LoadAndDelete(file)
		for _, u := range s.units(ctx, file, read) {
			current[u] = true
			if dirty {
				changed[u] = file
			}
		}
	}
	for u := range s.found {
		if !current[u] {
			s.show(u, nil)
		}
	}
	for u, file := range changed {
		if ctx.Err() == nil {
			s.checkUnit(ctx, u, file)
		}
	}
	return ctx.Err()
}

// units returns the units of a file: its pipeline, or the pipelines that read it. read keeps the files of pipelines.
func (s *server) units(ctx context.Context, file string, read map[unit][]string) (all []unit) {
	ws := s.host.Workspace(file, s.open.text)
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
		u := unit{root: ws.Root, pipeline: name}
		if _, known := read[u]; !known {
			read[u] = []string{}
			if p, _ := ws.Load(ctx, name); p != nil {
				for f := range p.Files {
					read[u] = append(read[u], absolute(ws.Root, f))
				}
			}
		}
		if slices.Contains(read[u], file) {
			all = append(all, u)
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

// checkUnit checks a unit because of an open file, and publishes its diagnostics.
func (s *server) checkUnit(ctx context.Context, u unit, open string) {
	var diags hcl.Diagnostics
	err := s.guard("check "+u.pipeline, func() (err error) {
		if u.file != "" {
			_, diags = lang.Parse(s.open.read(u.file), u.file)
		} else if ws := s.host.Workspace(filepath.Join(u.root, workspace.Folder, u.pipeline), s.open.text); ws != nil {
			diags, err = ws.Check(ctx, u.pipeline)
		}
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
			text := s.open.read(file)
			out.Range = spanOf(text, d.Subject.Start.Byte, d.Subject.End.Byte)
			if text == nil { // of a shipped module, which the editor cannot open
				file, out.Message = open, config.Where(*d.Subject)+": "+out.Message
			}
		}
		if len(found[file]) < maxDiagnostics {
			found[file] = append(found[file], out)
		}
	}
	s.show(u, found)
}

// show publishes the diagnostics of the files that a unit has or had diagnostics in.
func (s *server) show(u unit, found map[string][]diagnostic) {
	files := map[string][]diagnostic{}
	maps.Copy(files, s.found[u])
	maps.Copy(files, found)
	if s.found[u] = found; found == nil {
		delete(s.found, u)
	}
	for file := range files {
		p := diagnosticsParams{URI: s.open.uri(file), Diagnostics: []diagnostic{}}
		for _, of := range s.found { // pipelines share modules
			p.Diagnostics = append(p.Diagnostics, of[file]...)
		}
		slices.SortFunc(p.Diagnostics, func(a, b diagnostic) int {
			return cmp.Or(a.Range.Start.Line-b.Range.Start.Line, cmp.Compare(a.Message, b.Message),
				a.Range.Start.Character-b.Range.Start.Character)
		})
		p.Diagnostics = slices.Compact(p.Diagnostics)
		s.publish(p)
	}
}
