package local

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/zeebo/blake3"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/store"
)

const (
	// keepFrom is how many files a folder of inputs must have to be kept: making and removing so many costs more than to look
	// whether they are as they were.
	keepFrom = 512
	// maxKept is how many folders are kept. Each takes the names of its files only, which are links to the store.
	maxKept = 16
	// keptFor is for how long a folder is taken again. Then it is laid out anew, so that the store reads what it links: a bit that
	// flipped on the disk shows in no time of a file.
	keptFor = 7 * 24 * time.Hour

	keptMagic = "hexmage kept folder 3\n"
)

// keptFile is a file of a kept folder.
type keptFile struct {
	name string
	merkle.File
}

// larder keeps large folders of inputs, laid out, from one run of an action to the next, in which mostly few of the files are
// others. A folder is one action's at a time: who takes it moves it away.
//
// Beside each folder stands a list of what is in it. It counts only if the folder has the stamp that it had, so that no
// file came, went, or took the place of another, and a file in it only if it is untouched since the store linked it.
type larder struct {
	dir   string // "": nothing is kept
	blobs store.Blobs
	fn    digest.Function
	after time.Time // folders that were laid out before do not count
}

// laid is a folder of an exec root that goes back to the larder.
type laid struct {
	key   string
	path  string
	files map[string]merkle.File
	since time.Time  // when all of it was laid out
	stamp stat.Stamp // of the folder, before the command started
}

// key names the folder at a slash path of the action's exec root. It is the same for the next run of the same command.
func (l *larder) key(a *action.Action, at string) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%q %q %q", at, a.Command.Outputs, a.Command.Args[:min(len(a.Command.Args), 2)])
	return l.fn.Bytes(b.Bytes()).Hex()[:32]
}

// keeps tells whether a folder is one of those that are kept.
func (l *larder) keeps(d *merkle.Dir) bool {
	_, ok := l.blobs.(store.Local)
	return ok && l.dir != "" && len(d.Files) >= keepFrom && len(d.Dirs)+len(d.Symlinks) == 0
}

// take puts a kept folder at f.path and makes its files f.files, by link for each that is another. It returns false, and
// leaves nothing at the path, where that is no gain.
func (l *larder) take(f *laid, link func(name string, f merkle.File) error) (bool, error) {
	at, path := filepath.Join(l.dir, f.key), f.path
	st, err := stat.Lstat(at)
	if err != nil || !st.IsDir() {
		return false, nil
	}
	has, since, ok := l.list(f.key, st)
	if !ok || os.Rename(at, path) != nil {
		return false, nil // somebody else has taken it, or nobody knows what is in it
	}
	if age := time.Since(since); age < 0 || age > keptFor || since.Unix() <= l.after.Unix() {
		return false, removeAll(path)
	}
	var names, drop, want []string
	known := 0 // of f.files
	for _, was := range has {
		now, ok := f.files[was.name]
		if ok {
			known++
		}
		if ok && now == was.File {
			names = append(names, was.name)
			continue
		}
		drop = append(drop, was.name)
		if ok {
			want = append(want, was.name)
		}
	}
	if known < len(f.files) {
		want = append(want, missing(f.files, has)...)
	}
	stamps, err := stat.Lstats(path, names, 0)
	if err != nil {
		return false, removeAll(path)
	}
	for i, name := range names {
		if now := f.files[name]; !store.Unmodified(now.Digest, stamps[i]) || stamps[i].Executable() != now.Executable {
			drop, want = append(drop, name), append(want, name)
		}
	}
	if len(drop)+len(want) > len(f.files)/2 {
		return false, removeAll(path)
	}
	for _, name := range drop {
		if err := os.Remove(filepath.Join(path, name)); err != nil {
			return false, removeAll(path)
		}
	}
	for _, name := range want {
		if err := link(name, f.files[name]); err != nil {
			return false, errors.Join(err, removeAll(path))
		}
	}
	f.since = since
	return true, nil
}

