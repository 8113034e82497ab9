package fetch

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"sync/atomic"

	"github.com/hexmage/hexmage/internal/boundedfile"
)

// part is an unfinished download: the bytes in dest.part, and in dest.part.state what they are part of and how far
// each segment is. Another process goes on with it after this one is killed at any instant.
type part struct {
	path string
	meta partMeta
	segs []*segment
	data *os.File
	book *os.File // the state; slot i, 8 bytes, is how far segment i is
	head int64    // where the slots begin

	syncEvery int64 // bytes of a segment between two flushes to disk; 0: none

	have atomic.Int64 // bytes of all segments
	sums *sums        // of the file from its first byte on, as far as it was hashed; nil before
	grew chan struct{}
}

// partMeta says what a part file is a part of.
type partMeta struct {
	URL       string     `json:"url"`
	Validator string     `json:"validator,omitempty"` // strong ETag or date, for If-Range
	Digest    string     `json:"digest,omitempty"`    // of the source: a part of another pin is of no use
	Total     int64      `json:"total"`               // bytes of the whole file; -1: not known
	Segments  [][2]int64 `json:"segments"`            // start and end; the end -1 is that of the file, wherever it is
}

// segment is a piece of the file that is read with requests of its own, from its start on.
type segment struct {
	start, end int64 // end -1: not known
	slot       int
	done       atomic.Int64
	synced     int64 // of the worker that has the segment
}

func (s *segment) complete() bool { return s.end >= 0 && s.start+s.done.Load() >= s.end }

const (
	stateSuffix = ".state"
	maxState    = 4 << 20 // bytes of a state file that are read
)

// chunks cuts a file of total bytes into segments.
func chunks(total, size int64) [][2]int64 {
	if total < 0 || size <= 0 {
		return [][2]int64{{0, total}}
	}
	var segs [][2]int64
	for at := int64(0); at < total || at == 0; at += size {
		segs = append(segs, [2]int64{at, min(at+size, total)})
	}
	return segs
}

// newPart starts a part file at path. What was there is gone.
func newPart(path string, m partMeta, pinned bool) (*part, error) {
	removePart(path)
	p := &part{path: path, meta: m}
	b, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	b = append(b, '\n')
	p.head = int64(len(b))
	b = append(b, make([]byte, 8*len(m.Segments))...)
	// The state appears whole or not at all; the data before it, so that it never speaks of another file's bytes.
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	tmp := fmt.Sprintf("%s%s.%x", path, stateSuffix, rand.Uint64())
	if err := os.WriteFile(tmp, b, 0o644); err != nil {
		return nil, err
	}
	if err := os.Rename(tmp, path+stateSuffix); err != nil {
		_ = os.Remove(tmp)
		return nil, err
	}
	return p, p.open(pinned)
}

// oldPart opens what an earlier run left at path; nil when there is nothing that can be gone on with.
func oldPart(path string, pinned bool) *part {
	b, err := boundedfile.Read(path+stateSuffix, maxState)
	if err != nil {
		return nil
	}
	p := &part{path: path}
	n := 0
	for n < len(b) && b[n] != '\n' {
		n++
	}
	if n == len(b) || json.Unmarshal(b[:n], &p.meta) != nil || !sound(p.meta) || len(b) != n+1+8*len(p.meta.Segments) {
		return nil
	}
	p.head = int64(n) + 1
	info, err := os.Stat(path)
	if err != nil || p.open(pinned) != nil {
		return nil
	}
	for i, s := range p.segs {
		done := int64(binary.LittleEndian.Uint64(b[n+1+8*i:]))
		if done < 0 || s.end >= 0 && done > s.end-s.start || s.start+done > info.Size() && done > 0 {
			p.close()
			return nil
		}
		s.done.Store(done)
		s.synced = done
		p.have.Add(done)
	}
	return p
}

// sound tells whether the segments are in order and within the file.
func sound(m partMeta) bool {
	at := int64(0)
	for i, s := range m.Segments {
		last := i == len(m.Segments)-1
		if s[0] < at || max(s[0], s[1]) > 1<<50 || s[1] < s[0] && !(s[1] == -1 && last) ||
			m.Total >= 0 && s[1] > m.Total {
			return false
		}
		at = s[1]
	}
	return len(m.Segments) > 0
}

func (p *part) open(pinned bool) (err error) {
	p.grew = make(chan struct{}, 1)
	if !pinned { // no digest would notice what a power cut takes
		p.syncEvery = 16 << 20
	}
	for i, s := range p.meta.Segments {
		p.segs = append(p.segs, &segment{start: s[0], end: s[1], slot: i})
	}
	if p.data, err = os.OpenFile(p.path, os.O_RDWR, 0); err != nil {
		return err
	}
	if p.book, err = os.OpenFile(p.path+stateSuffix, os.O_RDWR, 0); err != nil {
		_ = p.data.Close()
	}
	return err
}

func (p *part) close() {
	if p != nil && p.data != nil {
		_ = p.data.Close()
		_ = p.book.Close()
	}
}

func removePart(path string) {
	_ = os.Remove(path + stateSuffix) // first: what is left has no meaning then
	_ = os.Remove(path)
}

// write puts the next bytes of a segment into the file, and writes down that they are there.
func (p *part) write(s *segment, b []byte) error {
	done := s.done.Load()
	if _, err := p.data.WriteAt(b, s.start+done); err != nil {
		return err
	}
	s.done.Store(done + int64(len(b)))
	p.have.Add(int64(len(b)))
	select {
	case p.grew <- struct{}{}:
	default:
	}
	if p.syncEvery > 0 && done+int64(len(b)) < s.synced+p.syncEvery {
		return nil
	}
	return p.note(s)
}

// note writes down how far the segment is.
func (p *part) note(s *segment) error {
	if p.syncEvery > 0 {
		if err := p.data.Sync(); err != nil {
			return err
		}
	}
	s.synced = s.done.Load()
	var slot [8]byte
	binary.LittleEndian.PutUint64(slot[:], uint64(s.synced))
	_, err := p.book.WriteAt(slot[:], p.head+8*int64(s.slot))
	return err
}

// frontier is up to where the file is there without a gap, from its first byte on.
func (p *part) frontier() int64 {
	at := int64(0)
	for _, s := range p.segs {
		if s.start > at {
			return at
		}
		at = s.start + s.done.Load()
		if !s.complete() {
			return at
		}
	}
	return at
}

// begin returns the file's first bytes, as far as they are there.
func (p *part) begin() []byte {
	b := make([]byte, min(p.frontier(), headSize))
	n, err := p.data.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		n = 0
	}
	return b[:n]
}

// hash puts the file through the sums as it grows, until stop is closed and all that is there without a gap was read.
func (p *part) hash(stop <-chan struct{}) error {
	h := p.sums
	buf := make([]byte, 1<<20)
	for ended := false; ; {
		for upto := p.frontier(); h.n < upto; {
			n, err := p.data.ReadAt(buf[:min(int64(len(buf)), upto-h.n)], h.n)
			if n == 0 && err != nil {
				return err
			}
			_, _ = h.Write(buf[:n])
		}
		if ended {
			return nil
		}
		select {
		case <-p.grew:
		case <-stop:
			ended = true
		}
	}
}
