//go:build linux

package faults_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
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

// TestDamage damages any file below the cache folder, whatever it is, and may change the workspace besides. The next build
// has the right outputs all the same: no file here is so large that it is not read before a command gets it. Of those,
// TestRepair is.
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
	kinds, repaired, sly := map[string]int{}, 0, 0
	for round := range rounds(80, 1500) { // in one world: what is not repaired is found sooner or later
		file, damage := w.damage(t, r)
		top := kindOf(file)
		kinds[top]++
		if damage.sly && (top == "blob" || top == "executable copy") {
			sly++
		}
		v := 0
		if r.IntN(4) == 0 {
			v = r.IntN(variants)
		}
		w.variant(t, v)
		did := w.meddle(t, r)
		what := fmt.Sprintf("round %d: %s: %s; %s; variant %d", round, file, damage.name, did, v)
		o := w.run(t)
		if strings.Contains(o.stderr, "damaged and is dropped") {
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
	t.Logf("damaged %v, %d of the blobs with their times kept; %d builds began again", kinds, sly, repaired)
}

// large has a step that makes a large file, and one that reads it, which runs again when its comment is another.
const large = `
step "exec" "big" {
  argv   = ["sh", "-ec", "head -c 3000000 /dev/zero | tr '\\000' a > big"]
  output "big" { file = "big" }
}
step "exec" "upper" {
  argv   = ["sh", "-ec", "tr a-z A-Z < $0 > upper # COMMENT", step.exec.big.outputs.big]
  output "upper" { file = "upper" }
}
output "upper" { value = step.exec.upper.outputs.upper }
`

// flipLarge flips a bit of the large blob that begins with the byte, under unchanged times.
func (w *world) flipLarge(t *testing.T, first byte) {
	t.Helper()
	w.eachLarge(t, first, func(p string) { alter(t, p, true, func(b []byte) []byte { b[1_000_000] ^= 2; return b }) })
}

// eachLarge calls f for the large blobs that begin with the byte, of which there is one.
func (w *world) eachLarge(t *testing.T, first byte, f func(path string)) {
	t.Helper()
	found := 0
	err := filepath.WalkDir(filepath.Join(w.cache, "blake3", "cas"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if b, err := os.ReadFile(p); err != nil || len(b) != 3_000_000 || b[0] != first {
			return err
		}
		found++
		f(p)
		return nil
	})
	if err != nil || found != 1 {
		t.Fatalf("%d large blobs, %v", found, err)
	}
}

func (w *world) version(t *testing.T, comment string) {
	t.Helper()
	w.write(t, "pipelines/p.hcl", strings.Replace(large, "COMMENT", comment, 1))
}

// damagedWorlds are such in which a large blob was damaged under an unchanged time soon after it was made, so that a command got it unread.
// What that made is wrong, and nobody knows yet. It also returns the outputs as they should be.
func damagedWorlds(t *testing.T, n int) (all []*world, want map[string]string) {
	t.Helper()
	for range n {
		w := newWorldIn(t, quick(), 0)
		w.version(t, "first")
		if o := w.run(t); o.code != exitOK {
			t.Fatalf("a clean build: %s", o)
		}
		want = w.outputs(t)
		w.flipLarge(t, 'a')
		w.version(t, "second")
		all = append(all, w)
	}
	time.Sleep(settled) // there is a snapshot only of a pipeline file that has not just changed
	for _, w := range all {
		if o := w.run(t); o.code != exitOK || differ(want, w.outputs(t)) == "" {
			t.Fatalf("the limit is not as docs/cache.md says: %s", o)
		}
	}
	return all, want
}

// TestRepair: once it is known that something is damaged, no wrong file is delivered, and none is left in place, in whatever order somebody
// looks after the cache and builds, and however damage came to be known.
func TestRepair(t *testing.T) {
	const found, verify, repair, collect, tight = "build", "cache verify", "cache verify --repair", "cache gc", "cache gc --max-size 5MB --max-age 0" // two blobs of 3 MB are more
	var orders [][]string
	add := func(order ...string) {
		kinds := map[string]bool{}
		for _, o := range order {
			kinds[strings.Replace(o, tight, collect, 1)] = true
		}
		if len(kinds) == len(order) || *options.long { // nothing twice
			orders = append(orders, order)
		}
	}
	then := []string{verify, repair, collect, tight}
	for _, first := range []string{found, verify, repair} {
		add(first)
		for _, second := range then {
			add(first, second)
			for _, third := range then {
				add(first, second, third)
			}
		}
	}
	worlds, want := damagedWorlds(t, len(orders))
	for n, order := range orders {
		t.Run(strings.Join(order, ", "), func(t *testing.T) {
			t.Parallel()
			w := worlds[n]
			for i, command := range order {
				if command == found {
					w.version(t, "third")
					if err := os.Remove(filepath.Join(w.cache, "state", "proofs")); err != nil { // as after a week
						t.Fatal(err)
					}
					if o := w.builds(t, want); !strings.Contains(o.stderr, "damaged and is dropped") {
						t.Fatalf("it has found nothing: %s", o)
					}
					continue
				}
				o := w.hexmage(t, strings.Fields(command)...)
				if strings.HasPrefix(command, collect) && o.code != exitOK || i == 0 && (o.code != exitFailed || !strings.Contains(o.stdout, "results may be wrong")) {
					t.Fatalf("%s: %s", command, o)
				}
			}
			if order[0] == found {
				w.version(t, "second")
			}
			w.builds(t, want)
			for _, comment := range []string{"first", "second", "third"} { // what was made before the damage may be gone, but not be wrong
				w.version(t, comment)
				w.builds(t, want)
			}
			w.sound(t)
			if o := w.builds(t, want); o.executed != 0 {
				t.Errorf("what was made anew is not known: %s", o)
			}
		})
	}
}

// TestDamageFoundByALookup: a build that looks for a blob, finds that something wrote to its file, and makes it anew, looks up nothing that was
// made from it before.
func TestDamageFoundByALookup(t *testing.T) {
	worlds, want := damagedWorlds(t, 1)
	w := worlds[0]
	w.eachLarge(t, 'a', func(p string) {
		if err := os.Chtimes(p, time.Time{}, time.Now()); err != nil {
			t.Fatal(err)
		}
	})
	remove(filepath.Join(w.cache, "state", "snapshot"))
	if o := w.builds(t, want); !strings.Contains(o.stderr, "building again") {
		t.Errorf("it has found nothing: %s", o)
	}
	w.sound(t)
}

// TestRepairKeepsWhatIsRight: what was made from other things than the damaged one is not made again, also where it was found out only while it
// was made from what.
func TestRepairKeepsWhatIsRight(t *testing.T) {
	w := newWorldIn(t, quick(), 0)
	w.write(t, "pipelines/p.hcl", strings.Replace(large, "COMMENT", "", 1)+`
step "exec" "compile" {
  argv    = ["sh", "-ec", "cat src/a.c src/common.h > o; echo 'o: src/a.c src/common.h' > o.d"]
  inputs  = ["src"]
  depfile = "o.d"
  output "o" { file = "o" }
}
output "o" { value = step.exec.compile.outputs.o }
`)
	if o := w.run(t); o.code != exitOK || o.executed != 3 {
		t.Fatalf("a clean build: %s", o)
	}
	want := w.outputs(t)
	w.flipLarge(t, 'a')
	if o := w.hexmage(t, "cache", "verify", "--repair"); o.code != exitFailed || !strings.Contains(o.stdout, "\n1 results may be wrong") {
		t.Errorf("the repair: %s", o)
	}
	if o := w.builds(t, want); o.executed != 2 {
		t.Errorf("after the repair: %s", o)
	}
}

// TestDamageKnownWhileABuildRuns: a build that has given a damaged file to a command does not deliver what came of that, if the damage is found
// before it ends; and one that begins while such a build runs delivers nothing of what was made before.
func TestDamageKnownWhileABuildRuns(t *testing.T) {
	w := newWorldIn(t, quick(), 0)
	waits := strings.NewReplacer("COMMENT", "waits", `tr a-z A-Z < $0 > upper`, "tr a-z A-Z < $0 > upper; touch "+w.dir+"/started; while [ ! -e "+w.dir+"/go ]; do sleep 0.02; done").Replace(large)
	w.version(t, "first")
	if o := w.run(t); o.code != exitOK {
		t.Fatalf("a clean build: %s", o)
	}
	want := w.outputs(t)
	w.flipLarge(t, 'a')
	w.version(t, "second")
	if o := w.run(t); o.code != exitOK || differ(want, w.outputs(t)) == "" {
		t.Fatalf("the limit is not as docs/cache.md says: %s", o)
	}
	other := *w // the same cache from another workspace
	other.dir = w.dir + "-2"
	other.write(t, "pipelines/p.hcl", waits)
	done := make(chan *outcome, 1)
	go func() { done <- other.run(t, "--sandbox", "staged") }()
	for deadline := time.Now().Add(runLimit); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(w.dir, "started")); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the command does not start")
		}
	}
	if o := w.hexmage(t, "cache", "verify"); o.code != exitFailed || !strings.Contains(o.stdout, "1 damaged") {
		t.Fatalf("verify beside a build: %s", o)
	}
	for range 2 {
		w.builds(t, want)
	}
	w.write(t, "go", "")
	if o := <-done; o.code != exitOK || !strings.Contains(o.stderr, "building again") {
		t.Errorf("the build that ran: %s", o)
	} else if d := differ(want, other.outputs(t)); d != "" {
		t.Errorf("the build that ran delivers what it made of a damaged file: %s\n%s", d, o)
	}
	w.version(t, "first")
	w.builds(t, want)
	w.sound(t)
}

