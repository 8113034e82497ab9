package runlog

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"time"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/event"
)

var errDamaged = errors.New("history: not a record of a run, or damaged")

// maxString is how long a step's name with its key, or an action's, may be, in bytes. Longer ones are not recorded.
const maxString = 4 << 10

// Decode reads a run. Of one that is damaged it returns what was before the damage, and no error; an error if not even the
// run's Info can be read.
func Decode(b []byte) (*Run, error) {
	rest, ok := bytes.CutPrefix(b, []byte(magic))
	if !ok {
		return nil, errDamaged
	}
	payload, rest := frame(rest)
	if len(payload) == 0 || payload[0] != kindInfo {
		return nil, errDamaged
	}
	r := &Run{}
	if json.Unmarshal(payload[1:], &r.Info) != nil {
		return nil, errDamaged
	}
	for !r.Ended {
		if payload, rest = frame(rest); len(payload) == 0 {
			break
		}
		switch payload[0] {
		case kindRecord:
			if !r.records(payload[1:]) {
				return r, nil
			}
		case kindEnd:
			if !r.end(payload) {
				return r, nil
			}
		}
	}
	return r, nil
}

// frame cuts the first frame off b. It returns no payload when there is none, or a damaged one.
func frame(b []byte) (payload, rest []byte) {
	if len(b) < frameHead {
		return nil, nil
	}
	n := int64(binary.LittleEndian.Uint32(b))
	if n > int64(len(b)-frameHead) {
		return nil, nil
	}
	payload = b[frameHead : frameHead+n]
	if crc32.Checksum(payload, castagnoli()) != binary.LittleEndian.Uint32(b[4:]) {
		return nil, nil
	}
	return payload, b[frameHead+n:]
}

func (r *Run) end(p []byte) bool {
	if len(p) != endLen {
		return false
	}
	for i, n := range []*int{&r.Executed, &r.Cached, &r.Failed, &r.Skipped} {
		*n = int(binary.LittleEndian.Uint32(p[1+4*i:]))
	}
	r.Took = duration(binary.LittleEndian.Uint64(p[17:]))
	r.fingerprint = binary.LittleEndian.Uint64(p[25:])
	r.Ended = true
	return true
}

// reader reads a frame's records; bad is sticky.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) take(n uint64) []byte {
	if r.bad || n > uint64(len(r.b)) {
		r.bad = true
		return nil
	}
	p := r.b[:n]
	r.b = r.b[n:]
	return p
}

func (r *reader) byte() byte {
	if p := r.take(1); p != nil {
		return p[0]
	}
	return 0
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.take(uint64(n))
	return v
}

func (r *reader) string(before string) string {
	n := r.uvarint()
	rest := r.take(r.uvarint())
	if n > uint64(len(before)) || n+uint64(len(rest)) > maxString {
		r.bad = true
		return ""
	}
	if int(n) == len(before) && len(rest) == 0 {
		return before
	}
	return before[:n] + string(rest)
}

// records takes the actions of a frame and tells whether all of it was right.
func (r *Run) records(b []byte) bool {
	in := &reader{b: b}
	var last Action
	for len(in.b) > 0 {
		a := Action{Outcome: outcomeOf(in.byte())}
		a.Step = in.string(last.Step)
		a.Name = in.string(last.Name)
		a.Worker = in.string(last.Worker)
		if fn := digest.Function(in.byte()); fn != 0 {
			hash := in.take(32)
			size := in.uvarint()
			var err error
			if a.Key, err = digest.FromHash(fn, hash, int64(size)); err != nil {
				in.bad = true
			}
		}
		a.Start = duration(in.uvarint())
		a.Duration = duration(in.uvarint())
		if in.bad || a.Outcome == "" {
			return false
		}
		r.Actions = append(r.Actions, a)
		last = a
	}
	return true
}

func outcomeOf(b byte) event.Outcome {
	switch b {
	case 'x':
		return event.Executed
	case 'c':
		return event.Cached
	case 'f':
		return event.Failed
	}
	return ""
}

// duration is what micros was made of, at most some thousand years.
func duration(us uint64) time.Duration {
	return time.Duration(min(us, uint64(1<<63-1)/1000)) * time.Microsecond
}
