package fetch

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"github.com/hexmage/hexmage/internal/boundedfile"
)

// part is an unfinished download: the bytes in dest.part, and in dest.part.state which file they belong to and how many
// of its bytes are there. Another process resumes it after this one is killed at any instant.
type part struct {
	path string
	meta partMeta
	data *os.File
	book *os.File // the state
	slot int64    // where the state has the number of bytes

	syncEvery int64 // bytes between two flushes to disk; 0: none

	done   int64 // bytes, in the order of the segments
	synced int64
	sums   *sums // of the bytes that are there; nil: not wanted
}

// partMeta says what a part file is a part of.
type partMeta struct {
	URL       string `json:"url"`
	Validator string `json:"validator,omitempty"` // strong ETag or date, for If-Range
	Digest    string `json:"digest,omitempty"`    // of the source: a part of another pin is of no use
	Total     int64  `json:"total"`               // bytes of the whole file; -1: not known

	// Segments are the wanted pieces of the file in order, by start and end. The end -1 is that of the file.
	Segments [][2]int64 `json:"segments"`
}

const (
	stateSuffix = ".state"
	maxState    = 4 << 20 // bytes of a state file that are read
)

// newPart starts a part file at path. What was there is gone.
func newPart(path string, m partMeta, pinned bool) (*part, error) {
	removePart(path)
	p := &part{path: path, meta: m}
	b, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	b = append(b, '\n')
	p.slot = int64(len(b))
	b = append(b, make([]byte, 8)...)
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
	meta, slot, found := bytes.Cut(b, []byte("\n"))
	if !found || len(slot) != 8 || json.Unmarshal(meta, &p.meta) != nil || !sound(p.meta) {
		return nil
	}
	p.slot = int64(len(meta)) + 1
	p.done = int64(binary.LittleEndian.Uint64(slot))
	p.synced = p.done
	info, err := os.Stat(path)
	if err != nil || p.done < 0 || p.end() > info.Size() || p.open(pinned) != nil {
		return nil
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
	return true
}

func (p *part) open(pinned bool) (err error) {
	if !pinned { // no digest would notice what a power cut takes
		p.syncEvery = 16 << 20
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

// next returns where the next byte belongs and where its segment ends, -1 if that is not known. ok is false if no
// byte is missing.
func (p *part) next() (at, end int64, ok bool) {
	left := p.done
	for _, s := range p.meta.Segments {
		if s[1] < 0 || left < s[1]-s[0] {
			return s[0] + left, s[1], true
		}
		left -= s[1] - s[0]
	}
	return 0, 0, false
}

// end is how long a file is at least that has all bytes that are said to be there.
func (p *part) end() int64 {
	if at, _, ok := p.next(); ok && p.done > 0 {
		return at
	}
	if n := len(p.meta.Segments); n > 0 && p.done > 0 {
		return p.meta.Segments[n-1][1]
	}
	return 0
}

// write puts the next bytes into the file, and notes that they are there.
func (p *part) write(b []byte) error {
	at, _, _ := p.next()
	if _, err := p.data.WriteAt(b, at); err != nil {
		return err
	}
	p.done += int64(len(b))
	if p.sums != nil {
		_, _ = p.sums.Write(b)
	}
	if p.syncEvery > 0 && p.done < p.synced+p.syncEvery {
		return nil
	}
	return p.note()
}

// note records in the state how many bytes are there.
func (p *part) note() error {
	if p.syncEvery > 0 {
		if err := p.data.Sync(); err != nil {
			return err
		}
	}
	p.synced = p.done
	_, err := p.book.WriteAt(binary.LittleEndian.AppendUint64(nil, uint64(p.done)), p.slot)
	return err
}

// sum hashes the file's bytes that are there, and from then on those that are written. The file has one segment.
func (p *part) sum(s Source) error {
	p.sums = newSums(s)
	from := io.NewSectionReader(p.data, 0, p.done)
	n, err := io.CopyBuffer(struct{ io.Writer }{p.sums}, struct{ io.Reader }{from}, make([]byte, 1<<20))
	if err == nil && n < p.done {
		err = io.ErrUnexpectedEOF
	}
	return err
}
