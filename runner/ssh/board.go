package ssh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/hexmage/hexmage/runner/layout"
	"github.com/hexmage/hexmage/runner/link"
)

const (
	dialWait      = 5 * time.Second
	handshakeWait = 15 * time.Second
	aliveEvery    = 10 * time.Second // a link that nobody uses is asked for a sign of life
	aliveWait     = 30 * time.Second // for that sign: a board that loads a model is busy
	pingWait      = 5 * time.Second  // for the same when somebody waits
)

// folder is hexmage's folder on a board, in the user's home.
const folder = ".hexmage-device"

// Board is a link.Device that is reached over ssh. It keeps one connection, which is made again when it is gone and something is wanted.
type Board struct {
	serial  string
	at      address
	options Options
	folder  layout.Folder

	turn   chan struct{} // has one element, which who has it may use what follows with, also while it makes a connection
	now    *connection   // nil: none
	closed bool
}

// Dial connects to the board whose address is the serial, "ssh://USER@HOST:PORT". ctx bounds that, and not what is done with the board.
func Dial(ctx context.Context, serial string, o Options) (*Board, error) {
	at, err := parse(serial)
	if err != nil {
		return nil, err
	}
	b := &Board{serial: serial, at: at, options: o, turn: make(chan struct{}, 1)}
	b.turn <- struct{}{}
	if b.folder, err = b.home(ctx); err != nil {
		_ = b.Close() // of what was not of use
		return nil, err
	}
	return b, nil
}

// Place implements link.Device.
func (b *Board) Place() link.Place { return link.Place{Serial: b.serial, Folder: b.folder} }

// home asks for the user's home folder, and with that whether commands come to a shell as they are, and answers back as they are.
func (b *Board) home(ctx context.Context) (layout.Folder, error) {
	const marker = "hexmage's home, \\\\ ! and \"$HOME\":\n"
	out, err := link.Output(ctx, b, "printf %s "+link.Quote(marker)+" && cd && pwd -P", nil)
	if exit, ok := errors.AsType[*link.ExitError](err); ok {
		return "", fmt.Errorf("%s: it runs no commands for this user, or there is no home folder (exit code %d): %s", b.serial, exit.Code, exit.Said)
	}
	if err != nil {
		return "", err
	}
	said, home, ok := strings.Cut(strings.TrimSuffix(out, "\n"), marker)
	switch {
	case !ok && strings.HasPrefix(out, "hexmage's home"):
		return "", fmt.Errorf("%s: the shell of user %s does not read quotes as a POSIX shell does: give the user such a one, with chsh -s /bin/sh", b.serial, b.at.user)
	case said != "" || !ok:
		return "", fmt.Errorf("%s: its shell prints %.80q before what a command prints: have it print nothing when it is not interactive (see ~/.bashrc there)", b.serial, said)
	case !path.IsAbs(home) || strings.Trim(home, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+-/") != "":
		return "", fmt.Errorf("%s: its home folder is %.80q: hexmage needs one of letters, digits and ._+-/", b.serial, home)
	}
	return layout.Folder(path.Join(home, folder)), nil
}

// Close ends the connection, for ever.
func (b *Board) Close() error {
	<-b.turn
	defer b.give()
	b.closed = true
	if b.now != nil {
		b.now.client.Close()
	}
	return nil
}

// Reconnect implements link.Device.
func (b *Board) Reconnect(ctx context.Context) error {
	if err := b.take(ctx); err != nil {
		return err
	}
	now := b.now
	b.give()
	if now != nil && !now.answers(ctx, pingWait) {
		if ctx.Err() != nil { // others use the connection, and nobody knows anything against it
			return context.Cause(ctx)
		}
		now.end()
	}
	_, err := b.connection(ctx)
	return err
}

// take waits for the turn, which give gives back.
func (b *Board) take(ctx context.Context) error {
	select {
	case <-b.turn:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (b *Board) give() { b.turn <- struct{}{} }

// connection returns the one there is, or a new one.
func (b *Board) connection(ctx context.Context) (*connection, error) {
	if err := b.take(ctx); err != nil {
		return nil, err
	}
	defer b.give()
	if b.closed {
		return nil, fmt.Errorf("ssh: %s: it was closed here", b.serial)
	}
	if b.now != nil && b.now.lives() {
		return b.now, nil
	}
	c, err := b.dial(ctx)
	if err != nil {
		return nil, fmt.Errorf("ssh: %s: %w", b.serial, err)
	}
	b.now = c
	return c, nil
}

// dial makes a connection.
func (b *Board) dial(ctx context.Context) (*connection, error) {
	keys, from, unusable, done := b.options.keys()
	defer done()
	config := &ssh.ClientConfig{User: b.at.user, Auth: []ssh.AuthMethod{ssh.PublicKeys(keys...)}}
	refused, believed, err := b.options.trust(config, b.at)
	if err != nil {
		return nil, err
	}
	d := net.Dialer{Timeout: dialWait}
	nc, err := d.DialContext(ctx, "tcp", b.at.dial())
	if err != nil {
		return nil, unreachable(ctx, "it cannot be reached", err)
	}
	heard := &hearing{Conn: nc}
	stop := context.AfterFunc(ctx, func() { nc.Close() })
	_ = nc.SetDeadline(time.Now().Add(handshakeWait)) // fails only on a closed connection, where the next use says so
	conn, channels, requests, err := ssh.NewClientConn(heard, b.at.dial(), config)
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
			return nil, b.unknown(from, unusable, err)
		case strings.Contains(err.Error(), "no common algorithm"):
			return nil, fmt.Errorf("the board has no host key of a kind that is known of it, or speaks an ssh that is too old or too new: %w", err)
		}
		return nil, unreachable(ctx, "it does not answer as ssh does", err)
	}
	_ = nc.SetDeadline(time.Time{})
	c := &connection{client: ssh.NewClient(conn, channels, requests), heard: heard, over: make(chan struct{})}
	go func() {
		_ = c.client.Wait()
		c.end()
	}()
	go c.watch(cmp.Or(b.options.every, aliveEvery), cmp.Or(b.options.wait, aliveWait))
	return c, nil
}

// broke tells whether an error is that of a link, and not what the board said.
func broke(err error) bool {
	_, network := errors.AsType[net.Error](err)
	return network || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// unknown says that the board does not take the user's keys, and what it said.
func (b *Board) unknown(from, unusable []string, err error) error {
	tried := "there is no key to show: neither a file (" + strings.Join(b.options.Keys, ", ") + ") nor an agent has one"
	if len(from) > 0 {
		tried = "it takes none of the keys of " + strings.Join(from, ", ")
	}
	if len(unusable) > 0 {
		tried += " (" + strings.Join(unusable, "; ") + ")"
	}
	return fmt.Errorf("the board does not let user %s in: %s; put a key there with: ssh-copy-id -p %s %s@%s. Passwords are not asked for (%w)", b.at.user, tried, b.at.port, b.at.user, b.at.host, err)
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
func (e *unreachableError) Unwrap() error { return e.err }

// Is implements what errors.Is asks.
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
