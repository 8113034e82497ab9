package phone

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// link is the listener of the device's adb daemon. Its connections have the faults.
type link struct {
	net.Listener
	faults  Faults
	left    atomic.Int64 // bytes until the link is cut
	corrupt atomic.Int64 // bytes until one is changed

	mu   sync.Mutex
	open map[*conn]bool
	offs int // number of callers of off; connections are refused while it is not 0

	load   float64 // bytes from the host that the link still carries, at time loaded
	loaded time.Time
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

// Accept returns the next connection.
func (k *link) Accept() (net.Conn, error) {
	for {
		nc, err := k.Listener.Accept()
		if errors.Is(err, unix.EINVAL) { // the socket does not listen between off and on
			time.Sleep(acceptPoll)
			continue
		}
		if err != nil {
			return nil, err
		}
		c := &conn{Conn: nc, k: k}
		k.mu.Lock()
		k.open[c] = true
		away := k.offs > 0
		k.mu.Unlock()
		if away { // connected just before off
			c.Close()
			continue
		}
		return c, nil
	}
}

const (
	acceptPoll = 5 * time.Millisecond
	backlog    = 128
)

// overloaded counts bytes from the host, and reports whether they are too many at once.
func (k *link) overloaded(n int) bool {
	most := float64(k.faults.DropAboveBytes)
	if most <= 0 {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	k.load = max(0, k.load-most*now.Sub(k.loaded).Seconds()) + float64(n)
	k.loaded = now
	if k.load < most {
		return false
	}
	k.load = 0
	return true
}

// off refuses connections until on. Existing ones stay.
func (k *link) off() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.offs++; k.offs == 1 {
		// A socket that does not listen keeps its port only if it was bound to that port explicitly, as in Start.
		k.control(func(fd int) error { return unix.Shutdown(fd, unix.SHUT_RD) })
	}
}

func (k *link) on() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.offs--; k.offs == 0 {
		k.control(func(fd int) error { return unix.Listen(fd, backlog) })
	}
}

func (k *link) control(do func(fd int) error) {
	l, ok := k.Listener.(*net.TCPListener)
	if !ok {
		return
	}
	if raw, err := l.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _ = do(int(fd)) }) // both cannot fail for a bound socket
	}
}

// hangUp ends all connections.
func (k *link) hangUp() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for c := range k.open {
		c.Conn.Close()
	}
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

// Read cuts the link when its limit of bytes is reached.
func (c *conn) Read(p []byte) (int, error) {
	p = c.portion(p)
	n, err := c.Conn.Read(p)
	c.delay(n)
	if after := c.k.corrupt.Add(int64(-n)); after < 0 && after+int64(n) >= 0 {
		p[after+int64(n)] ^= 1
	}
	if c.k.left.Add(int64(-n)) < 0 || c.k.overloaded(n) {
		next := c.k.faults.DropEveryBytes
		if next <= 0 {
			next = never
		}
		c.k.left.Store(next)
		if c.k.faults.Refuse > 0 {
			c.k.off()
			time.AfterFunc(c.k.faults.Refuse, c.k.on)
		}
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

// portion returns the bytes that pass in about a twentieth of a second.
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
