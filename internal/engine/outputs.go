package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/state"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// tempPrefix begins the names of folders in which outputs are prepared, beside their final paths.
const tempPrefix = ".hexmage"

// output is an output of the pipeline while it is exported.
type output struct {
	state.Output
	entry   merkle.Entry
	inPlace bool
	err     error
}

// ValidateOutputDir returns an error if the output folder out is a link. If the parameter in is not "", it also checks
// each folder between in and out. Without this check, a workspace could make hexmage write outputs to any folder of the
// user.
func ValidateOutputDir(in, out string) error {
	if in == "" {
		in = filepath.Dir(out)
	}
	rel, err := filepath.Rel(in, out)
	if err != nil {
		return err
	}
	at := in
	for _, name := range strings.Split(rel, string(filepath.Separator)) {
		at = filepath.Join(at, name)
		info, err := os.Lstat(at)
		if err != nil {
			return nil // the path is absent, or writing to it fails with a better error
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			to, _ := os.Readlink(at)
			return fmt.Errorf("%s is a link to %s, but hexmage does not write outputs through links; remove the "+
				"link, or choose another folder with --out", at, to)
		}
	}
	return nil
}

// putOutputs exports the pipeline's outputs to Options.Out and removes outputs that the pipeline no longer has. It
// skips outputs that are up to date. After an error, the outputs before the failed one are in place.
func (w *worker) putOutputs(ctx context.Context, all []plan.Output) (done []state.Output, err error) {
	if err := ValidateOutputDir(w.o.OutIn, w.o.Out); err != nil {
		return nil, err
	}
	lock := layout.StateDir(w.o.State).OutputLock(w.fn.Bytes([]byte(w.o.Out)).Hex()[:16])
	if err := os.MkdirAll(filepath.Dir(lock), 0o755); err != nil {
		return nil, err
	}
	unlock, err := atomicfile.Lock(ctx, lock)
	if err != nil {
		return nil, fmt.Errorf("cannot wait for the other hexmage process that is writing to %s: %w", w.o.Out, err)
	}
	defer unlock()
	_ = atomicfile.SweepNamed(w.o.Out, tempPrefix, 0) // left by killed runs; a failure here is harmless
	outs, err := w.findOutputs(ctx, all)
	p := &placer{worker: w}
	defer p.close()
	if perr := p.place(ctx, outs); perr != nil {
		err = errors.Join(err, unwritable(w.o.Out, perr))
	}
	for i := range outs {
		if outs[i].err != nil {
			return done, fmt.Errorf("output %q: %w", outs[i].Name, outs[i].err)
		}
		if !outs[i].inPlace {
			return done, err
		}
		w.o.Sink.Send(outs[i].OutputReady)
		done = append(done, outs[i].Output)
	}
	if err == nil && w.o.Prune {
		err = p.prune(done)
	}
	return done, err
}

// findOutputs finds the content of each output, up to the first error.
func (w *worker) findOutputs(ctx context.Context, all []plan.Output) ([]output, error) {
	outs := make([]output, 0, len(all))
	at := map[string]string{}
	for _, p := range all {
		name, err := plan.FileName(p.Name)
		if other, ok := at[name]; ok && err == nil {
			err = fmt.Errorf("output %q has the same path; rename one of the outputs", other)
		}
		var e merkle.Entry
		if err == nil {
			at[name] = p.Name
			e, err = w.outputEntry(ctx, p)
		}
		if err != nil {
			return outs, fmt.Errorf("output %q: %w", p.Name, err)
		}
		ready := event.OutputReady{Name: p.Name, Path: filepath.Join(w.o.Out, name), Show: p.Show}
		outs = append(outs, output{Output: state.Output{OutputReady: ready, ID: w.identity(e)}, entry: e})
	}
	return outs, nil
}

