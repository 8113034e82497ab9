package gc_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/gc"
	"github.com/hexmage/hexmage/internal/store/layout"
)

const day = 24 * time.Hour

func collect(t *testing.T, c *cache, o gc.CollectOptions) gc.Collected {
	t.Helper()
	sum, err := gc.Collect(t.Context(), c.root, o)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func TestCollectByAge(t *testing.T) {
	c := open(t, t.TempDir())
	now := time.Now()
	later := now.Add(40 * day) // when the collection is: what is made now is old then
	old, _ := c.run(t, now, "a=only the old one has it", "b=both have it")
	young, _ := c.run(t, later.Add(-29*day), "b=both have it", "c=only the young one has it")
	c.put(t, "nobody names it")
	for name, used := range map[string]time.Time{"old.zip": now, "young.zip": later.Add(-day), "deb/old.deb": now,
		"deb/lock": now, "git/old/objects/pack": now} {
		write(t, filepath.Join(c.root, "downloads", name), used)
	}
	write(t, filepath.Join(c.root, "state/logs/p/old.log"), now)
	write(t, filepath.Join(c.root, "state/logs/p/young.log"), later.Add(-day))
	write(t, filepath.Join(c.root, "state/statcache/blake3"), now)
	collect(t, c, gc.CollectOptions{MaxAge: 30 * day})
	for _, dir := range []string{"downloads/git/old/objects", "downloads/git/old"} {
		if err := os.Chtimes(filepath.Join(c.root, dir), now, now); err != nil {
			t.Fatal(err)
		}
	}

	o := gc.CollectOptions{MaxAge: 30 * day, Now: later, DryRun: true}
	would := collect(t, c, o)
	if !c.known(t, old) || !c.has(t, "nobody names it") {
		t.Error("a dry run removed something")
	}
	c.use(t, old, now)
	o.DryRun = false
	did := collect(t, c, o)
	if did.Freed != would.Freed || did.Freed == 0 || did.Before-did.Freed != did.After {
		t.Errorf("would free %+v, did %+v", would, did)
	}
	if c.known(t, old) || !c.known(t, young) {
		t.Error("the old result should go, the young one stay")
	}
	for content, want := range map[string]bool{"only the old one has it": false, "both have it": true,
		"only the young one has it": true, "nobody names it": false} {
		if c.has(t, content) != want {
			t.Errorf("%q there: %v", content, !want)
		}
	}
	for name, want := range map[string]bool{"downloads/old.zip": false, "downloads/young.zip": true,
		"downloads/deb/old.deb": false, "downloads/git/old": false, "downloads/deb/lock": true,
		"state/logs/p/old.log": false, "state/logs/p/young.log": true, "state/statcache/blake3": true} {
		if _, err := os.Lstat(filepath.Join(c.root, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if again := collect(t, c, o); again.Freed != 0 || len(again.Groups) != 0 {
		t.Errorf("a second time: %+v", again)
	}
}

func write(t *testing.T, path string, used time.Time) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(path), 0o644),
		os.Chtimes(path, used, used)); err != nil {
		t.Fatal(err)
	}
}

// The oldest go first, with what only they name, until the rest fits.
func TestCollectBySize(t *testing.T) {
	c := open(t, t.TempDir())
	now := time.Now()
	var actions []*action.Action
	for i := range 6 { // each is 200,000 bytes: the content is in the Command, too
		a, _ := c.run(t, now.Add(time.Duration(i)*day), fmt.Sprintf("f=%d%s", i, strings.Repeat("x", 85_000)))
		actions = append(actions, a)
	}
	before := collect(t, c, gc.CollectOptions{}).Before
	sum := collect(t, c, gc.CollectOptions{MaxSize: before - 300_000})
	if sum.After > before-300_000 || sum.After < before-450_000 {
		t.Errorf("%+v, wanted to be at most %d", sum, before-300_000)
	}
	for i, a := range actions {
		if c.known(t, a) != (i >= 2) {
			t.Errorf("result %d of 6 is known: %v", i, i < 2)
		}
	}
	collect(t, c, gc.CollectOptions{MaxSize: 1})
	s, err := gc.Read(t.Context(), c.root)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range s.Groups {
		if g.Kind != layout.State {
			t.Errorf("all was to go, and there is %+v", g)
		}
	}
}

// A folder's messages, files and the unpacked tree stay as long as its result does.
func TestCollectFolders(t *testing.T) {
	c := open(t, t.TempDir())
	now := time.Now()
	later := now.Add(40 * day)
	kept, r1 := c.run(t, later, "dir/a=one", "dir/sub/b=two", "dir/run.sh=three")
	gone, r2 := c.run(t, now, "dir/a=one", "dir/sub/c=four")
	for _, r := range []*action.Result{r1, r2} {
		if _, err := c.trees.Path(t.Context(), c.blobs, r.Dirs[0].Root); err != nil {
			t.Fatal(err)
		}
	}
	half := filepath.Join(c.root, "trees", "blake3-"+strings.Repeat("0", 64)) // an installation that a crash ended
	if err := os.MkdirAll(half, 0o755); err != nil {
		t.Fatal(err)
	}
	collect(t, c, gc.CollectOptions{MaxAge: 30 * day, Now: later})
	if !c.known(t, kept) || c.known(t, gone) {
		t.Error("the used folder's result should stay, the other go")
	}
	if !c.trees.Has(r1.Dirs[0].Root) || c.trees.Has(r2.Dirs[0].Root) {
		t.Error("the used folder's unpacked tree should stay, the other go")
	}
	if !c.has(t, "two") || c.has(t, "four") {
		t.Error("files")
	}
	if _, err := os.Lstat(half); err == nil {
		t.Error("the half tree is there")
	}
}

// Results that no build would find are only in the way.
func TestCollectBroken(t *testing.T) {
	c := open(t, t.TempDir())
	now := time.Now()
	good, _ := c.run(t, now, "a=good")
	lacks, _ := c.run(t, now, "a=missing")
	lacksDeep, _ := c.run(t, now, "dir/sub/a=missing deep")
	torn, _ := c.run(t, now, "a=torn")
	for _, content := range []string{"missing", "missing deep"} {
		if err := os.Remove(c.blobs.Path(c.fn.Bytes([]byte(content)))); err != nil {
			t.Fatal(err)
		}
	}
	flip(t, c.path(torn))
	sum := collect(t, c, gc.CollectOptions{})
	if sum.Broken != 3 {
		t.Errorf("%+v", sum)
	}
	for a, want := range map[*action.Action]bool{good: true, lacks: false, lacksDeep: false, torn: false} {
		if ok := c.remembered(t, a); ok != want {
			t.Errorf("%s: is there: %v", a.Command.Args, ok)
		}
	}
}

// A file with several names is counted once, and freed with the last of them.
func TestCollectLinks(t *testing.T) {
	c := open(t, t.TempDir())
	big := strings.Repeat("y", 1_000_000)
	_, r := c.run(t, time.Now(), "dir/big="+big)
	dir, err := c.trees.Path(t.Context(), c.blobs, r.Dirs[0].Root)
	if err != nil {
		t.Fatal(err)
	}
	a, err := os.Stat(filepath.Join(dir, "big"))
	b, err2 := os.Stat(c.blobs.Path(c.fn.Bytes([]byte(big))))
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	want := int64(3_000_000) // blob, Command, tree
	if os.SameFile(a, b) {
		want = 2_000_000
	}
	s, err := gc.Read(t.Context(), c.root)
	if err != nil || s.Bytes < want || s.Bytes > want+100_000 {
		t.Errorf("%d bytes, want %d and some; %v", s.Bytes, want, err)
	}
	if sum := collect(t, c, gc.CollectOptions{MaxSize: 1}); sum.Freed < want || sum.After > 100_000 {
		t.Errorf("%+v", sum)
	}
}

// Whatever there is and whatever is asked for: every result that stays is whole, and a collection with a bound keeps
// it.
func TestCollectRandom(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 12 {
		c := open(t, t.TempDir())
		if r.IntN(3) == 0 {
			c.fn = digest.SHA256
		}
		now := time.Now()
		var actions []*action.Action
		for range 2 + r.IntN(20) {
			var files []string
			for i := range 1 + r.IntN(4) {
				where := []string{"f", "dir/f", "dir/sub/f", "dir/sub/deep/f", "other/f"}[r.IntN(5)]
				files = append(files, fmt.Sprintf("%s%d=%s", where, i,
					strings.Repeat(fmt.Sprint(r.IntN(8)), r.IntN(9000))))
			}
			if r.IntN(4) > 0 {
				files = append(files, fmt.Sprintf("took=%ds", 1<<r.IntN(12)))
			}
			a, res := c.run(t, now.Add(-time.Duration(r.IntN(60))*day), files...)
			actions = append(actions, a)
			if len(res.Dirs) > 0 && r.IntN(3) == 0 {
				if _, err := c.trees.Path(t.Context(), c.blobs, res.Dirs[0].Root); err != nil {
					t.Fatal(err)
				}
			}
			if r.IntN(6) == 0 {
				if d := c.put(t, fmt.Sprint("nobody names ", r.IntN(1000))); r.IntN(2) == 0 {
					if err := c.blobs.Link(t.Context(), d, filepath.Join(t.TempDir(), "x"), true); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		var o gc.CollectOptions
		if r.IntN(2) == 0 {
			o.MaxAge = time.Duration(1+r.IntN(60)) * day
		}
		if r.IntN(3) > 0 {
			o.MaxSize = int64(1 + r.IntN(400_000))
		}
		dry := o
		dry.DryRun, dry.Now = true, now
		if one, two := collect(t, c, dry), collect(t, c, dry); !reflect.DeepEqual(one, two) {
			t.Errorf("%+v: once %+v, then %+v", o, one, two)
		}
		sum := collect(t, c, o)
		if o.MaxSize > 0 && sum.After > max(o.MaxSize, 50_000) { // some lock files stay
			t.Errorf("%+v: %+v", o, sum)
		}
		s, err := gc.Read(t.Context(), c.root)
		if err != nil || s.Broken != 0 || s.Bytes != sum.After {
			t.Errorf("%+v left %+v, said %+v, %v", o, s, sum, err)
		}
		stayed := 0
		for _, a := range actions {
			if c.known(t, a) {
				stayed++
			} else if c.remembered(t, a) {
				t.Errorf("%+v: a result stayed that is not whole", o)
			}
		}
		v, err := gc.Verify(t.Context(), c.root, gc.VerifyOptions{})
		if err != nil || len(v.Problems) > 0 {
			t.Errorf("%+v: %+v, %v", o, v, err)
		}
		t.Logf("%+v: %d of %d stayed, %d of %d bytes", o, stayed, len(actions), sum.After, sum.Before)
	}
}
