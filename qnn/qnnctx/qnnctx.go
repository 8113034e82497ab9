// Package qnnctx reads the headers of QNN context binaries: which SDK made one, for which arch and SoC, with which
// graphs.
//
// The layout is undocumented and was found by looking at files: two forms of the file, 2.2 and 2.3, and two of the
// metadata, in any combination. Of the blob nothing is known but the text in it. Tests compare what is read with what
// Qualcomm's library says of the same files. The package does not know how a context is compiled or run.
package qnnctx

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"

	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/flatbuffer"
)

// BackendHTP is QNN's number for the HTP backend.
const BackendHTP = 6

const (
	headerSize = 0x28
	oldHeader  = 0x10 // of the older form
	maxMeta    = 16 << 20
	maxScan    = 8 << 20 // of a blob, at whose beginning the options text of its first graph is
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

func (v *Version) read(t flatbuffer.Table, field int) { t.Struct(field, &v.Major, &v.Minor, &v.Patch) }

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
	NoSoC       bool        `json:"no_soc"`        // the compiler says that it was told none that it knows
	Arch        uint32      `json:"arch"`          // 79 for v79
	VTCM        uint64      `json:"vtcm_bytes"`    // that it was compiled for; what a graph takes is in Graphs
	HVXThreads  uint32      `json:"hvx_threads,omitempty"`
	OptLevel    uint32      `json:"optimization_level,omitempty"` // of the first graph
	BlobOffset  int64       `json:"blob_offset"`
	BlobSize    int64       `json:"blob_size"`
	Simulated   bool        `json:"simulated"` // it has the mark of a simulation, which no device's backend runs
	Graphs      []GraphInfo `json:"graphs,omitempty"`
	Warnings    []string    `json:"warnings,omitempty"` // what was not understood
}

// Binary is what the rules of what goes together ask of a context binary.
func (i Info) Binary(name string) qnn.ContextBinary {
	version := func(v Version) string {
		if v == (Version{}) {
			return ""
		}
		return v.String()
	}
	b := qnn.ContextBinary{Name: name, BuildID: i.BuildID, CoreAPI: version(i.CoreAPI), HTPAPI: version(i.BackendAPI), Blob: version(i.BlobVersion),
		SoC: i.SoC, SoCModel: int(i.SoCModel), VTCMMB: int(i.VTCM >> 20)}
	if i.Arch > 0 {
		b.Arch = fmt.Sprintf("v%d", i.Arch)
	}
	return b
}

// GraphInfo is the outline of a graph.
type GraphInfo struct {
	Name      string       `json:"name"`
	Inputs    []TensorInfo `json:"inputs,omitempty"`
	Outputs   []TensorInfo `json:"outputs,omitempty"`
	VTCM      uint64       `json:"vtcm_bytes,omitempty"`       // that it takes
	SpillFill uint64       `json:"spill_fill_bytes,omitempty"` // of memory for what does not fit into VTCM
}

// TensorInfo is an input or output of a graph.
type TensorInfo struct {
	Name  string   `json:"name"`
	DType string   `json:"dtype"` // float32, ufixed16, …; the number where it is not known
	Dims  []uint32 `json:"dims"`
	Quant *Quant   `json:"quantization,omitempty"`
}

// Quant says what a tensor's integers stand for: Scale * (n + Offset).
type Quant struct {
	Encoding string  `json:"encoding"` // scale_offset; the number of another one, which is not read further
	Scale    float32 `json:"scale,omitempty"`
	Offset   int32   `json:"offset,omitempty"`
}

// Is tells whether a file that begins with head, of 8 bytes or more, may be a context binary.
func Is(head []byte) bool {
	return bytes.HasPrefix(head, []byte{0, 0, 0, 2, 0, 0, 0, 2}) || bytes.HasPrefix(head, []byte{0, 0, 0, 2, 0, 0, 0, 3})
}

// Parse reads the header and metadata of the file of the given size behind r, and what its blob says in clear text. Errors
// wrap ErrFormat unless reading failed.
func Parse(r io.ReaderAt, size int64) (Info, error) {
	if size < headerSize {
		return Info{}, fmt.Errorf("%w: %d bytes are too few", ErrFormat, size)
	}
	head := make([]byte, headerSize)
	if _, err := r.ReadAt(head, 0); err != nil {
		return Info{}, fmt.Errorf("read context header: %w", err)
	}
	if !Is(head) {
		return Info{}, fmt.Errorf("%w: it begins with % x, expected 00 00 00 02 00 00 00 03 or 00 00 00 02 00 00 00 02", ErrFormat, head[:8])
	}
	parse := parse22
	if head[7] == 3 {
		parse = parse23
	}
	info, err := parse(r, size, head)
	if err != nil {
		return Info{}, err
	}
	return info, info.blob(io.NewSectionReader(r, info.BlobOffset, info.BlobSize))
}

