package snapshot_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/zeebo/blake3"

	"github.com/hexmage/hexmage/internal/snapshot"
)

// Bytes that were not written by Encode never crash a reader: with their own checksum they are refused, and with a right
// one (sealed here, as an attacker would) their records are errors or values within bounds.
func FuzzParse(f *testing.F) {
	b, err := full(f).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b[:len(b)-32])
	f.Add([]byte("hexmage memo 5\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		sum := blake3.Sum256(body)
		if r, err := snapshot.Parse(append(append([]byte(nil), body...), sum[:]...)); err == nil {
			m, err := read(r)
			if err != nil {
				return
			}
			for _, u := range m.Units {
				for _, i := range append(u.Needs, u.Node) {
					if i < 0 || i >= max(len(m.Units), len(m.Nodes)) {
						t.Fatalf("unit needs %d", i)
					}
				}
			}
		}
		if len(body) > 0 {
			sum[0] ^= 1
			if _, err := snapshot.Parse(append(append([]byte(nil), body...), sum[:]...)); err == nil {
				t.Fatal("a memo with a wrong checksum was taken")
			}
		}
	})
}

// What was added to a file, in whatever shape, gives an error or values within bounds.
func FuzzDelta(f *testing.F) {
	whole, err := full(f).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{0, 0})
	f.Add([]byte{1, 3, 'n', 'e', 'w', 1, 2, 0, 1, 7})
	f.Fuzz(func(t *testing.T, body []byte) {
		h := blake3.New()
		h.Write(whole[len(whole)-32:])
		h.Write(body)
		b := binary.LittleEndian.AppendUint32(bytes.Clone(whole), uint32(len(body)))
		b = append(append(b, body...), h.Sum(nil)...)
		if r, err := snapshot.Parse(b); err == nil {
			_, _ = read(r)
		}
		b[len(b)-1] ^= 1
		if _, err := snapshot.Parse(b); err == nil {
			t.Fatal("an addition with a wrong checksum was taken")
		}
	})
}