// TestBlobGoesWhileABuildRuns: what a build has found in the cache, and another process finds damaged before the build reads it, is made anew.
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
	err := filepath.WalkDir(filepath.Join(w.cache, "blake3", "cas"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if b, err := os.ReadFile(p); err != nil || string(b) != "small\n" {
			return err
		}
		gone++
		return errors.Join(os.MkdirAll(filepath.Join(w.cache, "damaged"), 0o755), os.Rename(p, filepath.Join(w.cache, "damaged", "blake3-"+d.Name())))
	})
	if err != nil || gone != 1 {
		t.Fatal(gone, err)
	}
	w.write(t, "go", "")
	if o := <-done; o.code != exitOK || !strings.Contains(o.stderr, "building again") {
		t.Errorf("%s", o)
	} else if b, err := os.ReadFile(filepath.Join(w.out(), "small")); err != nil || string(b) != "small\n" {
		t.Errorf("%q, %v", b, err)
	}
}

// TestDamageKnownWhileABuildBegins: a build delivers nothing that was made from damage which somebody finds when it has its snapshot, and not the
// cache yet.
func TestDamageKnownWhileABuildBegins(t *testing.T) {
	w := newWorldIn(t, quick(), 0)
	version := func(comment string) {
		w.write(t, "pipelines/p.hcl", strings.Replace(large, "COMMENT", comment, 1)+`
step "exec" "copy" {
  argv   = ["cp", "src/a.c", "copy"]
  inputs = ["src/a.c"]
  output "copy" { file = "copy" }
}
output "copy" { value = step.exec.copy.outputs.copy }
`)
	}
	version("first")
	if o := w.run(t); o.code != exitOK {
		t.Fatalf("a clean build: %s", o)
	}
	want := w.outputs(t)
	w.flipLarge(t, 'a')
	version("second")
	time.Sleep(settled) // there is a snapshot only of a pipeline file that has not just changed
	if o := w.run(t); o.code != exitOK || differ(want, w.outputs(t)) == "" {
		t.Fatalf("the limit is not as docs/cache.md says: %s", o)
	}
	w.write(t, "src/a.c", "changed\n")
	lock, err := os.OpenFile(filepath.Join(w.cache, "state", "in-use.lock"), os.O_RDWR, 0)
	if err == nil {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX) // as who collects garbage has it
	}
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	ctx, cancel := context.WithTimeout(t.Context(), runLimit)
	defer cancel()
	cmd := w.command(ctx, "run", "p", "-v")
	says, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(says)
	for lines.Scan() && !strings.Contains(lines.Text(), "waiting until the cache is collected") {
	}
	w.eachLarge(t, 'a', func(p string) { // what `+"`cache verify`"+` does
		err := errors.Join(os.MkdirAll(filepath.Join(w.cache, "damaged"), 0o755), os.WriteFile(filepath.Join(w.cache, "damaged", "blake3-"+filepath.Base(p)), nil, 0o444))
		if err != nil {
			t.Fatal(err)
		}
	})
	lock.Close()
	text := ""
	for lines.Scan() {
		text += lines.Text() + "\n"
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	got := w.outputs(t)
	if want["copy"] == got["copy"] {
		t.Error("the build did nothing")
	}
	if want["copy"] = got["copy"]; differ(want, got) != "" {
		t.Errorf("it delivers what was made from a damaged file: %s\n%s", differ(want, got), text)
	}
}

