package adb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hexmage/hexmage/runner/link"
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
	switch {
	case errors.As(err, &refused), errors.Is(err, ErrProtocol), errors.Is(err, errLocal):
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
