package pack_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store/pack"
)

func key(n int) digest.Digest { return digest.BLAKE3.Bytes(fmt.Append(nil, "key ", n)) }

// body is of any length, now and then a long one.
func body(n int) []byte {
	return bytes.Repeat(fmt.Appendf(nil, "body %d ", n), 1+n*7%300+n%50/49*1000)
}

func put(t testing.TB, p *pack.Pack, n int) {
	t.Helper()
	if err := p.Put(t.Context(), key(n), body(n)); err != nil {
		t.Fatal(err)
	}
}

// has tells whether there is something for the key, which must be what was put.
func has(t testing.TB, p *pack.Pack, n int) bool {
	t.Helper()
	b, ok, err := p.Get(key(n))
	if err != nil {
		t.Fatal(err)
	}
	if ok && !bytes.Equal(b, body(n)) {
		t.Fatalf("%d: got something else: %.60q", n, b)
	}
	return ok
}

func wants(t testing.TB, p *pack.Pack, from, to int) {
	t.Helper()
	for n := from; n < to; n++ {
		if !has(t, p, n) {
			t.Fatalf("%d is not there", n)
		}
	}
}

func list(t testing.TB, p *pack.Pack) pack.Listing {
	t.Helper()
	l, err := p.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// Two that have it open find each other's, whatever was written how far.
func TestPack(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "results", "pack")
	one, two := pack.Open(path, dir), pack.Open(path, dir)
	if has(t, one, 0) || len(list(t, two).Records) > 0 {
		t.Fatal("there is something in nothing")
	}
	if err := one.Compact(t.Context(), func(pack.Record) bool { return true }); err != nil {
		t.Fatal(err)
	}
	for n := range 1000 {
		p, q := one, two
		if n%3 == 0 {
			p, q = two, one
		}
		put(t, p, n)
		if n%7 < 5 && (!has(t, q, n) || has(t, p, n+1)) {
			t.Fatalf("%d: not found, or more", n)
		}
	}
	wants(t, one, 0, 1000)
	wants(t, pack.Open(path, dir), 0, 1000)
	// The last one counts.
	if err := one.Put(t.Context(), key(5), []byte("another")); err != nil {
		t.Fatal(err)
	}
	if b, ok, err := two.Get(key(5)); err != nil || !ok || string(b) != "another" {
		t.Errorf("%q, %v, %v", b, ok, err)
	}
	l := list(t, two)
	if len(l.Records) != 1000 || l.Damage != "" || l.Records[999].Key != key(5) || l.Waste < int64(len(body(5))) {
		t.Errorf("%d records, %+v, %d", len(l.Records), l.Records[999], l.Waste)
	}
	for _, r := range l.Records {
		if _, err := r.Read(); err != nil {
			t.Error(err)
		}
	}
	// Of a key the size counts; of Has it does not.
	if _, ok, err := one.Get(key(7).Sized(99)); ok || err != nil {
		t.Errorf("found by half a key: %v", err)
	}
	if ok, err := one.Has(key(7).Sized(99)); !ok || err != nil {
		t.Errorf("not found: %v", err)
	}
	if ok, err := one.Has(digest.SHA256.Bytes(nil)); ok || err != nil {
		t.Errorf("found: %v", err)
	}
}

func TestLimits(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "pack")
	p := pack.Open(path, dir)
	put(t, p, 1)
	if err := p.Put(t.Context(), key(2), make([]byte, pack.MaxBody+1)); err == nil {
		t.Error("put what is too large")
	}
	// What has the mark of records in it could pass for one when the one it is in is torn.
	at := list(t, p).Records[0].At
	if err := p.Put(t.Context(), key(2), append([]byte("x"), read(t, path)[at:]...)); err == nil {
		t.Error("put what has a record in it")
	}
	wants(t, p, 1, 2)
	if err := p.Put(t.Context(), key(3), make([]byte, pack.MaxBody)); err != nil {
		t.Error(err)
	}
	if b, ok, err := pack.Open(path, dir).Get(key(3)); !ok || err != nil || len(b) != pack.MaxBody {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

// A lookup uses a record, at most hourly; a time that is damaged is put right by the next one.
func TestUsed(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "pack")
	p := pack.Open(path, dir)
	put(t, p, 0)
	for _, was := range []time.Duration{0, -30 * time.Minute, -48 * time.Hour, 48 * time.Hour} {
		if err := list(t, p).Records[0].Use(time.Now().Add(was)); err != nil {
			t.Fatal(err)
		}
		wants(t, p, 0, 1)
		want := was
		if was < -pack.UsedEvery {
			want = 0
		}
		if got := time.Until(list(t, p).Records[0].Used); (got - want).Abs() > 5*time.Second {
			t.Errorf("used %v from now, want %v", got, want)
		}
	}
	good, at := read(t, path), list(t, p).Records[0].At
	for bit := range 64 {
		bad := bytes.Clone(good)
		bad[at+20+int64(bit/8)] ^= 1 << (bit % 8)
		write(t, path, bad)
		if used := list(t, p).Records[0].Used; time.Since(used) < 100*24*time.Hour {
			t.Errorf("bit %d: used %v", bit, used)
		}
		wants(t, p, 0, 1)
		if used := list(t, p).Records[0].Used; time.Since(used).Abs() > 5*time.Second {
			t.Errorf("bit %d: it is not put right: %v", bit, used)
		}
	}
}

