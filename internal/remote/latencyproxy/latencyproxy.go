// Package latencyproxy simulates a distant server, for tests of latency. It forwards bytes between connections and does
// not interpret them.
package latencyproxy

import (
	"net"
	"time"
)

// Listen accepts connections on this machine and forwards them to the address, until the caller closes the listener. It
// delays bytes in each direction, so a round trip takes twice the delay.
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

// part is a chunk of bytes with its arrival time.
type part struct {
	bytes []byte
	at    time.Time
}

// carry forwards bytes until the connection ends, then closes the other one.
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
