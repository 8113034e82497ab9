package execute

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/secret"
)

// Capped keeps the head and the tail of an output stream, action.MaxInline bytes in all. It may be written from
// several goroutines. The zero value is ready, and keeps nothing else; Request.Streams returns some that put long
// streams into files.
type Capped struct {
	mu      sync.Mutex
	hide    *secret.Hider // what is left out; nil: nothing
	head    []byte
	tail    []byte // ring once full
	next    int
	dropped int64
	whole   wholeStream
}

const half = action.MaxInline/2 - 64 // room for the line that says what was left out

// Write never fails.
func (c *Capped) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(c.hide.Next(p))
	return len(p), nil
}

func (c *Capped) put(p []byte) {
	if c.whole.of != nil {
		if c.whole.file == nil && !c.whole.bad && len(c.head)+len(c.tail)+len(p) > 2*half {
			c.whole.open(c.head, c.tail)
		}
		c.whole.write(p)
	}
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
}

// Bytes returns what was kept, with a line in place of what was not. It is for when all was written.
func (c *Capped) Bytes() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(c.hide.End())
	var b bytes.Buffer
	b.Write(c.head)
	if c.dropped > 0 {
		b.WriteString(leftOut(c.dropped))
	}
	b.Write(c.tail[c.next:])
	b.Write(c.tail[:c.next])
	return b.Bytes()
}

// Close ends the file of a long stream, if there is one.
func (c *Capped) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(c.hide.End())
	if c.whole.of != nil {
		c.whole.close(c.tail[c.next:], c.tail[:c.next])
		c.whole.of = nil
	}
}

// leftOut is the line that stands for n bytes: "… 12,345 bytes left out …".
func leftOut(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return fmt.Sprintf("\n… %s bytes left out …\n", s)
}

// maxPrinted is how many bytes of a stream go into its file before the tail.
const maxPrinted = 64 << 20

// wholeStream is the file of a stream that is longer than what is kept in memory. That it cannot be written (a full
// disk) is no reason to fail: what is kept stays.
type wholeStream struct {
	of   *Printed // nil: nobody wants it
	name string   // what its path ends with
	path string   // of the file
	file *os.File
	size int64
	bad  bool
}

// open makes the file, with what was printed so far.
func (w *wholeStream) open(so ...[]byte) {
	w.path = w.of.path + w.name
	f, err := os.Create(w.path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(w.path), 0o755); err == nil {
			f, err = os.Create(w.path)
		}
	}
	if err != nil {
		w.bad = true
		w.of.setCut()
		return
	}
	w.file = f
	w.of.add(w.path)
	for _, b := range so {
		w.write(b)
	}
}

func (w *wholeStream) write(b []byte) {
	if w.file == nil || w.bad {
		return
	}
	room := max(0, maxPrinted-w.size)
	w.size += int64(len(b))
	if _, err := w.file.Write(b[:min(int64(len(b)), room)]); err != nil {
		w.bad = true
	}
}

func (w *wholeStream) close(tail ...[]byte) {
	if w.file == nil {
		return
	}
	if over := w.size - maxPrinted; over > 0 && !w.bad {
		end := bytes.Join(tail, nil)
		end = end[max(0, int64(len(end))-over):] // the rest is in the file
		if cut := over - int64(len(end)); cut > 0 {
			w.of.setCut()
			end = append([]byte(leftOut(cut)), end...)
		}
		_, err := w.file.Write(end)
		w.bad = err != nil
	}
	if w.file.Close() != nil || w.bad {
		w.of.setCut()
		_ = os.Remove(w.path)
	}
	w.file = nil
}
