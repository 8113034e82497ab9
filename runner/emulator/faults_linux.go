package emulator

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// link is where the device's adb daemon gets its connections. They misbehave as told, and there are none while the device is down.
type link struct {
	net.Listener
	faults  Faults
	left    atomic.Int64 // bytes until the link is cut
	corrupt atomic.Int64 // bytes until one is changed

	mu    sync.Mutex
	open  map[*conn]bool
	off   bool      // the device is down
	until time.Time // no connection is taken before
}

func newLink(l net.Listener, f Faults) *link {
	k := &link{Listener: l, faults: f, open: map[*conn]bool{}}
	k.left.Store(never)
	for _, n := range []int64{f.DropEveryBytes, f.DropAfterBytes} {
		if n > 0 {
			k.left.Store(n)
		}
	}
	k.corrupt.Store(never)
	if f.CorruptByte > 0 {
		k.corrupt.Store(f.CorruptByte)
	}
	return k
}

// Accept takes the next connection. While the device is down the kernel goes on answering for it, so what comes then is hung up on at once.
func (k *link) Accept() (net.Conn, error) {
	for {
		nc, err := k.Listener.Accept()
		if err != nil {
			return nil, err
		}
		k.mu.Lock()
		if refused := k.off || time.Now().Before(k.until); refused {
			k.mu.Unlock()
			if tcp, ok := nc.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0) // a reset, as from a port where nobody listens
			}
			nc.Close()
			continue
		}
		c := &conn{Conn: nc, k: k}
		k.open[c] = true
		k.mu.Unlock()
		return c, nil
	}
}

// down hangs up on everybody and takes nobody until up.
func (k *link) down() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.off = true
	for c := range k.open {
		c.Conn.Close()
	}
}

func (k *link) up() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.off = false
}

// conn is one connection with an adb server.
type conn struct {
	net.Conn
	k *link
}

// Close closes the connection.
func (c *conn) Close() error {
	c.k.mu.Lock()
	delete(c.k.open, c)
	c.k.mu.Unlock()
	return c.Conn.Close()
}

// Read cuts the link when the bytes are used up.
func (c *conn) Read(p []byte) (int, error) {
	p = c.portion(p)
	n, err := c.Conn.Read(p)
	c.delay(n)
	if after := c.k.corrupt.Add(int64(-n)); after < 0 && after+int64(n) >= 0 {
		p[after+int64(n)] ^= 1
	}
	if c.k.left.Add(int64(-n)) < 0 {
		next := c.k.faults.DropEveryBytes
		if next <= 0 {
			next = never
		}
		c.k.left.Store(next)
		c.k.mu.Lock()
		c.k.until = time.Now().Add(c.k.faults.Refuse)
		c.k.mu.Unlock()
		c.Close()
		return 0, net.ErrClosed
	}
	return n, err
}

func (c *conn) Write(p []byte) (int, error) {
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
func (c *conn) portion(p []byte) []byte {
	if rate := c.k.faults.SlowBytesPerSecond; rate > 0 {
		return p[:min(int64(len(p)), max(rate/20, 1))]
	}
	return p
}

func (c *conn) delay(n int) {
	if rate := c.k.faults.SlowBytesPerSecond; rate > 0 {
		time.Sleep(time.Duration(n) * time.Second / time.Duration(rate))
	}
}
