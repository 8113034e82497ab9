// Package far has a way to a server that is as long as one wants: for tests and measurements of what distance costs.
//
// It knows bytes of connections, and nothing of what they mean.
package far

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Link takes connections on this machine and leads them to a server, with a delay, and counts.
type Link struct {
	listener net.Listener
	to       string
	delay    time.Duration

	up, down atomic.Int64
	all      sync.WaitGroup
	mu       sync.Mutex
	open     map[net.Conn]bool // nil: it is closed
}

// NewLink returns one to the address. What is sent arrives after the delay, in both directions: a round trip takes
// two.
func NewLink(to string, delay time.Duration) (*Link, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &Link{listener: listener, to: to, delay: delay, open: map[net.Conn]bool{}}
	l.all.Go(l.accept)
	return l, nil
}

// Address is where it takes connections.
func (l *Link) Address() string { return l.listener.Addr().String() }

// Bytes is how many bytes went to the server, and came from it, until now.
func (l *Link) Bytes() (up, down int64) { return l.up.Load(), l.down.Load() }

// Close ends all connections.
func (l *Link) Close() {
	l.listener.Close()
	l.mu.Lock()
	for c := range l.open {
		c.Close()
	}
	l.open = nil
	l.mu.Unlock()
	l.all.Wait()
}

// keep tells whether the connection may be used, and will be closed by Close.
func (l *Link) keep(c net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		c.Close()
		return false
	}
	l.open[c] = true
	return true
}

func (l *Link) accept() {
	for {
		near, err := l.listener.Accept()
		if err != nil {
			return
		}
		beyond, err := net.Dial("tcp", l.to)
		if err != nil {
			near.Close()
			continue
		}
		if l.keep(near) && l.keep(beyond) {
			l.all.Go(func() { l.carry(near, beyond, &l.up) })
			l.all.Go(func() { l.carry(beyond, near, &l.down) })
		}
	}
}

// part is what arrives at once.
type part struct {
	bytes []byte
	at    time.Time
}

// carry passes on what comes until the connection ends; then it ends the other one.
func (l *Link) carry(from, to net.Conn, count *atomic.Int64) {
	if l.delay == 0 {
		_, _ = io.Copy(to, &counted{from, count}) // whatever ends it
		to.Close()
		return
	}
	parts := make(chan part, 1<<14)
	l.all.Go(func() {
		for p := range parts {
			time.Sleep(time.Until(p.at))
			if _, err := to.Write(p.bytes); err != nil {
				from.Close()
			}
		}
		to.Close()
	})
	for {
		b := make([]byte, 64<<10)
		n, err := from.Read(b)
		if n > 0 {
			count.Add(int64(n))
			parts <- part{b[:n], time.Now().Add(l.delay)}
		}
		if err != nil {
			close(parts)
			return
		}
	}
}

// counted counts what is read.
type counted struct {
	io.Reader
	n *atomic.Int64
}

// Read implements io.Reader.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n.Add(int64(n))
	return n, err
}
