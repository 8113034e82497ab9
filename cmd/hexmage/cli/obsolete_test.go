package cli_test

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/gc"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// obsolete makes a workspace, and the cache that the first version of hexmage (3de8b0c) left of it, with a file of each kind that it
// remembered anything in: a memo, the history, the stat cache, when blobs were read, exports, last runs of steps with effects, and a folder
// of inputs that is kept.
func obsolete(t *testing.T) (dir, cache string) {
	t.Helper()
	at := filepath.Join("testdata", "obsolete")
	dir, cache = t.TempDir(), filepath.Join(t.TempDir(), "cache")
	for _, name := range []string{"pipelines", "src"} {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join(at, name))); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(filepath.Join(at, "cache.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	times := map[string]time.Time{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(filepath.Dir(cache), filepath.FromSlash(h.Name))
		switch h.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(path, 0o755)
		case tar.TypeLink:
			err = os.Link(filepath.Join(filepath.Dir(cache), filepath.FromSlash(h.Linkname)), path)
		case tar.TypeReg:
			b, rerr := io.ReadAll(r)
			err = errors.Join(rerr, os.WriteFile(path, b, fs.FileMode(h.Mode).Perm()))
		}
		if err != nil {
			t.Fatal(err)
		}
		times[path] = h.ModTime
	}
	for path, at := range times {
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	return dir, cache
}

// left returns the names of what is left of what the first version remembered.
func left(t *testing.T, cache string) (names []string) {
	t.Helper()
	err := layout.Root(cache).Each(t.Context(), func(it layout.Item) error {
		if it.Kind == layout.Obsolete {
			names = append(names, filepath.Base(it.Path))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

func isRight(t *testing.T, dir, second string) {
	t.Helper()
	all, err := os.ReadFile(filepath.Join(dir, "out", "p", "all"))
	last, lerr := os.ReadFile(filepath.Join(dir, "out", "p", "last"))
	const big = "1526997417 1100000\n"
	if want := "one\n" + second + "\n710150553 1040\n" + big; err != nil || lerr != nil || string(all) != want || string(last) != big {
		t.Errorf("%v, %v: outputs %q and %q", err, lerr, all, last)
	}
}

// A cache of the first version is used on: its blobs stay. What it remembered beside them goes, results too, and that is said once.
func TestObsoleteState(t *testing.T) {
	dir, cache := obsolete(t)
	want := []string{"ac", "exports-027a7f2ebae62e7f", "exports-027a7f2ebae62e7f.lock", "history", "laid", "memo", "statcache-blake3", "verified"}
	if got := left(t, cache); !slices.Equal(got, want) {
		t.Fatalf("the recorded cache has %q", got)
	}
	before, _ := filepath.Glob(filepath.Join(cache, "blake3", "cas", "*", "*"))
	_, said := hexmage(t, dir, cache, "run", "p")
	if n := strings.Count(said, "earlier version"); n != 1 {
		t.Errorf("said %d times: %s", n, said)
	}
	isRight(t, dir, "two")
	if got := left(t, cache); len(got) > 0 {
		t.Errorf("left are %q", got)
	}
	for _, b := range before {
		if _, err := os.Stat(b); err != nil {
			t.Errorf("a blob is gone: %v", err)
		}
	}
	if _, said = hexmage(t, dir, cache, "run", "p"); strings.Contains(said, "earlier version") {
		t.Errorf("said again: %s", said)
	}
	isRight(t, dir, "two")
}

// `cache gc` removes it as well, and `cache stats` counts it.
func TestObsoleteStateIsCollected(t *testing.T) {
	dir, cache := obsolete(t)
	out, _ := hexmage(t, dir, cache, "--json", "cache", "stats")
	var stats gc.Stats
	if err := json.Unmarshal([]byte(out), &stats); err != nil {
		t.Fatal(err)
	}
	counted := 0
	for _, g := range stats.Groups {
		if g.Kind == layout.Obsolete {
			counted = g.Count
		}
	}
	if counted != len(left(t, cache)) {
		t.Errorf("%d are counted: %+v", counted, stats.Groups)
	}
	hexmage(t, dir, cache, "cache", "gc", "--dry-run")
	if len(left(t, cache)) != counted {
		t.Error("a dry run removed something")
	}
	hexmage(t, dir, cache, "cache", "gc")
	if got := left(t, cache); len(got) > 0 {
		t.Errorf("left are %q", got)
	}
	if _, said := hexmage(t, dir, cache, "run", "p"); strings.Contains(said, "earlier version") {
		t.Errorf("nothing is left, and it said %s", said)
	}
	isRight(t, dir, "two")
}

// Even where this version looks for its own, what the first version remembered is never misread.
func TestObsoleteStateInPlace(t *testing.T) {
	dir, cache := obsolete(t)
	old := map[string][]byte{}
	for name, pattern := range map[string]string{"snapshot": "state/memo/*", "runlog": "state/history/*/*.run", "statcache": "state/statcache-blake3", "proofs": "state/verified",
		"exports": "state/exports-*", "last-runs": "state/last-runs/*", "dirpool": "laid/*.list"} {
		found, err := filepath.Glob(filepath.Join(cache, filepath.FromSlash(pattern)))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %q, %v", pattern, found, err)
		}
		if old[name], err = os.ReadFile(found[0]); err != nil {
			t.Fatal(err)
		}
	}
	exchange := func() {
		s := layout.Root(cache).State()
		for name, pattern := range map[string]string{"snapshot": filepath.Join(s.Snapshots(), "*"), "runlog": filepath.Join(s.RunLogs(), "*", "*.run"), "statcache": s.StatCache(1),
			"proofs": s.Proofs(), "exports": s.Exports("????????????????"), "last-runs": filepath.Join(s.LastRuns(), "*"), "dirpool": filepath.Join(layout.Root(cache).DirPool(), "*.list")} {
			found, err := filepath.Glob(pattern)
			if !strings.ContainsAny(pattern, "*?") {
				found = []string{pattern}
			}
			if err != nil || len(found) == 0 {
				t.Fatalf("this version has no %s: %v", name, err)
			}
			for _, p := range found {
				if err := os.WriteFile(p, old[name], 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	time.Sleep(stat.RacyWindow + 200*time.Millisecond) // files that have just changed are not remembered
	past := time.Now().Add(-time.Hour)
	for _, second := range []string{"deux", "two", "trois", "due"} { // new and known by turns
		if err := errors.Join(os.WriteFile(filepath.Join(dir, "src", "b"), []byte(second+"\n"), 0o644), os.Chtimes(filepath.Join(dir, "src", "b"), past, past)); err != nil {
			t.Fatal(err)
		}
		hexmage(t, dir, cache, "run", "p")
		isRight(t, dir, second)
		exchange()
		if err := os.Remove(filepath.Join(dir, "out", "p", "all")); err != nil {
			t.Fatal(err)
		}
		hexmage(t, dir, cache, "run", "p")
		isRight(t, dir, second)
		hexmage(t, dir, cache, "explain", "p", "exec.sum")
	}
}
