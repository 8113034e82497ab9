package execute

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/hexmage/hexmage/internal/action"
)

// Capped keeps the head and the tail of an output stream, action.MaxInline bytes in all. It may be written from several
// goroutines. The zero value is ready.
type Capped struct {
	mu      sync.Mutex
	head    []byte
	tail    []byte // ring once full
	next    int
	dropped int64
}

const half = action.MaxInline/2 - 64 // room for the line that says what was cut

// Write never fails.
func (c *Capped) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(p)
	if k := min(half-len(c.head), len(p)); k > 0 {
		c.head = append(c.head, p[:k]...)
		p = p[k:]
	}
	if over := len(p) - half; over > 0 {
		c.dropped += int64(over)
		p = p[over:]
	}
	for len(p) > 0 && len(c.tail) < half {
		k := min(half-len(c.tail), len(p))
		c.tail = append(c.tail, p[:k]...)
		p = p[k:]
	}
	for len(p) > 0 {
		k := copy(c.tail[c.next:], p)
		c.dropped += int64(k)
		c.next = (c.next + k) % half
		p = p[k:]
	}
	return n, nil
}

// Bytes returns what was kept, with a line in place of what was not.
func (c *Capped) Bytes() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b bytes.Buffer
	b.Write(c.head)
	if c.dropped > 0 {
		fmt.Fprintf(&b, "\n[… %d bytes cut …]\n", c.dropped)
	}
	b.Write(c.tail[c.next:])
	b.Write(c.tail[:c.next])
	return b.Bytes()
}
