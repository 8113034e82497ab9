package ssh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"

	"golang.org/x/crypto/ssh"
)

// Hosts are computers to whose own sockets there are ways over ssh, as ssh -L makes them: one connection to each, for all of its sockets. Safe for
// concurrent use; the zero value is not of use.
type Hosts struct {
	options Options

	mu     sync.Mutex
	known  map[[2]string]*host // by address and key
	closed bool
}

// NewHosts returns hosts to which there are no connections yet.
func NewHosts(o Options) *Hosts { return &Hosts{options: o, known: map[[2]string]*host{}} }

// Dial connects to a socket of the host at an address, "ssh://USER@HOST:PORT": network is "tcp" or "unix", as the host itself has it. key is the file of the
// key that the host takes; empty: the user's usual ones. Where nothing listens the error is a syscall.ECONNREFUSED.
func (h *Hosts) Dial(ctx context.Context, serial, key, network, at string) (net.Conn, error) {
	to, err := h.host(serial, key)
	if err != nil {
		return nil, err
	}
	c, err := to.connection(ctx)
	if err != nil {
		return nil, err
	}
	far, err := c.client.DialContext(ctx, network, at)
	var refused *ssh.OpenChannelError
	switch {
	case errors.As(err, &refused) && refused.Reason == ssh.Prohibited:
		return nil, fmt.Errorf("ssh: %s: it lets user %s reach no socket there: AllowTcpForwarding and AllowStreamLocalForwarding of its sshd_config (%w)", serial, to.at.user, err)
	case errors.As(err, &refused):
		return nil, fmt.Errorf("ssh: %s: nothing answers there at %s: %w (%s)", serial, at, syscall.ECONNREFUSED, refused.Message)
	case err != nil:
		return nil, fmt.Errorf("ssh: %s: %w", serial, dropped(ctx, err))
	}
	// What is behind a pipe has deadlines, which a channel of ssh has not.
	near, inner := net.Pipe()
	go func() { _, _ = io.Copy(far, inner); far.Close() }() // who has the pipe sees that it is closed
	go func() { _, _ = io.Copy(inner, far); inner.Close() }()
	return near, nil
}

// host returns the one at an address.
func (h *Hosts) host(serial, key string) (*host, error) {
	at, err := parse(serial)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, fmt.Errorf("ssh: %s: it was closed here", serial)
	}
	of := [2]string{serial, key}
	if h.known[of] == nil {
		o := h.options
		if key != "" {
			o.Keys = []string{key}
		}
		h.known[of] = newHost(serial, at, o)
	}
	return h.known[of], nil
}

// Close ends all connections, for ever.
func (h *Hosts) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	var errs []error
	for _, to := range h.known {
		errs = append(errs, to.Close())
	}
	return errors.Join(errs...)
}
