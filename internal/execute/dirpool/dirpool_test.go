package dirpool

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/statefile"
)

const fn = digest.BLAKE3

// bench has a pool, and a place for exec roots. A file of it is as it was linked while it is read-only.
type bench struct {
	*Pool
	t     *testing.T
	roots string
	links int
}

func newBench(t *testing.T) *bench {
	dir := t.TempDir()
	return &bench{Pool: New(filepath.Join(dir, "pool"), fn, func(_ digest.Digest, s stat.Stamp) bool { return s.Mode&0o222 == 0 }, time.Time{}), t: t, roots: t.TempDir()}
}

func someFiles(n int) map[string]*merkle.File {
	files := map[string]*merkle.File{}
	for i := range n {
		files[fmt.Sprintf("f%03d", i)] = &merkle.File{Digest: fn.Bytes(fmt.Append(nil, i)), Executable: i%2 == 1}
	}
	return files
}

// run has a folder with the files in an exec root, from the pool or laid out anew, and gives it back after use. It returns how many
// files had to be linked.
func (b *bench) run(key string, files map[string]*merkle.File, use func(dir string) error) int {
	b.t.Helper()
	tree := Tree{Files: files, Dirs: dirsOf(files)}
	f := b.Folder(key, filepath.Join(b.roots, "in"), tree)
	b.links = 0
	link := func(name string, file merkle.File) error {
		b.links++
		perm := os.FileMode(0o444)
		if file.Executable {
			perm = 0o555
		}
		return os.WriteFile(filepath.Join(f.Path, name), []byte(file.Digest.Hex()), perm)
	}
	taken, err := b.Take(f, link)
	if err != nil {
		b.t.Fatal(err)
	}
	if !taken {
		if err := f.Make(link); err != nil {
			b.t.Fatal(err)
		}
	}
	if err := f.Watch(); err != nil {
		b.t.Fatal(err)
	}
	there := 0
	err = filepath.WalkDir(f.Path, func(string, os.DirEntry, error) error { there++; return nil })
	if want := 1 + len(files) + len(tree.Dirs); err != nil || there != want {
		b.t.Fatalf("there are %d files and folders, %v; want %d", there, err, want)
	}
	for name, file := range files {
		got, err := os.ReadFile(filepath.Join(f.Path, name))
		if err != nil || string(got) != file.Digest.Hex() {
			b.t.Fatalf("%s has %q, %v", name, got, err)
		}
	}
	if use != nil {
		if err := use(f.Path); err != nil {
			b.t.Fatal(err)
		}
	}
	b.Give(f)
	if err := os.RemoveAll(f.Path); err != nil {
		b.t.Fatal(err)
	}
	return b.links
}

