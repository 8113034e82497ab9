package disk

import (
	"sync"

	"github.com/hexmage/hexmage/internal/digest"
)

// maxRecent is how many bytes of small blobs are kept in memory.
const maxRecent = 1 << 20

// recent has the content of the small blobs that were hashed last: what one action writes the next ones read. Content is copied in and out, so nobody
// else has its memory, of which there is no more than maxRecent. The zero value has none.
type recent struct {
	mu    sync.Mutex
	ring  []byte
	next  int // in ring, where the next blob goes
	at    map[digest.Digest]int
	order []keptBlob // oldest first
}

type keptBlob struct {
	digest digest.Digest
	at     int
}

// keep keeps b, which is the content of d, in place of the oldest blobs.
func (r *recent) keep(d digest.Digest, b []byte) {
	if len(b) == 0 || len(b) > maxRecent/16 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.at[d]; known {
		return
	}
	if r.ring == nil {
		r.ring, r.at = make([]byte, maxRecent), map[digest.Digest]int{}
	}
	from := r.next
	if from+len(b) > len(r.ring) {
		r.forget(from, len(r.ring))
		from = 0
	}
	r.next = from + len(b)
	r.forget(from, r.next)
	copy(r.ring[from:], b)
	r.at[d] = from
	r.order = append(r.order, keptBlob{d, from})
}

// forget drops the oldest blobs, as long as they begin in that part of the ring or reach into it. What comes before it is younger.
func (r *recent) forget(from, to int) {
	n := 0
	for n < len(r.order) {
		k := r.order[n]
		if k.at >= to || k.at+int(k.digest.Size()) <= from {
			break
		}
		delete(r.at, k.digest)
		n++
	}
	r.order = r.order[n:]
}

// read returns the content of d in room, if it is kept.
func (r *recent) read(d digest.Digest, room []byte) ([]byte, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	from, ok := r.at[d]
	if !ok {
		return nil, false
	}
	return append(room[:0], r.ring[from:from+int(d.Size())]...), true
}