// TestSnapshotOfBeforeTheDamage: a snapshot that a build has read before damage was found, and leaves after it was dealt with, is of no use.
func TestSnapshotOfBeforeTheDamage(t *testing.T) {
	worlds, want := damagedWorlds(t, 1)
	w := worlds[0]
	snapshots := filepath.Join(w.cache, "state", "snapshot")
	late := filepath.Join(w.base, "late")
	if err := copyTree(snapshots, late); err != nil {
		t.Fatal(err)
	}
	w.hexmage(t, "cache", "verify", "--repair")
	if err := copyTree(late, snapshots); err != nil {
		t.Fatal(err)
	}
	w.builds(t, want)
	if o := w.run(t, "-v"); o.code != exitOK || strings.Contains(o.stderr, "planned") {
		t.Errorf("there is no snapshot any more: %s", o)
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
	return &world{base: base, dir: filepath.Join(base, "workspace"), cache: filepath.Join(base, "cache", "v3"), size: w.size}
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
		return errors.Join(err, os.WriteFile(at, b, 0o644), os.Chmod(at, info.Mode().Perm()), os.Chtimes(at, info.ModTime(), info.ModTime()))
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
	if err := errors.Join(os.Chmod(p, 0o644), os.WriteFile(p, do(b), 0o644), os.Chmod(p, info.Mode().Perm())); err != nil {
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
