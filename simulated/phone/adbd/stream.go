//go:build linux

package adbd

import (
	"io"
	"net"
	"strings"
	"sync"
	"time"
)

// stream is one service that the peer opened. Each direction has at most one message on its way that was not acknowledged.
type stream struct {
	link     *link
	id, peer uint32
	payload  int

	in       chan []byte   // what came and was not read: one message; see unacknowledged
	rest     []byte        // of the message that is being read
	mayWrite chan struct{} // a token: the peer took the last message
	done     chan struct{} // closed when the peer, or the link, closed the stream
	once     sync.Once
}

// unacknowledged is how many messages a stream takes without having acknowledged one. The protocol allows a single one, but when a program hangs up on
// adb's server, that passes on at once what it had written.
const unacknowledged = 8

func (s *stream) finish() { s.once.Do(func() { close(s.done) }) }

// Read acknowledges a message when it is taken up, so that the peer cannot send faster than it is consumed.
func (s *stream) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		select {
		case s.rest = <-s.in:
		case <-s.done:
			select { // what came before the end still counts
			case s.rest = <-s.in:
				if len(s.rest) > 0 {
					n := copy(p, s.rest)
					s.rest = s.rest[n:]
					return n, nil
				}
			default:
			}
			return 0, io.EOF
		}
		if err := s.link.send(cmdOkay, s.id, s.peer, nil); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// Write sends p in messages that the peer takes, each after the one before it was acknowledged.
func (s *stream) Write(p []byte) (int, error) {
	written := 0
	for len(p) > 0 {
		select {
		case <-s.done:
			return written, io.ErrClosedPipe
		case <-s.mayWrite:
		}
		n := min(len(p), s.payload)
		if err := s.link.send(cmdWrite, s.id, s.peer, p[:n]); err != nil {
			return written, err
		}
		p = p[n:]
		written += n
	}
	return written, nil
}

// close ends the stream once the peer has taken all that was written: a server drops output that is on its way when a stream closes.
func (s *stream) close() {
	select {
	case <-s.mayWrite:
	case <-s.done:
	}
	s.link.mu.Lock()
	delete(s.link.streams, s.id)
	s.link.mu.Unlock()
	s.finish()
	_ = s.link.send(cmdClose, s.id, s.peer, nil) // a link that is gone needs no goodbye
}

// serve runs the service that the peer asked for.
func (s *stream) serve(service string) {
	name, arg, _ := strings.Cut(service, ":")
	name, _, _ = strings.Cut(name, ",")
	var run func()
	switch name {
	case "sync":
		run = func() { newFiles(s).serve() }
	case "shell":
		run = func() { s.shell(arg) }
	case "tcp", "localabstract", "localfilesystem":
		nc, err := dialSocket(name, arg)
		if err != nil {
			s.refuse()
			return
		}
		run = func() { s.relay(nc) }
	case "reboot":
		run = func() { go s.link.cfg.Reboot(arg); <-s.done } // the link ends, and says so
	default: // root:, reverse:, …
		s.refuse()
		return
	}
	if err := s.link.send(cmdOkay, s.id, s.peer, nil); err != nil {
		return
	}
	s.mayWrite <- struct{}{} // the service may speak first
	run()
	s.close()
}

// refuse says that there is no such service.
func (s *stream) refuse() {
	s.link.mu.Lock()
	delete(s.link.streams, s.id)
	s.link.mu.Unlock()
	_ = s.link.send(cmdClose, 0, s.peer, nil)
}

// dialSocket opens a socket of the device for a peer that forwards one of its own to it.
func dialSocket(kind, at string) (net.Conn, error) {
	const wait = 5 * time.Second
	switch kind {
	case "tcp":
		return net.DialTimeout("tcp", net.JoinHostPort("127.0.0.1", at), wait)
	case "localabstract":
		at = "@" + at
	}
	return net.DialTimeout("unix", at, wait)
}

// relay moves bytes both ways until one side ends.
func (s *stream) relay(nc net.Conn) {
	defer nc.Close()
	go func() {
		_, _ = io.Copy(nc, struct{ io.Reader }{s})
		nc.Close()
	}()
	_, _ = io.Copy(struct{ io.Writer }{s}, nc)
}
