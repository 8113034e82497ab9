package push

import (
	"bytes"
	"fmt"
	"io"
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

func content(data []byte) blob {
	open := func() (io.ReadCloser, error) { return io.NopCloser(iotest.HalfReader(bytes.NewReader(data))), nil }
	return blob{size: int64(len(data)), open: open}
}

func hashed(t testing.TB, data []byte) blob {
	t.Helper()
	b := content(data)
	if err := b.hash(t.Context()); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestHash(t *testing.T) {
	t.Parallel()
	for size, parts := range map[int]int{0: 0, 1: 1, partSize: 1, partSize + 1: 2, 3 * partSize: 3} {
		if b := hashed(t, make([]byte, size)); len(b.parts) != parts || !isSum(b.sum) {
			t.Errorf("%d bytes: %d parts, want %d", size, len(b.parts), parts)
		}
	}
	b := content([]byte("content"))
	b.size = 5
	if err := b.hash(t.Context()); err == nil || !strings.Contains(err.Error(), "another program may have changed the file") {
		t.Errorf("the file grew: %v", err)
	}
}

// TestSums: a cached content is not read again, and a corrupt cache file is ignored.
func TestSums(t *testing.T) {
	t.Parallel()
	s := Sums{Dir: t.TempDir()}
	data, opened := random(1, 2*partSize+5), 0
	f := File{Key: "k", Size: int64(len(data)), Open: func() (io.ReadCloser, error) {
		opened++
		return io.NopCloser(bytes.NewReader(data)), nil
	}}
	want := hashed(t, data)
	for range 2 {
		b, err := s.read(t.Context(), f)
		if err != nil || b.sum != want.sum || fmt.Sprint(b.parts) != fmt.Sprint(want.parts) || opened != 1 {
			t.Errorf("%q, %q, read %d times, %v", b.sum, b.parts, opened, err)
		}
	}
	f.Size = 2 * partSize
	if _, err := s.read(t.Context(), f); err == nil || opened != 2 {
		t.Errorf("another size: %v, read %d times", err, opened)
	}
	f.Key, f.Size = "", int64(len(data))
	if _, err := s.read(t.Context(), f); err != nil || opened != 3 {
		t.Errorf("no key: %v, read %d times", err, opened)
	}
}

// FuzzParts assembles a changed file as a device does, from stored and sent bytes, and starts at any offset.
func FuzzParts(f *testing.F) {
	f.Add(uint32(5<<20), uint32(70000), []byte("more"), uint32(12345))
	f.Add(uint32(0), uint32(0), []byte{}, uint32(0))
	f.Add(uint32(3<<20), uint32(3<<20), []byte("x"), uint32(3<<20))
	f.Fuzz(func(t *testing.T, size, at uint32, more []byte, start uint32) {
		old := random(3, int(size%(6<<20)))
		at %= uint32(len(old) + 1)
		data := append(bytes.Clone(old[:at]), more...)
		data = append(data, old[min(len(old), len(data)):]...)
		was, b := hashed(t, old), hashed(t, data)
		list := "blob " + was.sum + "\n" + strings.Join(was.parts, "\n") + "\n"
		tr := &transfer{Store: &Store{}, known: parseParts(list, map[string]blob{b.sum: b})}
		built, sent := bytes.Clone(data[:start%uint32(len(data)+1)]), 0
		for {
			n, err := b.reached(fmt.Sprintln(len(built)))
			if err != nil {
				t.Fatal(err)
			}
			if n == b.size {
				break
			}
			from := tr.known[b.part(n)]
			more := data[n : n+tr.run(b, n, from)]
			if from.blob == "" {
				sent += len(more)
			} else {
				more = old[from.part*partSize:][:len(more)]
			}
			built = append(built[:n], more...)
		}
		if !bytes.Equal(built, data) {
			t.Fatal("the file differs")
		}
		if most := len(more) + 3*partSize; was.sum != b.sum && sent > most {
			t.Errorf("%d bytes were sent, want at most %d", sent, most)
		}
	})
}

// FuzzParseParts reads arbitrary answers of a device.
func FuzzParseParts(f *testing.F) {
	sum := strings.Repeat("ab", 32)
	f.Add("blob " + sum + "\n0123\n4567\n")
	f.Add("blob ../x\n0123\n")
	f.Add("blob \nblob x\n\n\n")
	f.Fuzz(func(t *testing.T, out string) {
		for digest, p := range parseParts(out, nil) {
			if !isSum(p.blob) || p.part < 0 || digest == "" {
				t.Errorf("%q: %+v", digest, p)
			}
		}
		for _, p := range parseParts(out, map[string]blob{sum: content(nil)}) {
			if p.blob == sum {
				t.Error("parts of a content that is pushed now count")
			}
		}
	})
}

func TestChoose(t *testing.T) {
	t.Parallel()
	a, b, c := strings.Repeat("a", 64), strings.Repeat("b", 64), strings.Repeat("c", 64)
	all := fmt.Sprintf("10 .%s.part\n10 .%s.part\n10 %s\n10 %s\n10 %s\n", c, b, a, b, c)
	for _, x := range []struct {
		bytes int64
		want  string
		freed int64
	}{
		{1, "." + c + ".part", 20}, {20, "." + c + ".part", 20},
		{21, "." + c + ".part " + a, 30}, {100, "." + c + ".part " + a + " " + c, 40},
	} {
		victims, freed := choose(all, map[string]blob{b: {}}, x.bytes)
		if got := strings.Join(victims, " "); got != x.want || freed != x.freed {
			t.Errorf("%d bytes: %q, %d freed", x.bytes, got, freed)
		}
	}
}