// missing are the names of files that has does not have.
func missing(files map[string]merkle.File, has []keptFile) (names []string) {
	known := make(map[string]bool, len(has))
	for _, k := range has {
		known[k.name] = true
	}
	for name := range files {
		if !known[name] {
			names = append(names, name)
		}
	}
	return names
}

// give takes a folder back. That it cannot is no failure: it is removed with the exec root.
func (l *larder) give(f *laid) {
	at := filepath.Join(l.dir, f.key)
	if !f.holds() {
		return // the command left something, or took something away
	}
	_ = os.Mkdir(l.dir, 0o755)
	if st, err := stat.Lstat(at); err == nil {
		if _, _, ok := l.list(f.key, st); ok {
			return // another process was first
		}
		_ = removeAll(at) // left by one that was killed
	}
	if os.Rename(f.path, at) != nil {
		return
	}
	st, err := stat.Lstat(at)
	if err == nil {
		err = l.write(f, st)
	}
	if err != nil {
		_ = removeAll(at)
	}
	l.bound()
}

// laidTime is the modification time of a folder that was laid out. Whatever comes, goes or changes places in it later sets another, however
// short the time between.
func laidTime() time.Time { return time.Unix(1_000_000_001, 0) }

// note begins to watch the folder, which is laid out.
func (f *laid) note() (err error) {
	if err = os.Chtimes(f.path, time.Time{}, laidTime()); err == nil {
		f.stamp, err = stat.Lstat(f.path)
	}
	return err
}

// holds tells whether the folder has its files, each where it was laid out, and nothing else. Whether something wrote to
// them is looked at when they are taken.
func (f *laid) holds() bool {
	now, err := stat.Lstat(f.path)
	return err == nil && f.stamp.Exists() && now == f.stamp
}

// bound removes what was used longest ago, and what writers left that were killed.
func (l *larder) bound() {
	_ = atomicfile.SweepNamed(l.dir, "kept", time.Hour)
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		return
	}
	type one struct {
		name string
		used time.Time
	}
	var lists []one
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".list"); ok {
			if info, err := e.Info(); err == nil {
				lists = append(lists, one{name, info.ModTime()})
			}
		}
	}
	slices.SortFunc(lists, func(a, b one) int { return b.used.Compare(a.used) })
	for i, o := range lists {
		if i >= maxKept {
			_ = os.Remove(filepath.Join(l.dir, o.name+".list"))
			_ = removeAll(filepath.Join(l.dir, o.name))
		}
	}
}

// The list: magic, the folder's stamp, when it was laid out in seconds since 1970, the files with their digests in order of their
// names, and the BLAKE3 of all that.

func (l *larder) write(f *laid, st stat.Stamp) error {
	b := append(make([]byte, 0, 256+len(f.files)*64), keptMagic...)
	b = appendStamp(b, st)
	b = binary.AppendUvarint(b, uint64(max(0, f.since.Unix())))
	b = binary.AppendUvarint(b, uint64(len(f.files)))
	for _, name := range slices.Sorted(maps.Keys(f.files)) {
		file := f.files[name]
		b = binary.AppendUvarint(b, uint64(len(name)))
		b = append(b, name...)
		b = file.Digest.AppendHash(b)
		exec := uint64(0)
		if file.Executable {
			exec = 1
		}
		b = binary.AppendUvarint(b, uint64(file.Digest.Size())<<1|exec)
	}
	sum := blake3.Sum256(b)
	tmp, err := atomicfile.Temp(l.dir, "kept")
	if err != nil {
		return err
	}
	if _, err := tmp.Write(append(b, sum[:]...)); err != nil {
		tmp.Close()
		os.Remove(tmp.Name())
		return err
	}
	return atomicfile.Place(tmp, filepath.Join(l.dir, f.key+".list"), 0o600)
}

