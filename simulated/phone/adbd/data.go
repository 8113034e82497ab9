//go:build linux

package adbd

import (
	"fmt"
	"io"
	"os"
	"time"
)

// receive writes a file from chunks and a DONE with the modification time. After a failure it reads on to the end and
// then reports, because the peer does not listen before. It returns an error if the stream is out of step.
func (f *files) receive(path string, mode os.FileMode, failure error) (err error) {
	in := &chunks{f: f}
	var out *os.File
	if failure == nil {
		out, failure = create(path, mode)
	}
	defer func() {
		if out != nil {
			out.Close()
			if failure != nil || err != nil {
				os.Remove(path) // a partial file must not look complete
			}
		}
	}()
	if failure == nil {
		_, failure = io.CopyBuffer(struct{ io.Writer }{out}, struct{ io.Reader }{in}, f.buf)
	}
	if _, err := io.Copy(io.Discard, in); err != nil {
		return err
	}
	if failure == nil {
		failure = finish(out, path, mode, time.Unix(int64(in.modified), 0))
	}
	if failure != nil {
		f.fail(failure)
	} else {
		f.put("OKAY", uint32(0))
	}
	return nil
}

// chunks reads DATA chunks until DONE.
type chunks struct {
	f        *files
	left     uint32
	modified uint32
	err      error
}

func (c *chunks) Read(p []byte) (int, error) {
	for c.left == 0 && c.err == nil {
		c.next()
	}
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.f.r.Read(p[:min(len(p), int(c.left))])
	c.left -= uint32(n)
	if err != nil {
		c.err = fmt.Errorf("cannot read a chunk: %w", err)
	}
	return n, c.err
}

func (c *chunks) next() {
	id, n, err := c.f.head()
	switch {
	case err != nil:
		c.err = fmt.Errorf("cannot read the header of a chunk: %w", err)
	case id == "DATA" && n <= maxChunk:
		c.left = n
	case id == "DONE":
		c.modified, c.err = n, io.EOF
	default:
		c.err = fmt.Errorf("expected DATA or DONE, got %q with %d bytes", id, n)
	}
}

// send sends a file in chunks.
func (f *files) send(path string) error {
	in, err := os.Open(path)
	if err != nil {
		f.fail(err)
		return nil
	}
	defer in.Close()
	if _, err := io.CopyBuffer(dataWriter{f}, struct{ io.Reader }{in}, f.buf[:maxChunk]); err != nil {
		f.fail(err)
		return nil
	}
	f.put("DONE", uint32(0))
	return nil
}

// dataWriter makes a DATA chunk of each write, which has at most maxChunk bytes.
type dataWriter struct{ f *files }

func (d dataWriter) Write(p []byte) (int, error) {
	d.f.put("DATA", uint32(len(p)))
	return d.f.w.Write(p)
}
