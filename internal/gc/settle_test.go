package gc_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/gc"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/disk"
)

// remembered tells whether there is a result, whatever it names.
func (c *cache) remembered(t *testing.T, a *action.Action) bool {
	t.Helper()
	_, err := c.results.Get(t.Context(), a.Key(c.fn))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	return err == nil
}

// records counts what is on record and not settled.
func (c *cache) records(t *testing.T) int {
	t.Helper()
	all, err := disk.Damages(c.root)
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// unpack has a folder of one file unpacked.
func (c *cache) unpack(t *testing.T, name, content string) (root digest.Digest, dir string) {
	t.Helper()
	d := &merkle.Dir{}
	if err := d.Insert(t.Context(), c.blobs, name, merkle.File{Digest: c.put(t, content)}); err != nil {
		t.Fatal(err)
	}
	root, err := d.Put(t.Context(), c.blobs, c.fn)
	if err == nil {
		dir, err = c.trees.Path(t.Context(), c.blobs, root)
	}
	if err == nil {
		err = c.blobs.Flush(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return root, dir
}

// large makes a content that is linked unread for some days after it was stored.
func large(what string) string { return what + strings.Repeat("x", 2<<20) }

// What a verification finds is out of everybody's way from then on, and what was made from it goes as soon as nobody can make more of it.
func TestSettle(t *testing.T) {
	c := open(t, t.TempDir())
	wrong := c.remember(t, "1", "beside", map[string]string{"a": large("damaged")}, "wrong")
	fromTree := c.remember(t, "2", "beside", map[string]string{"sdk/bin": "in a tree"}, "wrong, too")
	right := c.remember(t, "3", "beside", map[string]string{"a": "fine"}, "right")
	root, dir := c.unpack(t, "bin", "in a tree")
	sound, _ := c.unpack(t, "bin", "in another tree")
	blob := c.fn.Bytes([]byte(large("damaged")))
	flip(t, c.blobs.Path(blob))
	bin := filepath.Join(dir, "bin")
	if b := c.blobs.Path(c.fn.Bytes([]byte("in a tree"))); sameFile(t, bin, b) { // of its own, so that the tree alone is damaged
		if err := errors.Join(os.Remove(bin), os.WriteFile(bin, []byte("in a tree"), 0o444)); err != nil {
			t.Fatal(err)
		}
	}
	flip(t, bin)
	if n, err := gc.Settle(t.Context(), c.root); n != 0 || err != nil {
		t.Fatalf("nobody knows of damage: %d, %v", n, err)
	}
	for range 2 {
		if v, err := gc.Verify(t.Context(), c.root, gc.VerifyOptions{}); err != nil || len(v.Problems) != 4 || v.Suspect != 2 {
			t.Fatalf("%s, %v", wrongs(v), err)
		}
	}
	if c.records(t) != 2 || !c.remembered(t, wrong) {
		t.Fatal("a verification notes what it finds, and changes nothing else")
	}

	inUse, err := gc.Use(t.Context(), c.root, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if n, err := gc.Settle(t.Context(), c.root); n != 0 || err != nil || c.records(t) != 2 || !c.remembered(t, wrong) {
			t.Fatalf("while a build runs: %d, %v, %d on record", n, err, c.records(t))
		}
		if c.has(t, large("damaged")) || c.trees.Has(root) || !c.trees.Has(sound) {
			t.Fatal("what is damaged is out of the way even so, and nothing else")
		}
	}
	// Made anew, it is as good as ever, and stays.
	c.put(t, large("damaged"))
	if _, err := c.trees.Path(t.Context(), c.blobs, root); err != nil {
		t.Fatal(err)
	}
	if _, err := gc.Settle(t.Context(), c.root); err != nil || !c.has(t, large("damaged")) || !c.trees.Has(root) {
		t.Fatalf("what was made anew is gone, %v", err)
	}
	inUse()
	if n, err := gc.Settle(t.Context(), c.root); n != 2 || err != nil || c.records(t) != 0 {
		t.Fatalf("alone: %d, %v, %d on record", n, err, c.records(t))
	}
	if c.remembered(t, wrong) || c.remembered(t, fromTree) || !c.remembered(t, right) {
		t.Error("results that may be wrong should be gone, and no other")
	}
	if n, err := gc.Settle(t.Context(), c.root); n != 0 || err != nil || !c.has(t, large("damaged")) || !c.trees.Has(root) {
		t.Errorf("once more: %d, %v", n, err)
	}
	if v, err := gc.Verify(t.Context(), c.root, gc.VerifyOptions{}); err != nil || len(v.Problems) != 0 {
		t.Errorf("%s, %v", wrongs(v), err)
	}
}

// A collection takes no record of damage away before what rests on it is gone; what was moved away stays for as long as anything else, from
// then on, whatever its own time is.
func TestCollectRemembersDamage(t *testing.T) {
	for _, found := range []string{"by verify", "by a build"} {
		for _, o := range []gc.CollectOptions{{}, {MaxAge: 30 * day}, {MaxSize: 1}, {MaxSize: 1 << 30, MaxAge: time.Nanosecond}} {
			c := open(t, t.TempDir())
			wrong := c.remember(t, "1", "beside", map[string]string{"a": "damaged"}, "wrong")
			d := c.fn.Bytes([]byte("damaged"))
			flip(t, c.blobs.Path(d))
			if found == "by verify" {
				if _, err := gc.Verify(t.Context(), c.root, gc.VerifyOptions{}); err != nil {
					t.Fatal(err)
				}
			} else if rc, err := c.blobs.Open(t.Context(), d); err == nil {
				_, _ = io.ReadAll(rc)
				rc.Close()
			}
			if c.records(t) != 1 {
				t.Fatalf("%s: it is not on record", found)
			}
			dry := o
			dry.DryRun = true
			if sum := collect(t, c, dry); sum.Suspect != 0 || c.records(t) != 1 || !c.remembered(t, wrong) {
				t.Errorf("%s: a dry run did something: %+v", found, sum)
			}
			sum := collect(t, c, o)
			if sum.Suspect != 1 || c.records(t) != 0 || c.remembered(t, wrong) {
				t.Errorf("%s, %+v: %+v, %d on record, wrong result there: %v", found, o, sum, c.records(t), c.remembered(t, wrong))
			}
			moved := filepath.Join(c.root, "damaged", "blake3-"+d.Hex()+".repaired")
			if _, err := os.Lstat(moved); (err == nil) != (o.MaxSize != 1 && o.MaxAge != time.Nanosecond) {
				t.Errorf("%s, %+v: what was moved away: %v", found, o, err)
			}
			collect(t, c, gc.CollectOptions{MaxAge: 30 * day, Now: time.Now().Add(31 * day)})
			if left, err := os.ReadDir(filepath.Join(c.root, "damaged")); err != nil || len(left) != 0 {
				t.Errorf("%s: a month later there are %v, %v", found, left, err)
			}
		}
	}
}

// A collection that takes a file away from under results which stay looks at it once more. If it was damaged, nobody would find out later
// why the results are wrong.
func TestCollectReadsWhatNobodyWillReadAgain(t *testing.T) {
	for _, what := range []string{"blob", "small blob that was written to", "tree", "nothing"} {
		t.Run(what, func(t *testing.T) {
			c := open(t, t.TempDir())
			later := time.Now().Add(40 * day)
			small := "a small one"
			inputs := map[string]string{"a": large("an input"), "b": small, "sdk/bin": "in a tree"}
			a := c.remember(t, "1", "beside", inputs, "made from it")
			deep := c.remember(t, "2", "in the store", map[string]string{"x/y/a": large("an input"), "x/b": small, "x/sdk/bin": "in a tree"}, "made from it, too")
			other := c.remember(t, "3", "beside", map[string]string{"a": "another input"}, "right")
			old := c.remember(t, "4", "beside", inputs, "goes itself")
			_, dir := c.unpack(t, "bin", "in a tree")
			for _, r := range []*action.Action{a, deep, other} {
				c.use(t, r, later)
			}
			switch what {
			case "blob":
				flip(t, c.blobs.Path(c.fn.Bytes([]byte(large("an input")))))
			case "small blob that was written to":
				p := c.blobs.Path(c.fn.Bytes([]byte(small)))
				flip(t, p)
				if err := os.Chtimes(p, time.Time{}, time.Now()); err != nil {
					t.Fatal(err)
				}
			case "tree":
				p := filepath.Join(dir, "bin")
				if err := errors.Join(os.Remove(p), os.WriteFile(p, []byte("another"), 0o444)); err != nil {
					t.Fatal(err)
				}
			}
			sum := collect(t, c, gc.CollectOptions{MaxAge: 30 * day, Now: later})
			damaged := what != "nothing"
			for _, r := range []*action.Action{a, deep} {
				// The messages of one of them were in the store, and are gone by now: then nobody knows.
				if c.remembered(t, r) == damaged {
					t.Errorf("%q is there: %v; %+v", r.Command.Args, !damaged, sum)
				}
			}
			if !c.remembered(t, other) || c.remembered(t, old) || c.has(t, large("an input")) {
				t.Errorf("the rest is not as without damage: %+v", sum)
			}
			if _, err := os.Lstat(dir); err == nil || c.records(t) != 0 {
				t.Errorf("the tree: %v, %d on record", err, c.records(t))
			}
			if want := map[bool]int{true: 2}[damaged]; sum.Suspect != want {
				t.Errorf("%+v, want %d suspect", sum, want)
			}
		})
	}
}

// Builds that start at the same time all find the same damage on record: each blob is moved away by one of them, and the others do not mind; nor does it
// matter that somebody makes it anew meanwhile.
func TestSettleBesideOthers(t *testing.T) {
	c := open(t, t.TempDir())
	const blobs = 20
	content := func(i int) string { return fmt.Sprint(i, strings.Repeat("x", 1<<16)) }
	inUse, err := gc.Use(t.Context(), c.root, nil) // so that none of them is alone
	if err != nil {
		t.Fatal(err)
	}
	defer inUse()
	for round := range 20 {
		for i := range blobs {
			c.put(t, content(i))
			flip(t, c.blobs.Path(c.fn.Bytes([]byte(content(i)))))
		}
		if err := c.blobs.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if v, err := gc.Verify(t.Context(), c.root, gc.VerifyOptions{}); err != nil || len(v.Problems) < blobs {
			t.Fatalf("round %d: %s, %v", round, wrongs(v), err)
		}
		var wg sync.WaitGroup
		for n := range 8 {
			wg.Go(func() {
				if n == 0 {
					for i := range blobs {
						others, err := disk.NewBlobs(c.root)
						if err == nil {
							d := c.fn.Bytes([]byte(content(i)))
							if err = others.Put(t.Context(), d, strings.NewReader(content(i))); errors.Is(err, store.ErrCorrupt) {
								err = nil // it was still damaged
							}
						}
						if err != nil {
							t.Errorf("round %d, made anew: %v", round, err)
						}
					}
					return
				}
				if _, err := gc.Settle(t.Context(), c.root); err != nil {
					t.Errorf("round %d: %v", round, err)
				}
			})
		}
		wg.Wait()
	}
}
