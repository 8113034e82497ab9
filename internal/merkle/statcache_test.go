package merkle_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
)

// settle waits until a file written now is no longer racy.
func settle() { time.Sleep(2100 * time.Millisecond) }

func hash(t *testing.T, c *merkle.StatCache, path, content string) {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Hash(path, info)
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
	c := merkle.OpenStatCache(state, fn)
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

	settle()
	hash(t, c, file, "two")
	n := c.Hashed()
	hash(t, c, file, "two")
	if c.Hashed() != n {
		t.Error("an unchanged file was read again")
	}
	if err := c.Save(); err != nil {
		t.Fatal(err)
	}

	c = merkle.OpenStatCache(state, fn)
	hash(t, c, file, "two")
	if c.Hashed() != 0 {
		t.Error("a saved entry was not used")
	}
	if other := merkle.OpenStatCache(state, digest.SHA256); true {
		info, err := os.Lstat(file)
		if err != nil {
			t.Fatal(err)
		}
		if d, err := other.Hash(file, info); err != nil || d != digest.SHA256.Bytes([]byte("two")) {
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
	settle()
	a, b := merkle.OpenStatCache(state, fn), merkle.OpenStatCache(state, fn)
	hash(t, a, file, "TWO")
	hash(t, b, second, "2")
	for _, c := range []*merkle.StatCache{a, b} {
		if err := c.Save(); err != nil {
			t.Fatal(err)
		}
	}
	c = merkle.OpenStatCache(state, fn)
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
		"empty": {}, "cut": good[:len(good)-1], "longer": append(good[:len(good):len(good)], 0), "text": []byte("hello"),
		"flipped": func() []byte { b := append([]byte{}, good...); b[len(b)/2] ^= 1; return b }(),
	} {
		if err := os.WriteFile(state, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		c := merkle.OpenStatCache(state, fn)
		hash(t, c, file, "TWO")
		if c.Hashed() != 1 {
			t.Errorf("%s: an entry of a damaged file was used", name)
		}
	}
}

// What a killed process left of its file goes when a later one reads the cache; the cache itself and what is not ours stay.
func TestStatCacheSweeps(t *testing.T) {
	dir := t.TempDir()
	names := map[string]bool{ // stays
		"statcache-4194304-123": false, // no process has this id: it is above the limit
		"statcache-blake3":      true,
		"notes-4194304-123":     true,
		"exports-4194304-9":     true,
	}
	old := time.Now().Add(-2 * time.Hour)
	for name := range names {
		write(t, filepath.Join(dir, name), "x")
		if err := os.Chtimes(filepath.Join(dir, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, "f"), "x")
	hash(t, merkle.OpenStatCache(filepath.Join(dir, "statcache-blake3"), fn), filepath.Join(dir, "f"), "x")
	for name, stays := range names {
		if _, err := os.Lstat(filepath.Join(dir, name)); (err == nil) != stays {
			t.Errorf("%s: %v, stays %v", name, err, stays)
		}
	}
}

// By a clock that was ahead when a file was written, and is right now, the file changes in the future. It is read each time
// rather than taken as it was.
func TestStatCacheClockWentBack(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	write(t, file, "one")
	ahead := time.Now().Add(time.Hour)
	c := merkle.OpenStatCache(filepath.Join(dir, "state", "statcache"), fn)
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

// A direct hasher reads small files, and neither reads nor changes what is remembered; of large ones it asks.
func TestDirect(t *testing.T) {
	dir := t.TempDir()
	path, state := filepath.Join(dir, "f"), filepath.Join(dir, "state")
	old := time.Now().Add(-time.Hour)
	write := func(text string) fs.FileInfo {
		t.Helper()
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, old, old)); err != nil {
			t.Fatal(err)
		}
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	for _, c := range []struct {
		size   int
		hashed int64
	}{{10, 0}, {2 << 20, 1}} {
		cache := merkle.OpenStatCache(state, digest.BLAKE3)
		text := strings.Repeat("x", c.size)
		d, err := cache.Direct().Hash(path, write(text))
		if err != nil || d != digest.BLAKE3.Bytes([]byte(text)) {
			t.Errorf("%d bytes: %v, %v", c.size, d, err)
		}
		if cache.Hashed() != c.hashed {
			t.Errorf("%d bytes: %d files were remembered", c.size, cache.Hashed())
		}
	}
}
