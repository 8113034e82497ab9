//go:build linux

package faults_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// damages are what may happen to a file of the cache. Those that are sly leave its size and times as they were, but for
// the change time.
var damages = []struct { // never changed
	name string
	sly  bool
	do   func(r *rand.Rand, b []byte) []byte
}{
	{"flipped bit, times kept", true, flip},
	{"flipped bit", false, flip},
	{"zeros, times kept", true, func(r *rand.Rand, b []byte) []byte {
		i := r.IntN(len(b))
		clear(b[i:min(len(b), i+4096)])
		return b
	}},
	{"truncated", false, func(r *rand.Rand, b []byte) []byte { return b[:r.IntN(len(b))] }},
	{"empty", false, func(*rand.Rand, []byte) []byte { return nil }},
	{"grown", false, func(r *rand.Rand, b []byte) []byte { return append(b, b[:1+r.IntN(len(b))]...) }},
	{"garbage", false, func(r *rand.Rand, b []byte) []byte {
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}},
	{"turned round", false, func(r *rand.Rand, b []byte) []byte {
		i := r.IntN(len(b))
		return append(bytes.Clone(b[i:]), b[:i]...)
	}},
}

func flip(r *rand.Rand, b []byte) []byte {
	b[r.IntN(len(b))] ^= 1 << r.IntN(8)
	return b
}

// TestDamage damages a file below the cache folder, and may change the workspace besides. The next build has the right
// outputs all the same. It leaves out damage to blobs that keeps their times: `cache verify` finds it, see
// TestFlippedBit.
func TestDamage(t *testing.T) {
	const size, variants = 100_000, 2
	want := clean(t, size, variants)
	pristine := newWorldIn(t, quick(), size)
	for v := variants - 1; v >= 0; v-- {
		pristine.variant(t, v)
		pristine.builds(t, want[v])
	}
	r, w := chance(t), pristine.clone(t)
	time.Sleep(settled) // the stat cache remembers what has not just changed
	w.builds(t, want[0])
	kinds, repaired := map[string]int{}, 0
	for round := range rounds(80, 1500) { // in one world: what is not repaired is found sooner or later
		file, damage := w.damage(t, r)
		top := kindOf(file)
		kinds[top]++
		v := 0
		if r.IntN(4) == 0 {
			v = r.IntN(variants)
		}
		w.variant(t, v)
		did := w.meddle(t, r)
		what := fmt.Sprintf("round %d: %s: %s; %s; variant %d", round, file, damage.name, did, v)
		o := w.run(t)
		if strings.Contains(o.stderr, "corrupt or missing") {
			repaired++
		}
		if o.code != exitOK {
			t.Errorf("%s: it is not repaired: %s", what, o)
		} else if all, err := snapshot(w.out()); err != nil {
			t.Errorf("%s: %v: %s", what, err, o)
		} else if d := differ(want[v], all); d != "" {
			t.Errorf("%s: wrong outputs, %d executed\n%s\n%s", what, o.executed, d, o)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Logf("damaged %v; %d builds began again", kinds, repaired)
}

// TestFlippedBit: a bit that flips in a blob under an unchanged time reaches the actions that read the blob, but no
// verified copy. Once `cache verify --repair` has found it, the blob's action runs again, and no other one.
func TestFlippedBit(t *testing.T) {
	w := newWorldIn(t, quick(), 0)
	w.write(t, "pipelines/p.hcl", `
step "exec" "made" {
  argv   = ["sh", "-ec", "head -c 100000 /dev/zero | tr '\\000' a > made"]
  output "made" { file = "made" }
}
step "exec" "upper" {
  argv   = ["sh", "-ec", "tr a-z A-Z < $0 > upper", step.exec.made.outputs.made]
  output "upper" { file = "upper" }
}
output "upper" { value = step.exec.upper.outputs.upper }
`)
	if o := w.run(t); o.code != exitOK || o.executed != 2 {
		t.Fatalf("a clean build: %s", o)
	}
	want := w.outputs(t)
	found := 0
	for _, p := range w.blobs(t) {
		if b, err := os.ReadFile(p); err == nil && len(b) == 100_000 && b[0] == 'a' {
			found++
			alter(t, p, true, func(b []byte) []byte { b[1000] ^= 2; return b })
		}
	}
	if found != 1 {
		t.Fatal(found)
	}
	if o := w.hexmage(t, "cache", "verify"); o.code != exitFailed || !strings.Contains(o.stdout, "1 damaged") {
		t.Errorf("verify: %s", o)
	}
	o := w.hexmage(t, "cache", "verify", "--repair")
	if o.code != exitFailed || !strings.Contains(o.stdout, "moved to damaged/") {
		t.Errorf("repair: %s", o)
	}
	remove(filepath.Join(w.cache, "state", "requests"))
	if o := w.builds(t, want); o.executed != 1 {
		t.Errorf("after the repair: %s", o)
	}
	w.sound(t)
}

// blobs returns the files of all blobs.
func (w *world) blobs(t *testing.T) (all []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(w.cache, "blake3", "cas"), func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			all = append(all, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestBlobGoesWhileABuildRuns: what a build has found in the cache, and another process finds damaged before the
// build reads it, is made anew.
func TestBlobGoesWhileABuildRuns(t *testing.T) {
	const small = `
step "exec" "small" {
  argv   = ["sh", "-ec", "echo small > small"]
  output "small" { file = "small" }
}
step "exec" "waits" {
  argv = ["sh", "-ec", "touch WORLD/started; while [ ! -e WORLD/go ]; do sleep 0.02; done; echo > o"]
  output "o" { file = "o" }
}
output "small" { value = step.exec.small.outputs.small }
`
	w := newWorldIn(t, quick(), 0)
	first, all, _ := strings.Cut(strings.ReplaceAll(small, "WORLD", w.dir), `step "exec" "waits"`)
	w.write(t, "pipelines/p.hcl", first)
	if o := w.run(t); o.code != exitOK {
		t.Fatal(o)
	}
	w.write(t, "pipelines/p.hcl", first+`step "exec" "waits"`+all)
	done := make(chan *outcome, 1)
	go func() { done <- w.run(t, "--sandbox", "staged") }()
	for deadline := time.Now().Add(runLimit); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(w.dir, "started")); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the command does not start")
		}
	}
	gone := 0
	for _, p := range w.blobs(t) {
		if b, err := os.ReadFile(p); err == nil && string(b) == "small\n" {
			gone++
			if err := os.Remove(p); err != nil {
				t.Fatal(err)
			}
		}
	}
	if gone != 1 {
		t.Fatal(gone)
	}
	w.write(t, "go", "")
	if o := <-done; o.code != exitOK || !strings.Contains(o.stderr, "builds again") {
		t.Errorf("%s", o)
	} else if b, err := os.ReadFile(filepath.Join(w.out(), "small")); err != nil || string(b) != "small\n" {
		t.Errorf("%q, %v", b, err)
	}
}

// settled is after how long the stat cache takes a file as unchanged by its times.
const settled = 2100 * time.Millisecond

// kindOf says what a file of the cache is.
func kindOf(file string) string {
	switch parts := strings.Split(file, "/"); {
	case strings.HasPrefix(file, "blake3/cas/"):
		return "blob"
	case strings.HasPrefix(file, "blake3/exec/"):
		return "executable copy"
	case strings.HasPrefix(file, "blake3/ac/"):
		return "result"
	case parts[0] == "state" && len(parts) > 1:
		name, _, _ := strings.Cut(parts[1], "-")
		return "state/" + name
	default:
		return parts[0]
	}
}

// trustedByTime tells whether hexmage hands files of the kind to actions without hashing them, if mode and time are
// right.
func trustedByTime(kind string) bool {
	return kind == "blob" || kind == "executable copy"
}

// clone makes a copy of the world, with all times.
func (w *world) clone(t *testing.T) *world {
	t.Helper()
	base, err := os.MkdirTemp(filepath.Dir(w.base), "world-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { remove(base) })
	if err := copyTree(w.base, base); err != nil {
		t.Fatal(err)
	}
	return &world{base: base, dir: filepath.Join(base, "workspace"), cache: filepath.Join(base, "cache", "v3"),
		size: w.size}
}

func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(from, p)
		at := filepath.Join(to, rel)
		info, err := d.Info()
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return os.MkdirAll(at, 0o755)
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(p)
			return errors.Join(err, os.Symlink(target, at))
		}
		b, err := os.ReadFile(p)
		return errors.Join(err, os.WriteFile(at, b, 0o644), os.Chmod(at, info.Mode().Perm()),
			os.Chtimes(at, info.ModTime(), info.ModTime()))
	})
}

