package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
)

// tempPrefix begins the names of files and folders in which outputs are made ready, beside their place.
const tempPrefix = ".hexmage"

// manyFiles is the number of files from which on they are written in a folder of their own first.
const manyFiles = 64

// writing ends the name of the file, beside exportsFile, that is there while outputs are written.
const writing = ".writing"

// atOnce is the size in bytes up to which a file is read whole and written at once.
const atOnce = 64 << 10

// place puts outputs in their places, replacing what is there, so that no place ever holds a part of one. Several are
// written at once. The error is that of the first, in their order, that failed.
func (x *exporter) place(ctx context.Context, outs []*output) error {
	// A marker stands while outputs are written. One that stands already was left by a run that was killed, and so may be other things.
	marker := x.stateFile + writing
	f, err := os.OpenFile(marker, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err == nil {
		err = f.Close()
	} else if errors.Is(err, fs.ErrExist) {
		x.sweep, err = true, nil
	}
	if err != nil {
		return err
	}
	defer os.Remove(marker)
	store.Fetch(ctx, x.o.Blobs, func(yield func(digest.Digest) bool) { // those of folders come when these are written
		for _, out := range outs {
			if f := out.entry.File; f != nil && !yield(f.Digest) {
				return
			}
		}
	})
	fresh, err := x.placeFresh(ctx, outs)
	if err == nil && !fresh {
		err = x.placeIn(ctx, outs, x.o.Out, true)
	}
	if err != nil {
		return unwritable(x.o.Out, err)
	}
	for _, out := range outs {
		if out.err != nil {
			return fmt.Errorf("output %q: %w", out.Name, out.err)
		}
	}
	return nil
}

// unwritable is the error for a folder of outputs that is none, or may not be written.
func unwritable(dir string, err error) error {
	for at := dir; ; at = filepath.Dir(at) {
		info, e := os.Stat(at)
		switch {
		case e != nil && at != filepath.Dir(at):
			continue
		case e != nil:
		case !info.IsDir():
			return fmt.Errorf("%s is a file, and outputs want a folder there: remove it, or give another place with --out", at)
		case errors.Is(err, fs.ErrPermission):
			return fmt.Errorf("%s may not be written by you (%w): make the folder writable, or give another one with --out", at, fs.ErrPermission)
		}
		return fmt.Errorf("%w: make the folder writable, or give another one with --out", err)
	}
}

// placeFresh makes the whole folder of outputs elsewhere and moves it to its place, if there is none yet: that saves a rename
// for each output. It returns false when there is one.
func (x *exporter) placeFresh(ctx context.Context, outs []*output) (bool, error) {
	if _, err := os.Lstat(x.o.Out); !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	parent := filepath.Dir(x.o.Out)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return false, err
	}
	if x.sweep {
		_ = atomicfile.SweepNamed(parent, tempPrefix, 0) // what cannot be removed does no harm
	}
	tmp, err := os.MkdirTemp(parent, atomicfile.TempName(tempPrefix)+"*")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(tmp)
	next := filepath.Join(tmp, "new")
	if err := os.Mkdir(next, 0o755); err != nil {
		return false, err
	}
	if err := x.placeIn(ctx, outs, next, false); err != nil {
		return false, err
	}
	// Also after a failure: what could be exported is there. Another process, with another store, may have made the folder.
	if err := os.Rename(next, x.o.Out); err != nil {
		for _, out := range outs {
			out.inPlace, out.err = false, nil
		}
		return false, nil
	}
	return true, nil
}

// placeIn writes outputs to the folder, on several goroutines. Each is moved to its name when it is whole, if move is true.
func (x *exporter) placeIn(ctx context.Context, outs []*output, folder string, move bool) error {
	if move {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		if x.sweep {
			_ = atomicfile.SweepNamed(folder, tempPrefix, 0)
		}
	}
	temp := ""
	if move && len(outs) >= manyFiles {
		dir, err := os.MkdirTemp(folder, atomicfile.TempName(tempPrefix)+"*")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		if err := os.Mkdir(filepath.Join(dir, "new"), 0o755); err != nil {
			return err
		}
		temp = filepath.Base(dir) + "/new"
	}
	dir, err := atomicfile.OpenDir(folder)
	if err != nil {
		return err
	}
	var next atomic.Int64
	var failed atomic.Bool
	work := func() {
		p := placer{worker: x.worker, dir: dir, move: move, temp: temp}
		for !failed.Load() {
			i := int(next.Add(1)) - 1
			if i >= len(outs) {
				return
			}
			out := outs[i]
			if out.found, out.err = p.place(ctx, out); out.err != nil {
				failed.Store(true)
			} else {
				out.inPlace = true
			}
		}
	}
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (len(outs)+7)/8+large(outs), len(outs)) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	return nil
}

