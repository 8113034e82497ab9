package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/tree"
)

// exported remembers what stands at an output's place, so that an unchanged output costs one stat a file.
type exported struct {
	Digest string      `json:"digest"`
	Files  []fileStamp `json:"files"`
}

// fileStamp is what the file system says of an exported file. A tampered, replaced or deleted one has another stamp.
type fileStamp struct {
	Path  string `json:"path"` // relative to the output's place; "" for a file
	Size  int64  `json:"size"`
	MTime int64  `json:"mtime"`
	Inode uint64 `json:"inode"`
	CTime int64  `json:"ctime"`
}

// export puts the pipeline's outputs under Options.Out.
func (w *worker) export(ctx context.Context, p *plan.Plan) ([]event.OutputReady, error) {
	stateFile := filepath.Join(w.o.State, "exports-"+w.fn.Bytes([]byte(w.o.Out)).Hex()[:16]+".json")
	known := map[string]exported{}
	if b, err := os.ReadFile(stateFile); err == nil {
		if json.Unmarshal(b, &known) != nil {
			known = map[string]exported{} // damaged: export everything again
		}
	}
	var ready []event.OutputReady
	changed := false
	for _, e := range p.Exports {
		if e.Resolve != nil {
			var err error
			if e, err = w.resolveExport(ctx, e); err != nil {
				return ready, err
			}
		}
		entry, err := w.exportEntry(ctx, e)
		if err != nil {
			return ready, fmt.Errorf("output %q: %w", e.Name, err)
		}
		to := w.exportPath(e.Name)
		id := w.identity(entry)
		if old, ok := known[e.Name]; !ok || old.Digest != id || !standing(to, old.Files) {
			delete(known, e.Name)
			if err := w.place(ctx, entry, to); err != nil {
				return ready, fmt.Errorf("output %q: %w", e.Name, err)
			}
			files, err := stamps(to)
			if err != nil {
				return ready, fmt.Errorf("output %q: %w", e.Name, err)
			}
			known[e.Name] = exported{id, files}
			changed = true
		}
		out := event.OutputReady{Name: e.Name, Path: to, Show: e.Show}
		w.o.Sink.Send(out)
		ready = append(ready, out)
	}
	if w.o.Prune {
		for name := range known {
			if slices.ContainsFunc(ready, func(o event.OutputReady) bool { return o.Name == name }) {
				continue
			}
			if err := os.RemoveAll(w.exportPath(name)); err != nil {
				return ready, fmt.Errorf("remove output %q, which the pipeline no longer has: %w", name, err)
			}
			delete(known, name)
			changed = true
		}
	}
	if changed {
		return ready, writeState(stateFile, known)
	}
	return ready, nil
}

// exportPath is where an output of the pipeline is put.
func (w *worker) exportPath(name string) string {
	return filepath.Join(w.o.Out, strings.ReplaceAll(name, "/", "-"))
}

func (w *worker) resolveExport(ctx context.Context, e plan.Export) (plan.Export, error) {
	values := map[addrs.Output][]byte{}
	for _, v := range e.AwaitValues {
		b, err := w.value(ctx, v)
		if err != nil {
			return e, err
		}
		values[v] = b
	}
	return e.Resolve(values)
}

// exportEntry returns what an output of the pipeline is.
func (w *worker) exportEntry(ctx context.Context, e plan.Export) (tree.Entry, error) {
	if e.Class == 0 {
		b := []byte(e.Literal + "\n")
		d := w.fn.Bytes(b)
		return tree.Entry{File: &tree.File{Digest: d}}, w.keep(ctx, map[digest.Digest][]byte{d: b})
	}
	return w.entry(ctx, nil, e.Artifact, nil)
}

func (w *worker) identity(e tree.Entry) string {
	if e.File != nil {
		return fmt.Sprint(e.File.Digest, e.File.Executable)
	}
	root, _ := e.Dir.Encode(w.fn)
	return root.String()
}

// place puts the entry at path, replacing what is there, so that path never holds a part of it.
func (w *worker) place(ctx context.Context, e tree.Entry, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(path), ".hexmage-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	next := filepath.Join(tmp, "new")
	if e.File != nil {
		perm := fs.FileMode(0o644)
		if e.File.Executable {
			perm = 0o755
		}
		err = tree.CopyFile(ctx, w.store, e.File.Digest, next, perm)
	} else {
		root, blobs := e.Dir.Encode(w.fn)
		if err = w.keep(ctx, blobs); err == nil {
			err = tree.Materialise(ctx, w.store, tree.Ref(root), next, tree.MaterialiseOptions{Copy: true})
		}
	}
	if err != nil {
		return err
	}
	if err := os.Rename(path, filepath.Join(tmp, "old")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(next, path)
}

func stamps(path string) ([]fileStamp, error) {
	var out []fileStamp
	err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(path, p)
		if err != nil {
			return err
		}
		if rel == "." {
			rel = ""
		}
		s, err := stamp(p)
		s.Path = filepath.ToSlash(rel)
		out = append(out, s)
		return err
	})
	return out, err
}

// standing tells whether every file still has its stamp.
func standing(path string, files []fileStamp) bool {
	if _, err := os.Lstat(path); err != nil {
		return false
	}
	for _, f := range files {
		s, err := stamp(filepath.Join(path, filepath.FromSlash(f.Path)))
		if s.Path = f.Path; err != nil || s != f {
			return false
		}
	}
	return true
}

func writeState(path string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	tmp := fmt.Sprintf("%s.%d", path, os.Getpid())
	if err := os.WriteFile(tmp, b, 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}
