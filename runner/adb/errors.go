package adb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/hexmage/hexmage/runner/link"
)

// ErrServer says that no adb server listens where one is to be: it has ended, or was not started. It is a
// link.ErrDropped, too.
var ErrServer = errors.New("no adb server")

// serverGone is an ErrServer.
type serverGone struct {
	address string
	err     error
}

func (e *serverGone) Error() string {
	return fmt.Sprintf("no adb server answers at %s: it has ended, or was not started (%v)", e.address, e.err)
}

func (e *serverGone) Unwrap() error { return e.err }

// Is implements what errors.Is asks.
func (e *serverGone) Is(target error) bool { return target == ErrServer || target == link.ErrDropped }

// Explain returns the error, or an ErrServer if a connection was lost because the server has ended.
func (d *Device) Explain(ctx context.Context, err error) error {
	if !errors.Is(err, link.ErrDropped) || errors.Is(err, ErrServer) || ctx.Err() != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, whyWait)
	defer cancel()
	for { // a server that is killed closes its connections one after another
		if _, gone := d.client.Version(ctx); errors.Is(gone, ErrServer) {
			return &serverGone{d.client.address, err}
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(whyPause):
		}
	}
}

const (
	whyWait  = 100 * time.Millisecond
	whyPause = 25 * time.Millisecond
)

// ErrProtocol says that the other side sent something that the protocol does not allow, so the connection was given
// up.
var ErrProtocol = errors.New("adb protocol violation")

// ServerError is a request that the adb server refused.
type ServerError struct {
	Request string // as sent, for example "host:transport:SERIAL"
	Message string // the server's own words, for example "device offline"
}

func (e *ServerError) Error() string {
	return fmt.Sprintf("adb server refused %q: %s", e.Request, e.Message)
}

// Passing tells whether the reason may go away once the device is connected again: link.Retryable asks.
func (e *ServerError) Passing() bool {
	for _, passing := range []string{"offline", "not found", "still connecting", "closed", "failed to connect", "no devices"} {
		if strings.Contains(e.Message, passing) {
			return true
		}
	}
	return false
}

// wrap says what failed and, of several causes, names the one to act on: the caller's context first, then a lost
// connection.
func wrap(ctx context.Context, err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	what := fmt.Sprintf(format, args...)
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("adb: %s: %w", what, cause)
	}
	var refused *ServerError
	var denied *link.FileError
	switch {
	case errors.As(err, &refused), errors.As(err, &denied), errors.Is(err, ErrProtocol), errors.Is(err, errLocal):
		return fmt.Errorf("adb: %s: %w", what, err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("adb: %s: %w", what, link.ErrDropped)
	}
	return fmt.Errorf("adb: %s: %w (%w)", what, link.ErrDropped, err)
}

// errLocal marks what failed on this side: a reader or writer that the caller gave.
var errLocal = errors.New("local file")

func local(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", errLocal, err)
}

func asServerError(err error) (*ServerError, bool) {
	var refused *ServerError
	ok := errors.As(err, &refused)
	return refused, ok
}