// large tells how many files there are of which each is worth a goroutine.
func large(outs []*output) (n int) {
	for _, out := range outs {
		if f := out.entry.File; f != nil && f.Digest.Size() >= atOnce {
			n++
		}
	}
	return n
}

// placer puts one output after another in place.
type placer struct {
	*worker
	dir  *atomicfile.Dir
	move bool
	temp string // folder in dir where files are made that are moved, or "" for dir itself
	buf  []byte
}

func (p *placer) place(ctx context.Context, out *output) (exported, error) {
	e := exported{id: out.id, dir: out.entry.Dir != nil}
	to := p.dir.Path(out.name)
	if f := out.entry.File; f != nil {
		perm := fs.FileMode(0o644)
		if f.Executable {
			perm = 0o755
		}
		var err error
		if e.files, err = p.file(ctx, f.Digest, out.name, perm); !errors.Is(err, errInTheWay) {
			return e, err
		}
	}
	var err error
	e.files, err = p.replace(ctx, *out.entry, to)
	return e, err
}

// replace puts the entry at path with a folder beside it to help, in which the entry becomes whole, and what is at path goes.
func (p *placer) replace(ctx context.Context, e merkle.Entry, path string) (files []fileStamp, err error) {
	tmp, err := os.MkdirTemp(filepath.Dir(path), atomicfile.TempName(tempPrefix)+"*")
	if err != nil {
		return nil, unwritable(filepath.Dir(path), err)
	}
	defer os.RemoveAll(tmp)
	next := filepath.Join(tmp, "new")
	if e.File != nil {
		perm := fs.FileMode(0o644)
		if e.File.Executable {
			perm = 0o755
		}
		err = store.CopyFile(ctx, p.blobs, e.File.Digest, next, perm)
	} else {
		root, blobs := e.Dir.Encode(p.fn)
		if err = p.keep(ctx, blobs); err == nil {
			err = merkle.Materialise(ctx, p.blobs, merkle.Ref(root), next, merkle.MaterialiseOptions{Copy: true})
		}
	}
	if err == nil && e.Dir != nil {
		files, err = stamps(next) // moving the folder does not change them
	}
	if err == nil {
		err = replace(next, path, filepath.Join(tmp, "old"))
	}
	if err == nil && e.File != nil {
		files = p.stamp(path)
	}
	return files, err
}

// stamp returns the stamp of the file that was just moved to path: none if somebody has moved it away since.
func (p *placer) stamp(path string) []fileStamp {
	st, err := p.dir.Stat(path)
	if err != nil {
		return nil
	}
	return []fileStamp{{"", st}}
}

// read returns the content of a small blob, verified, in memory that the next read reuses.
func (p *placer) read(ctx context.Context, d digest.Digest) ([]byte, error) {
	r, err := p.blobs.Open(ctx, d)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if p.buf == nil {
		p.buf = make([]byte, atOnce+1)
	}
	n := 0
	for {
		k, err := r.Read(p.buf[n:]) // the reader fails where there is more than d says
		n += k
		if err == io.EOF {
			return p.buf[:n], nil
		}
		if err != nil {
			return nil, err
		}
		if n == len(p.buf) {
			return nil, fmt.Errorf("blob %s: %w", d, store.ErrCorrupt)
		}
	}
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

// errInTheWay says that something stands in an output's place which a rename does not replace.
var errInTheWay = errors.New("a folder is in the way")

// file puts a file in place under the name and returns its stamp there, if it is known.
func (p *placer) file(ctx context.Context, d digest.Digest, name string, perm fs.FileMode) ([]fileStamp, error) {
	tmp := ""
	if p.move {
		tmp = p.dir.TempName(p.temp, tempPrefix)
	}
	if d.Size() <= atOnce {
		b, err := p.read(ctx, d)
		if err != nil {
			return nil, err
		}
		st, err := p.dir.CreateStamped(name, tmp, b, perm, time.Time{})
		return []fileStamp{{"", st}}, inTheWay(err)
	}
	if f := p.early.Load().take(name, d); f != nil && p.named(f, name, tmp) {
		return p.stamp(name), nil
	}
	at := name
	if p.move {
		at = tmp
	}
	if err := store.CopyFile(ctx, p.blobs, d, p.dir.Path(at), perm); err != nil {
		return nil, err
	}
	if p.move {
		if err := os.Rename(p.dir.Path(tmp), p.dir.Path(name)); err != nil {
			os.Remove(p.dir.Path(tmp))
			return nil, inTheWay(err)
		}
	}
	return p.stamp(name), nil
}

func inTheWay(err error) error {
	if errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fs.ErrExist) {
		return errors.Join(errInTheWay, err)
	}
	return err
}
