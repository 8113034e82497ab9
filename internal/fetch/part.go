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
	slot int64    // offset of done in the state

	syncEvery int64 // bytes between two syncs; 0: none

	done   int64 // bytes, in the order of the segments
	synced int64
	sums   *sums // hash of the done bytes; nil: not needed
}

// partMeta identifies the file that a part file belongs to.
type partMeta struct {
	URL       string `json:"url"`
	Validator string `json:"validator,omitempty"` // strong ETag or date, for If-Range
	Digest    string `json:"digest,omitempty"`    // of the source: a part of another pin is of no use
	Total     int64  `json:"total"`               // bytes of the whole file; -1: unknown

	// Segments are the wanted pieces of the file in order, by start and end. The end -1 is that of the file.
	Segments [][2]int64 `json:"segments"`
}

const (
	stateSuffix = ".state"
	maxState    = 4 << 20 // bytes of a state file that are read
)

// newPart creates a part file at path. It removes an existing one.
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
	// The data file exists before the state, so that a state never describes another file's bytes.
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

// oldPart opens the part file of an earlier run. It returns nil if there is none or its state is invalid.
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

// sound reports whether the segments are in order and within the file.
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
	if !pinned { // no digest detects bytes that a power cut lost
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
	_ = os.Remove(path + stateSuffix) // first: data without state is ignored
	_ = os.Remove(path)
}

// next returns the offset of the next missing byte and the end of its segment, -1 if unknown. ok is false if no byte
// is missing.
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

// end returns the smallest size of a data file that has the done bytes.
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

// sum hashes the bytes on disk, and makes write hash the following ones. It needs a part with one segment.
func (p *part) sum(s Source) error {
	p.sums = newSums(s)
	from := io.NewSectionReader(p.data, 0, p.done)
	n, err := io.CopyBuffer(struct{ io.Writer }{p.sums}, struct{ io.Reader }{from}, make([]byte, 1<<20))
	if err == nil && n < p.done {
		err = io.ErrUnexpectedEOF
	}
	return err
}