// dirsOf are the folders that files are in.
func dirsOf(files map[string]*merkle.File) (dirs []string) {
	for name := range files {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

func TestKeeps(t *testing.T) {
	p := New("/pool", fn, func(digest.Digest, stat.Stamp) bool { return true }, time.Time{})
	flat := &merkle.Dir{Files: someFiles(MinFiles)}
	if !p.Keeps(flat) {
		t.Error("a large flat folder is not kept")
	}
	for what, kept := range map[string]bool{
		"a small one":        p.Keeps(&merkle.Dir{Files: someFiles(MinFiles - 1)}),
		"one with a symlink": p.Keeps(&merkle.Dir{Files: flat.Files, Symlinks: map[string]string{"x": "y"}}),
		"one without a pool": (*Pool)(nil).Keeps(flat),
	} {
		if kept {
			t.Errorf("%s is kept", what)
		}
	}
}

// What is the same in the next run stays; what is not is linked; where that is most, all is.
func TestTakenAgain(t *testing.T) {
	b := newBench(t)
	files := someFiles(100)
	steps := []struct {
		change func()
		links  int
	}{
		{func() {}, 100},
		{func() {}, 0},
		{func() { files["f003"] = &merkle.File{Digest: fn.Bytes([]byte("other"))} }, 1},
		{func() { delete(files, "f004"); files["new"] = &merkle.File{Digest: fn.Bytes([]byte("new"))} }, 1},
		{func() { files["f005"] = &merkle.File{Digest: files["f005"].Digest} }, 1}, // no longer executable
		{func() {
			for i := range 60 {
				files[fmt.Sprintf("f%03d", i)] = &merkle.File{Digest: fn.Bytes(fmt.Append(nil, "x", i))}
			}
		}, 102},
		{func() {}, 0},
	}
	files["f101"] = &merkle.File{Digest: fn.Bytes([]byte("101"))}
	steps[0].links = 101
	for i, s := range steps {
		s.change()
		if got := b.run("key", files, nil); got != s.links {
			t.Errorf("step %d: %d files were linked, want %d", i, got, s.links)
		}
	}
	if got := b.run("other key", files, nil); got != len(files) {
		t.Errorf("another action linked %d files", got)
	}
}

// What a command changed does not come back: the folder is laid out anew, or the file is linked again.
func TestChanged(t *testing.T) {
	for what, c := range map[string]struct {
		use   func(dir string) error
		links int
	}{
		"nothing":       {func(string) error { return nil }, 0},
		"more":          {func(dir string) error { return os.WriteFile(filepath.Join(dir, "more"), nil, 0o444) }, 100},
		"less":          {func(dir string) error { return os.Remove(filepath.Join(dir, "f001")) }, 100},
		"exchanged":     {func(dir string) error { return os.Rename(filepath.Join(dir, "f001"), filepath.Join(dir, "f002")) }, 100},
		"a mode":        {func(dir string) error { return os.Chmod(filepath.Join(dir, "f001"), 0o644) }, 1},
		"an executable": {func(dir string) error { return os.Chmod(filepath.Join(dir, "f000"), 0o555) }, 1},
		"its own mode":  {func(dir string) error { return os.Chmod(dir, 0o700) }, 100},
		"gone":          {os.RemoveAll, 100},
		"a file now":    {func(dir string) error { return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o644)) }, 100},
	} {
		b := newBench(t)
		b.run("key", someFiles(100), c.use)
		if got := b.run("key", someFiles(100), nil); got != c.links {
			t.Errorf("%s: %d files were linked, want %d", what, got, c.links)
		}
	}
}

func tree(names ...string) map[string]*merkle.File {
	files := map[string]*merkle.File{}
	for _, name := range names {
		files[name] = &merkle.File{Digest: fn.Bytes([]byte(name))}
	}
	return files
}

// Of a folder with others in it, what is the same stays, too, and what is no longer in it goes, folders as well.
func TestTree(t *testing.T) {
	b := newBench(t)
	files := tree("a/w", "a/x", "a/y", "a/z", "b/c/x", "b/d/x", "b/d/y/z", "e", "f", "g", "h", "i", "j", "k")
	all := len(files)
	for i, s := range []struct {
		change func()
		links  int
	}{
		{func() {}, all},
		{func() {}, 0},
		{func() { files["b/c/x"] = &merkle.File{Digest: fn.Bytes([]byte("other"))} }, 1},
		{func() {}, 0},
		{func() { delete(files, "b/c/x"); files["n/m/x"] = &merkle.File{Digest: fn.Bytes([]byte("new"))} }, 1},
		{func() {}, 0},
		{func() { delete(files, "b/d/y/z") }, 0},
		{func() { delete(files, "e"); files["e/f"] = &merkle.File{Digest: fn.Bytes([]byte("in a folder"))} }, 1},
		{func() { delete(files, "e/f"); files["e"] = &merkle.File{Digest: fn.Bytes([]byte("no folder"))} }, 1},
		{func() {}, 0},
	} {
		s.change()
		if got := b.run("key", files, nil); got != s.links {
			t.Errorf("step %d: %d files were linked, want %d", i, got, s.links)
		}
	}
}

