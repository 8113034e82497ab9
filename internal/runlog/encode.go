package runlog

import (
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"time"

	"github.com/hexmage/hexmage/internal/event"
)

// A file is magic and then frames: length and CRC-32C of the payload (little-endian, four bytes each), and the payload.
// Its first byte says what it is.
const (
	magic      = "hexmage-history/1\n"
	frameHead  = 8
	kindInfo   = 'I' // Info as JSON; the first frame
	kindRecord = 'A' // records of actions
	kindEnd    = 'E' // totals and fingerprint, endLen bytes; the last frame
	endLen     = 1 + 4*4 + 8 + 8
)

// appendFrame appends a frame with the payload.
func appendFrame(b, payload []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(payload)))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(payload, castagnoli()))
	return append(b, payload...)
}

func appendInfo(b []byte, i Info) []byte {
	payload, err := json.Marshal(i)
	if err != nil { // it is plain data: a time beyond year 9999 is the only one that cannot be written
		payload = []byte("{}")
	}
	return appendFrame(b, append([]byte{kindInfo}, payload...))
}

// records collects actions for one frame. Strings are written as what they have not in common with those before.
type records struct {
	payload            []byte
	step, name, worker string
}

// frame appends what was collected to b and starts anew.
func (r *records) frame(b []byte) []byte {
	if len(r.payload) > 0 {
		b = appendFrame(b, r.payload)
	}
	*r = records{payload: r.payload[:0]}
	return b
}

func (r *records) add(a *Action) {
	b := r.payload
	if len(b) == 0 {
		b = append(b, kindRecord)
	}
	b = append(b, outcomeByte(a.Outcome))
	b = appendRest(b, r.step, a.Step)
	b = appendRest(b, r.name, a.Name)
	b = appendRest(b, r.worker, a.Worker)
	b = append(b, byte(a.Key.Function()))
	if !a.Key.IsZero() {
		b = a.Key.AppendHash(b)
		b = binary.AppendUvarint(b, uint64(a.Key.Size()))
	}
	b = binary.AppendUvarint(b, micros(a.Start))
	b = binary.AppendUvarint(b, micros(a.Duration))
	r.payload, r.step, r.name, r.worker = b, a.Step, a.Name, a.Worker
}

func micros(d time.Duration) uint64 { return uint64(max(0, d.Microseconds())) }

// appendRest appends s as how many bytes it has in common with the one before, and the others.
func appendRest(b []byte, before, s string) []byte {
	n := 0
	for n < len(before) && n < len(s) && before[n] == s[n] {
		n++
	}
	b = binary.AppendUvarint(b, uint64(n))
	b = binary.AppendUvarint(b, uint64(len(s)-n))
	return append(b, s[n:]...)
}

func outcomeByte(o event.Outcome) byte {
	switch o {
	case event.Executed:
		return 'x'
	case event.Cached:
		return 'c'
	}
	return 'f'
}

func appendEnd(b []byte, t Totals, fingerprint uint64) []byte {
	p := []byte{kindEnd}
	for _, n := range []int{t.Executed, t.Cached, t.Failed, t.Skipped} {
		p = binary.LittleEndian.AppendUint32(p, uint32(n))
	}
	p = binary.LittleEndian.AppendUint64(p, micros(t.Took))
	p = binary.LittleEndian.AppendUint64(p, fingerprint)
	return appendFrame(b, p)
}

// mix adds an action's key to the fingerprint of a run: runs of the same actions have the same one, in whatever order they
// ended.
func mix(fingerprint uint64, a *Action) uint64 {
	if a.Key.IsZero() {
		return fingerprint
	}
	var h [32]byte
	return fingerprint + binary.LittleEndian.Uint64(a.Key.AppendHash(h[:0]))
}
