package build

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/store"
)

const (
	maxEarly     = 64      // copies that a build makes early: each is an open file until the end
	earlyReserve = 1 << 30 // bytes that stay free on the disk, beside four times the copy: actions must not find it full for what can be made later
)

// earlyCopies makes copies of large outputs as soon as the actions that make them have ended, beside those that still run: one after another, as
// actions come first. A copy has no name until the build ended well and export puts it in its place. So a build that fails leaves what there was, and one
// that is killed nothing that has to be found and removed. Whatever goes wrong with a copy, it is made at the end as if it had not been tried.
type earlyCopies struct {
	w    *worker
	stop context.CancelFunc
	outs []output                           // of the pipeline
	of   func() map[addrs.Output][]string   // file names of what is exported, by what it is
	last func() (known map[string]exported) // what was exported last

	mu     sync.Mutex
	copies map[string]*earlyCopy // by file name
	wanted chan *earlyCopy       // has room for all
}

// earlyCopy is a file without a name that has, or gets, the content of a blob.
type earlyCopy struct {
	digest digest.Digest
	begun  bool          // or nobody wants it any more
	done   chan struct{} // closed when file counts
	file   *os.File      // nil: there is none
}

// copyEarly returns what makes copies of outs. It reads no element of outs after close.
func (w *worker) copyEarly(ctx context.Context, outs []output) *earlyCopies {
	if w.o.Out == "" {
		return nil
	}
	e := &earlyCopies{w: w, outs: outs, copies: map[string]*earlyCopy{}, wanted: make(chan *earlyCopy, maxEarly)}
	ctx, e.stop = context.WithCancel(ctx)
	e.of = sync.OnceValue(e.exported)
	e.last = sync.OnceValue(func() map[string]exported { return knownExports(w.o.exportsFile()).known })
	go e.work(ctx)
	return e
}

// exported finds out what is exported where.
func (e *earlyCopies) exported() map[addrs.Output][]string {
	of := map[addrs.Output][]string{}
	for _, out := range e.outs {
		if out.id != "" {
			continue // it is what it was
		}
		p, err := e.w.plannedOutput(&out)
		if err != nil {
			continue
		}
		if name, err := plan.FileName(p.Name); err == nil && p.Artifact.Artifact != nil && p.Artifact.Sub == "" {
			of[*p.Artifact.Artifact] = append(of[*p.Artifact.Artifact], name)
		}
	}
	return of
}

// ended is told by a worker that its unit has ended. Those of its outputs that are worth it and exported as they are will be copied.
func (e *earlyCopies) ended(u *unit, o *outcome) {
	if e == nil || o.kind != event.Executed {
		return
	}
	for _, made := range o.out {
		if made.Dir || made.Executable || made.Digest.Size() < store.MinRef {
			continue // an executable must not be open for writing while processes are started
		}
		for name, art := range u.instance.outputs {
			if len(art.Parts) != 1 || art.Parts[0].Path != "" || art.Parts[0].Sub != "" {
				continue
			}
			if s := art.Parts[0].Spec; s == nil || s.Spec != u.spec.Name || s.Path != made.Path {
				continue
			}
			for _, file := range e.of()[addrs.Output{Instance: u.instance.plan.At, Name: name}] {
				if e.last()[file].id != e.w.identity(merkle.Entry{File: &merkle.File{Digest: made.Digest}}) { // else it probably stands there
					e.add(file, made.Digest)
				}
			}
		}
	}
}

func (e *earlyCopies) add(name string, d digest.Digest) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.copies[name] == nil && len(e.copies) < maxEarly {
		e.copies[name] = &earlyCopy{digest: d, done: make(chan struct{})}
		e.wanted <- e.copies[name]
	}
}

// work makes the copies that are wanted.
func (e *earlyCopies) work(ctx context.Context) {
	for c := range e.wanted {
		if e.begin(c) {
			c.file = e.copy(ctx, c.digest)
			close(c.done)
		}
	}
}

// begin tells whether nobody has begun with the copy, or given it up.
func (e *earlyCopies) begin(c *earlyCopy) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c.begun {
		return false
	}
	c.begun = true
	return true
}

// copy returns a copy of the blob that has no name, or nil.
func (e *earlyCopies) copy(ctx context.Context, d digest.Digest) *os.File {
	f, err := atomicfile.Unnamed(e.w.o.Out)
	if errors.Is(err, syscall.ENOENT) {
		f, err = atomicfile.Unnamed(filepath.Dir(e.w.o.Out)) // where the folder will be made
	}
	if err != nil {
		return nil
	}
	if free, err := atomicfile.Free(f); err != nil || free-earlyReserve < 4*d.Size() || store.Fill(ctx, e.w.blobs, d, f, 0o644) != nil {
		f.Close()
		return nil
	}
	return f
}

// take returns the copy of the blob that was made for the file name, or nil. A copy that nobody has begun is not made any more: who asks can do so itself.
// The file is the caller's.
func (e *earlyCopies) take(name string, d digest.Digest) *os.File {
	if e == nil {
		return nil
	}
	e.mu.Lock()
	c := e.copies[name]
	delete(e.copies, name)
	e.mu.Unlock()
	if c == nil || e.begin(c) {
		return nil
	}
	<-c.done
	if c.file != nil && c.digest != d {
		c.file.Close()
		return nil
	}
	return c.file
}

// close ends what is being copied, and gives up the copies that nobody took.
func (e *earlyCopies) close() {
	if e == nil {
		return
	}
	e.stop()
	close(e.wanted)
	for _, name := range slices.Collect(maps.Keys(e.copies)) { // nobody adds to them any more
		if f := e.take(name, digest.Digest{}); f != nil {
			f.Close()
		}
	}
}

// named gives a copy without a name the name in the folder, replacing a file that is there. It returns false when that could not be done, and nothing
// was changed.
func (p *placer) named(f *os.File, name, tmp string) bool {
	defer f.Close()
	if tmp == "" {
		return atomicfile.GiveName(f, p.dir.Path(name)) == nil
	}
	if atomicfile.GiveName(f, p.dir.Path(tmp)) != nil {
		return false
	}
	if os.Rename(p.dir.Path(tmp), p.dir.Path(name)) != nil {
		os.Remove(p.dir.Path(tmp))
		return false
	}
	return true
}
