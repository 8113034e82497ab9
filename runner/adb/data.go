package adb

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"
)

// dataWriter sends what is written to it as DATA chunks. A device may refuse in the midst of that.
type dataWriter struct {
	s       *Sync
	verdict <-chan error
	err     error
}

func (d *dataWriter) Write(p []byte) (int, error) {
	written := 0
	for len(p) > 0 && d.err == nil {
		n := min(len(p), maxChunk)
		head := binary.LittleEndian.AppendUint32([]byte("DATA"), uint32(n))
		d.s.cn.within(stallWait)
		if _, d.err = (&net.Buffers{head, p[:n]}).WriteTo(d.s.cn.nc); d.err != nil {
			break
		}
		d.s.sent += int64(n)
		written, p = written+n, p[n:]
		select {
		case v := <-d.verdict:
			if v == nil {
				v = fmt.Errorf("%w: OKAY before all data was sent", ErrProtocol)
			}
			d.err = refusedEarly{v}
		default:
		}
	}
	return written, d.err
}

func (d *dataWriter) done(modified time.Time) error {
	d.s.cn.within(stallWait)
	_, err := d.s.cn.nc.Write(binary.LittleEndian.AppendUint32([]byte("DONE"), uint32(modified.Unix())))
	return err
}

// dataReader reads DATA chunks until DONE.
type dataReader struct {
	s    *Sync
	path string
	left uint32 // of the chunk
	err  error  // what ended it; io.EOF: DONE
}

func (d *dataReader) Read(p []byte) (int, error) {
	for d.left == 0 && d.err == nil {
		d.err = d.next()
	}
	if d.err != nil {
		return 0, d.err
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := d.s.cn.r.Read(p[:min(len(p), int(d.left))])
	d.left -= uint32(n)
	d.err = noEOF(err)
	return n, d.err
}

func (d *dataReader) next() error {
	d.s.cn.within(stallWait)
	id, n, err := readFrame(d.s.cn.r)
	if err != nil {
		return noEOF(err)
	}
	switch id {
	case "DONE":
		return io.EOF
	case "FAIL":
		return readFail(d.s.cn.r, n, "pull", d.path)
	case "DATA":
		if n > maxChunk {
			return fmt.Errorf("%w: a DATA chunk of %d bytes, at most %d are allowed", ErrProtocol, n, maxChunk)
		}
		d.left = n
		return nil
	}
	return fmt.Errorf("%w: want DATA, DONE or FAIL, got %q", ErrProtocol, id)
}
