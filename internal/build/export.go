package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/durable"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/tree"
)

// exporter puts a pipeline's outputs under Options.Out. Of processes that share a state folder, one does so at a time.
type exporter struct {
	*worker
	stateFile string
	known     map[string]exported // by file name in Out
	changed   bool
}

// exported remembers what stands at an output's place, so that an unchanged output costs one stat a file.
type exported struct {
	Digest string      `json:"digest"`
	Dir    bool        `json:"dir,omitempty"`
	Files  []fileStamp `json:"files"`
}

// exportsFile is where it is remembered what stands in the folder of outputs.
func (o *Options) exportsFile() string {
	return filepath.Join(o.State, "exports-"+o.Fn.Bytes([]byte(o.Out)).Hex()[:16]+".json")
}

// readExports returns what is remembered, by file name. What is damaged counts as nothing: everything is exported again.
func readExports(file string) map[string]exported {
	known := map[string]exported{}
	if b, err := os.ReadFile(file); err == nil && json.Unmarshal(b, &known) != nil {
		return map[string]exported{}
	}
	return known
}

// allStanding tells whether all outputs stand at their places, and nothing that would be removed beside them. Each is named by
// the name and the id it was exported with.
func (o *Options) allStanding(outs []toExport) bool {
	known := readExports(o.exportsFile())
	if o.Prune && len(known) != len(outs) {
		return false
	}
	for _, x := range outs {
		name, err := fileName(x.Name)
		old, ok := known[name]
		if err != nil || !ok || old.Digest != x.id || !standing(filepath.Join(o.Out, name), old) {
			return false
		}
	}
	return true
}

// toExport is an output of the pipeline that has to stand at its place.
type toExport struct {
	plan.Export
	awaited []addrs.Output // whose content the literal was made from
	id      string         // what it is, as identity says; "" when that has to be found out
}

// export puts the pipeline's outputs in their place. It fills in what it finds out about each of outs.
func (w *worker) export(ctx context.Context, outs []toExport) (ready []event.OutputReady, err error) {
	x := &exporter{worker: w, stateFile: w.o.exportsFile()}
	if err := os.MkdirAll(w.o.State, 0o755); err != nil {
		return nil, err
	}
	unlock, err := durable.Lock(ctx, x.stateFile+".lock")
	if err != nil {
		return nil, fmt.Errorf("wait for another hexmage that writes to %s: %w", w.o.Out, err)
	}
	defer unlock()
	_ = durable.SweepNamed(w.o.Out, tempPrefix, 0) // what killed runs left; what cannot be removed does no harm
	x.known = readExports(x.stateFile)
	defer func() {
		if x.changed { // also after an error: what was exported until then is known
			err = errors.Join(err, x.save())
		}
	}()
	now := map[string]string{} // output by file name
	for i := range outs {
		e := &outs[i]
		if e.Resolve != nil {
			e.awaited = e.AwaitValues
			if e.Export, err = w.resolveExport(ctx, e.Export); err != nil {
				return ready, err
			}
		}
		name, err := fileName(e.Name)
		if other, ok := now[name]; ok && err == nil {
			err = fmt.Errorf("its place is that of output %q too: rename one of them", other)
		}
		if err == nil {
			now[name] = e.Name
			err = x.put(ctx, e, name)
		}
		if err != nil {
			return ready, fmt.Errorf("output %q: %w", e.Name, err)
		}
		out := event.OutputReady{Name: e.Name, Path: filepath.Join(w.o.Out, name), Show: e.Show}
		w.o.Sink.Send(out)
		ready = append(ready, out)
	}
	if w.o.Prune {
		err = x.prune(now)
	}
	return ready, err
}

