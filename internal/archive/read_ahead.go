package archive

import (
	"fmt"
	"io"
)

const (
	aheadBuffers = 4
	aheadSize    = 256 << 10
)

// readAheader reads a decompressed stream in a goroutine of its own, so that one processor decompresses while another writes.
type readAheader struct {
	full  chan piece
	empty chan []byte
	stop  chan struct{}
	done  chan struct{}
	now   piece
	off   int
}

type piece struct {
	b   []byte
	err error
}

func readAhead(r io.Reader) *readAheader {
	a := &readAheader{full: make(chan piece, aheadBuffers), empty: make(chan []byte, aheadBuffers), stop: make(chan struct{}), done: make(chan struct{})}
	for range aheadBuffers {
		a.empty <- make([]byte, aheadSize)
	}
	go a.fill(r)
	return a
}

func (a *readAheader) fill(r io.Reader) {
	defer close(a.done)
	for {
		var buf []byte
		select {
		case <-a.stop:
			return
		case buf = <-a.empty:
		}
		n, err := fillBuffer(r, buf)
		a.full <- piece{buf[:n], err} // there is room: no more pieces than buffers
		if err != nil {
			return
		}
	}
}

// fillBuffer reads until buf is full or an error comes. Decompressors that panic on bad bytes are no reason for a crash.
func fillBuffer(r io.Reader, buf []byte) (n int, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: the decompressor gave up: %v", ErrTruncated, p)
		}
	}()
	for n < len(buf) && err == nil {
		var m int
		m, err = r.Read(buf[n:])
		n += m
	}
	return n, err
}

func (a *readAheader) Read(p []byte) (int, error) {
	for a.off == len(a.now.b) {
		if a.now.err != nil {
			return 0, a.now.err
		}
		if a.now.b != nil {
			a.empty <- a.now.b[:aheadSize]
		}
		a.now, a.off = <-a.full, 0
	}
	n := copy(p, a.now.b[a.off:])
	a.off += n
	return n, nil
}

// Close ends the goroutine and waits for it: then nobody reads the stream.
func (a *readAheader) Close() {
	close(a.stop)
	<-a.done
}

// progressReader counts what is read of the archive.
type progressReader struct {
	r io.Reader
	w *writer
	s *source
}

func (p *progressReader) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	p.s.consumed(p.w, int64(n))
	return n, err
}