// parse23 reads the newer form: the sizes of metadata and blob are in the header, which the two follow; from QAIRT 2.37 on at the
// latest the blob begins on a page of its own.
func parse23(r io.ReaderAt, size int64, head []byte) (Info, error) {
	le := binary.LittleEndian
	meta, at, n := le.Uint64(head[0x10:]), le.Uint64(head[0x18:]), le.Uint64(head[0x20:])
	if meta > maxMeta || int64(meta) > size-headerSize || at < headerSize+meta || at > uint64(size) || n != uint64(size)-at {
		return Info{}, fmt.Errorf("%w: metadata of %d bytes, blob at %d of %d bytes do not make the file's %d; is it truncated?", ErrFormat, meta, at, n, size)
	}
	raw := make([]byte, meta)
	if _, err := r.ReadAt(raw, headerSize); err != nil && !(errors.Is(err, io.EOF) && n == 0) {
		return Info{}, fmt.Errorf("read context metadata: %w", err)
	}
	info, err := decodeMeta(raw)
	if err != nil {
		return Info{}, err
	}
	info.Format, info.BlobOffset, info.BlobSize = "2.3", int64(at), int64(n)
	return info, nil
}

// parse22 reads the older form: a FlatBuffer that has the blob in it, as the last thing.
func parse22(r io.ReaderAt, size int64, _ []byte) (Info, error) {
	raw := make([]byte, min(size-oldHeader, maxMeta))
	if _, err := r.ReadAt(raw, oldHeader); err != nil && !errors.Is(err, io.EOF) {
		return Info{}, fmt.Errorf("read context metadata: %w", err)
	}
	info, err := decodeMeta(raw)
	if err != nil {
		return Info{}, err
	}
	root := flatbuffer.Root(raw)
	at, n := root.Vector(2)
	info.Format, info.BlobOffset, info.BlobSize = "2.2", int64(at)+oldHeader, int64(n)
	if root.Err() != nil || at == 0 || info.BlobOffset+info.BlobSize > size {
		return Info{}, fmt.Errorf("%w: a blob of %d bytes at %d in a file of %d; is it truncated?", ErrFormat, n,
			info.BlobOffset, size)
	}
	return info, nil
}

// decodeMeta reads the metadata, of which there are two kinds.
func decodeMeta(raw []byte) (i Info, err error) {
	wrapper := flatbuffer.Root(raw).Table(0)
	kind, t := wrapper.Uint8(1), wrapper.Table(2)
	if err := t.Err(); err != nil {
		return i, fmt.Errorf("%w: metadata: %w", ErrFormat, err)
	}
	i.Backend, i.BuildID, i.SoCVersion = t.Uint32(0), t.String(1), t.String(4)
	i.CoreAPI.read(t, 2)
	i.BackendAPI.read(t, 3)
	graphs := graphs1
	switch kind {
	case 1:
		i.BlobVersion.read(t, 6)
	case 3:
		i.BlobVersion.read(t, 5)
		i.SoCModel, i.Arch, graphs = t.Uint32(16), arch(t), graphs3
	default:
		return i, fmt.Errorf("%w: metadata: information of type %d; 1 and 3 are known", ErrFormat, kind)
	}
	if err := t.Err(); err != nil {
		return i, fmt.Errorf("%w: metadata: %w", ErrFormat, err)
	}
	t = flatbuffer.Root(raw).Table(0).Table(2) // with errors of its own: what is above is enough to know the file by
	if i.Graphs = graphs(t); t.Err() != nil {
		i.Graphs, i.Warnings = nil, append(i.Warnings, fmt.Sprintf("its graphs are not understood: %v", t.Err()))
	}
	return i, nil
}

// blob takes what a blob says in clear text: its options.
func (info *Info) blob(r *io.SectionReader) error {
	raw := make([]byte, min(r.Size(), maxScan))
	n, err := r.ReadAt(raw, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read context blob: %w", err)
	}
	info.Simulated = bytes.HasPrefix(raw[:n], []byte(qnn.SimulatedContext))
	readOptions(info, raw[:n])
	return nil
}

// readOptions looks for "OpO=2;…min_arch=79;…vtcm_size=8388608;…soc_type=SM8650;…hvx_threads=4;", of the first graph.
func readOptions(info *Info, raw []byte) {
	find := func(pattern string) string {
		m := regexp.MustCompile(pattern).FindSubmatch(raw)
		if m == nil {
			return ""
		}
		return string(m[1])
	}
	number := func(pattern string) uint32 {
		n, _ := strconv.ParseUint(find(pattern), 10, 32) // 0 where it says nothing
		return uint32(n)
	}
	info.Arch = cmp.Or(info.Arch, number(`min_arch=(\d{1,4})`))
	info.HVXThreads = number(`\bhvx_threads=(\d{1,4})`)
	info.OptLevel = number(`OpO=(\d)\b`)
	if n, err := strconv.ParseUint(find(`vtcm_size=(\d{1,12})`), 10, 64); err == nil {
		info.VTCM = n
	} else if n, err := strconv.ParseUint(find(`vtcm_mb=(\d{1,6})`), 10, 64); err == nil {
		info.VTCM = n << 20
	}
	info.SoC = find(`soc_type=([A-Za-z0-9_]{1,24})`)
	if info.NoSoC = info.SoC == "UNKNOWN_SDM"; info.NoSoC { // what the compiler writes when it was told none
		info.SoC = ""
	}
}
