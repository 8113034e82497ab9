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

// HeadTailBuffer keeps the beginning and the end of an output stream, up to action.MaxInline bytes in total. Several
// goroutines may write to it. The zero value is ready to use. Buffers from Request.Streams also write a long stream to
// a file.
type HeadTailBuffer struct {
	mu      sync.Mutex
	hide    *secret.Hider // removes secrets; nil: none
	head    []byte
	tail    []byte // what came last, and perhaps more
	dropped int64
	whole   wholeStream
}

const half = action.MaxInline/2 - 64 // room for the line that counts the omitted bytes

// Write adds p to the stream and never fails.
func (c *HeadTailBuffer) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(c.hide.Next(p))
	return len(p), nil
}

func (c *HeadTailBuffer) put(p []byte) {
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
	if c.tail = append(c.tail, p...); len(c.tail) > 2*half {
		c.cut()
	}
}

// cut drops what of the tail is too much.
func (c *HeadTailBuffer) cut() {
	if over := len(c.tail) - half; over > 0 {
		c.dropped += int64(over)
		c.tail = append(c.tail[:0], c.tail[over:]...)
	}
}

// Bytes returns the beginning and the end of the stream, with a line about the omitted bytes between them. Call it
// after the last Write.
func (c *HeadTailBuffer) Bytes() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(c.hide.End())
	c.cut()
	var b bytes.Buffer
	b.Write(c.head)
	if c.dropped > 0 {
		b.WriteString(leftOut(c.dropped))
	}
	b.Write(c.tail)
	return b.Bytes()
}

// Close closes the file for a long stream, if there is one.
func (c *HeadTailBuffer) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(c.hide.End())
	c.cut()
	if c.whole.of != nil {
		c.whole.close(c.tail)
		c.whole.of = nil
	}
}

// leftOut is the line that stands for n bytes: "… 12,345 bytes omitted …".
func leftOut(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return fmt.Sprintf("\n… %s bytes omitted …\n", s)
}

// maxPrinted is how many bytes of a stream go into its file before the tail.
const maxPrinted = 64 << 20

// wholeStream is the file of a stream that is longer than the part in memory. If the file cannot be written, as on a
// full disk, the action does not fail: the part in memory stays.
type wholeStream struct {
	of   *OutputLog // nil: no file
	name string     // the end of its path
	path string     // of the file
	file *os.File
	size int64
	bad  bool
}

// open makes the file with the output so far.
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

func (w *wholeStream) close(tail []byte) {
	if w.file == nil {
		return
	}
	if over := w.size - maxPrinted; over > 0 && !w.bad {
		end := tail[max(0, int64(len(tail))-over):] // the rest is in the file
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
