// Package qnnctx reads and writes the headers of QNN context binaries: who made one, for which arch and SoC, with which
// graphs. For contexts of the open profile it also reads and writes the blob's index (docs/design/0002 §7).
//
// The vendor's layout is undocumented and was found by looking at files: two forms of the file, 2.2 and 2.3, and two of the
// metadata, which do not go together. Of a vendor's blob nothing is known but the text in it.
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
	oldHeader  = 0x10 // of the older form
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
	Format      string      `json:"format"` // of the file: 2.2 or 2.3
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
	Warnings    []string    `json:"warnings,omitempty"` // what was not understood
}

// GraphInfo is the outline of a graph. Only open contexts tell Tokens and Ops.
type GraphInfo struct {
	Name    string       `json:"name"`
	Tokens  uint32       `json:"tokens,omitempty"` // per run
	Ops     int          `json:"ops,omitempty"`
	Inputs  []TensorInfo `json:"inputs,omitempty"`
	Outputs []TensorInfo `json:"outputs,omitempty"`
}

// TensorInfo is an input or output of a graph.
type TensorInfo struct {
	Name  string   `json:"name"`
	DType string   `json:"dtype"` // float32, ufixed16, …; the number where it is not known
	Dims  []uint32 `json:"dims"`
}

// Is tells whether a file that begins with head, of 8 bytes or more, may be a context binary.
func Is(head []byte) bool {
	return bytes.HasPrefix(head, []byte{0, 0, 0, 2, 0, 0, 0, 2}) || bytes.HasPrefix(head, []byte{0, 0, 0, 2, 0, 0, 0, 3})
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
	if !Is(head) {
		return Info{}, nil, fmt.Errorf("%w: it begins with % x, expected 00 00 00 02 00 00 00 03 or 00 00 00 02 00 00 00 02", ErrFormat, head[:8])
	}
	info, err := parse22(r, size)
	if head[7] == 3 {
		info, err = parse23(r, size, head)
	}
	if err != nil {
		return Info{}, nil, err
	}
	section := io.NewSectionReader(r, info.BlobOffset, info.BlobSize)
	magic := make([]byte, len(blobMagic))
	if _, err := section.ReadAt(magic, 0); err != nil || string(magic) != blobMagic {
		return info, nil, foreign(&info, section)
	}
	blob, err := parseBlob(section, info.BlobSize)
	if err != nil {
		return Info{}, nil, fmt.Errorf("%w: blob: %w", ErrFormat, err)
	}
	if err := blob.fill(&info); err != nil {
		return Info{}, nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return info, blob, nil
}

// parse23 reads the newer form: the sizes of metadata and blob are in the header, which the two follow.
func parse23(r io.ReaderAt, size int64, head []byte) (Info, error) {
	le := binary.LittleEndian
	meta, at, n := le.Uint64(head[0x10:]), le.Uint64(head[0x18:]), le.Uint64(head[0x20:])
	if meta > maxMeta || int64(meta) > size-headerSize || at != headerSize+meta || n > uint64(size) || at+n != uint64(size) {
		return Info{}, fmt.Errorf("%w: metadata of %d bytes, blob at %d of %d bytes do not make the file's %d; is it truncated?", ErrFormat, meta, at, n, size)
	}
	raw := make([]byte, meta)
	if _, err := r.ReadAt(raw, headerSize); err != nil && !(errors.Is(err, io.EOF) && n == 0) {
		return Info{}, fmt.Errorf("read context metadata: %w", err)
	}
	info, _, err := decodeMeta(raw)
	if err != nil {
		return Info{}, fmt.Errorf("%w: metadata: %w", ErrFormat, err)
	}
	info.Format, info.BlobOffset, info.BlobSize = "2.3", int64(at), int64(n)
	return info, nil
}

// parse22 reads the older form: a FlatBuffer that has the blob in it, as the last thing.
func parse22(r io.ReaderAt, size int64) (Info, error) {
	raw := make([]byte, min(size-oldHeader, maxMeta))
	if _, err := r.ReadAt(raw, oldHeader); err != nil && !errors.Is(err, io.EOF) {
		return Info{}, fmt.Errorf("read context metadata: %w", err)
	}
	info, root, err := decodeMeta(raw)
	if err != nil {
		return Info{}, fmt.Errorf("%w: metadata: %w", ErrFormat, err)
	}
	at, err := root.field(2, 4)
	if err == nil && at == 0 {
		err = fmt.Errorf("%w: no blob", errTable)
	}
	if err == nil {
		at, err = follow(raw, at)
	}
	if err != nil || at+4 > len(raw) {
		return Info{}, fmt.Errorf("%w: where its blob is: %w", ErrFormat, errors.Join(err, errTable))
	}
	info.Format, info.BlobOffset, info.BlobSize = "2.2", int64(at)+4+oldHeader, int64(binary.LittleEndian.Uint32(raw[at:]))
	if info.BlobOffset+info.BlobSize > size {
		return Info{}, fmt.Errorf("%w: a blob of %d bytes at %d in a file of %d; is it truncated?", ErrFormat, info.BlobSize, info.BlobOffset, size)
	}
	return info, nil
}

func decodeMeta(raw []byte) (Info, table, error) {
	root, err := rootTable(raw)
	if err != nil {
		return Info{}, root, err
	}
	wrapper, err := root.table(0)
	if err != nil {
		return Info{}, root, err
	}
	kind, err := wrapper.u8(1)
	if err != nil {
		return Info{}, root, err
	}
	if kind != 1 && kind != 3 {
		return Info{}, root, fmt.Errorf("information of type %d; 1 and 3 are known", kind)
	}
	t, err := wrapper.table(2)
	if err != nil {
		return Info{}, root, err
	}
	var i Info
	blobVersion, graphs := 5, graphs3
	if kind == 1 {
		blobVersion, graphs = 6, graphs1
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
			return Info{}, root, err
		}
	}
	if i.Graphs, err = graphs(t); err != nil { // what is above is enough to know the file by
		i.Graphs, i.Warnings = nil, append(i.Warnings, fmt.Sprintf("its graphs are not understood: %v", err))
	}
	return i, root, nil
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
	} else if n, err := strconv.ParseUint(find(`vtcm_mb=(\d{1,6})`), 10, 64); err == nil {
		info.VTCM = n << 20
	}
	if soc := find(`soc_type=([A-Za-z0-9_]{1,24})`); soc != "UNKNOWN_SDM" { // what the compiler writes when it was told none
		info.SoC = soc
	}
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