// damage damages a file of the cache: every kind is as likely as another, however few files it has.
func (w *world) damage(t *testing.T, r *rand.Rand) (string, struct {
	name string
	sly  bool
	do   func(r *rand.Rand, b []byte) []byte
}) {
	t.Helper()
	byKind := map[string][]string{}
	var kinds []string
	err := filepath.WalkDir(w.cache, func(p string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(w.cache, p)
		if err != nil || !d.Type().IsRegular() || strings.HasPrefix(rel, "damaged/") {
			return err
		}
		if info, err := d.Info(); err != nil || info.Size() == 0 {
			return err
		}
		k := kindOf(rel)
		if byKind[k] == nil {
			kinds = append(kinds, k)
		}
		byKind[k] = append(byKind[k], rel)
		return nil
	})
	if err != nil || len(kinds) < 4 {
		t.Fatalf("kinds of files %q: %v", kinds, err)
	}
	files := byKind[kinds[r.IntN(len(kinds))]]
	file, d := files[r.IntN(len(files))], damages[r.IntN(len(damages))]
	for d.sly && trustedByTime(kindOf(file)) {
		d = damages[r.IntN(len(damages))]
	}
	alter(t, filepath.Join(w.cache, file), d.sly, func(b []byte) []byte { return d.do(r, b) })
	return file, d
}

// alter changes a file in place: a link to it, such as one in an exec root, would see it.
func alter(t *testing.T, p string, sly bool, do func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(p)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Chmod(p, 0o644), os.WriteFile(p, do(b), 0o644),
		os.Chmod(p, info.Mode().Perm())); err != nil {
		t.Fatal(err)
	}
	if sly {
		if err := os.Chtimes(p, time.Time{}, info.ModTime()); err != nil {
			t.Fatal(err)
		}
	}
}

// meddle changes something of the workspace, or not, and says what.
func (w *world) meddle(t *testing.T, r *rand.Rand) string {
	t.Helper()
	out := filepath.Join(w.dir, "out")
	switch r.IntN(4) {
	case 0:
		remove(out)
		return "outputs removed"
	case 1:
		remove(filepath.Join(out, "p", "trees.y", "sub"))
		return "a part of an output removed"
	case 2:
		p := filepath.Join(out, "p", "prog")
		info, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		b[3] ^= 1
		if err := errors.Join(os.WriteFile(p, b, 0o755), os.Chtimes(p, info.ModTime(), info.ModTime())); err != nil {
			t.Fatal(err)
		}
		return "an output changed, times kept"
	}
	return "outputs left alone"
}