// Whatever is done to a folder in a folder, while a command has it or while it is kept, it is laid out anew.
func TestTreeChanged(t *testing.T) {
	for what, harm := range map[string]func(dir string) error{
		"more":      func(dir string) error { return os.WriteFile(filepath.Join(dir, "b/c/more"), nil, 0o444) },
		"less":      func(dir string) error { return os.Remove(filepath.Join(dir, "b/c/x")) },
		"exchanged": func(dir string) error { return os.Rename(filepath.Join(dir, "b/c/x"), filepath.Join(dir, "b/d/x")) },
		"a mode":    func(dir string) error { return os.Chmod(filepath.Join(dir, "b/c"), 0o700) },
		"a folder":  func(dir string) error { return os.Mkdir(filepath.Join(dir, "b/c/more"), 0o755) },
		"moved":     func(dir string) error { return os.Rename(filepath.Join(dir, "b/c"), filepath.Join(dir, "b/other")) },
		"with the time": func(dir string) error {
			in := filepath.Join(dir, "b/c")
			return errors.Join(os.WriteFile(filepath.Join(in, "more"), nil, 0o444), os.Chtimes(in, WatchedTime(), WatchedTime()))
		},
		"behind a link": func(dir string) error {
			in, away := filepath.Join(dir, "b/c"), t.TempDir()
			return errors.Join(os.Rename(in, filepath.Join(away, "c")), os.Symlink(filepath.Join(away, "c"), in), os.Chtimes(filepath.Join(dir, "b"), WatchedTime(), WatchedTime()))
		},
		"there and back": func(dir string) error {
			in := filepath.Join(dir, "b/c")
			return errors.Join(os.Rename(in, in+"x"), os.Rename(in+"x", in))
		},
	} {
		for _, kept := range []bool{false, true} {
			b := newBench(t)
			files := tree("a/x", "a/y", "b/c/x", "b/d/x")
			if !kept {
				b.run("key", files, harm)
			} else {
				b.run("key", files, nil)
				if err := harm(filepath.Join(b.dir, b.Folder("key", "", Tree{}).name)); err != nil {
					t.Fatal(err)
				}
			}
			if got := b.run("key", files, nil); got != len(files) {
				t.Errorf("%s, while it is kept %v: %d files were linked", what, kept, got)
			}
			if got := b.run("key", files, nil); got != 0 {
				t.Errorf("%s: what was laid out anew was not kept: %d files were linked", what, got)
			}
		}
	}
}

// What happens to a folder while it is kept is noticed as well.
func TestDamaged(t *testing.T) {
	for what, harm := range map[string]func(at string) error{
		"a list that is cut": func(at string) error { return os.Truncate(at+listSuffix, 100) },
		"no list":            func(at string) error { return os.Remove(at + listSuffix) },
		"no folder":          os.RemoveAll,
		"a file more":        func(at string) error { return os.WriteFile(filepath.Join(at, "more"), nil, 0o444) },
		"another folder": func(at string) error {
			return errors.Join(os.RemoveAll(at), os.Mkdir(at, 0o755), os.Chtimes(at, time.Time{}, WatchedTime()))
		},
	} {
		b := newBench(t)
		files := someFiles(50)
		b.run("key", files, nil)
		if err := harm(filepath.Join(b.dir, b.Folder("key", "", Tree{}).name)); err != nil {
			t.Fatal(err)
		}
		if got := b.run("key", files, nil); got != 50 {
			t.Errorf("%s: %d files were linked", what, got)
		}
		if got := b.run("key", files, nil); got != 0 {
			t.Errorf("%s: the folder that was laid out anew was not kept: %d files were linked", what, got)
		}
	}
}

// A folder that was laid out long ago, or by a clock that went back since, is laid out anew, and the store reads what it links.
func TestAge(t *testing.T) {
	for age, taken := range map[time.Duration]bool{time.Hour: true, maxAge - time.Hour: true, maxAge + time.Hour: false, -time.Hour: false} {
		b := newBench(t)
		files := someFiles(10)
		b.run("key", files, nil)
		f := b.Folder("key", "", Tree{Files: files})
		f.since = time.Unix(time.Now().Add(-age).Unix(), 0)
		st, err := stat.Lstat(filepath.Join(b.dir, f.name))
		if err != nil {
			t.Fatal(err)
		}
		if err := b.write(f, st); err != nil {
			t.Fatal(err)
		}
		if got := b.run("key", files, nil); (got == 0) != taken {
			t.Errorf("age %v: %d files were linked", age, got)
		}
		// However often it is taken, it gets no younger.
		if st, err = stat.Lstat(filepath.Join(b.dir, f.name)); err != nil {
			t.Fatal(err)
		}
		if l, ok := b.list(f.name, st); !ok || l.since.Equal(f.since) != taken {
			t.Errorf("age %v: %+v, %v", age, l, ok)
		}
	}
}

// A folder that was laid out before something was found damaged may have links to what is damaged.
func TestBeforeDamage(t *testing.T) {
	b := newBench(t)
	files := someFiles(10)
	b.run("key", files, nil)
	b.damaged = time.Now()
	if got := b.run("key", files, nil); got != 10 {
		t.Errorf("%d files were linked", got)
	}
	b.damaged = time.Now().Add(-time.Hour)
	if got := b.run("key", files, nil); got != 0 {
		t.Errorf("%d files were linked of a folder that was laid out since", got)
	}
}

