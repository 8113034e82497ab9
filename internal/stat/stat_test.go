package stat_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/stat"
)

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestLstats(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), "12345")
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "sub"), 0o755),
		os.Symlink("file", filepath.Join(dir, "link"))); err != nil {
		t.Fatal(err)
	}
	var paths []string
	for i := range 1000 { // more than one goroutine's share
		p := fmt.Sprintf("sub/%d", i)
		write(t, filepath.Join(dir, p), p)
		paths = append(paths, p)
	}
	paths = append(paths, "file", "link", "sub", "", "gone", "file/below", filepath.Join(dir, "file"),
		filepath.Join(dir, "gone"))
	for _, parallel := range []int{0, 1, 5} {
		got, err := stat.Lstats(dir, paths, parallel)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range paths {
			full := p
			if !filepath.IsAbs(p) {
				full = filepath.Join(dir, p)
			}
			want, err := stat.Lstat(full)
			if got[i] != want {
				t.Errorf("%s: %+v, want %+v (%v)", p, got[i], want, err)
			}
			if info, err := os.Lstat(full); err == nil {
				s := got[i]
				if !s.Exists() || s.IsDir() != info.IsDir() || s.IsRegular() != info.Mode().IsRegular() ||
					s.IsSymlink() != (info.Mode()&fs.ModeSymlink != 0) || s.Size != info.Size() ||
					s.MTime != info.ModTime().UnixNano() || s != stat.Of(info) {
					t.Errorf("%s: %+v is not what %v says", p, s, info)
				}
			} else if got[i].Exists() {
				t.Errorf("%s: there is nothing, and its stamp is %+v", p, got[i])
			}
		}
	}
}

func TestLstatsOfNothing(t *testing.T) {
	if got, err := stat.Lstats(filepath.Join(t.TempDir(), "gone"), []string{"a", ""}, 0); err != nil ||
		len(got) != 2 || got[0].Exists() || got[1].Exists() {
		t.Errorf("a folder that is not there: %v, %v", got, err)
	}
	if got, err := stat.Lstats(t.TempDir(), []string{"a\x00b", "c"}, 0); err == nil || len(got) != 2 ||
		got[0].Exists() {
		t.Errorf("an impossible name: %v, %v", got, err)
	}
	if got, err := stat.Lstats(t.TempDir(), nil, 0); err != nil || len(got) != 0 {
		t.Errorf("no paths: %v, %v", got, err)
	}
}

// Every way in which a file can become another one shows.
func TestStampTells(t *testing.T) {
	old := time.Now().Add(-time.Hour)
	for what, change := range map[string]func(string) error{
		"content, same size, time set back": func(p string) error {
			return errors.Join(os.WriteFile(p, []byte("other"), 0o644), os.Chtimes(p, old, old))
		},
		"longer":     func(p string) error { return os.WriteFile(p, []byte("longer than before"), 0o644) },
		"executable": func(p string) error { return os.Chmod(p, 0o755) },
		"replaced": func(p string) error {
			return errors.Join(os.WriteFile(p+"~", []byte("12345"), 0o644), os.Chtimes(p+"~", old, old),
				os.Rename(p+"~", p))
		},
		"removed": os.Remove,
	} {
		p := filepath.Join(t.TempDir(), "f")
		write(t, p, "12345")
		if err := os.Chtimes(p, old, old); err != nil {
			t.Fatal(err)
		}
		before, _ := stat.Lstat(p)
		time.Sleep(20 * time.Millisecond) // the kernel's clock for files ticks 100 to 1000 times a second
		if err := change(p); err != nil {
			t.Fatal(err)
		}
		if after, _ := stat.Lstat(p); after == before {
			t.Errorf("%s: the stamp is as before", what)
		}
	}
}

func TestRacy(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		mtime, ctime time.Duration // before now
		racy         bool
	}{
		{time.Hour, time.Hour, false},
		{time.Second, time.Hour, true},
		{time.Hour, time.Second, true},
		{-time.Hour, time.Hour, true}, // the clock went back
		{3 * time.Second, 3 * time.Second, false},
	} {
		s := stat.Stamp{MTime: now.Add(-c.mtime).UnixNano(), CTime: now.Add(-c.ctime).UnixNano(), Mode: 0o100644}
		if s.Racy(now) != c.racy {
			t.Errorf("changed %v and %v ago: racy %v, want %v", c.mtime, c.ctime, s.Racy(now), c.racy)
		}
	}
}

// 20,000 files as in a pipeline of 10,000 small actions.
func BenchmarkLstats20000(b *testing.B) {
	dir := b.TempDir()
	var paths []string
	for _, sub := range []string{"src", "out"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			b.Fatal(err)
		}
		for i := range 10000 {
			p := fmt.Sprintf("%s/f%05d.bin", sub, i)
			write(b, filepath.Join(dir, p), "")
			paths = append(paths, p)
		}
	}
	for b.Loop() {
		if _, err := stat.Lstats(dir, paths, 0); err != nil {
			b.Fatal(err)
		}
	}
}

func TestLstat(t *testing.T) {
	dir := t.TempDir()
	at := filepath.Join(dir, strings.Repeat("d", 200), strings.Repeat("e", 200)) // longer than what is at hand for most
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, at, "x")
	info, err := os.Lstat(at)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := stat.Lstat(at); err != nil || s != stat.Of(info) {
		t.Errorf("%+v, %v; want %+v", s, err, stat.Of(info))
	}
	for _, p := range []string{"", filepath.Join(dir, "none"), filepath.Join(at, "below"), "a\x00b"} {
		_, want := os.Lstat(p)
		s, err := stat.Lstat(p)
		if err == nil || s.Exists() || errors.Is(err, fs.ErrNotExist) != errors.Is(want, fs.ErrNotExist) ||
			err.Error() != want.Error() {
			t.Errorf("%q: %+v, %v; os.Lstat says %v", p, s, err, want)
		}
	}
}
