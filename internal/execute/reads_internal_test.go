package execute

import (
	"slices"
	"testing"
)

// Whatever is under the key of a broad action is read sets or nothing; what was written comes back.
func FuzzReadSets(f *testing.F) {
	f.Add(encodeReads([][]string{{"include/a.h", "b.h"}, {}}))
	f.Add([]byte{0x0a, 0x02, 0x0a, 0x00})
	f.Add([]byte("hello"))
	f.Fuzz(func(t *testing.T, b []byte) {
		sets, err := decodeReads(b)
		if err != nil {
			return
		}
		if len(sets) > maxReadSets {
			t.Fatalf("%d sets", len(sets))
		}
		again, err := decodeReads(encodeReads(sets))
		if err != nil || !slices.EqualFunc(sets, again, slices.Equal[[]string]) {
			t.Fatalf("%q became %q, %v", sets, again, err)
		}
	})
}