// outputEntry returns the content of an output of the pipeline.
func (w *worker) outputEntry(ctx context.Context, out plan.Output) (merkle.Entry, error) {
	if out.Waits != plan.ForNothing {
		if w.o.Resolver == nil {
			return merkle.Entry{}, errors.New("the output needs values from steps, but this build cannot evaluate " +
				"outputs")
		}
		values, err := w.allValues(ctx, out.AwaitValues)
		if err == nil {
			out, err = w.o.Resolver.ExtendOutput(out.Name, plan.ResolvedInputs{Values: values})
		}
		if err != nil {
			return merkle.Entry{}, err
		}
	}
	literals := map[digest.Digest][]byte{}
	if out.Class == 0 {
		b := []byte(out.Literal + "\n")
		d := w.fn.Bytes(b)
		literals[d] = b
		return merkle.Entry{File: &merkle.File{Digest: d}}, w.keep(ctx, literals)
	}
	entry, err := w.entry(ctx, nil, out.Artifact, literals)
	if err == nil && entry.File == nil && entry.Dir == nil {
		err = errors.New("the value is neither a file nor a folder")
	}
	return entry, err
}

// identity identifies the content of an output.
func (w *worker) identity(e merkle.Entry) string {
	if e.File != nil {
		return e.File.Digest.String() + " " + strconv.FormatBool(e.File.Executable)
	}
	root, _ := e.Dir.Encode(w.fn)
	return root.String()
}

// placer exports outputs.
type placer struct {
	*worker
	once sync.Once
	temp string // folder beside the outputs; "" until it is needed
	err  error
}

func (p *placer) close() {
	if p.temp != "" {
		_ = os.RemoveAll(p.temp)
	}
}

// place skips outputs that are up to date and replaces the others, each by one rename.
func (p *placer) place(ctx context.Context, outs []output) error {
	each := func(f func(i int, out *output) error) error {
		g := errgroup.Group{}
		g.SetLimit(runtime.GOMAXPROCS(0))
		for i := range outs {
			if !outs[i].inPlace {
				g.Go(func() error { return f(i, &outs[i]) })
			}
		}
		return g.Wait()
	}
	_ = each(func(_ int, out *output) error { // the functions return no error
		out.Files, out.inPlace = p.current(ctx, out)
		return nil
	})
	// One batch: a remote with high latency then costs one round trip for all files, not one for each.
	store.Fetch(ctx, p.o.Blobs, func(yield func(digest.Digest) bool) {
		for _, out := range outs {
			if f := out.entry.File; f != nil && !out.inPlace && !yield(f.Digest) {
				return
			}
		}
	})
	return each(func(i int, out *output) error {
		if err := p.openTemp(); err != nil {
			return err
		}
		out.err = p.replace(ctx, out, strconv.Itoa(i))
		out.inPlace = out.err == nil
		return nil
	})
}

// openTemp creates the folder in which outputs are prepared. It first makes the state file of the last run invalid: if
// this run fails or is killed, the next run checks all outputs. The file still lists the outputs to prune.
func (p *placer) openTemp() error {
	p.once.Do(func() {
		if p.o.StateFile != "" && p.o.Last != nil {
			last := *p.o.Last
			last.Always = true
			p.err = last.Write(p.o.StateFile)
		}
		if p.err == nil {
			p.err = os.MkdirAll(p.o.Out, 0o755)
		}
		if p.err == nil {
			p.temp, p.err = os.MkdirTemp(p.o.Out, atomicfile.TempName(tempPrefix)+"*")
		}
	})
	return p.err
}

// current reports whether the output is up to date, by its stamps from the last run or else by its content. If so, it
// returns its files.
func (p *placer) current(ctx context.Context, out *output) ([]state.Seen, bool) {
	if last := p.o.Last.Output(out.Name); last != nil && last.Path == out.Path && last.ID == out.ID &&
		last.Holds() == nil {
		return last.Files, true
	}
	st, err := stat.Lstat(out.Path)
	if f := out.entry.File; f != nil {
		if err != nil || !st.IsRegular() || st.Size != f.Digest.Size() || fs.FileMode(st.Mode).Perm() != permOf(f) {
			return nil, false
		}
		d, err := p.hasher(out.Path, st)
		return []state.Seen{{Path: out.Path, Stamp: st}}, err == nil && d == f.Digest
	}
	if err != nil || !st.IsDir() {
		return nil, false
	}
	var looked lookedAt
	d, err := merkle.Scan(ctx, p.hasher, out.Path, merkle.ScanOptions{
		Seen: func(rel string, st stat.Stamp) { looked.add(filepath.Join(out.Path, filepath.FromSlash(rel)), st) }})
	if err != nil {
		return nil, false // for example, a foreign link that leads out of the folder
	}
	root, _ := d.Encode(p.fn)
	files := looked.all()
	for i := range files {
		files[i].Racy = false // like the files of an output that was just exported
	}
	return files, root.String() == out.ID
}

