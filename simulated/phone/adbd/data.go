//go:build linux

package adbd

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/klauspost/compress/zstd"
)

// flagZstd asks for compression in SND2 and RCV2. Of the others, for brotli and lz4, this daemon announces none.
const flagZstd = 4

// receive takes a file: chunks, then DONE with the time of modification. After a failure it goes on reading to the end and only then says
// so: the peer does not listen before. It returns an error when the stream is out of step.
func (f *files) receive(path string, mode os.FileMode, flags uint32, failure error) (err error) {
	in := &chunks{f: f}
	if failure == nil && flags&^flagZstd != 0 {
		failure = fmt.Errorf("%s: flags %#x are not supported", path, flags)
	}
	var out *os.File
	if failure == nil {
		out, failure = create(path, mode)
	}
	defer func() {
		if out != nil {
			out.Close()
			if failure != nil || err != nil {
				os.Remove(path) // half a file must not look like a whole one
			}
		}
	}()
	if failure == nil {
		failure = in.copyTo(out, flags)
	}
	if _, err := io.Copy(io.Discard, in); err != nil {
		return err
	}
	if failure == nil {
		failure = finish(out, path, mode, time.Unix(int64(in.modified), 0).Add(-f.skew))
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

func (c *chunks) copyTo(w io.Writer, flags uint32) error {
	var from io.Reader = c
	if flags&flagZstd != 0 {
		d, err := zstd.NewReader(c, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
		if err != nil {
			return err
		}
		defer d.Close()
		from = d
	}
	_, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{from}, c.f.buf)
	return err
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
		c.err = fmt.Errorf("in the midst of a chunk: %w", err)
	}
	return n, c.err
}

func (c *chunks) next() {
	id, n, err := c.f.head()
	switch {
	case err != nil:
		c.err = fmt.Errorf("in the midst of a file: %w", err)
	case id == "DATA" && n <= maxChunk:
		c.left = n
	case id == "DONE":
		c.modified, c.err = n, io.EOF
	default:
		c.err = fmt.Errorf("want DATA or DONE, got %q of %d bytes", id, n)
	}
}

// send gives a file in chunks.
func (f *files) send(path string, flags uint32) error {
	in, err := os.Open(path)
	if err != nil {
		f.fail(err)
		return nil
	}
	defer in.Close()
	if fi, err := in.Stat(); err == nil && fi.IsDir() {
		err = fmt.Errorf("%s is a folder", path)
		f.fail(err)
		return nil
	}
	if err := f.copyFrom(in, flags); err != nil {
		f.fail(err)
		return nil
	}
	f.put("DONE", uint32(0))
	return nil
}

func (f *files) copyFrom(in io.Reader, flags uint32) (err error) {
	switch flags {
	case 0:
		_, err = io.CopyBuffer(dataWriter{f}, struct{ io.Reader }{in}, f.buf[:maxChunk])
	case flagZstd:
		var z *zstd.Encoder
		if z, err = zstd.NewWriter(dataWriter{f}, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1)); err != nil {
			return err
		}
		if _, err = io.CopyBuffer(struct{ io.Writer }{z}, struct{ io.Reader }{in}, f.buf); err != nil {
			return err
		}
		err = z.Close()
	default:
		err = fmt.Errorf("flags %#x are not supported", flags)
	}
	return err
}

// dataWriter makes DATA chunks.
type dataWriter struct{ f *files }

func (d dataWriter) Write(p []byte) (int, error) {
	written := 0
	for len(p) > 0 {
		n := min(len(p), maxChunk)
		d.f.put("DATA", uint32(n))
		if _, err := d.f.w.Write(p[:n]); err != nil {
			return written, err
		}
		written, p = written+n, p[n:]
	}
	return written, nil
}
