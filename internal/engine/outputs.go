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

// tempPrefix begins the names of folders in which outputs are made ready, beside their places.
const tempPrefix = ".hexmage"

// output is an output of the pipeline on the way to its place.
type output struct {
	state.Output
	entry   merkle.Entry
	inPlace bool
	err     error
}

// CheckOut refuses a folder of outputs to which a link leads from the folder in ("": the one that out is in): outputs
// would be written wherever the author of a workspace wants them.
func CheckOut(in, out string) error {
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
			return nil // there is nothing yet, or writing there fails with a better error
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			to, _ := os.Readlink(at)
			return fmt.Errorf("%s is a link to %s, and outputs follow no link: remove it, or name with --out where "+
				"they are to go", at, to)
		}
	}
	return nil
}

// putOutputs puts the pipeline's outputs into Options.Out and removes those that the pipeline no longer has. An
// output that stands there already is not touched. After an error, the outputs before the one that failed are in
// their places.
func (w *worker) putOutputs(ctx context.Context, all []plan.Output) (done []state.Output, err error) {
	if err := CheckOut(w.o.OutIn, w.o.Out); err != nil {
		return nil, err
	}
	lock := layout.StateDir(w.o.State).OutputLock(w.fn.Bytes([]byte(w.o.Out)).Hex()[:16])
	if err := os.MkdirAll(filepath.Dir(lock), 0o755); err != nil {
		return nil, err
	}
	unlock, err := atomicfile.Lock(ctx, lock)
	if err != nil {
		return nil, fmt.Errorf("wait for another hexmage that writes to %s: %w", w.o.Out, err)
	}
	defer unlock()
	_ = atomicfile.SweepNamed(w.o.Out, tempPrefix, 0) // of killed runs; what cannot be removed does no harm
	outs, err := w.findOutputs(ctx, all)
	p := &placer{worker: w}
	defer p.close()
	if perr := p.place(ctx, outs); perr != nil {
		err = unwritable(w.o.Out, perr)
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

// findOutputs finds out what each output is, up to the first that cannot be found.
func (w *worker) findOutputs(ctx context.Context, all []plan.Output) ([]output, error) {
	outs := make([]output, 0, len(all))
	at := map[string]string{}
	for _, p := range all {
		name, err := plan.FileName(p.Name)
		if other, ok := at[name]; ok && err == nil {
			err = fmt.Errorf("its place is that of output %q too: rename one of them", other)
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
		if w.o.Extender == nil {
			return merkle.Entry{}, errors.New("it waits for values, and this build cannot evaluate it with them")
		}
		values, err := w.allValues(ctx, out.AwaitValues)
		if err == nil {
			out, err = w.o.Extender.ExtendOutput(out.Name, plan.Known{Values: values})
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
		err = errors.New("it is neither a file nor a folder")
	}
	return entry, err
}

// identity names the content of an output.
func (w *worker) identity(e merkle.Entry) string {
	if e.File != nil {
		return e.File.Digest.String() + " " + strconv.FormatBool(e.File.Executable)
	}
	root, _ := e.Dir.Encode(w.fn)
	return root.String()
}

// placer puts outputs in their places.
type placer struct {
	*worker
	once sync.Once
	temp string // folder beside the outputs; "" before it is needed
	err  error
}

func (p *placer) close() {
	if p.temp != "" {
		_ = os.RemoveAll(p.temp)
	}
}

// place leaves outputs that stand as they are to be, and replaces the others, each by one rename.
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
	_ = each(func(_ int, out *output) error { // it returns no error
		out.Files, out.inPlace = p.current(ctx, out)
		return nil
	})
	// A far remote takes one round trip for all files, not one for each.
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

// openTemp makes the folder in which outputs are made ready. The state file of the request goes first: a run that is
// killed from now on leaves outputs that no state file describes, so the next run looks at all of them.
func (p *placer) openTemp() error {
	p.once.Do(func() {
		if p.o.StateFile != "" {
			if p.err = os.Remove(p.o.StateFile); errors.Is(p.err, fs.ErrNotExist) {
				p.err = nil
			}
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

// current tells whether the output is in its place, by its stamps from the last run or else by its content. It
// returns the files of one that does.
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
		return nil, false // a link that leads out, for one, was put there by somebody else
	}
	root, _ := d.Encode(p.fn)
	files := looked.all()
	for i := range files {
		files[i].Racy = false // as those of an output that was just put in place
	}
	return files, root.String() == out.ID
}

func permOf(f *merkle.File) fs.FileMode {
	if f.Executable {
		return 0o755
	}
	return 0o644
}

// replace makes the output under a temporary name and moves it to its place.
func (p *placer) replace(ctx context.Context, out *output, temp string) error {
	next := filepath.Join(p.temp, temp)
	var err error
	if f := out.entry.File; f != nil {
		err = store.CopyFile(ctx, p.blobs, f.Digest, next, permOf(f))
	} else {
		root, blobs := out.entry.Dir.Encode(p.fn)
		if err = p.keep(ctx, blobs); err == nil {
			err = merkle.Materialise(ctx, p.blobs, merkle.Ref(root), next, merkle.MaterialiseOptions{Copy: true})
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

// relocate gives the files of an output their new paths. The move changes only the ctime of the file or folder that
// was moved: if anything else changed, somebody has replaced it since.
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

// exchangeOrMove moves next to path; what is there goes away at the same time, or to old if the system can do no
// better. Another process with another cache may do the same.
func exchangeOrMove(next, path, old string) error {
	var err error
	for range 10 {
		// A file replaces a file, and anything replaces nothing.
		if err = os.Rename(next, path); err == nil {
			return nil
		}
		if exchange(next, path) == nil {
			return nil // next is the old output now, and goes away with its folder
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

// prune removes the outputs of the last run that the pipeline no longer has. An output that somebody has changed
// stays.
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

// unwritable returns the error for a folder of outputs that is a file, or that the user may not write to.
func unwritable(dir string, err error) error {
	for at := dir; ; at = filepath.Dir(at) {
		info, e := os.Stat(at)
		switch {
		case e != nil && at != filepath.Dir(at):
			continue
		case e != nil:
		case !info.IsDir():
			return fmt.Errorf("%s is a file, but outputs need a folder there: remove it, or choose another place "+
				"with --out", at)
		case errors.Is(err, fs.ErrPermission):
			return fmt.Errorf("%s may not be written by you (%w): make the folder writable, or give another one "+
				"with --out", at, fs.ErrPermission)
		}
		return fmt.Errorf("%w: make the folder writable, or give another one with --out", err)
	}
}