// put makes sure that the output stands at its place.
func (x *exporter) put(ctx context.Context, e *toExport, name string) error {
	to := filepath.Join(x.o.Out, name)
	old, known := x.known[name]
	if known && e.id != "" && old.Digest == e.id && standing(to, old) {
		return nil
	}
	entry, err := x.exportEntry(ctx, e.Export)
	if err != nil {
		return err
	}
	if e.id = x.identity(entry); known && old.Digest == e.id && standing(to, old) {
		return nil
	}
	delete(x.known, name)
	x.changed = true
	if err := x.place(ctx, entry, to); err != nil {
		return err
	}
	files, err := stamps(to)
	if err == nil {
		x.known[name] = exported{Digest: e.id, Dir: entry.Dir != nil, Files: files}
	}
	return err
}

// prune removes the outputs of earlier runs that the pipeline no longer has. What somebody changed since stays.
func (x *exporter) prune(now map[string]string) error {
	for name, old := range x.known {
		if _, ok := now[name]; ok {
			continue
		}
		if base, err := fileName(name); err == nil && base == name && standing(filepath.Join(x.o.Out, name), old) {
			if err := os.RemoveAll(filepath.Join(x.o.Out, name)); err != nil {
				return fmt.Errorf("remove output %q, which the pipeline no longer has: %w", name, err)
			}
		}
		delete(x.known, name)
		x.changed = true
	}
	return nil
}

// save writes what is known for the next run.
func (x *exporter) save() error {
	b, err := json.Marshal(x.known)
	if err != nil {
		return err
	}
	tmp, err := durable.Temp(x.o.State, "exports")
	if err != nil {
		return err
	}
	if _, err := tmp.Write(b); err != nil {
		tmp.Close()
		os.Remove(tmp.Name())
		return err
	}
	return durable.Place(tmp, x.stateFile, 0o644) // after a crash it may be damaged: then everything is exported again
}

// fileName is what an output of the pipeline is called in the folder of outputs.
func fileName(output string) (string, error) {
	name := strings.ReplaceAll(output, "/", "-")
	if name == "" || strings.HasPrefix(name, ".") || !filepath.IsLocal(name) || strings.ContainsAny(name, "\\\x00") {
		return "", fmt.Errorf("%q cannot be the name of a file", name)
	}
	return name, nil
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
	literals := map[digest.Digest][]byte{}
	if e.Class == 0 {
		b := []byte(e.Literal + "\n")
		d := w.fn.Bytes(b)
		literals[d] = b
		return tree.Entry{File: &tree.File{Digest: d}}, w.keep(ctx, literals)
	}
	entry, err := w.entry(ctx, nil, e.Artifact, literals)
	if err == nil && entry.File == nil && entry.Dir == nil {
		err = errors.New("it is neither a file nor a folder")
	}
	return entry, err
}

func (w *worker) identity(e tree.Entry) string {
	if e.File != nil {
		return fmt.Sprint(e.File.Digest, e.File.Executable)
	}
	root, _ := e.Dir.Encode(w.fn)
	return root.String()
}

// tempPrefix begins the names of folders in which outputs are made ready, beside their place.
const tempPrefix = ".hexmage"

// place puts the entry at path, replacing what is there, so that path never holds a part of it.
func (w *worker) place(ctx context.Context, e tree.Entry, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("%w: make the folder writable, or give another one with --out", err)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(path), durable.TempName(tempPrefix)+"*")
	if err != nil {
		return fmt.Errorf("%w: make the folder writable, or give another one with --out", err)
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
	return replace(next, path, filepath.Join(tmp, "old"))
}

// replace moves next to path; what is there goes away at the same time, or to old, if the system can do no better. Another
// process, with another store, may be doing the same.
func replace(next, path, old string) error {
	var err error
	for range 10 {
		// A file goes over a file, and anything over nothing.
		if err = os.Rename(next, path); err == nil {
			return nil
		}
		if exchange(next, path) == nil {
			return nil // next is what was there, and goes away with its folder
		}
		if err := os.Rename(path, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.RemoveAll(old); err != nil {
			return err
		}
	}
	return err
}