// A process that was killed leaves the beginning of a record. Whatever is left of it, others that were put before and after are there.
func TestTorn(t *testing.T) {
	t.Run("any mark", func(t *testing.T) { testTorn(t, nil) })
	// One that ends as it begins: the end of a torn one and the beginning of the next look like a mark, too.
	t.Run("a mark that repeats itself", func(t *testing.T) { testTorn(t, pack.Head([]byte("ab------------ab"))) })
	t.Run("a mark of one letter", func(t *testing.T) { testTorn(t, pack.Head(bytes.Repeat([]byte("a"), 16))) })
}

func testTorn(t *testing.T, head []byte) {
	dir := t.TempDir()
	path := filepath.Join(dir, "pack")
	if head != nil {
		write(t, path, head)
	}
	p := pack.Open(path, dir)
	put(t, p, 0)
	put(t, p, 1)
	first, last := list(t, p).Records[0], list(t, p).Records[1]
	whole := read(t, path)
	for size := last.At; size < last.At+last.Size; size++ {
		write(t, path, whole[:size])
		early := pack.Open(path, dir) // it has looked before others went on
		wants(t, early, 0, 1)
		if has(t, early, 1) {
			t.Fatalf("cut to %d: found", size)
		}
		late := pack.Open(path, dir)
		put(t, late, 2)
		for _, p := range []*pack.Pack{early, late, pack.Open(path, dir)} {
			if wants(t, p, 0, 1); !has(t, p, 2) || has(t, p, 1) {
				t.Fatalf("cut to %d, and something was put: not found, or more", size)
			}
		}
		if l := list(t, late); l.Damage != "" || len(l.Records) != 2 {
			t.Fatalf("cut to %d: %q, %d records", size, l.Damage, len(l.Records))
		}
	}
	// A whole record that is written while others look.
	write(t, path, whole[:first.At])
	p = pack.Open(path, dir)
	for size := first.At; size <= int64(len(whole)); size += 13 {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err == nil {
			_, err = f.Write(whole[size:min(size+13, int64(len(whole)))])
		}
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		if got := has(t, p, 0); got != (size+13 >= first.At+first.Size) {
			t.Fatalf("%d bytes of %d: found %v", size+13-first.At, first.Size, got)
		}
	}
	wants(t, p, 0, 2)
}

