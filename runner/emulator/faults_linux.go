package emulator

import (
	"net"
	"sync/atomic"
	"time"
)

// faultyListener gives connections that misbehave as told.
type faultyListener struct {
	net.Listener
	faults  Faults
	left    atomic.Int64 // bytes until the link is cut
	corrupt atomic.Int64 // bytes until one is changed
}

func newFaultyListener(l net.Listener, f Faults) net.Listener {
	if f.DropAfterBytes <= 0 && f.DropEveryBytes <= 0 && f.SlowBytesPerSecond <= 0 && f.CorruptByte <= 0 {
		return l
	}
	fl := &faultyListener{Listener: l, faults: f}
	fl.left.Store(never)
	for _, n := range []int64{f.DropEveryBytes, f.DropAfterBytes} {
		if n > 0 {
			fl.left.Store(n)
		}
	}
	fl.corrupt.Store(never)
	if f.CorruptByte > 0 {
		fl.corrupt.Store(f.CorruptByte)
	}
	return fl
}

// never is more bytes than a device sees in its life.
const never = 1 << 62

func (l *faultyListener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &faultyConn{Conn: nc, l: l}, nil
}

type faultyConn struct {
	net.Conn
	l *faultyListener
}

// Read cuts the link when the bytes are used up.
func (c *faultyConn) Read(p []byte) (int, error) {
	p = c.portion(p)
	n, err := c.Conn.Read(p)
	c.delay(n)
	if after := c.l.corrupt.Add(int64(-n)); after < 0 && after+int64(n) >= 0 {
		p[after+int64(n)] ^= 1
	}
	if c.l.left.Add(int64(-n)) < 0 {
		next := c.l.faults.DropEveryBytes
		if next <= 0 {
			next = never
		}
		c.l.left.Store(next)
		c.Conn.Close()
		return 0, net.ErrClosed
	}
	return n, err
}

func (c *faultyConn) Write(p []byte) (int, error) {
	written := 0
	for len(p) > 0 {
		n, err := c.Conn.Write(c.portion(p))
		written += n
		if err != nil {
			return written, err
		}
		c.delay(n)
		p = p[n:]
	}
	return written, nil
}

// portion is what goes through in about a twentieth of a second.
func (c *faultyConn) portion(p []byte) []byte {
	if rate := c.l.faults.SlowBytesPerSecond; rate > 0 {
		return p[:min(int64(len(p)), max(rate/20, 1))]
	}
	return p
}

func (c *faultyConn) delay(n int) {
	if rate := c.l.faults.SlowBytesPerSecond; rate > 0 {
		time.Sleep(time.Duration(n) * time.Second / time.Duration(rate))
	}
}
