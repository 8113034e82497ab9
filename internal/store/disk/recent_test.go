package disk

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/hexmage/hexmage/internal/digest"
)

// What is kept is what was kept; the last blobs are; and there is no more of them than there is room.
func TestRecent(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var r recent
	room := make([]byte, smallSize+1)
	var all []digest.Digest
	content := map[digest.Digest][]byte{}
	for range 20_000 {
		b := make([]byte, 1+rnd.IntN(1+rnd.IntN(smallSize)))
		for i := range min(16, len(b)) {
			b[i] = byte(rnd.Uint32())
		}
		d := digest.BLAKE3.Bytes(b)
		r.keep(d, b)
		all, content[d] = append(all, d), b
		if got, ok := r.read(d, room); !ok || !bytes.Equal(got, b) {
			t.Fatalf("the blob that was kept last, of %d bytes: %v, %d bytes", len(b), ok, len(got))
		}
		size := 0 // of the last ones there is room for some, whatever their sizes
		for i := len(all) - 1; i >= 0 && size+smallSize < maxRecent/2; i-- {
			want := content[all[i]]
			if size += len(want); rnd.IntN(20) > 0 {
				continue
			}
			if got, ok := r.read(all[i], room); !ok || !bytes.Equal(got, want) {
				t.Fatalf("a blob with %d bytes after it: %v", size-len(want), ok)
			}
		}
		old := all[rnd.IntN(len(all))]
		if got, ok := r.read(old, room); ok && !bytes.Equal(got, content[old]) {
			t.Fatal("what was read is not what was kept")
		}
		if len(all) > 3000 {
			delete(content, all[0])
			all = all[1:]
		}
	}
	if len(r.order) != len(r.at) || len(r.ring) != maxRecent {
		t.Errorf("%d blobs in order, %d by digest, in %d bytes", len(r.order), len(r.at), len(r.ring))
	}
	large := make([]byte, maxRecent)
	r.keep(digest.BLAKE3.Bytes(large), large)
	if _, ok := r.read(digest.BLAKE3.Bytes(large), nil); ok {
		t.Error("a large blob was kept")
	}
}
