package build

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/statefile"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// exporter puts a pipeline's outputs under Options.Out. Of processes that share a state folder, one does so at a time.
type exporter struct {
	*worker
	*exports
	stateFile string
	there     map[string]bool // what is known ahead of it; nil: nothing
	sweep     bool            // a killed run may have left files beside the outputs
}

// exportsFile is where it is remembered what stands in the folder of outputs.
func (o *Options) exportsFile() string {
	return layout.StateDir(o.State).Exports(o.Fn.Bytes([]byte(o.Out)).Hex()[:16])
}

// exportsID names what is remembered now of what stands there.
func (o *Options) exportsID() digest.Digest {
	id, _ := statefile.ReadID(o.exportsFile()) // none, if it cannot be read
	return id
}

// standAsLeft tells whether the outputs stand as they did when what is remembered of them had the id, and nothing else was exported
// since.
func (o *Options) standAsLeft(id digest.Digest) bool {
	if _, err := os.Lstat(o.exportsFile() + writing); err == nil {
		return false // a run was killed while it wrote outputs: what it left beside them has to go
	}
	x, err := readExports(o.exportsFile())
	if err != nil || x.id() != id {
		return false
	}
	there, err := standing(o.Out, slices.Collect(maps.Keys(x.known)), x.known)
	return err == nil && !slices.Contains(there, false)
}

// toExport is an output of the pipeline that has to stand at its place.
type toExport struct {
	plan.Export
	awaited []addrs.Output              // whose content the literal was made from
	id      string                      // what it is, as identity says; "" when that has to be found out
	was     string                      // its id in the last build, where that is known
	load    func() (plan.Export, error) // nil: Export has all; else only Name and Show
}

// export puts the pipeline's outputs in their place. It fills in what it finds out about each of outs.
func (w *worker) export(ctx context.Context, outs []toExport) (ready []event.OutputReady, err error) {
	x := &exporter{worker: w, stateFile: w.o.exportsFile()}
	if err := os.MkdirAll(filepath.Dir(x.stateFile), 0o755); err != nil {
		return nil, err
	}
	unlock, err := atomicfile.Lock(ctx, x.stateFile+".lock")
	if err != nil {
		return nil, fmt.Errorf("wait for another hexmage that writes to %s: %w", w.o.Out, err)
	}
	defer unlock()
	if w.exportCheck.holds(w.o.exportsID()) {
		x.exports, x.there = w.exportCheck.exports, w.exportCheck.there
	} else {
		x.exports = knownExports(x.stateFile)
		x.sweep = x.file == nil // who wrote there last, and whether to the end, is not known
	}
	defer func() {
		if len(x.touch) > 0 { // also after an error: what was exported until then is known
			err = errors.Join(err, x.write(x.stateFile))
		}
	}()
	items, now, err := x.prepare(ctx, outs)
	if perr := x.put(ctx, items); perr != nil {
		err = perr // of an output before the one that could not be prepared
	}
	for _, it := range items {
		if !it.inPlace {
			return ready, err
		}
		out := event.OutputReady{Name: it.Name, Path: filepath.Join(w.o.Out, it.name), Show: it.Show}
		w.o.Sink.Send(out)
		ready = append(ready, out)
	}
	if err == nil && w.o.Prune {
		err = x.prune(now)
	}
	return ready, err
}

// item is an output that is being exported.
type item struct {
	*toExport
	name    string // of its file in Out
	entry   *merkle.Entry
	inPlace bool // it is in its place
	found   exported
	err     error
}

// prepare finds out what the outputs are called and are. It returns those before the first with which that fails, and all
// names with the outputs that have them.
func (x *exporter) prepare(ctx context.Context, outs []toExport) ([]*item, map[string]string, error) {
	items, now := make([]*item, 0, len(outs)), make(map[string]string, len(outs))
	all := make([]item, len(outs))
	for i := range outs {
		it := &all[i]
		it.toExport = &outs[i]
		err := it.prepare(ctx, x, now)
		if err != nil {
			return items, now, fmt.Errorf("output %q: %w", it.Name, err)
		}
		items = append(items, it)
	}
	return items, now, nil
}

