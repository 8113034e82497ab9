package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"sort"
	"sync"
	"sync/atomic"
)

// writer puts entries of one or more archives into a folder. Files and folders are written as they come; links are kept
// back until the end, so that nothing is ever written through one.
type writer struct {
	root *os.Root
	opt  Options

	total    atomic.Int64 // bytes that count for the limits
	padding  atomic.Int64 // of these, what is not in a file
	reported atomic.Int64

	mu      sync.Mutex
	entries map[string]entry
	stats   Stats
}

type entry struct {
	kind   fs.FileMode // 0 for a regular file, fs.ModeDir, fs.ModeSymlink, or hardLink
	target string      // of a link
	source int         // which archive
}

const hardLink = fs.ModeIrregular

func newWriter(root *os.Root, opt Options) *writer {
	return &writer{root: root, opt: opt, entries: map[string]entry{".": {kind: fs.ModeDir}}}
}

// claim enters name, and the folders above it, as an entry of the kind. It tells whether name was there before.
func (w *writer) claim(name string, e entry) (again bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if have, ok := w.entries[dir]; ok {
			if have.kind != fs.ModeDir {
				return false, fmt.Errorf("%w: %q is a %s and also the folder of %q", ErrUnsafe, dir, kindName(have.kind), name)
			}
			break
		}
		w.entries[dir] = entry{kind: fs.ModeDir, source: e.source}
		w.stats.Folders++
	}
	have, again := w.entries[name]
	switch {
	case !again:
	case have.kind != e.kind:
		return false, fmt.Errorf("%w: %q is in it twice, as %s and as %s", ErrUnsafe, name, kindName(have.kind), kindName(e.kind))
	case e.kind != fs.ModeDir && have.source != e.source:
		return false, fmt.Errorf("%w: %q is in two of the archives", ErrUnsafe, name)
	}
	w.entries[name] = e
	if len(w.entries) > w.opt.MaxEntries {
		return false, fmt.Errorf("%w: more than %d entries", ErrTooLarge, w.opt.MaxEntries)
	}
	if !again {
		switch e.kind {
		case 0:
			w.stats.Files++
		case fs.ModeDir:
			w.stats.Folders++
		default:
			w.stats.Links++
		}
	}
	return again, nil
}

func (w *writer) keeps(name string) bool { return w.opt.Keep == nil || w.opt.Keep(name) }

func kindName(m fs.FileMode) string {
	switch m {
	case 0:
		return "file"
	case fs.ModeDir:
		return "folder"
	case fs.ModeSymlink:
		return "symbolic link"
	}
	return "hard link"
}

func (w *writer) folder(name string) error {
	if err := w.root.MkdirAll(name, 0o755); err != nil {
		return fmt.Errorf("make folder %q: %w", name, err)
	}
	return nil
}

// file writes a regular file that has been claimed.
func (w *writer) file(ctx context.Context, src *source, name string, again, executable bool, r io.Reader, buf []byte) error {
	if again { // the later of two entries counts, as in tar
		if err := w.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	perm := os.FileMode(0o644)
	if executable {
		perm = 0o755
	}
	f, err := w.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if errors.Is(err, fs.ErrNotExist) {
		if err := w.folder(path.Dir(name)); err != nil {
			return err
		}
		f, err = w.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	}
	if err != nil {
		return fmt.Errorf("write %q: %w", name, err)
	}
	_, err = io.CopyBuffer(&meter{ctx: ctx, w: w, src: src, to: f}, struct{ io.Reader }{r}, buf)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("entry %q: %w", name, err)
	}
	return nil
}

// meter counts what is written and stops when it is too much.
type meter struct {
	ctx context.Context
	w   *writer
	src *source
	to  io.Writer
}

func (m *meter) Write(p []byte) (int, error) {
	if err := m.ctx.Err(); err != nil {
		return 0, err
	}
	n := int64(len(p))
	total := m.w.total.Add(n)
	if total > m.w.opt.MaxBytes {
		return 0, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, m.w.opt.MaxBytes)
	}
	if own := m.src.written.Add(n); own > ratioFloor && own/m.w.opt.MaxRatio > m.src.packed {
		return 0, fmt.Errorf("%w: %d bytes from an archive of %d bytes", ErrTooLarge, own, m.src.packed)
	}
	if last := m.w.reported.Load(); m.w.opt.Progress != nil && total-last >= 4<<20 && m.w.reported.CompareAndSwap(last, total) {
		m.w.opt.Progress(total)
	}
	return m.to.Write(p)
}

// finish makes the links, hard ones first, and checks that no symbolic link leads out of the folder.
func (w *writer) finish() error {
	links := map[string]string{}
	var hard, soft []string
	for name, e := range w.entries {
		switch e.kind {
		case hardLink:
			hard = append(hard, name)
		case fs.ModeSymlink:
			links[name] = e.target
			soft = append(soft, name)
		}
	}
	sort.Strings(hard)
	sort.Strings(soft)
	for _, name := range hard {
		if err := w.hardLink(name, links, &soft); err != nil {
			return err
		}
	}
	if err := CheckLinks(links); err != nil {
		return err
	}
	for _, name := range soft {
		if err := w.folder(path.Dir(name)); err != nil {
			return err
		}
		if err := w.root.Symlink(links[name], name); err != nil {
			return fmt.Errorf("make link %q: %w", name, err)
		}
	}
	w.stats.Bytes = w.total.Load() - w.padding.Load()
	return nil
}

// hardLink makes one hard link. One to a symbolic link becomes a symbolic link.
func (w *writer) hardLink(name string, links map[string]string, soft *[]string) error {
	target := w.entries[name].target
	for range maxFollows {
		e, ok := w.entries[target]
		switch {
		case !ok || e.kind == fs.ModeDir:
			return fmt.Errorf("%w: hard link %q points to %q, which is no file of it", ErrUnsafe, name, target)
		case e.kind == hardLink:
			target = e.target
			continue
		case e.kind == fs.ModeSymlink:
			to, err := cleanTarget(name, "/"+path.Join(path.Dir(target), e.target), true)
			if err != nil {
				return err
			}
			if err := resolve(target, e.target, links); err != nil {
				return err
			}
			links[name] = to
			*soft = append(*soft, name)
			return nil
		}
		if err := w.folder(path.Dir(name)); err != nil {
			return err
		}
		if err := w.root.Link(target, name); err != nil {
			return fmt.Errorf("make hard link %q: %w", name, err)
		}
		return nil
	}
	return fmt.Errorf("%w: hard link %q goes through too many links", ErrUnsafe, name)
}

// CheckLinks says whether any of the symbolic links of a tree (slash path → relative target) leads out of it, alone or
// through others.
func CheckLinks(links map[string]string) error {
	names := make([]string, 0, len(links))
	for name := range links {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if path.IsAbs(links[name]) {
			return fmt.Errorf("%w: link %q points to the absolute path %q", ErrUnsafe, name, links[name])
		}
		if err := resolve(name, links[name], links); err != nil {
			return err
		}
	}
	return nil
}
