package action

import (
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hexmage/hexmage/internal/digest"
)

// Result is the outcome of an action that ran. It corresponds to REAPI's ActionResult message. A failed command also
// produces a Result. If an action could not run, hexmage reports an error instead.
type Result struct {
	Files    []OutputFile
	Dirs     []OutputDir
	ExitCode int
	Stdout   []byte // beginning and end, at most MaxInline bytes, around a line with the number of omitted bytes
	Stderr   []byte
	Worker   string        // machine that ran the command, such as "local" or "board 7"
	Duration time.Duration // run time of the command

	// Memory is the peak memory of the command's largest process in bytes, or 0 if unknown. It is not encoded.
	Memory int64

	// Root is the host path of the exec root in which the command ran in this build, or "" if unknown. The outputs may
	// contain paths below Root. It is not encoded.
	Root string

	// Hints are suggestions for fixing a failed command, one sentence each. They are not encoded.
	Hints []string

	// Varies is "", or the reason why another run may write different bytes even to outputs that must be identical. For
	// example, this machine could not provide everything that the command requires. Varies is not encoded.
	Varies string

	// Cached reports that the result came from the cache, not from running the action. It is not encoded, because it
	// depends on the request.
	Cached bool
}

// MaxInline is the maximum size of Result.Stdout, and of Result.Stderr, in bytes.
const MaxInline = 64 << 10

// OutputFile is a file that the command wrote.
type OutputFile struct {
	Path       string // slash path in the exec root
	Digest     digest.Digest
	Executable bool
}

// OutputDir is a folder that the command wrote. The store contains a blob for each Directory message of the folder.
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
		m = AppendBool(m, 4, f.Executable)
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
	b = appendNumber(b, 4, int64(int32(r.ExitCode)))
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

// DecodeResult decodes an ActionResult message whose digests use the hash function fn. It ignores unknown fields and
// fails on malformed bytes.
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
		return nil, fmt.Errorf("invalid action result: %w", err)
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
		err = errors.New("output file without path or digest")
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
		err = errors.New("output folder without path or digest")
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
		err = errors.New("duration out of range")
	}
	if err != nil {
		return 0, err
	}
	return time.Duration(s)*time.Second + time.Duration(ns), nil
}

// DecodeDigest decodes a Digest message whose hash comes from the function fn.
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
	return digest.New(fn, string(hexHash), int64(size))
}

// EachField calls f for each field of the protobuf message b. The parameter v is the value of a varint field, and m is
// the content of a length-delimited field. If f fails or b is malformed, EachField stops and returns the error.
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

// DecodeAction decodes an Action message whose digests use the hash function fn. It also returns the digest of the
// Command message; see DecodeCommand.
func DecodeAction(b []byte, fn digest.Function) (a *Action, command digest.Digest, err error) {
	a = &Action{}
	err = EachField(b, func(num protowire.Number, v uint64, m []byte) (err error) {
		switch num {
		case 1:
			command, err = DecodeDigest(m, fn)
		case 2:
			a.InputRoot, err = DecodeDigest(m, fn)
		case 7:
			a.DoNotCache = v != 0
		}
		return err
	})
	if err == nil && (command.IsZero() || a.InputRoot.IsZero()) {
		err = errors.New("missing digest of the command or of the inputs")
	}
	if err != nil {
		return nil, digest.Digest{}, fmt.Errorf("invalid action: %w", err)
	}
	return a, command, nil
}

// DecodeCommand decodes a Command message.
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
		return Command{}, fmt.Errorf("invalid command: %w", err)
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
