package adb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Flags of SND2 and RCV2. There are others, for brotli and lz4.
const flagZstd = 4

const (
	sampleSize = 256 << 10 // read of a file before it is decided whether to compress it
	sampleMin  = 1 << 10   // less is not worth it
	maxWindow  = 32 << 20  // of zstd's memory for one file from a device
)

// announce says which file comes.
func (s *Sync) announce(path string, mode fs.FileMode, pack bool) error {
	bits := 0o100000 | uint32(mode.Perm()) // the type bits say "regular file"
	if !s.can.send {
		return s.command("SEND", fmt.Sprintf("%s,%d", path, bits)) // a daemon takes the number in decimal
	}
	if err := s.command("SND2", path); err != nil {
		return err
	}
	var flags uint32
	if pack {
		flags = flagZstd
	}
	b := binary.LittleEndian.AppendUint32([]byte("SND2"), bits)
	_, err := s.cn.nc.Write(binary.LittleEndian.AppendUint32(b, flags))
	return err
}

// ask asks for a file.
func (s *Sync) ask(path string) error {
	if !s.can.send {
		return s.command("RECV", path)
	}
	if err := s.command("RCV2", path); err != nil {
		return err
	}
	var flags uint32
	if s.can.zstd {
		flags = flagZstd
	}
	_, err := s.cn.nc.Write(binary.LittleEndian.AppendUint32([]byte("RCV2"), flags))
	return err
}

// sample reads the start of a file and tells whether compressing it pays: weights and archives do not shrink.
func (s *Sync) sample(r io.Reader) (io.Reader, bool, error) {
	if s.packer == nil {
		var err error
		s.packer, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
		if err != nil {
			return r, false, err
		}
	}
	start := make([]byte, sampleSize)
	n, err := io.ReadFull(r, start)
	start = start[:n]
	switch {
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		r = bytes.NewReader(start)
	case err != nil:
		return r, false, err
	default:
		r = io.MultiReader(bytes.NewReader(start), r)
	}
	return r, n >= sampleMin && len(s.packer.EncodeAll(start, nil)) < n-n/10, nil
}

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

// reason is why a write failed, whatever a compressor made of it.
func (d *dataWriter) reason(err error) error {
	if d.err != nil {
		return d.err
	}
	return err
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

// finished returns nil if the device said that this is the end, and not only what it sent.
func (d *dataReader) finished() error {
	for d.left == 0 && d.err == nil {
		d.err = d.next()
	}
	if d.err == io.EOF {
		return nil
	}
	if d.err == nil {
		return fmt.Errorf("%w: data after the end of compressed data", ErrProtocol)
	}
	return d.err
}

// reason is why reading failed: because of the connection, or else of what was compressed.
func (d *dataReader) reason(err error) error {
	if d.err != nil && d.err != io.EOF {
		return d.err
	}
	return fmt.Errorf("%w: compressed data: %w", ErrProtocol, errors.New(err.Error())) // an EOF in it would look like a lost link
}

func newUnpacker(r io.Reader) (*zstd.Decoder, error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	return d, local(err)
}