func (it *item) prepare(ctx context.Context, x *exporter, now map[string]string) (err error) {
	if it.Resolve != nil {
		it.awaited = it.AwaitValues
		if it.Export, err = x.resolveExport(ctx, it.Export); err != nil {
			return err
		}
	}
	if it.name, err = fileName(it.Name); err != nil {
		return err
	}
	if other, ok := now[it.name]; ok {
		return fmt.Errorf("its place is that of output %q too: rename one of them", other)
	}
	now[it.name] = it.Name
	if it.id == "" {
		if err := it.find(ctx, x); err != nil {
			return err
		}
		it.id = x.identity(*it.entry)
	}
	return nil
}

// find finds out what the output is.
func (it *item) find(ctx context.Context, x *exporter) error {
	if it.entry != nil {
		return nil
	}
	if it.load != nil {
		full, err := it.load()
		if err != nil {
			return err
		}
		it.Export, it.load = full, nil
	}
	e, err := x.exportEntry(ctx, it.Export)
	it.entry = &e
	return err
}

// put makes sure that the outputs stand in their places.
func (x *exporter) put(ctx context.Context, items []*item) error {
	var old []*item
	var names []string
	for _, it := range items {
		if k, ok := x.known[it.name]; ok && k.id == it.id {
			old, names = append(old, it), append(names, it.name)
		}
	}
	there, err := x.standing(names)
	if err != nil {
		return err
	}
	for i, it := range old {
		it.inPlace = there[i]
	}
	var missing []*item
	for _, it := range items {
		if it.inPlace {
			continue
		}
		x.remove(it.name)
		if err = it.find(ctx, x); err != nil {
			err = fmt.Errorf("output %q: %w", it.Name, err)
			break // those before it are put in place
		}
		missing = append(missing, it)
	}
	_, merr := os.Lstat(x.stateFile + writing)
	if len(missing) > 0 || merr == nil { // also when there is only something to tidy up
		if perr := x.place(ctx, missing); perr != nil {
			err = perr
		}
	}
	for _, it := range missing {
		if it.inPlace {
			x.set(it.name, it.found)
		}
	}
	return err
}

// prune removes the outputs of earlier runs that the pipeline no longer has. What somebody changed since stays.
func (x *exporter) prune(now map[string]string) error {
	for name := range x.known {
		if _, ok := now[name]; ok {
			continue
		}
		there, err := standing(x.o.Out, []string{name}, x.known)
		if err != nil {
			return err
		}
		if base, err := fileName(name); err == nil && base == name && there[0] {
			if err := os.RemoveAll(filepath.Join(x.o.Out, name)); err != nil {
				return fmt.Errorf("remove output %q, which the pipeline no longer has: %w", name, err)
			}
		}
		x.remove(name)
	}
	return nil
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
func (w *worker) exportEntry(ctx context.Context, e plan.Export) (merkle.Entry, error) {
	literals := map[digest.Digest][]byte{}
	if e.Class == 0 {
		b := []byte(e.Literal + "\n")
		d := w.fn.Bytes(b)
		literals[d] = b
		return merkle.Entry{File: &merkle.File{Digest: d}}, w.keep(ctx, literals)
	}
	entry, err := w.entry(ctx, nil, e.Artifact, literals)
	if err == nil && entry.File == nil && entry.Dir == nil {
		err = errors.New("it is neither a file nor a folder")
	}
	return entry, err
}

func (w *worker) identity(e merkle.Entry) string {
	if e.File != nil {
		return fmt.Sprint(e.File.Digest, e.File.Executable)
	}
	root, _ := e.Dir.Encode(w.fn)
	return root.String()
}
