package push

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

func random(seed byte, size int) []byte {
	b := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(b)
	return b
}

func chopped(t testing.TB, data []byte) recipe {
	t.Helper()
	r, err := chop(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestChop(t *testing.T) {
	t.Parallel()
	data := random(1, 24<<20)
	r := chopped(t, data)
	if mean := len(data) / len(r); mean < avgChunk/2 || mean > avgChunk*2 {
		t.Errorf("chunks have %d bytes on average, want about %d", mean, avgChunk)
	}
	// The cuts depend on the bytes alone, not on how they are read, and are for ever: a device keeps what was cut by earlier versions.
	halves, err := chop(iotest.HalfReader(bytes.NewReader(data)))
	if err != nil || !bytes.Equal(halves.text(), r.text()) {
		t.Errorf("read in other portions the cuts are others: %v", err)
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(r.text())); got != wantRecipe {
		t.Errorf("the recipe's digest is %s, want %s", got, wantRecipe)
	}
	for _, at := range []int{0, 1, 5 << 20, len(data) - 3} {
		changed := append(append(bytes.Clone(data[:at]), "some bytes"...), data[at:]...)
		if n := toSend(chopped(t, changed).spans(map[string]recipe{"x": r})); n > 2*maxChunk {
			t.Errorf("ten bytes at %d: %d bytes are to be sent", at, n)
		}
	}
	for _, size := range []int{0, 1, minChunk, maxChunk, 4 * maxChunk, 4*maxChunk + 1} {
		if got := chopped(t, make([]byte, size)); got.size() != int64(size) {
			t.Errorf("%d zeros: %d bytes in chunks", size, got.size())
		}
	}
}

// wantRecipe is the digest of the recipe of what TestChop cuts.
const wantRecipe = "efc750e2b5e93073c095137c2a238313fe8beb3b37108a3999f578e29b66314d"

// FuzzSpans builds a changed file as a device does, from what it has and what is sent, starting anywhere.
func FuzzSpans(f *testing.F) {
	f.Add(uint32(1<<20), uint32(70000), []byte("more"), uint32(12345))
	f.Add(uint32(0), uint32(0), []byte{}, uint32(0))
	f.Add(uint32(3<<20), uint32(3<<20), []byte("x"), uint32(3<<20))
	f.Fuzz(func(t *testing.T, size, at uint32, more []byte, start uint32) {
		old := random(3, int(size%(4<<20)))
		at %= uint32(len(old) + 1)
		data := append(append(bytes.Clone(old[:at]), more...), old[at:]...)
		r := chopped(t, data)
		for i, c := range r {
			if c.size > maxChunk || c.size < minChunk && i != len(r)-1 {
				t.Fatalf("chunk %d of %d has %d bytes", i, len(r), c.size)
			}
		}
		start %= uint32(len(data) + 1)
		built := bytes.Clone(data[:start])
		for _, s := range from(r.spans(map[string]recipe{"old": chopped(t, old)}), int64(start)) {
			if s.blob == "" {
				built = append(built, data[len(built):int64(len(built))+s.size]...)
			} else {
				built = append(built, old[s.at:s.at+s.size]...)
			}
		}
		if !bytes.Equal(built, data) {
			t.Fatal("another file came out")
		}
	})
}

// FuzzRecipes reads what a device may answer.
func FuzzRecipes(f *testing.F) {
	sum := strings.Repeat("ab", 32)
	good := fmt.Sprintf("blob %s 100,%d\n100 %s\n", sum, blobTime, strings.Repeat("01", 16))
	f.Add(good)
	f.Add(good + good)
	f.Add("blob \nblob x\n-1 zz\n")
	f.Add(strings.Replace(good, "100 ", "9999999999999999999 ", 1))
	f.Fuzz(func(t *testing.T, out string) {
		for name, r := range parseRecipes(out) {
			if !isSum(name) || r.size() < 0 {
				t.Errorf("%q: %d bytes", name, r.size())
			}
			if again, err := parseRecipe(r.text()); err != nil || again.size() != r.size() {
				t.Error(err)
			}
		}
	})
}

func TestRecipes(t *testing.T) {
	t.Parallel()
	r := chopped(t, random(4, 1<<20))
	sum := strings.Repeat("0f", 32)
	answer := func(name, stat string) string { return "blob " + name + " " + stat + "\n" + string(r.text()) }
	for _, c := range []struct {
		name, out string
		want      int
	}{
		{"as it was pushed", answer(sum, blobStat(1<<20)), 1},
		{"written to since", answer(sum, "1048576,1700000000"), 0},
		{"cut short", answer(sum, blobStat(4096)), 0},
		{"no SHA-256", answer("../x", blobStat(1<<20)), 0},
		{"a damaged one, and a good one", "blob " + sum + " 5,1000000000\nrubbish\n" + answer(strings.Repeat("1f", 32), blobStat(1<<20)), 1},
		{"nothing", "", 0},
	} {
		if got := parseRecipes(c.out); len(got) != c.want {
			t.Errorf("%s: %d recipes, want %d", c.name, len(got), c.want)
		}
	}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	a, b, c := strings.Repeat("a", 64), strings.Repeat("b", 64), strings.Repeat("c", 64)
	all := []stored{{a, 10}, {b, 10}, {"." + c + ".123.part", 10}, {"." + b + ".123.part", 10}, {c, 10}}
	for _, x := range []struct {
		bytes int64
		want  string
		freed int64
	}{{0, "", 0}, {1, a, 10}, {10, a, 10}, {11, a + " ." + c + ".123.part", 20}, {100, a + " ." + c + ".123.part " + c, 30}} {
		victims, freed := choose(all, map[string]blob{b: {}}, x.bytes)
		if got := strings.Join(victims, " "); got != x.want || freed != x.freed {
			t.Errorf("%d bytes: %q, %d freed", x.bytes, got, freed)
		}
	}
}
