// Package far puts a server far away, for tests of the costs of distance.
//
// It forwards the bytes of connections and does not know their meaning.
package far

import (
	"net"
	"sync"
	"time"
)

// Link takes connections on this machine and leads them to a server with a delay.
type Link struct {
	listener net.Listener
	to       string
	delay    time.Duration

	all  sync.WaitGroup
	mu   sync.Mutex
	open map[net.Conn]bool // nil: it is closed
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
			l.all.Go(func() { l.carry(near, beyond) })
			l.all.Go(func() { l.carry(beyond, near) })
		}
	}
}

// part is what arrives at once.
type part struct {
	bytes []byte
	at    time.Time
}

// carry passes on what comes until the connection ends; then it ends the other one.
func (l *Link) carry(from, to net.Conn) {
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
			parts <- part{b[:n], time.Now().Add(l.delay)}
		}
		if err != nil {
			close(parts)
			return
		}
	}
}