// list returns what is in the kept folder that has the stamp, and when it was laid out.
func (l *larder) list(key string, st stat.Stamp) ([]keptFile, time.Time, bool) {
	b, err := os.ReadFile(filepath.Join(l.dir, key+".list"))
	if err != nil {
		return nil, time.Time{}, false
	}
	return parseKept(b, l.fn, st)
}

func parseKept(b []byte, fn digest.Function, st stat.Stamp) (files []keptFile, since time.Time, ok bool) {
	const sumSize = 32
	if len(b) < sumSize {
		return nil, time.Time{}, false
	}
	body := b[:len(b)-sumSize]
	if blake3.Sum256(body) != [sumSize]byte(b[len(body):]) {
		return nil, time.Time{}, false
	}
	rest, ok := bytes.CutPrefix(body, appendStamp([]byte(keptMagic), st))
	if !ok {
		return nil, time.Time{}, false
	}
	uint := func() uint64 {
		v, n := binary.Uvarint(rest)
		if n <= 0 {
			rest, ok = nil, false
			return 0
		}
		rest = rest[n:]
		return v
	}
	take := func(n uint64) []byte {
		if n > uint64(len(rest)) {
			rest, ok = nil, false
			return nil
		}
		v := rest[:n]
		rest = rest[n:]
		return v
	}
	since = time.Unix(int64(min(uint(), 1<<40)), 0)
	n := uint()
	if n > uint64(len(rest)) {
		return nil, time.Time{}, false
	}
	files = make([]keptFile, 0, n)
	text := string(rest) // one copy, which all names share
	for range n {
		name := take(uint())
		at := len(text) - len(rest) - len(name)
		hash := take(sumSize)
		size := uint()
		if !ok {
			return nil, time.Time{}, false
		}
		d, err := digest.FromHash(fn, hash, int64(size>>1))
		if err != nil {
			return nil, time.Time{}, false
		}
		files = append(files, keptFile{text[at : at+len(name)], merkle.File{Digest: d, Executable: size&1 == 1}})
	}
	return files, since, ok && len(rest) == 0 && keptNames(files)
}

// keptNames tells whether the names are such as files in one folder have, in order.
func keptNames(files []keptFile) bool {
	last := ""
	for _, f := range files {
		if f.name <= last || !filepath.IsLocal(f.name) || strings.ContainsAny(f.name, `/\`) {
			return false
		}
		last = f.name
	}
	return true
}

func appendStamp(b []byte, s stat.Stamp) []byte {
	for _, v := range [...]uint64{s.Dev, s.Inode, uint64(s.Size), uint64(s.MTime), uint64(s.CTime), uint64(s.Mode)} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

// kept lays a folder of inputs out from what is kept, if that can be. Its files are links, also where a restricted command could
// write to them once it changed their mode: the store notices. It also tells whether the folder is one that will be kept.
func (l *layout) kept(ctx context.Context, d *merkle.Dir, at, rel string) (done, keep bool, err error) {
	k := &l.x.larder
	if s := l.s.stands[rel]; at == "" || !k.keeps(d) || s != nil && s.own {
		return false, false, nil
	}
	if err := l.s.clear(rel); err != nil {
		return false, false, err
	}
	dest := l.s.path(rel)
	f := laid{key: k.key(l.a, at), path: dest, files: d.Files, since: time.Now()}
	done, err = k.take(&f, func(name string, f merkle.File) error {
		if lent, err := l.borrow(f, rel+"/"+name); lent || err != nil {
			return err
		}
		return l.file(ctx, f, filepath.Join(dest, name), false)
	})
	if err == nil {
		l.s.laid = append(l.s.laid, &f)
	}
	return done, true, err
}

// putBack gives the larder what came from it, and what is worth keeping.
func (x *Executor) putBack(s *slot) {
	for _, f := range s.laid {
		if st, err := os.Lstat(f.path); err == nil && st.Mode().Type() == fs.ModeDir {
			x.larder.give(f)
		}
	}
	s.laid = nil
}
