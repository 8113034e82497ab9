package adb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hexmage/hexmage/runner/transport"
)

// ErrProtocol means that the server or the device violated the protocol. The connection is closed.
var ErrProtocol = errors.New("adb protocol violation")

// ServerError means that the adb server rejected a request.
type ServerError struct {
	Request string // as sent, for example "host:transport:SERIAL"
	Message string // the server's answer, for example "device offline"
}

func (e *ServerError) Error() string {
	return fmt.Sprintf("adb server refused %q: %s", e.Request, e.Message)
}

// Passing reports whether the error may disappear when the device is connected again. transport.Retryable calls
// Passing.
func (e *ServerError) Passing() bool {
	for _, passing := range []string{"offline", "not found", "still connecting", "closed", "failed to connect", "no devices"} {
		if strings.Contains(e.Message, passing) {
			return true
		}
	}
	return false
}

// wrap prefixes err with the failed operation. It names the cause to act on: the caller's context
// first, then a lost connection.
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
		return fmt.Errorf("adb: %s: %w", what, transport.ErrDropped)
	}
	return fmt.Errorf("adb: %s: %w (%w)", what, transport.ErrDropped, err)
}

// errLocal marks an error of the caller's reader or writer on this side.
var errLocal = errors.New("local error")

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
