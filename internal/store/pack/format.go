package pack

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/zeebo/blake3"

	"github.com/hexmage/hexmage/internal/digest"
)

// A pack begins with two copies of its head, so that no single flipped bit loses all that follows. Each has a line, the pack's id,
// its mark and a checksum.
//
// A record begins with the mark: 16 bytes that were drawn at random when the first pack was made. So where a record begins is
// known whatever became of the one before, and nothing that an action prints can pass for one.
const (
	line     = "hexmage pack 1\n\n"
	markSize = 16
	copySize = len(line) + 16 + markSize + 16
	headSize = 2 * copySize

	// Of a record: the mark, the size of the body, when it was used, its key, and the checksum of size, key and body.
	atSize, atUsed, atKey = markSize, markSize + 4, markSize + 4 + 8
	atSum                 = atKey + 4 + 8 + 32
	recordHead            = atSum + 32
)

// MaxBody is how large a body may be, in bytes. What claims more is damage.
const MaxBody = 64 << 20

// ErrDamaged is what reading returns, wrapped, for a record that is not as it was written.
var ErrDamaged = errors.New("the checksum is wrong")

var errHead = errors.New("its head is damaged")

// head is what a pack begins with.
type head struct {
	id   [16]byte       // of this file: an index with another id is of another one
	mark [markSize]byte // of the records
}

// newHead returns the head of a pack that takes the place of one with h, or of none.
func newHead(h head) head {
	_, _ = rand.Read(h.id[:]) // never fails
	if h.mark == [markSize]byte{} {
		_, _ = rand.Read(h.mark[:])
	}
	return h
}

func (h head) encode() []byte {
	b := append(append([]byte(line), h.id[:]...), h.mark[:]...)
	sum := blake3.Sum256(b)
	b = append(b, sum[:copySize-len(b)]...)
	return append(b, b...)
}

func readHead(f io.ReaderAt) (h head, err error) {
	var b [headSize]byte
	if _, err := f.ReadAt(b[:], 0); err != nil && err != io.EOF {
		return h, err
	}
	for c := b[:]; len(c) > 0; c = c[copySize:] {
		one := c[:copySize]
		copy(h.id[:], one[len(line):])
		copy(h.mark[:], one[len(line)+16:])
		if bytes.Equal(h.encode()[:copySize], one) {
			return h, nil
		}
	}
	return h, errHead
}

// Record is where something is in a pack.
type Record struct {
	Key  digest.Digest
	Used time.Time
	At   int64 // where it begins
	Size int64 // bytes that it takes

	pack *opened
}

// encodeRecord returns a record that is used now, in room if that is enough.
func (h *head) encodeRecord(key digest.Digest, body, room []byte) ([]byte, error) {
	if len(body) > MaxBody {
		return nil, fmt.Errorf("%d bytes are too many", len(body))
	}
	b := append(slices.Grow(room[:0], recordHead+len(body)), h.mark[:]...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(body)))
	b = appendTime(b, time.Now())
	b = binary.LittleEndian.AppendUint32(b, uint32(key.Function()))
	b = binary.LittleEndian.AppendUint64(b, uint64(key.Size()))
	b = key.AppendHash(b)
	sum := checksum(b, body)
	b = append(append(b, sum[:]...), body...)
	if bytes.Contains(b[1:], h.mark[:]) {
		return nil, errors.New("it has in it what marks the beginning of a record")
	}
	return b, nil
}

// checksum is that of a record's head and body.
func checksum(head, body []byte) (sum [32]byte) {
	h := blake3.New()
	h.Write(body) // first, as the hasher copies what is not aligned
	h.Write(head[atSize:atUsed])
	h.Write(head[atKey:atSum])
	h.Sum(sum[:0])
	return sum
}

// parse reads the head of a record, which may be damaged.
func (o *opened) parse(b []byte, at int64) (Record, bool) {
	fn := binary.LittleEndian.Uint32(b[atKey:])
	if !bytes.Equal(b[:markSize], o.mark[:]) || fn > 0xff {
		return Record{}, false
	}
	key, err := digest.FromHash(digest.Function(fn), b[atSum-32:atSum], int64(binary.LittleEndian.Uint64(b[atKey+4:])))
	if err != nil {
		return Record{}, false
	}
	used := binary.LittleEndian.Uint32(b[atUsed:])
	if ^used != binary.LittleEndian.Uint32(b[atUsed+4:]) {
		used = 0 // so the next use puts it right
	}
	return Record{Key: key, Used: time.Unix(int64(used), 0), Size: recordHead + int64(binary.LittleEndian.Uint32(b[atSize:])), At: at, pack: o}, true
}