func permOf(f *merkle.File) fs.FileMode {
	if f.Executable {
		return 0o755
	}
	return 0o644
}

// replace creates the output under a temporary name and renames it to its path.
func (p *placer) replace(ctx context.Context, out *output, temp string) error {
	next := filepath.Join(p.temp, temp)
	var err error
	if f := out.entry.File; f != nil {
		err = store.CopyFile(ctx, p.blobs, f.Digest, next, permOf(f))
	} else {
		root, blobs := out.entry.Dir.Encode(p.fn)
		if err = p.keep(ctx, blobs); err == nil {
			err = merkle.Materialize(ctx, p.blobs, merkle.Ref(root), next, true)
		}
	}
	if err != nil {
		return err
	}
	if out.Files, err = state.SeeTree(next); err != nil {
		return err
	}
	if err := exchangeOrMove(next, out.Path, next+".old"); err != nil {
		return err
	}
	return relocate(out.Files, next, out.Path)
}

// relocate gives the files of an output their new paths. The rename changes only the ctime of the renamed file or
// folder. Any other change means that another process replaced the output.
func relocate(files []state.Seen, from, to string) error {
	for i := range files {
		f := &files[i]
		f.Path = to + strings.TrimPrefix(f.Path, from)
		if f.Path == to {
			now, err := stat.Lstat(to)
			if err != nil {
				return err
			}
			f.Stamp.CTime = now.CTime
			f.Racy = f.Stamp != now
		}
	}
	return nil
}

// exchangeOrMove renames next to path. It removes the previous content of path in the same call, or moves it to old if
// the system cannot exchange paths. Another process with another cache may do the same concurrently.
func exchangeOrMove(next, path, old string) error {
	var err error
	for range 10 {
		// A rename is enough if path is a file or absent.
		if err = os.Rename(next, path); err == nil {
			return nil
		}
		if exchange(next, path) == nil {
			return nil // next is the old output now; it is removed with its folder
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

// prune removes outputs of the last run that the pipeline no longer has. It keeps outputs that were modified.
func (p *placer) prune(now []state.Output) error {
	if p.o.Last == nil {
		return nil
	}
	has := map[string]bool{}
	for _, out := range now {
		has[out.Path] = true
	}
	for _, out := range p.o.Last.Outputs {
		name, err := plan.FileName(out.Name)
		if has[out.Path] || err != nil || out.Path != filepath.Join(p.o.Out, name) || out.Holds() != nil {
			continue
		}
		if err := os.RemoveAll(out.Path); err != nil {
			return fmt.Errorf("remove output %q, which the pipeline no longer has: %w", out.Name, err)
		}
	}
	return nil
}

// unwritable returns the error for an output folder that is a file or not writable.
func unwritable(dir string, err error) error {
	for at := dir; ; at = filepath.Dir(at) {
		info, e := os.Stat(at)
		switch {
		case e != nil && at != filepath.Dir(at):
			continue
		case e != nil:
		case !info.IsDir():
			return fmt.Errorf("%s is a file, but outputs need a folder; remove the file, or choose another folder "+
				"with --out", at)
		case errors.Is(err, fs.ErrPermission):
			return fmt.Errorf("no permission to write to %s (%w); make the folder writable, or choose another folder "+
				"with --out", at, fs.ErrPermission)
		}
		return fmt.Errorf("%w; make the folder writable, or choose another folder with --out", err)
	}
}
