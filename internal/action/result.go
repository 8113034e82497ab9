package action

import (
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hexmage/hexmage/internal/digest"
)

// Result is what came of an action that ran: REAPI's ActionResult. A command that failed has a Result too; what kept
// an action from running is an error instead.
type Result struct {
	Files    []OutputFile
	Dirs     []OutputDir
	ExitCode int
	Stdout   []byte // at most MaxInline bytes: the head and the tail, with a line between that says what was cut
	Stderr   []byte
	Worker   string        // where it ran: "local", "board 7", …
	Duration time.Duration // of the command itself

	// Memory is the bytes that the largest of the command's processes took at its peak, 0 where nobody knows. It is
	// in no wire form.
	Memory int64

	// Root is the host path of the exec root in which the command ran just now, "" where nobody knows. Paths that the
	// command wrote into its outputs may start with it. It is in no wire form.
	Root string

	// Hints say what the user can do about a command that failed, one sentence each. They are in no wire form.
	Hints []string

	// Varies says why another run may leave different bytes though the action promises the same, "" where nothing
	// speaks for that: this machine could not give the command all that it asks for. It is in no wire form.
	Varies string

	// Cached says that the action was not executed for who asked. It is in no wire form, as it is true of an answer,
	// not of the action.
	Cached bool
}

// MaxInline is how much of each output stream a Result keeps, in bytes.
const MaxInline = 64 << 10

// OutputFile is a file the command wrote.
type OutputFile struct {
	Path       string // slash path in the exec root
	Digest     digest.Digest
	Executable bool
}

// OutputDir is a folder the command wrote. Its Directory messages are blobs of the store, reachable from Root.
type OutputDir struct {
	Path string
	Tree digest.Digest // REAPI's Tree message: all Directories in one blob
	Root digest.Digest // the root Directory message
}

// Encode returns the ActionResult in wire form.
func (r *Result) Encode() []byte {
	var b []byte
	var m []byte
	for _, f := range r.Files {
		m = AppendString(m[:0], 1, f.Path)
		m = AppendDigest(m, 2, f.Digest)
		m = appendBool(m, 4, f.Executable)
		b = AppendMessage(b, 2, m)
	}
	for _, d := range r.Dirs {
		m = AppendString(m[:0], 1, d.Path)
		if !d.Tree.IsZero() {
			m = AppendDigest(m, 3, d.Tree)
		}
		m = AppendDigest(m, 5, d.Root)
		b = AppendMessage(b, 3, m)
	}
	if r.ExitCode != 0 {
		b = protowire.AppendTag(b, 4, protowire.VarintType)
		b = protowire.AppendVarint(b, uint64(int64(int32(r.ExitCode))))
	}
	if len(r.Stdout) > 0 {
		b = AppendMessage(b, 5, r.Stdout)
	}
	if len(r.Stderr) > 0 {
		b = AppendMessage(b, 7, r.Stderr)
	}
	m = m[:0]
	if r.Worker != "" {
		m = AppendString(m, 1, r.Worker)
	}
	m = AppendMessage(m, 12, encodeDuration(r.Duration))
	return AppendMessage(b, 9, m)
}

func appendBool(b []byte, field protowire.Number, v bool) []byte {
	if !v {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), 1)
}

// DecodeResult reads an ActionResult whose digests were made by fn. Fields it does not know are passed over; bytes
// that are no ActionResult are an error.
func DecodeResult(b []byte, fn digest.Function) (*Result, error) {
	r := &Result{}
	err := EachField(b, func(num protowire.Number, v uint64, m []byte) (err error) {
		switch num {
		case 2:
			var f OutputFile
			f, err = decodeFile(m, fn)
			r.Files = append(r.Files, f)
		case 3:
			var d OutputDir
			d, err = decodeDir(m, fn)
			r.Dirs = append(r.Dirs, d)
		case 4:
			r.ExitCode = int(int32(v))
		case 5:
			r.Stdout = append([]byte(nil), m...)
		case 7:
			r.Stderr = append([]byte(nil), m...)
		case 9:
			var began, ended time.Duration // of the command, since 1970
			err = EachField(m, func(num protowire.Number, _ uint64, m []byte) (err error) {
				switch num {
				case 1:
					r.Worker = string(m)
				case 7:
					began, _ = decodeDuration(m)
				case 8:
					ended, _ = decodeDuration(m)
				case 12:
					r.Duration, err = decodeDuration(m)
				}
				return err
			})
			if r.Duration == 0 && began > 0 && ended > began { // a server that says when, not how long
				r.Duration = ended - began
			}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("action result: %w", err)
	}
	return r, nil
}

func decodeFile(m []byte, fn digest.Function) (f OutputFile, err error) {
	err = EachField(m, func(num protowire.Number, v uint64, m []byte) (err error) {
		switch num {
		case 1:
			f.Path = string(m)
		case 2:
			f.Digest, err = DecodeDigest(m, fn)
		case 4:
			f.Executable = v != 0
		}
		return err
	})
	if err == nil && (f.Path == "" || f.Digest.IsZero()) {
		err = errors.New("an output file without path or digest")
	}
	return f, err
}

func decodeDir(m []byte, fn digest.Function) (d OutputDir, err error) {
	err = EachField(m, func(num protowire.Number, _ uint64, m []byte) (err error) {
		switch num {
		case 1:
			d.Path = string(m)
		case 3:
			d.Tree, err = DecodeDigest(m, fn)
		case 5:
			d.Root, err = DecodeDigest(m, fn)
		}
		return err
	})
	if err == nil && (d.Path == "" || d.Root.IsZero()) {
		err = errors.New("an output folder without path or digest")
	}
	return d, err
}

func decodeDuration(m []byte) (time.Duration, error) {
	var s, ns uint64 // of a field that comes twice, the last counts
	err := EachField(m, func(num protowire.Number, v uint64, _ []byte) error {
		switch num {
		case 1:
			s = v
		case 2:
			ns = v
		}
		return nil
	})
	if err == nil && (s > 1<<31 || ns >= uint64(time.Second)) {
		err = errors.New("a duration out of range")
	}
	if err != nil {
		return 0, err
	}
	return time.Duration(s)*time.Second + time.Duration(ns), nil
}

// DecodeDigest reads a Digest message made by fn.
func DecodeDigest(m []byte, fn digest.Function) (digest.Digest, error) {
	var hexHash []byte
	var size uint64
	err := EachField(m, func(num protowire.Number, v uint64, m []byte) error {
		switch num {
		case 1:
			hexHash = m
		case 2:
			size = v
		}
		return nil
	})
	if err != nil {
		return digest.Digest{}, err
	}
	return digest.FromHex(fn, hexHash, int64(size))
}

// EachField calls f for every field of a protobuf message, with v for a varint and m for a length-delimited one. It
// stops at the first error, f's or that of bytes which are no message.
func EachField(b []byte, f func(num protowire.Number, v uint64, m []byte) error) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		var v uint64
		var m []byte
		switch typ {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			m, n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(num, typ, b)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		if err := f(num, v, m); err != nil {
			return err
		}
	}
	return nil
}

// DecodeAction reads an Action message whose digests were made by fn: all but the Command, of which it returns the
// digest (see DecodeCommand).
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