// read returns the record at a place, and its body, checked.
func (o *opened) read(at int64) (Record, []byte, error) {
	b := make([]byte, usual)
	n, err := o.file.ReadAt(b, at)
	if err != nil && err != io.EOF {
		return Record{}, nil, err
	}
	if n < recordHead {
		return Record{}, nil, ErrDamaged
	}
	r, ok := o.parse(b, at)
	if !ok || r.Size > recordHead+MaxBody {
		return r, nil, ErrDamaged
	}
	if int64(n) < r.Size {
		if st, err := o.file.Stat(); err != nil || st.Size() < at+r.Size { // before there is memory for it
			return r, nil, errors.Join(err, ErrDamaged)
		}
		b = append(make([]byte, 0, r.Size), b[:n]...)[:r.Size]
		if _, err := o.file.ReadAt(b[n:], at+int64(n)); err != nil {
			return r, nil, err
		}
	}
	body := b[recordHead:r.Size:r.Size]
	if checksum(b, body) != [32]byte(b[atSum:recordHead]) {
		return r, nil, ErrDamaged
	}
	return r, body, nil
}

const (
	usual = 4 << 10 // bytes that most records do not exceed: they are read in one go
	chunk = 1 << 20 // bytes that are read at once when all are
)

// each calls f with all whole records in a part of the pack, in order, and returns where the next one would begin, as far as that is known, and
// how many bytes are neither a record nor the beginning of one. What has the length that its head says is whole: its checksum is not computed.
//
// A process that is killed while it writes leaves the beginning of a record, and others go on after it.
func (o *opened) each(from, to int64, f func(Record) error) (end, stray int64, err error) {
	last, end := Record{At: -1}, from
	finish := func(next int64) error {
		if last.At < 0 {
			if next-end >= markSize {
				stray += next - end
			}
			return nil
		}
		if last.Size == 0 || last.At+last.Size > next {
			end = last.At
			return nil
		}
		end = last.At + last.Size
		if next-end >= markSize {
			stray += next - end
		}
		return f(last)
	}
	buf := make([]byte, min(chunk, max(to-from, 0)))
	for pos, kept := from, 0; pos < to; {
		n, err := o.file.ReadAt(buf[kept:kept+int(min(int64(len(buf)-kept), to-pos))], pos)
		if n == 0 {
			if err == io.EOF { // it was cut off since
				return end, stray, nil
			}
			return end, stray, err
		}
		b, at := buf[:kept+n], pos-int64(kept)
		pos += int64(n)
		i := 0
		for {
			j := bytes.Index(b[i:], o.mark[:])
			if j < 0 {
				i = max(i, len(b)-markSize+1)
				break
			}
			if i += j; len(b)-i < recordHead && pos < to {
				break
			}
			if err := finish(at + int64(i)); err != nil {
				return end, stray, err
			}
			last = Record{At: at + int64(i)}
			if len(b)-i >= recordHead {
				if r, ok := o.parse(b[i:], last.At); ok {
					last = r
				}
			}
			i++ // and no more: one that is torn within a mark that ends as it begins would hide the next one
		}
		kept = copy(buf, b[i:])
	}
	if err := finish(to); err != nil {
		return end, stray, err
	}
	if last.At < 0 || end > last.At {
		end = max(end, to-markSize+1)
	}
	return end, stray, nil
}

// Use writes down when the record was used last.
func (r Record) Use(now time.Time) error {
	_, err := r.pack.file.WriteAt(appendTime(nil, now), r.At+atUsed)
	return err
}

// appendTime appends the seconds since 1970, and their complement to check them by.
func appendTime(b []byte, t time.Time) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(t.Unix()))
	return binary.LittleEndian.AppendUint32(b, ^uint32(t.Unix()))
}

// UsedEvery is how exact the time of a record's last use is.
const UsedEvery = time.Hour
