// Package far puts a server far away, for tests of the costs of distance.
//
// It forwards the bytes of connections and does not know their meaning.
package far

import (
	"net"
	"time"
)

// Listen takes connections on this machine, until the listener is closed, and leads them to the address with a delay.
// What is sent arrives after the delay, in both directions: a round trip takes two.
func Listen(to string, delay time.Duration) (net.Listener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		go accept(l, to, delay)
	}
	return l, err
}

func accept(l net.Listener, to string, delay time.Duration) {
	for {
		near, err := l.Accept()
		if err != nil {
			return
		}
		beyond, err := net.Dial("tcp", to)
		if err != nil {
			near.Close()
			continue
		}
		go carry(near, beyond, delay)
		go carry(beyond, near, delay)
	}
}

// part is what arrives at once.
type part struct {
	bytes []byte
	at    time.Time
}

// carry passes on what comes until the connection ends; then it ends the other one.
func carry(from, to net.Conn, delay time.Duration) {
	parts := make(chan part, 1<<14)
	go func() {
		for p := range parts {
			time.Sleep(time.Until(p.at))
			if _, err := to.Write(p.bytes); err != nil {
				from.Close()
			}
		}
		to.Close()
	}()
	for {
		b := make([]byte, 64<<10)
		n, err := from.Read(b)
		if n > 0 {
			parts <- part{b[:n], time.Now().Add(delay)}
		}
		if err != nil {
			close(parts)
			return
		}
	}
}
