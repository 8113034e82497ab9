package archive

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"sync"
	"sync/atomic"
)

// writer writes entries of archives into a folder. It writes files and folders at once. It creates symbolic links at
// the end, so that no file is written through a link.
type writer struct {
	root   *os.Root
	opt    Options
	packed int64 // bytes of all archives

	written  atomic.Int64 // bytes that count for the limits
	read     atomic.Int64 // of packed
	reported atomic.Int64

	mu      sync.Mutex
	entries map[string]entry
	folded  map[string]string // names as case-insensitive file systems see them; empty for Debian packages
}

type entry struct {
	kind   fs.FileMode // 0 for a regular file, fs.ModeDir or fs.ModeSymlink
	target string      // of a link
	source int         // index of the archive
	exact  bool        // names may differ only in case
}

func newWriter(root *os.Root, opt Options, packed int64) *writer {
	return &writer{root: root, opt: opt, packed: packed, entries: map[string]entry{".": {kind: fs.ModeDir}},
		folded: map[string]string{}}
}

// claim reserves name for an entry, and creates it if it is a folder. It claims and creates the folders above it first.
// A name can be claimed twice only by folders.
func (w *writer) claim(name string, e entry) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.enter(name, e)
}

func (w *writer) enter(name string, e entry) error {
	have, again := w.entries[name]
	switch {
	case !again:
	case have.kind != e.kind:
		return fmt.Errorf("%w: entry %q occurs twice, as a %s and as a %s", ErrUnsafe, name, kindName(have.kind),
			kindName(e.kind))
	case e.kind == fs.ModeDir:
		return nil
	case have.source != e.source:
		return fmt.Errorf("%w: two archives contain the entry %q", ErrUnsafe, name)
	default:
		return fmt.Errorf("%w: the archive contains the entry %q twice", ErrUnsafe, name)
	}
	above := entry{kind: fs.ModeDir, source: e.source, exact: e.exact}
	if err := w.enter(path.Dir(name), above); err != nil {
		return err
	}
	if err := w.fold(name, e); err != nil {
		return err
	}
	w.entries[name] = e
	if len(w.entries) > w.opt.MaxEntries {
		return fmt.Errorf("%w: more than %d entries", ErrTooLarge, w.opt.MaxEntries)
	}
	if e.kind == fs.ModeDir {
		if err := w.root.Mkdir(name, 0o755); err != nil {
			return fmt.Errorf("create folder %q: %w", name, err)
		}
	}
	return nil
}

// fold rejects a name that some file systems map to the file of an existing name.
func (w *writer) fold(name string, e entry) error {
	if e.exact {
		return nil
	}
	key := foldName(name)
	if other, ok := w.folded[key]; ok && other != name {
		return fmt.Errorf("%w: %q and %q differ only in case or Unicode form; select one of them with `only`, or set "+
			"`case_matters = true` if the archive is for Linux", ErrUnsafe, other, name)
	}
	w.folded[key] = name
	return nil
}

func (w *writer) keeps(name string) bool { return w.opt.Keep == nil || w.opt.Keep(name) }

func kindName(m fs.FileMode) string {
	switch m {
	case 0:
		return "file"
	case fs.ModeDir:
		return "folder"
	}
	return "symbolic link"
}

// file writes a claimed regular file.
func (w *writer) file(ctx context.Context, src *source, name string, executable bool, r io.Reader,
	buf []byte) error {
	perm := os.FileMode(0o644)
	if executable {
		perm = 0o755
	}
	f, err := w.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return fmt.Errorf("write %q: %w", name, err)
	}
	err = w.copy(ctx, src, f, r, buf)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// copy fills buf before each write, so that a small file takes one write call. f may be nil.
func (w *writer) copy(ctx context.Context, src *source, f *os.File, r io.Reader, buf []byte) error {
	for {
		n, err := fillBuffer(r, buf)
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		if err := w.count(src, int64(n)); err != nil {
			return err
		}
		if f != nil && n > 0 {
			if _, err := f.Write(buf[:n]); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// count stops an archive that exceeds a limit of unpacked bytes.
func (w *writer) count(src *source, n int64) error {
	if total := w.written.Add(n); total > w.opt.MaxBytes {
		return fmt.Errorf("%w: more than %d bytes of content", ErrTooLarge, w.opt.MaxBytes)
	}
	if own := src.written.Add(n); own > ratioFloor && own/w.opt.MaxRatio > src.packed {
		return fmt.Errorf("%w: %d bytes of content in an archive of only %d bytes", ErrTooLarge, own, src.packed)
	}
	return nil
}

const reportStep = 4 << 20 // bytes of archive between two calls of Progress

// consumed reports n processed bytes of the archive.
func (s *source) consumed(w *writer, n int64) {
	have := s.read.Add(n)
	if over := have - s.packed; over > 0 { // bytes between members are counted only at the end
		n -= over
		s.read.Add(-over)
	}
	done := w.read.Add(n)
	if last := w.reported.Load(); w.opt.Progress != nil &&
		(done-last >= reportStep || done == w.packed && done > last) && w.reported.CompareAndSwap(last, done) {
		w.opt.Progress(done, w.packed)
	}
}

// finish creates the symbolic links after checking that they stay in the folder.
func (w *writer) finish() error {
	links := map[string]string{}
	for name, e := range w.entries {
		if e.kind == fs.ModeSymlink {
			links[name] = e.target
		}
	}
	for _, name := range slices.Sorted(maps.Keys(links)) {
		if err := resolve(name, links[name], links); err != nil {
			return err
		}
	}
	for name, target := range links {
		if err := w.root.Symlink(target, name); err != nil {
			return fmt.Errorf("create link %q: %w", name, err)
		}
	}
	return nil
}

// hardLink makes name a hard link to target, which is already unpacked. A hard link to a symbolic link becomes a
// symbolic link.
func (w *writer) hardLink(s *source, name, target string) error {
	w.mu.Lock()
	e, ok := w.entries[target]
	w.mu.Unlock()
	switch {
	case ok && e.kind == fs.ModeSymlink:
		to, err := cleanTarget(name, "/"+path.Join(path.Dir(target), e.target), true)
		if err != nil {
			return err
		}
		return w.claim(name, s.entry(fs.ModeSymlink, to))
	case !ok || e.kind != 0:
		return fmt.Errorf("%w: hard link %q points to %q, which is not an earlier file in the archive", ErrUnsafe,
			name, target)
	}
	if err := w.claim(name, s.entry(0, "")); err != nil {
		return err
	}
	if err := w.root.Link(target, name); err != nil {
		return fmt.Errorf("create hard link %q: %w", name, err)
	}
	return nil
}
