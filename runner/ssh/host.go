package ssh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/hexmage/hexmage/runner/link"
)

const (
	dialWait      = 5 * time.Second
	handshakeWait = 15 * time.Second
	aliveEvery    = 10 * time.Second // a link that nobody uses is asked for a sign of life
	aliveWait     = 30 * time.Second // for that sign: a board that loads a model is busy
	pingWait      = 5 * time.Second  // for the same when somebody waits
)

// host is a computer that is reached over ssh. It keeps one connection, which is made again when it is gone and something is wanted.
type host struct {
	serial  string // its address, as people gave it
	at      address
	options Options

	turn   chan struct{} // has one element, which who has it may use what follows with, also while it makes a connection
	now    *connection   // nil: none
	closed bool
}

// newHost returns a host to which there is no connection yet.
func newHost(serial string, at address, o Options) *host {
	h := &host{serial: serial, at: at, options: o, turn: make(chan struct{}, 1)}
	h.turn <- struct{}{}
	return h
}

// Close ends the connection, for ever.
func (h *host) Close() error {
	<-h.turn
	defer h.give()
	h.closed = true
	if h.now != nil {
		h.now.client.Close()
	}
	return nil
}

// Reconnect implements link.Device.
func (h *host) Reconnect(ctx context.Context) error {
	if err := h.take(ctx); err != nil {
		return err
	}
	now := h.now
	h.give()
	if now != nil && !now.answers(ctx, pingWait) {
		if ctx.Err() != nil { // others use the connection, and nobody knows anything against it
			return context.Cause(ctx)
		}
		now.end()
	}
	_, err := h.connection(ctx)
	return err
}

// take waits for the turn, which give gives back.
func (h *host) take(ctx context.Context) error {
	select {
	case <-h.turn:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (h *host) give() { h.turn <- struct{}{} }

// connection returns the one there is, or a new one.
func (h *host) connection(ctx context.Context) (*connection, error) {
	if err := h.take(ctx); err != nil {
		return nil, err
	}
	defer h.give()
	if h.closed {
		return nil, fmt.Errorf("ssh: %s: it was closed here", h.serial)
	}
	if h.now != nil && h.now.lives() {
		return h.now, nil
	}
	c, err := h.dial(ctx)
	if err != nil {
		return nil, fmt.Errorf("ssh: %s: %w", h.serial, err)
	}
	h.now = c
	return c, nil
}

// dial makes a connection.
func (h *host) dial(ctx context.Context) (*connection, error) {
	keys, from, unusable, done := h.options.keys()
	defer done()
	config := &ssh.ClientConfig{User: h.at.user, Auth: []ssh.AuthMethod{ssh.PublicKeys(keys...)}}
	refused, believed, err := h.options.trust(config, h.at)
	if err != nil {
		return nil, err
	}
	d := net.Dialer{Timeout: dialWait}
	nc, err := d.DialContext(ctx, "tcp", h.at.dial())
	if err != nil {
		return nil, unreachable(ctx, "it cannot be reached", err)
	}
	heard := &hearing{Conn: nc}
	stop := context.AfterFunc(ctx, func() { nc.Close() })
	_ = nc.SetDeadline(time.Now().Add(handshakeWait)) // fails only on a closed connection, where the next use says so
	conn, channels, requests, err := ssh.NewClientConn(heard, h.at.dial(), config)
	if !stop() && err == nil { // ctx ended just now
		conn.Close()
		return nil, context.Cause(ctx)
	}
	if err != nil {
		nc.Close()
		switch {
		case refused() != nil:
			return nil, refused()
		case believed() && !broke(err):
			return nil, h.unknown(from, unusable, err)
		case strings.Contains(err.Error(), "no common algorithm"):
			return nil, fmt.Errorf("it has no host key of a kind that is known of it, or speaks an ssh that is too old or too new: %w", err)
		}
		return nil, unreachable(ctx, "it does not answer as ssh does", err)
	}
	_ = nc.SetDeadline(time.Time{})
	c := &connection{client: ssh.NewClient(conn, channels, requests), heard: heard, over: make(chan struct{})}
	go func() {
		_ = c.client.Wait()
		c.end()
	}()
	go c.watch(cmp.Or(h.options.every, aliveEvery), cmp.Or(h.options.wait, aliveWait))
	return c, nil
}

// broke tells whether an error is that of a link, and not what the board said.
func broke(err error) bool {
	_, network := errors.AsType[net.Error](err)
	return network || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// unknown says that the board does not take the user's keys, and what it said.
func (h *host) unknown(from, unusable []string, err error) error {
	tried := "there is no key to show: neither a file (" + strings.Join(h.options.Keys, ", ") + ") nor an agent has one"
	if len(from) > 0 {
		tried = "it takes none of the keys of " + strings.Join(from, ", ")
	}
	if len(unusable) > 0 {
		tried += " (" + strings.Join(unusable, "; ") + ")"
	}
	return fmt.Errorf("it does not let user %s in: %s; put a key there with: ssh-copy-id -p %s %s@%s. Passwords are not asked for (%w)", h.at.user, tried, h.at.port, h.at.user, h.at.host, err)
}

// dropped is the error of a link that broke, or of a caller that wants no more.
func dropped(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return fmt.Errorf("%w (%w)", link.ErrDropped, err)
}

// unreachableError is a link.ErrDropped of a link that was not made.
type unreachableError struct {
	what string
	err  error
}

func (e *unreachableError) Error() string { return e.what + ": " + e.err.Error() }

// Is implements what errors.Is asks. What the network said is nobody's business: that a host refuses ssh is not that it refuses what is asked of it over ssh.
func (e *unreachableError) Is(target error) bool { return target == link.ErrDropped }

func unreachable(ctx context.Context, what string, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return &unreachableError{what, err}
}

// connection is a link to a board that works, or has worked.
type connection struct {
	client *ssh.Client
	heard  *hearing
	once   sync.Once
	over   chan struct{} // closed when it is gone
}

// end ends it. It does not wait: what reads the link may be held up by what the board sent.
func (c *connection) end() {
	c.once.Do(func() { close(c.over) })
	c.client.Close()
}

// hearing is a network connection that knows when something last came.
type hearing struct {
	net.Conn
	last atomic.Int64 // Unix nanoseconds
}

// Read implements net.Conn.
func (h *hearing) Read(b []byte) (int, error) {
	n, err := h.Conn.Read(b)
	if n > 0 {
		h.last.Store(time.Now().UnixNano())
	}
	return n, err
}

// since is for how long nothing came.
func (h *hearing) since() time.Duration { return time.Since(time.Unix(0, h.last.Load())) }

func (c *connection) lives() bool {
	select {
	case <-c.over:
		return false
	default:
		return true
	}
}

// answers asks for a sign of life.
func (c *connection) answers(ctx context.Context, wait time.Duration) bool {
	said := make(chan error, 1)
	go func() {
		_, _, err := c.client.SendRequest("keepalive@openssh.com", true, nil)
		said <- err
	}()
	select {
	case err := <-said:
		return err == nil
	case <-time.After(wait):
	case <-c.over:
	case <-ctx.Done():
	}
	return false
}

// watch ends a link of which nothing is heard any more: who waits for a command would do so for ever. Whatever comes is a sign of life: behind much that
// is sent an answer takes its time.
func (c *connection) watch(every, wait time.Duration) {
	for {
		select {
		case <-c.over:
			return
		case <-time.After(every):
		}
		if c.heard.since() > every && !c.answers(context.Background(), wait) && c.heard.since() > wait {
			c.end()
			return
		}
	}
}
