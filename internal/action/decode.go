package action

import (
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hexmage/hexmage/internal/digest"
)

// DecodeAction reads an Action message whose digests were made by fn: all but the Command, of which it returns the digest
// (see DecodeCommand).
func DecodeAction(b []byte, fn digest.Function) (a *Action, command digest.Digest, err error) {
	a = &Action{}
	err = EachField(b, func(num protowire.Number, v uint64, m []byte) (err error) {
		switch num {
		case 1:
			command, err = DecodeDigest(m, fn)
		case 2:
			a.InputRoot, err = DecodeDigest(m, fn)
		case 6:
			a.Timeout, err = decodeTimeout(m)
		case 7:
			a.DoNotCache = v != 0
		}
		return err
	})
	if err == nil && (command.IsZero() || a.InputRoot.IsZero()) {
		err = errors.New("it names no command or no inputs")
	}
	if err != nil {
		return nil, digest.Digest{}, fmt.Errorf("action: %w", err)
	}
	return a, command, nil
}

// decodeTimeout reads a Duration of at most a hundred years.
func decodeTimeout(m []byte) (time.Duration, error) {
	d, err := decodeDuration(m)
	if err == nil && d > 100*365*24*time.Hour {
		err = errors.New("a timeout out of range")
	}
	return d, err
}

// DecodeCommand reads a Command message.
func DecodeCommand(b []byte) (Command, error) {
	c := Command{Env: map[string]string{}, Platform: map[string]string{}}
	err := EachField(b, func(num protowire.Number, _ uint64, m []byte) error {
		switch num {
		case 1:
			c.Args = append(c.Args, string(m))
		case 2:
			return decodePair(m, c.Env)
		case 5:
			return EachField(m, func(num protowire.Number, _ uint64, m []byte) error {
				if num != 1 {
					return nil
				}
				return decodePair(m, c.Platform)
			})
		case 7:
			c.Outputs = append(c.Outputs, string(m))
		}
		return nil
	})
	if err != nil {
		return Command{}, fmt.Errorf("command: %w", err)
	}
	return c, nil
}

func decodePair(m []byte, to map[string]string) error {
	var name, value string
	err := EachField(m, func(num protowire.Number, _ uint64, m []byte) error {
		switch num {
		case 1:
			name = string(m)
		case 2:
			value = string(m)
		}
		return nil
	})
	to[name] = value
	return err
}
