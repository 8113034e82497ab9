package fetch

import (
	"encoding/json"
	"io"
	"os"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/boundedfile"
)

// part is an unfinished download. dest.part has the first bytes of the file, and dest.part.state identifies the file.
// Another process can resume it after a kill at any instant.
type part struct {
	partMeta
	data *os.File
	done int64 // bytes
	sums *sums // hash of the done bytes; nil: not needed
}

// partMeta identifies the file that a part file belongs to.
type partMeta struct {
	URL       string `json:"url"`
	Validator string `json:"validator,omitempty"` // strong ETag or date, for If-Range
	Digest    string `json:"digest,omitempty"`    // digest of the source; a part with another digest is useless
	Total     int64  `json:"total"`               // size of the whole file in bytes; -1: unknown
	Boot      string `json:"boot,omitempty"`      // boot ID of the machine, since a crash of the machine may lose bytes
}

const (
	stateSuffix = ".state"
	maxState    = 64 << 10 // bytes of a state file that are read
)

// newPart creates a part file at path. It removes an existing one.
func newPart(path string, m partMeta) (*part, error) {
	removePart(path)
	m.Boot = atomicfile.Boot()
	b, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	// The data file exists before the state, so that a state never describes another file's bytes.
	f, err := os.Create(path)
	if err == nil {
		err = os.WriteFile(path+stateSuffix, b, 0o644)
	}
	return &part{partMeta: m, data: f}, err
}

// oldPart opens the part file of an earlier run. It returns nil if the file is missing or its state is invalid.
func oldPart(path string) *part {
	b, err := boundedfile.Read(path+stateSuffix, maxState)
	p := &part{}
	if err != nil || json.Unmarshal(b, &p.partMeta) != nil {
		return nil
	}
	if p.data, err = os.OpenFile(path, os.O_RDWR, 0); err != nil {
		return nil
	}
	if p.done, err = p.data.Seek(0, io.SeekEnd); err != nil || p.Total >= 0 && p.done > p.Total {
		p.close()
		return nil
	}
	return p
}

func (p *part) close() {
	if p != nil {
		_ = p.data.Close()
	}
}

func removePart(path string) {
	_ = os.Remove(path + stateSuffix) // first: data without state is ignored
	_ = os.Remove(path)
}

// bytes returns the number of bytes on disk, 0 for nil.
func (p *part) bytes() int64 {
	if p == nil {
		return 0
	}
	return p.done
}

// write puts the next bytes into the file.
func (p *part) write(b []byte) error {
	n, err := p.data.WriteAt(b, p.done)
	p.done += int64(n)
	if p.sums != nil {
		_, _ = p.sums.Write(b[:n])
	}
	return err
}

// sum hashes the bytes on disk, and makes write hash the following ones.
func (p *part) sum(s Source) error {
	p.sums = newSums(s)
	from := io.NewSectionReader(p.data, 0, p.done)
	n, err := io.CopyBuffer(struct{ io.Writer }{p.sums}, struct{ io.Reader }{from}, make([]byte, 1<<20))
	if err == nil && n < p.done {
		err = io.ErrUnexpectedEOF
	}
	return err
}
