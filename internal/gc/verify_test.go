package gc_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/gc"
	"github.com/hexmage/hexmage/internal/store/layout"
)

func TestVerify(t *testing.T) {
	c := open(t, t.TempDir())
	now := time.Now()
	fine, _ := c.run(t, now, "a=fine", "dir/a=fine, too")
	blob, _ := c.run(t, now, "a=its blob is damaged")
	short, _ := c.run(t, now, "a=its blob is cut short")
	entry, _ := c.run(t, now, "a=its result is damaged")
	alone, _ := c.run(t, now, "a=its result is damaged, and its Action is gone")
	lacks, _ := c.run(t, now, "a=its blob is gone")
	copied, _ := c.run(t, now, "a.sh=its executable copy is damaged")
	_, r := c.run(t, now, "dir/sub/tool.sh=in a tree", "dir/more=in a tree, as well")
	dir, err := c.trees.Path(t.Context(), c.blobs, r.Dirs[0].Root)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.blobs.Link(t.Context(), c.fn.Bytes([]byte("its executable copy is damaged")),
		filepath.Join(t.TempDir(), "x"), true); err != nil {
		t.Fatal(err)
	}
	verify := func(o gc.VerifyOptions) []string {
		t.Helper()
		v, err := gc.Verify(t.Context(), c.root, o)
		if err != nil {
			t.Fatal(err)
		}
		var at []string
		for _, p := range v.Problems {
			if (p.Repaired != "") != o.Repair {
				t.Errorf("repair %v: %+v", o.Repair, p)
			}
			at = append(at, p.Path)
		}
		return at
	}
	if at := verify(gc.VerifyOptions{}); len(at) > 0 {
		t.Fatalf("nothing is wrong, and found %q", at)
	}

	path := func(content string) string { return c.blobs.Path(c.fn.Bytes([]byte(content))) }
	var want []string
	damage := func(p string) {
		flip(t, p)
		want = append(want, p)
	}
	damage(path("its blob is damaged"))
	cut := path("its blob is cut short")
	if err := os.Chmod(cut, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(cut, 5); err != nil {
		t.Fatal(err)
	}
	want = append(want, cut, c.path(short)) // its result names a blob of another size
	damage(c.path(entry))
	if err := os.Remove(c.blobs.Path(alone.Key(c.fn))); err != nil {
		t.Fatal(err)
	}
	damage(c.path(alone))
	if err := os.Remove(path("its blob is gone")); err != nil {
		t.Fatal(err)
	}
	want = append(want, c.path(lacks))
	exec := strings.Replace(path("its executable copy is damaged"), "/cas/", "/exec/", 1)
	if _, err := os.Lstat(exec); err == nil { // not where files are cloned
		damage(exec)
	}
	flip(t, filepath.Join(dir, "more"))
	want = append(want, dir)
	if b := path("in a tree, as well"); sameFile(t, b, filepath.Join(dir, "more")) {
		want = append(want, b)
	}
	slices.Sort(want)
	for _, o := range []gc.VerifyOptions{{}, {}, {Repair: true}} {
		if at := verify(o); !slices.Equal(at, want) {
			t.Errorf("%+v: found %s\nwant %s", o, strings.Join(at, "\n"), strings.Join(want, "\n"))
		}
	}
	// What was moved away leaves results that name it: they go now, as they could not be used.
	again := verify(gc.VerifyOptions{Repair: true})
	for _, p := range again {
		if !strings.Contains(p, "/ac/") {
			t.Errorf("still wrong after the repair: %s", p)
		}
	}
	if at := verify(gc.VerifyOptions{}); len(at) > 0 {
		t.Errorf("wrong after two repairs: %q", at)
	}
	if !c.known(t, fine) || !c.known(t, copied) || c.known(t, blob) || c.known(t, entry) {
		t.Error("what was right should be known, what was damaged not")
	}
	if left, err := os.ReadDir(filepath.Join(c.root, "damaged")); err != nil || len(left) < 5 {
		t.Errorf("damaged/ has %v, %v", left, err)
	}
	if c.trees.Has(r.Dirs[0].Root) {
		t.Error("the damaged tree is there")
	}
}

func sameFile(t *testing.T, a, b string) bool {
	t.Helper()
	x, err := os.Stat(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := os.Stat(b)
	if err != nil {
		t.Fatal(err)
	}
	return os.SameFile(x, y)
}

// What cannot be read is an error and no damage.
func TestVerifyUnreadable(t *testing.T) {
	c := open(t, t.TempDir())
	c.run(t, time.Now(), "a=fine")
	if err := os.WriteFile(filepath.Join(c.root, "trees"), nil, 0o644); err != nil { // where a folder should be
		t.Fatal(err)
	}
	if v, err := gc.Verify(t.Context(), c.root, gc.VerifyOptions{}); err == nil || len(v.Problems) > 0 {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := gc.Collect(t.Context(), c.root, gc.CollectOptions{MaxSize: 1}); err == nil || !c.has(t, "fine") {
		t.Errorf("a collection that does not know all there is: %v", err)
	}
}

func TestReadAndFind(t *testing.T) {
	c := open(t, t.TempDir())
	a, r := c.run(t, time.Now(), "dir/one=1", "dir/two.sh=22", "f=333")
	c.put(t, "nobody names it")
	dir, err := c.trees.Path(t.Context(), c.blobs, r.Dirs[0].Root)
	if err != nil {
		t.Fatal(err)
	}
	s, err := gc.Read(t.Context(), c.root)
	if err != nil || s.Broken != 0 || s.Bytes == 0 || len(s.Groups) == 0 {
		t.Fatalf("%+v, %v", s, err)
	}

	d := r.Files[0].Digest
	blob := gc.Found{Kind: layout.Blobs, Path: c.blobs.Path(d)}
	root, key := r.Dirs[0].Root, a.Key(c.fn)
	for _, test := range []struct {
		text string
		want []gc.Found
	}{
		{d.String(), []gc.Found{blob}},
		{d.Hex(), []gc.Found{blob}},
		{"blake3:" + d.Hex(), []gc.Found{blob}},
		{"blake3:" + d.Hex() + "/4", nil},
		{"sha256:" + d.Hex(), nil},
		{root.String(), []gc.Found{{Kind: layout.Blobs, Path: c.blobs.Path(root)}, {Kind: layout.Trees, Path: dir}}},
		{key.Hex(), []gc.Found{{Kind: layout.Blobs, Path: c.blobs.Path(key)}, {Kind: layout.Results, Path: c.path(a)}}},
		{strings.Repeat("0", 64), nil},
	} {
		if got, err := gc.Find(c.root, test.text); err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, %v; want %v", test.text, got, err, test.want)
		}
	}
	for _, bad := range []string{"", "blake3:", d.Hex()[:63], d.Hex() + "/x", "md5:" + d.Hex(),
		strings.ToUpper(strings.Repeat("a", 64)), "../" + d.Hex()[3:], d.Hex() + "/-1"} {
		if got, err := gc.Find(c.root, bad); err == nil {
			t.Errorf("%q: %v", bad, got)
		}
	}
	if got, err := gc.Read(t.Context(), filepath.Join(t.TempDir(), "none")); err != nil || got.Bytes != 0 {
		t.Errorf("a cache that is not there: %+v, %v", got, err)
	}
}
