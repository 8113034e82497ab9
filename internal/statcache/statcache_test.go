package statcache_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/statcache"
)

const fn = digest.BLAKE3

// soon is a clock by which a file that was written now changed long enough ago.
func soon() time.Time { return time.Now().Add(stat.RacyWindow + time.Second) }

func hash(t *testing.T, c *statcache.Cache, path, content string) {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Hash(path, stat.Of(info))
	if err != nil || got != fn.Bytes([]byte(content)) {
		t.Fatalf("digest of %s is %v, %v; want that of %q", path, got, err, content)
	}
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestStatCache(t *testing.T) {
	dir := t.TempDir()
	file, state := filepath.Join(dir, "f"), filepath.Join(dir, "state", "statcache")
	write(t, file, "one")

	// Just written: not to be trusted, nor remembered.
	c := statcache.Open(state, fn, time.Now)
	hash(t, c, file, "one")
	info, err := os.Lstat(file)
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, "two")
	if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	hash(t, c, file, "two")

	c = statcache.Open(state, fn, soon)
	hash(t, c, file, "two")
	n := c.Hashed()
	hash(t, c, file, "two")
	if c.Hashed() != n {
		t.Error("an unchanged file was read again")
	}
	if err := c.Save(); err != nil {
		t.Fatal(err)
	}

	c = statcache.Open(state, fn, soon)
	hash(t, c, file, "two")
	if c.Hashed() != 0 {
		t.Error("a saved entry was not used")
	}
	if other := statcache.Open(state, digest.SHA256, soon); true {
		info, err := os.Lstat(file)
		if err != nil {
			t.Fatal(err)
		}
		if d, err := other.Hash(file, stat.Of(info)); err != nil || d != digest.SHA256.Bytes([]byte("two")) {
			t.Errorf("another function's cache was used: %v, %v", d, err)
		}
	}

	// Same size and modification time: the change time gives it away.
	info, err = os.Lstat(file)
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, "TWO")
	if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	hash(t, c, file, "TWO")

	// Two processes: what the other saved stays.
	second := filepath.Join(dir, "second")
	write(t, second, "2")
	a, b := statcache.Open(state, fn, soon), statcache.Open(state, fn, soon)
	hash(t, a, file, "TWO")
	hash(t, b, second, "2")
	for _, c := range []*statcache.Cache{a, b} {
		if err := c.Save(); err != nil {
			t.Fatal(err)
		}
	}
	c = statcache.Open(state, fn, soon)
	hash(t, c, file, "TWO")
	hash(t, c, second, "2")
	if c.Hashed() != 0 {
		t.Errorf("%d files were read again: the last writer forgot the other's", c.Hashed())
	}

	good, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string][]byte{
		"empty": {}, "cut": good[:len(good)-1], "longer": append(good[:len(good):len(good)], 0),
		"text":    []byte("hello"),
		"flipped": func() []byte { b := append([]byte{}, good...); b[len(b)/2] ^= 1; return b }(),
	} {
		if err := os.WriteFile(state, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		c := statcache.Open(state, fn, soon)
		hash(t, c, file, "TWO")
		if c.Hashed() != 1 {
			t.Errorf("%s: an entry of a damaged file was used", name)
		}
	}
}

// What was not asked for in a month is forgotten; what was stays, however old.
func TestForgets(t *testing.T) {
	dir := t.TempDir()
	often, once, state := filepath.Join(dir, "often"), filepath.Join(dir, "once"), filepath.Join(dir, "statcache")
	write(t, often, "often")
	write(t, once, "once")
	start := soon()
	for day := 0; day <= 31; day++ {
		c := statcache.Open(state, fn, func() time.Time { return start.Add(time.Duration(day) * 24 * time.Hour) })
		hash(t, c, often, "often")
		if day == 0 {
			hash(t, c, once, "once")
		} else if c.Hashed() != 0 {
			t.Fatalf("on day %d a file was read again that was asked for the day before", day)
		}
		if err := c.Save(); err != nil {
			t.Fatal(err)
		}
	}
	c := statcache.Open(state, fn, func() time.Time { return start.Add(31 * 24 * time.Hour) })
	if hash(t, c, once, "once"); c.Hashed() != 1 {
		t.Error("what nobody asked for in a month is remembered")
	}
}

// By a clock that was ahead when a file was written, and is right now, the file changes in the future. It is read
// each time rather than taken as it was.
func TestStatCacheClockWentBack(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	write(t, file, "one")
	ahead := time.Now().Add(time.Hour)
	c := statcache.Open(filepath.Join(dir, "state", "statcache"), fn, time.Now)
	for _, content := range []string{"one", "two", "six"} {
		write(t, file, content)
		if err := os.Chtimes(file, ahead, ahead); err != nil {
			t.Fatal(err)
		}
		hash(t, c, file, content)
	}
	n := c.Hashed()
	hash(t, c, file, "six")
	if c.Hashed() == n {
		t.Error("a file that changed in the future was taken as unchanged")
	}
}