// A flipped bit loses the record that it is in, and no other; it is found unless it is in the time.
func TestFlipped(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "pack")
	p := pack.Open(path, dir)
	for n := range 4 {
		put(t, p, n)
	}
	whole, all := read(t, path), list(t, p).Records
	for at := range whole {
		bad := bytes.Clone(whole)
		bad[at] ^= 1 << (at % 8)
		write(t, path, bad)
		p := pack.Open(path, dir)
		lost := 0
		for n, r := range all {
			in := int64(at) >= r.At && int64(at) < r.At+r.Size
			time := in && int64(at)-r.At >= 20 && int64(at)-r.At < 28
			if has(t, p, n) != (!in || time) {
				t.Fatalf("byte %d: record %d is found or not", at, n)
			}
			if in && !time {
				lost++
			}
		}
		l := list(t, p)
		for _, r := range l.Records {
			if _, err := r.Read(); errors.Is(err, pack.ErrDamaged) {
				lost--
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if l.Damage != "" {
			lost = min(lost, 0)
		}
		// What says that it is longer than it is looks as one that is torn; so does one whose key cannot be.
		if lost != 0 && (lost < 0 || !slices.ContainsFunc(all, func(r pack.Record) bool { o := int64(at) - r.At; return o >= 16 && o < 40 })) {
			t.Fatalf("byte %d: nobody noticed", at)
		}
	}
	// Both heads: then all is lost, and the next one to put something begins anew.
	bad := bytes.Clone(whole)
	clear(bad[:all[0].At])
	for _, b := range [][]byte{bad, {}, []byte("x"), make([]byte, 5000)} {
		write(t, path, b)
		p := pack.Open(path, dir)
		if l := list(t, p); has(t, p, 0) || l.Damage == "" || l.Waste != int64(len(b)) {
			t.Errorf("without a head: %+v", l)
		}
		put(t, p, 0)
		if wants(t, p, 0, 1); list(t, p).Damage != "" {
			t.Error("still damaged")
		}
	}
}

// grow puts so many records that there is an index.
func grow(t testing.TB, p *pack.Pack, from int) (to int) {
	t.Helper()
	for to = from; to < from+6000; to++ {
		put(t, p, to)
	}
	if err := p.WriteIndex(); err != nil {
		t.Fatal(err)
	}
	return to
}

func TestIndex(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "pack")
	p, other := pack.Open(path, dir), pack.Open(path, dir)
	put(t, other, 0)
	n := grow(t, p, 0)
	first := read(t, path+".index")
	put(t, other, n)
	for _, p := range []*pack.Pack{p, other, pack.Open(path, dir)} {
		wants(t, p, 0, n+1)
		if has(t, p, n+1) {
			t.Fatal("found what nobody put")
		}
	}
	n = grow(t, p, n+1)
	whole := read(t, path+".index")
	wants(t, pack.Open(path, dir), 0, n)
	// One that is older, damaged, of another pack, cut off: nothing that is found is wrong, and of what follows nothing is missing.
	bads := map[string][]byte{"older": first, "none": nil, "zeros": make([]byte, len(whole)), "cut": whole[:len(whole)/2], "cut in its head": whole[:10], "longer": append(bytes.Clone(whole), 1, 2, 3)}
	for i := range 12 {
		bad := bytes.Clone(whole)
		at := 10 * i
		if i >= 4 {
			at = rand.IntN(len(bad))
		}
		bad[at] ^= 1 << rand.IntN(8)
		bads[fmt.Sprint("byte ", at)] = bad
	}
	for name, b := range bads {
		write(t, path+".index", b)
		p := pack.Open(path, dir)
		lost := 0
		for i := range n {
			if !has(t, p, i) {
				lost++
			}
		}
		if lost > 1 || lost > 0 && !strings.HasPrefix(name, "byte") {
			t.Errorf("%s: %d of %d are not found", name, lost, n)
		}
	}
	// A pack that was cut off: what is put then is found by all.
	write(t, path+".index", whole)
	if err := os.Truncate(path, 1<<20); err != nil {
		t.Fatal(err)
	}
	m := grow(t, pack.Open(path, dir), n)
	wants(t, pack.Open(path, dir), n, m)
	wants(t, p, n, m)
}

