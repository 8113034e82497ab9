//go:build linux

package adbd

import (
	"io"
	"net"
	"strings"
	"sync"
	"time"
)

// stream is one service that the peer opened. Each direction has at most one unacknowledged message.
type stream struct {
	link     *link
	id, peer uint32
	payload  int

	in       chan []byte   // unread messages, usually one; see unacknowledged
	rest     []byte        // unread part of the current message
	mayWrite chan struct{} // a token: the peer acknowledged the last message
	done     chan struct{} // closed when the peer or the link closes the stream
	once     sync.Once
}

// unacknowledged is the number of messages that a stream accepts before it acknowledges one. The protocol allows one.
// But when a program hangs up on adb's server, the server sends the rest of the program's output at once.
const unacknowledged = 8

func (s *stream) finish() { s.once.Do(func() { close(s.done) }) }

// Read acknowledges each message when Read starts to return the message's bytes. The peer therefore cannot send faster
// than the service reads.
func (s *stream) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		select {
		case s.rest = <-s.in:
		case <-s.done:
			select { // messages before the end still count
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

// Write splits p into messages of the peer's size. It waits until each message is acknowledged.
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

// close ends the stream after the peer acknowledged all output. A server drops output on its way when a stream
// closes.
func (s *stream) close() {
	select {
	case <-s.mayWrite:
	case <-s.done:
	}
	s.link.mu.Lock()
	delete(s.link.streams, s.id)
	s.link.mu.Unlock()
	s.finish()
	_ = s.link.send(cmdClose, s.id, s.peer, nil) // fails only if the link is gone
}

// serve runs the requested service.
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
		run = func() { go s.link.cfg.Reboot(arg); <-s.done } // the reboot ends the link
	default: // root:, reverse:, …
		s.refuse()
		return
	}
	if err := s.link.send(cmdOkay, s.id, s.peer, nil); err != nil {
		return
	}
	s.mayWrite <- struct{}{} // the service may write first
	run()
	s.close()
}

// refuse rejects an unknown service.
func (s *stream) refuse() {
	s.link.mu.Lock()
	delete(s.link.streams, s.id)
	s.link.mu.Unlock()
	_ = s.link.send(cmdClose, 0, s.peer, nil)
}

// dialSocket opens a socket of the device, to which the peer forwards.
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

// relay copies bytes both ways until one side ends.
func (s *stream) relay(nc net.Conn) {
	defer nc.Close()
	go func() {
		_, _ = io.Copy(nc, struct{ io.Reader }{s})
		nc.Close()
	}()
	_, _ = io.Copy(struct{ io.Writer }{s}, nc)
}
