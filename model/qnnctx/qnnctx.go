// Package qnnctx reads and writes the headers of QNN context binaries: who made one, for which arch and SoC, with which
// graphs. For contexts of the open profile it also reads and writes the blob's index (docs/design/0002 §7).
//
// The vendor's layout is undocumented and was found by looking at files; of a vendor's blob nothing is known but the text in it.
// The package does not know how a context is compiled or run, and it executes nothing.
package qnnctx

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
)

// BackendHTP is QNN's number for the HTP backend.
const BackendHTP = 6

const (
	headerSize = 0x28
	align      = 128
	maxMeta    = 16 << 20
	maxScan    = 8 << 20 // of a foreign blob, searched for its options text
)

// ErrFormat is wrapped by every error that says a file is not a well-formed context binary.
var ErrFormat = errors.New("not a valid QNN context binary")

// Version is a three-part API version.
type Version struct {
	Major uint32 `json:"major"`
	Minor uint32 `json:"minor"`
	Patch uint32 `json:"patch"`
}

// String is "major.minor.patch".
func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch) }

// Info is what a context binary says of itself. Fields that a file does not tell are zero.
type Info struct {
	Backend     uint32      `json:"backend"`
	BuildID     string      `json:"build_id"` // of the SDK that made it, for example v2.41.0.251128145156_191518
	CoreAPI     Version     `json:"core_api"`
	BackendAPI  Version     `json:"backend_api"`
	BlobVersion Version     `json:"blob_version"`
	SoCVersion  string      `json:"soc_version,omitempty"`
	SoCModel    uint32      `json:"soc_model"`
	SoC         string      `json:"soc,omitempty"` // for example SM8750
	Arch        uint32      `json:"arch"`          // 79 for v79
	VTCM        uint64      `json:"vtcm_bytes"`
	BlobOffset  int64       `json:"blob_offset"`
	BlobSize    int64       `json:"blob_size"`
	Open        bool        `json:"open"` // made by the open profile's compiler
	Graphs      []GraphInfo `json:"graphs,omitempty"`
}

// GraphInfo is the outline of a graph; only open contexts tell it.
type GraphInfo struct {
	Name   string `json:"name"`
	Tokens uint32 `json:"tokens"` // per run
	Ops    int    `json:"ops"`
}

// Parse reads the header and metadata of the file of the given size behind r, and an open blob's index. Errors wrap ErrFormat unless reading failed.
func Parse(r io.ReaderAt, size int64) (Info, error) {
	info, _, err := parse(r, size)
	return info, err
}

// ParseOpen is Parse for a context of the open profile; it also gives the whole index.
func ParseOpen(r io.ReaderAt, size int64) (Info, *Blob, error) {
	info, blob, err := parse(r, size)
	if err == nil && blob == nil {
		err = fmt.Errorf("%w: the blob is not the open profile's; it can only be run by the vendor's backend", ErrFormat)
	}
	return info, blob, err
}