func TestBound(t *testing.T) {
	b := newBench(t)
	for i := range maxFolders + 3 {
		b.run(fmt.Sprint(i), someFiles(1), nil)
		list := filepath.Join(b.dir, b.Folder(fmt.Sprint(i), "", Tree{}).name+listSuffix)
		used := time.Now().Add(time.Duration(i-100) * time.Minute)
		if err := os.Chtimes(list, used, used); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := os.ReadDir(b.dir); err != nil || len(left) != 2*maxFolders+1 { // and the lock
		t.Errorf("%d names are left, %v", len(left), err)
	}
	if got := b.run("0", someFiles(1), nil); got != 1 {
		t.Error("the oldest is still there")
	}
	if got := b.run(fmt.Sprint(maxFolders), someFiles(1), nil); got != 0 {
		t.Error("a young one is not there")
	}
}

func FuzzList(f *testing.F) {
	p := New(f.TempDir(), fn, nil, time.Time{})
	st := stat.Stamp{Dev: 1, Inode: 2, MTime: 3, CTime: 4, Mode: 0o40755}
	want := map[string]*merkle.File{"a": {Digest: fn.Bytes(nil)}, "b/c": {Digest: fn.Bytes([]byte("b")), Executable: true}}
	folder := p.Folder("key", "", Tree{Files: want, Dirs: dirsOf(want)})
	folder.dirs[0] = st
	if err := p.write(folder, st); err != nil {
		f.Fatal(err)
	}
	l, ok := p.list(folder.name, st)
	if !ok || l.since.Unix() != folder.since.Unix() || !reflect.DeepEqual(l.files, []listed{{"a", *want["a"]}, {"b/c", *want["b/c"]}}) || !reflect.DeepEqual(l.dirs, []listedDir{{"b", st}}) {
		f.Fatal(l, ok)
	}
	file, err := statefile.Read(filepath.Join(p.dir, folder.name+listSuffix), listKind())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(file.Blocks[0])
	f.Fuzz(func(t *testing.T, block []byte) {
		if l, ok := parseList(block, st); ok {
			if !slices.IsSortedFunc(l.files, func(a, b listed) int { return cmp.Or(strings.Compare(a.name, b.name), 1) }) {
				t.Fatalf("a list counts whose names are not in order: %v", l.files)
			}
			known := map[string]bool{".": true}
			for _, dir := range l.dirs {
				known[dir.name] = true
			}
			for _, f := range l.files {
				if !known[path.Dir(f.name)] || strings.Contains(f.name, "..") && !filepath.IsLocal(f.name) {
					t.Fatalf("a list counts with %q, in no folder of it: %v", f.name, l.dirs)
				}
			}
		}
		other := st
		other.CTime++
		if _, ok := parseList(block, other); ok {
			t.Fatal("a list counts for a folder with another stamp")
		}
	})
}

// Many have folders of one key at once, each with other files in it: nobody gets a file of another one's, and nobody's goes away.
func TestManyAtOnce(t *testing.T) {
	b := newBench(t)
	b.unmodified = func(_ digest.Digest, s stat.Stamp) bool { return s.Mode&0o222 == 0 && s.Exists() }
	const files, rounds = 8, 50
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			dest := filepath.Join(b.roots, fmt.Sprint(g))
			for n := range rounds {
				want := map[string]*merkle.File{}
				for i := range files {
					want[fmt.Sprintf("f%d", i)] = &merkle.File{Digest: fn.Bytes(fmt.Append(nil, i, i == (g+n)%files))}
				}
				f := b.Folder("key", dest, Tree{Files: want})
				link := func(name string, file merkle.File) error {
					return os.WriteFile(filepath.Join(dest, name), []byte(file.Digest.Hex()), 0o444)
				}
				taken, err := b.Take(f, link)
				if err == nil && !taken {
					err = f.Make(link)
				}
				if err = errors.Join(err, f.Watch()); err != nil {
					t.Error(err)
					return
				}
				for range 2 {
					for name, file := range want {
						if got, err := os.ReadFile(filepath.Join(dest, name)); err != nil || string(got) != file.Digest.Hex() {
							t.Errorf("%s has %q, %v (taken: %v)", name, got, err, taken)
							return
						}
					}
				}
				b.Give(f)
				if err := os.RemoveAll(dest); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}
