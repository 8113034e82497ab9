package emulator

import (
	"net"
	"sync/atomic"
	"time"
)

// faultyListener gives connections that misbehave as told.
type faultyListener struct {
	net.Listener
	faults Faults
	left   atomic.Int64 // bytes until the link is cut; negative once that happened
}

func newFaultyListener(l net.Listener, f Faults) net.Listener {
	if f.DropAfterBytes <= 0 && f.SlowBytesPerSecond <= 0 {
		return l
	}
	fl := &faultyListener{Listener: l, faults: f}
	fl.left.Store(f.DropAfterBytes)
	if f.DropAfterBytes <= 0 {
		fl.left.Store(-1)
	}
	return fl
}

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

// Read cuts the link when the bytes are used up, which happens once in the device's life.
func (c *faultyConn) Read(p []byte) (int, error) {
	p = c.portion(p)
	n, err := c.Conn.Read(p)
	c.delay(n)
	if before := c.l.left.Load(); before >= 0 {
		if after := c.l.left.Add(-int64(n)); after < 0 {
			c.Conn.Close()
			return 0, net.ErrClosed
		}
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
