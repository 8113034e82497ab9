package statefile_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/statefile"
)

func kind() statefile.Kind { return statefile.Kind{Name: "test", Version: 3, Max: 1 << 20} }

type value struct {
	Text    string
	Numbers []int64
}

func some() value { return value{"a\nb \"c\"", []int64{0, -1, 1 << 62}} }

func TestWriteAndRead(t *testing.T) {
	for _, shared := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "sub", "file")
		k := kind()
		k.Shared = shared
		for _, want := range []value{some(), {}, {Text: strings.Repeat("x", 1000)}} {
			if err := statefile.Write(path, k, want); err != nil {
				t.Fatal(err)
			}
			var got value
			if err := statefile.Read(path, k, &got); err != nil || !cmp.Equal(got, want) {
				t.Errorf("%+v, %v; want %+v", got, err, want)
			}
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != map[bool]fs.FileMode{false: 0o600, true: 0o644}[shared] {
			t.Errorf("shared %v: mode %v, %v", shared, info.Mode(), err)
		}
		if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
			t.Errorf("left behind: %v, %v", entries, err)
		}
	}
}

func TestNoFile(t *testing.T) {
	var v value
	if err := statefile.Read(filepath.Join(t.TempDir(), "none"), kind(), &v); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// A file of another kind or version, a file in which any byte differs, and each beginning of a file are corrupt.
func TestCorrupt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := statefile.Write(path, kind(), some()); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	corrupt := func(what string, k statefile.Kind, b []byte) {
		t.Helper()
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		var v value
		if err := statefile.Read(path, k, &v); !errors.Is(err, statefile.ErrCorrupt) {
			t.Errorf("%s: %+v, %v", what, v, err)
		}
	}
	for i := range good {
		b := []byte(string(good))
		b[i] ^= 1
		corrupt(fmt.Sprint("byte ", i), kind(), b)
		corrupt(fmt.Sprint(i, " bytes"), kind(), good[:i])
	}
	corrupt("more", kind(), append(good[:len(good):len(good)], ' '))
	k := kind()
	k.Version = 4
	corrupt("another version", k, good)
	k = kind()
	k.Name = "other"
	corrupt("another kind", k, good)
	k = kind()
	k.Max = int64(len(good) - 1)
	corrupt("too large", k, good)
}

func TestMax(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	k := kind()
	k.Max = 1000
	if err := statefile.Write(path, k, value{Text: strings.Repeat("x", 1000)}); err == nil {
		t.Error("more than the limit was written")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("there is a file")
	}
}

// What a killed process left is removed after an hour.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-2 * time.Hour)
	left := filepath.Join(dir, fmt.Sprintf("new-%d-1", dead.Process.Pid))
	if err := errors.Join(os.WriteFile(left, nil, 0o600), os.Chtimes(left, old, old)); err != nil {
		t.Fatal(err)
	}
	if err := statefile.Write(filepath.Join(dir, "file"), kind(), some()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("it is still there")
	}
}

// Whatever is in a file: reading it fails, or gives a value that can be written.
func FuzzRead(f *testing.F) {
	path := filepath.Join(f.TempDir(), "seed")
	if err := statefile.Write(path, kind(), some()); err != nil {
		f.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:20])
	f.Add([]byte("hexmage test state 3 \n{}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		var v value
		if statefile.Read(path, kind(), &v) == nil {
			if err := statefile.Write(path, kind(), v); err != nil {
				t.Fatal(err)
			}
		}
	})
}
