//go:build linux

package faults_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestClock lets times lie: sources and files of the cache have times far in the future or the past, as on a machine
// whose clock was wrong, and edits leave size and modification time as they were, as of files that were copied with
// their times. Content decides all the same: the change time, which programs cannot set, tells of the edit.
func TestClock(t *testing.T) {
	const size = 100_000
	w := newWorldIn(t, quick(), size)
	past, future := time.Unix(1, 0), time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC)
	when := []time.Time{past, future, time.Now().Add(-time.Hour), time.Now().Add(time.Hour), time.Unix(0, 0),
		time.Now()}
	text := func(c rune, edit int) string { return fmt.Sprintf("source %c, edit %d\n", c, edit) }
	write := func(edit int) {
		t.Helper()
		for c := 'a'; c <= 'l'; c++ {
			p := filepath.Join(w.dir, "src", string(c)+".c")
			at := when[int(c-'a')%len(when)]
			// In place, and by another file that takes its name.
			q := p
			if c%2 == 0 && edit > 0 {
				q += ".new"
			}
			err := errors.Join(os.WriteFile(q, []byte(text(c, edit)), 0o644), os.Chtimes(q, at, at))
			if q != p {
				err = errors.Join(err, os.Rename(q, p))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	prog := func() string {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(w.dir, "out", "p", "prog"))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for edit := range rounds(3, 10) { // of the same size, with the same time
		write(edit)
		if edit != 1 { // that one comes within a moment of the last
			time.Sleep(settled)
		}
		if o := w.run(t); o.code != exitOK || o.executed != 13 && edit > 0 {
			t.Fatalf("edit %d: executed %d, want 12 sources and their link: %s", edit, o.executed, o)
		}
		want := ""
		for c := 'a'; c <= 'l'; c++ {
			want += "common 0\n" + text(c, edit)
		}
		if got := prog(); got != want {
			t.Fatalf("edit %d: %q, want %q", edit, got, want)
		}
		if o := w.run(t); o.code != exitOK || o.executed != 0 {
			t.Errorf("edit %d: a second build does work: %s", edit, o)
		}
	}
	right := w.outputs(t)
	// Files of the cache with any times.
	for _, at := range when {
		var files []string
		for _, glob := range []string{"blake3/*/*/*", "state/*", "downloads/*"} {
			found, err := filepath.Glob(filepath.Join(w.cache, glob))
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, found...)
		}
		if len(files) < 50 {
			t.Fatalf("%d files", len(files))
		}
		for _, f := range files {
			if err := os.Chtimes(f, at, at); err != nil {
				t.Fatal(err)
			}
		}
		remove(filepath.Join(w.dir, "out"))
		if o := w.builds(t, right); o.executed != 0 {
			t.Errorf("with times of %v it does work: %s", at, o)
		}
		w.sound(t)
	}
	// Outputs that somebody changed, keeping size and time.
	for _, name := range []string{"prog", "deferred", "trees.x/sub/3"} {
		p := filepath.Join(w.dir, "out", "p", name)
		info, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		b[len(b)-2] ^= 1
		if err := errors.Join(os.WriteFile(p, b, info.Mode().Perm()),
			os.Chtimes(p, info.ModTime(), info.ModTime())); err != nil {
			t.Fatal(err)
		}
	}
	w.builds(t, right)
}