// Compact leaves what is to be kept, in one that others go on with.
func TestCompact(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "pack")
	p, other := pack.Open(path, dir), pack.Open(path, dir)
	for n := range 100 {
		put(t, p, n)
		put(t, p, n/2)
	}
	old := time.Now().Add(-30 * 24 * time.Hour).Truncate(time.Second)
	for _, r := range list(t, p).Records {
		if err := r.Use(old); err != nil {
			t.Fatal(err)
		}
	}
	put(t, other, 200)
	write(t, path, append(read(t, path), "what a killed process left"...))
	gone := map[digest.Digest]bool{}
	for n := 0; n < 100; n += 3 {
		gone[key(n)] = true
	}
	if err := p.Compact(t.Context(), func(r pack.Record) bool { return !gone[r.Key] }); err != nil {
		t.Fatal(err)
	}
	l := list(t, p)
	if len(l.Records) != 101-len(gone) || l.Damage != "" || l.Waste > 200 {
		t.Errorf("%d records, %d more bytes, %q", len(l.Records), l.Waste, l.Damage)
	}
	for _, r := range l.Records {
		if r.Key != key(200) && !r.Used.Equal(old) {
			t.Errorf("used %v, want %v", r.Used, old)
		}
	}
	put(t, other, 201) // which had the old one open
	for _, p := range []*pack.Pack{other, p, pack.Open(path, dir)} {
		for n := range 100 {
			if has(t, p, n) == gone[key(n)] {
				t.Errorf("%d is there or not", n)
			}
		}
		wants(t, p, 200, 202)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	before := read(t, path)
	if err := p.Compact(ctx, func(pack.Record) bool { return false }); err == nil || !bytes.Equal(read(t, path), before) {
		t.Errorf("cancelled: %v", err)
	}
	if err := p.Compact(t.Context(), func(pack.Record) bool { return false }); err != nil || len(list(t, other).Records) > 0 {
		t.Errorf("all gone: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "pack-*")); err != nil || len(left) > 0 {
		t.Errorf("left are %q, %v", left, err)
	}
}

// What many put while it is written anew again and again is there, and what was put before is found at any moment.
func TestCompactBesideOthers(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "pack")
	var wg sync.WaitGroup
	over := make(chan struct{})
	const each = 400
	for w := range 3 {
		p := pack.Open(path, dir)
		put(t, p, 10_000*w)
		wg.Go(func() {
			for n := 10_000 * w; n < 10_000*w+each; n++ {
				if err := p.Put(t.Context(), key(n), body(n)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	go func() { wg.Wait(); close(over) }()
	p := pack.Open(path, dir)
	times := 0
	for done := false; !done; times++ {
		select {
		case <-over:
			done = true
		default:
		}
		if err := p.Compact(t.Context(), func(pack.Record) bool { return true }); err != nil {
			t.Fatal(err)
		}
		wants(t, p, 0, 1)
	}
	for w := range 3 {
		wants(t, pack.Open(path, dir), 10_000*w, 10_000*w+each)
	}
	t.Logf("written anew %d times", times)
}

// child is the variable that makes the test binary a process that puts records until it is killed: it has the path and a number.
const child = "HEXMAGE_TEST_PACK"

func TestMain(m *testing.M) {
	if path := os.Getenv(child); path != "" {
		p := pack.Open(path, filepath.Dir(path))
		var from int
		_, err := fmt.Sscan(os.Getenv(child+"_FROM"), &from)
		for n := from; err == nil; n++ {
			if err = p.Put(context.Background(), key(n), body(n)); err == nil {
				fmt.Println(n)
			}
		}
		fmt.Println("error", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// Processes that are killed at any instant lose nothing of what they have put, of their own and of each other's.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "pack")
	looking := pack.Open(path, dir)
	var done []int
	for round := range 4 {
		var mu sync.Mutex
		var wg sync.WaitGroup
		for w := range 3 {
			wg.Go(func() {
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), child+"="+path, fmt.Sprint(child, "_FROM=", 1_000_000*(1+w+3*round)))
				out, err := cmd.StdoutPipe()
				if err == nil {
					err = cmd.Start()
				}
				if err != nil {
					t.Error(err)
					return
				}
				for first, lines := true, bufio.NewScanner(out); lines.Scan(); first = false {
					var n int
					if _, err := fmt.Sscan(lines.Text(), &n); err != nil {
						t.Errorf("the process says %q", lines.Text())
						return
					}
					if first {
						time.AfterFunc(time.Duration(rand.IntN(50_000))*time.Microsecond, func() { cmd.Process.Kill() })
					}
					mu.Lock()
					done = append(done, n)
					mu.Unlock()
				}
				var died *exec.ExitError
				if err := cmd.Wait(); !errors.As(err, &died) || died.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
					t.Errorf("it was not killed: %v", err)
				}
			})
		}
		wg.Wait()
		for _, p := range []*pack.Pack{looking, pack.Open(path, dir)} {
			for _, n := range done {
				if !has(t, p, n) {
					t.Fatalf("round %d: %d was put and is not there", round, n)
				}
			}
		}
		l := list(t, looking)
		if l.Damage != "" || len(l.Records) < len(done) {
			t.Errorf("round %d: %d records of %d, %q", round, len(l.Records), len(done), l.Damage)
		}
		for _, r := range l.Records {
			if _, err := r.Read(); err != nil {
				t.Errorf("a killed process left %v", err)
			}
		}
	}
	t.Logf("%d records", len(done))
}

// Whatever is in the files, nothing is found but what was put, as it was put; and it can be put again.
func FuzzPack(f *testing.F) {
	dir := f.TempDir()
	path := filepath.Join(dir, "pack")
	p := pack.Open(path, dir)
	for n := range 5 {
		put(f, p, n)
	}
	good, all := read(f, path), list(f, p).Records
	index := pack.EncodeIndex(good, all) // too small a pack has none
	f.Add(good, index, 0, byte(0), byte(0))
	f.Add(good, index, 200, byte(1), byte(0))
	f.Add(good, index, int(all[1].At)+19, byte(0x7f), byte(2))
	f.Add(good[:len(good)-5], index, 0, byte(0), byte(0))
	f.Add(good[:all[0].At], index[:30], 0, byte(0), byte(0))
	f.Add(append(bytes.Clone(good), good[all[1].At+3:]...), []byte{}, 3, byte(9), byte(0))
	huge := bytes.Clone(good)
	binary.LittleEndian.PutUint32(huge[all[4].At+16:], 1<<32-1)
	f.Add(huge, index, 0, byte(0), byte(0))
	f.Fuzz(func(t *testing.T, b, x []byte, at int, change, cut byte) {
		b = bytes.Clone(b)
		if len(b) > 0 && at >= 0 {
			b[at%len(b)] ^= change
		}
		b = b[:max(0, len(b)-int(cut))]
		dir := t.TempDir()
		path := filepath.Join(dir, "pack")
		write(t, path, b)
		write(t, path+".index", x)
		p := pack.Open(path, dir)
		for n := range 6 {
			has(t, p, n)
		}
		total := int64(0)
		known := map[digest.Digest]bool{}
		for n := range 5 {
			known[key(n)] = true
		}
		l := list(t, p)
		for _, r := range l.Records {
			total += r.Size
			if _, err := r.Read(); err == nil && !known[r.Key] {
				t.Errorf("%v is whole, and nobody put it", r.Key)
			} else if err != nil && !errors.Is(err, pack.ErrDamaged) {
				t.Error(err)
			}
		}
		if total+l.Waste != int64(len(b)) {
			t.Errorf("%d bytes in records and %d more, of %d", total, l.Waste, len(b))
		}
		put(t, p, 5)
		wants(t, p, 5, 6)
		put(t, p, 0)
		wants(t, pack.Open(path, dir), 0, 1)
		if err := p.Compact(t.Context(), func(r pack.Record) bool { _, err := r.Read(); return err == nil }); err != nil {
			t.Error(err)
		}
		if l := list(t, p); l.Damage != "" {
			t.Errorf("after it was written anew: %q", l.Damage)
		}
		wants(t, p, 5, 6)
	})
}

// million is a pack of a million records of 1 KiB, with its index.
func million(b *testing.B) (path string) {
	dir := b.TempDir()
	path = filepath.Join(dir, "pack")
	p := pack.Open(path, dir)
	content := make([]byte, 1<<10)
	for n := range 1_000_000 {
		if err := p.Put(b.Context(), key(n), content); err != nil {
			b.Fatal(err)
		}
	}
	if err := p.WriteIndex(); err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkMillion opens a pack of a million records and looks for one, and for one that is not there; and lists them all. It takes 1.2 GB.
func BenchmarkMillion(b *testing.B) {
	path := million(b)
	b.Run("open and look", func(b *testing.B) {
		for n := 0; b.Loop(); n++ {
			p := pack.Open(path, b.TempDir())
			if _, ok, err := p.Get(key(n % 1_000_000)); err != nil || !ok {
				b.Fatal(ok, err)
			}
		}
	})
	p := pack.Open(path, b.TempDir())
	for name, from := range map[string]int{"hit": 0, "miss": 1_000_000} {
		b.Run(name, func(b *testing.B) {
			for n := 0; b.Loop(); n++ {
				if _, ok, err := p.Get(key(from + n%1_000_000)); err != nil || ok != (from == 0) {
					b.Fatal(ok, err)
				}
			}
		})
	}
	b.Run("list", func(b *testing.B) {
		for b.Loop() {
			if l := list(b, p); len(l.Records) != 1_000_000 {
				b.Fatal(len(l.Records))
			}
		}
	})
}
