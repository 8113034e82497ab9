package adb

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/hexmage/hexmage/runner/transport"
)

const (
	maxRequest = 0xffff    // of four hexadecimal digits
	maxChunk   = 64 << 10  // standard input in one packet
	bufferSize = 256 << 10 // read-ahead of one connection
	dialWait   = 5 * time.Second
	askWait    = 15 * time.Second // for a request that a healthy server answers at once
)

// conn is one connection to the server. It ends with the context of dial.
type conn struct {
	nc   net.Conn
	r    *bufio.Reader
	stop func() bool
}

func (c *Client) dial(ctx context.Context) (*conn, error) {
	nc, err := c.connection(ctx)
	if ctx.Err() == nil && (errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist)) {
		return nil, fmt.Errorf("adb: no adb server answers at %s (%w: %w)", c.address,
			transport.ErrDropped, err)
	}
	if err != nil && c.over != nil && ctx.Err() == nil { // over has decided whether a retry may help
		return nil, fmt.Errorf("adb: %w", err)
	}
	if err != nil {
		return nil, wrap(ctx, err, "cannot connect to the adb server at %s", c.address)
	}
	cn := &conn{nc: nc, r: bufio.NewReaderSize(nc, bufferSize)}
	cn.stop = context.AfterFunc(ctx, func() { nc.Close() })
	return cn, nil
}

// connection opens a connection to the server.
func (c *Client) connection(ctx context.Context) (net.Conn, error) {
	if c.over != nil {
		return c.over(ctx)
	}
	at := c.address
	if c.network == "unix" && len(at) > maxSocketPath { // Linux reaches a socket of any path length this way
		dir, err := os.Open(filepath.Dir(at))
		if err != nil {
			return nil, err
		}
		defer dir.Close()
		at = fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(at))
	}
	d := net.Dialer{Timeout: dialWait}
	return d.DialContext(ctx, c.network, at)
}

func (c *conn) Close() error {
	c.stop()
	return c.nc.Close()
}

// within sets a deadline for the next reads and writes, d from now. 0 removes it.
func (c *conn) within(d time.Duration) {
	var at time.Time
	if d > 0 {
		at = time.Now().Add(d)
	}
	_ = c.nc.SetDeadline(at) // fails only on a closed connection, and so does the next use
}

// request sends one request and reads its status.
func (c *conn) request(service string) error {
	if len(service) > maxRequest {
		return fmt.Errorf("%w: a request has %d bytes, but adb accepts at most %d; pass long input through stdin or "+
			"a file", errLocal, len(service), maxRequest)
	}
	if _, err := io.WriteString(c.nc, fmt.Sprintf("%04x%s", len(service), service)); err != nil {
		return err
	}
	return readStatus(c.r, service)
}

// readStatus reads OKAY, or FAIL and its reason.
func readStatus(r io.Reader, service string) error {
	var id [4]byte
	if _, err := io.ReadFull(r, id[:]); err != nil {
		return err
	}
	switch string(id[:]) {
	case "OKAY":
		return nil
	case "FAIL":
		msg, err := readString(r)
		if err != nil {
			return err
		}
		return &ServerError{Request: service, Message: msg}
	}
	return fmt.Errorf("%w: expected OKAY or FAIL, got %q", ErrProtocol, id)
}

// readString reads a string framed by four hexadecimal digits.
func readString(r io.Reader) (string, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return "", err
	}
	n, err := strconv.ParseUint(string(head[:]), 16, 16)
	if err != nil {
		return "", fmt.Errorf("%w: length %q is not four hexadecimal digits", ErrProtocol, head)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return "", noEOF(err)
	}
	return string(b), nil
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