func parse(r io.ReaderAt, size int64) (Info, *Blob, error) {
	if size < headerSize {
		return Info{}, nil, fmt.Errorf("%w: %d bytes are too few", ErrFormat, size)
	}
	head := make([]byte, headerSize)
	if _, err := r.ReadAt(head, 0); err != nil {
		return Info{}, nil, fmt.Errorf("read context header: %w", err)
	}
	if !bytes.Equal(head[:8], []byte{0, 0, 0, 2, 0, 0, 0, 3}) {
		return Info{}, nil, fmt.Errorf("%w: it begins with % x, expected 00 00 00 02 00 00 00 03", ErrFormat, head[:8])
	}
	le := binary.LittleEndian
	meta, at, n := le.Uint64(head[0x10:]), le.Uint64(head[0x18:]), le.Uint64(head[0x20:])
	if meta > maxMeta || int64(meta) > size-headerSize || at != headerSize+meta || n > uint64(size) || at+n != uint64(size) {
		return Info{}, nil, fmt.Errorf("%w: metadata of %d bytes, blob at %d of %d bytes do not make the file's %d; is it truncated?", ErrFormat, meta, at, n, size)
	}
	raw := make([]byte, meta)
	if _, err := r.ReadAt(raw, headerSize); err != nil && !(errors.Is(err, io.EOF) && n == 0) {
		return Info{}, nil, fmt.Errorf("read context metadata: %w", err)
	}
	info, err := decodeMeta(raw)
	if err != nil {
		return Info{}, nil, fmt.Errorf("%w: metadata: %w", ErrFormat, err)
	}
	info.BlobOffset, info.BlobSize = int64(at), int64(n)
	section := io.NewSectionReader(r, int64(at), int64(n))
	magic := make([]byte, len(blobMagic))
	if _, err := section.ReadAt(magic, 0); err != nil || string(magic) != blobMagic {
		return info, nil, foreign(&info, section)
	}
	blob, err := parseBlob(section, int64(n))
	if err != nil {
		return Info{}, nil, fmt.Errorf("%w: blob: %w", ErrFormat, err)
	}
	if err := blob.fill(&info); err != nil {
		return Info{}, nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return info, blob, nil
}

func decodeMeta(raw []byte) (Info, error) {
	root, err := rootTable(raw)
	if err != nil {
		return Info{}, err
	}
	wrapper, err := root.table(0)
	if err != nil {
		return Info{}, err
	}
	kind, err := wrapper.u8(1)
	if err != nil {
		return Info{}, err
	}
	if kind != 1 && kind != 3 {
		return Info{}, fmt.Errorf("information of type %d; 1 and 3 are known", kind)
	}
	t, err := wrapper.table(2)
	if err != nil {
		return Info{}, err
	}
	var i Info
	blobVersion := 5
	if kind == 1 {
		blobVersion = 6
	}
	steps := []func() (err error){
		func() (err error) { i.Backend, err = t.u32(0); return },
		func() (err error) { i.BuildID, err = t.str(1); return },
		func() (err error) { i.CoreAPI, err = t.version(2); return },
		func() (err error) { i.BackendAPI, err = t.version(3); return },
		func() (err error) { i.SoCVersion, err = t.str(4); return },
		func() (err error) { i.BlobVersion, err = t.version(blobVersion); return },
	}
	if kind == 3 {
		steps = append(steps, func() (err error) { i.SoCModel, err = t.u32(16); return })
	}
	for _, s := range steps {
		if err := s(); err != nil {
			return Info{}, err
		}
	}
	return i, nil
}

// foreign takes what a vendor's blob says in clear text: its options.
func foreign(info *Info, r *io.SectionReader) error {
	raw := make([]byte, min(r.Size(), maxScan))
	if n, err := r.ReadAt(raw, 0); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read context blob: %w", err)
	} else {
		raw = raw[:n]
	}
	readOptions(info, raw)
	return nil
}

// readOptions looks for "min_arch=79;…vtcm_size=8388608;…soc_type=SM8650;".
func readOptions(info *Info, raw []byte) {
	find := func(pattern string) string {
		m := regexp.MustCompile(pattern).FindSubmatch(raw)
		if m == nil {
			return ""
		}
		return string(m[1])
	}
	if n, err := strconv.ParseUint(find(`min_arch=(\d{1,4})`), 10, 32); err == nil {
		info.Arch = uint32(n)
	}
	if n, err := strconv.ParseUint(find(`vtcm_size=(\d{1,12})`), 10, 64); err == nil {
		info.VTCM = n
	}
	info.SoC = find(`soc_type=([A-Za-z0-9]{1,16})`)
}

// Write writes a context binary around an open blob. info's Backend, BlobOffset, BlobSize, Open and Graphs are ignored. Equal arguments give equal bytes.
func Write(w io.Writer, info Info, blob *Blob) error {
	raw, err := blob.encode(info)
	if err != nil {
		return err
	}
	meta := encodeMeta(info, uint64(len(raw)))
	b := []byte{0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1}
	b = binary.LittleEndian.AppendUint64(b, uint64(len(meta)))
	b = binary.LittleEndian.AppendUint64(b, uint64(headerSize+len(meta)))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(raw)))
	for _, part := range [][]byte{b, meta, raw} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}
