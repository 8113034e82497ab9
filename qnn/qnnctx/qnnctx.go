// Package qnnctx reads the headers of QNN context binaries: compiling SDK, arch, SoC and graphs.
//
// The layout is not documented and was derived from files. There are two file formats, 2.2 and 2.3, and two metadata
// formats, in any combination. Only the text in the blob has a known format. Tests compare the result with the output
// of Qualcomm's library for the same files. The package does not know how a context is compiled or run.
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

// BackendHTP is QNN's number of the HTP backend.
const BackendHTP = 6

const (
	headerSize = 0x28
	oldHeader  = 0x10 // of format 2.2
	maxMeta    = 16 << 20
	maxScan    = 8 << 20 // searched bytes of a blob, which begins with the options of its first graph
)

// ErrFormat means that a context binary is invalid. Errors from Parse wrap it.
var ErrFormat = errors.New("not a valid QNN context binary")

// Version is a three-part API version.
type Version struct {
	Major uint32 `json:"major"`
	Minor uint32 `json:"minor"`
	Patch uint32 `json:"patch"`
}

// String returns "major.minor.patch".
func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch) }

func (v *Version) read(t flatbuffer.Table, field int) { t.Struct(field, &v.Major, &v.Minor, &v.Patch) }

// Info holds values from a context binary. Missing values are zero.
type Info struct {
	Format      string      `json:"format"` // file format: 2.2 or 2.3
	Backend     uint32      `json:"backend"`
	BuildID     string      `json:"build_id"` // build id of the compiling SDK, for example v2.41.0.251128145156_191518
	CoreAPI     Version     `json:"core_api"`
	BackendAPI  Version     `json:"backend_api"`
	BlobVersion Version     `json:"blob_version"`
	SoCVersion  string      `json:"soc_version,omitempty"`
	SoCModel    uint32      `json:"soc_model"`
	SoC         string      `json:"soc,omitempty"` // for example SM8750
	NoSoC       bool        `json:"no_soc"`        // the compiler ran without a known SoC
	Arch        uint32      `json:"arch"`          // 79 for v79
	VTCM        uint64      `json:"vtcm_bytes"`    // VTCM available to the context; each graph needs its own amount
	HVXThreads  uint32      `json:"hvx_threads,omitempty"`
	OptLevel    uint32      `json:"optimization_level,omitempty"` // optimization level of the first graph
	BlobOffset  int64       `json:"blob_offset"`
	BlobSize    int64       `json:"blob_size"`
	Simulated   bool        `json:"simulated"` // made by the simulated compiler; real backends reject it
	Graphs      []GraphInfo `json:"graphs,omitempty"`
	Warnings    []string    `json:"warnings,omitempty"` // parts that the package could not read
}

// Binary returns the values that compatibility rules compare.
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

// GraphInfo describes a graph.
type GraphInfo struct {
	Name      string       `json:"name"`
	Inputs    []TensorInfo `json:"inputs,omitempty"`
	Outputs   []TensorInfo `json:"outputs,omitempty"`
	VTCM      uint64       `json:"vtcm_bytes,omitempty"`       // needed VTCM
	SpillFill uint64       `json:"spill_fill_bytes,omitempty"` // memory for data that exceeds VTCM
}

// TensorInfo is an input or output of a graph.
type TensorInfo struct {
	Name  string   `json:"name"`
	DType string   `json:"dtype"` // float32, ufixed16, …; a number if the type is unknown
	Dims  []uint32 `json:"dims"`
	Quant *Quant   `json:"quantization,omitempty"`
}

// Quant converts a tensor's integer n to its real value: Scale * (n + Offset).
type Quant struct {
	Encoding string  `json:"encoding"` // scale_offset; for another encoding its number, without further fields
	Scale    float32 `json:"scale,omitempty"`
	Offset   int32   `json:"offset,omitempty"`
}

// Is reports whether a file may be a context binary. The parameter head is the start of the file, at least 8 bytes.
func Is(head []byte) bool {
	return bytes.HasPrefix(head, []byte{0, 0, 0, 2, 0, 0, 0, 2}) || bytes.HasPrefix(head, []byte{0, 0, 0, 2, 0, 0, 0, 3})
}

// Parse reads the header, the metadata and the blob's text from a file of the given size. Errors that do not come from
// r wrap ErrFormat.
func Parse(r io.ReaderAt, size int64) (Info, error) {
	if size < headerSize {
		return Info{}, fmt.Errorf("%w: the file has only %d bytes", ErrFormat, size)
	}
	head := make([]byte, headerSize)
	if _, err := r.ReadAt(head, 0); err != nil {
		return Info{}, fmt.Errorf("cannot read the context header: %w", err)
	}
	if !Is(head) {
		return Info{}, fmt.Errorf("%w: the file starts with % x, expected 00 00 00 02 00 00 00 03 or 00 00 00 02 00 "+
			"00 00 02", ErrFormat, head[:8])
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

// parse23 reads format 2.3. The header has the sizes of metadata and blob, which follow it. Since QAIRT 2.37 at the
// latest, the blob begins on its own page.
func parse23(r io.ReaderAt, size int64, head []byte) (Info, error) {
	le := binary.LittleEndian
	meta, at, n := le.Uint64(head[0x10:]), le.Uint64(head[0x18:]), le.Uint64(head[0x20:])
	if meta > maxMeta || int64(meta) > size-headerSize || at < headerSize+meta || at > uint64(size) || n != uint64(size)-at {
		return Info{}, fmt.Errorf("%w: metadata (%d bytes) and blob (offset %d, %d bytes) do not match the file size "+
			"of %d bytes; the file is truncated or damaged", ErrFormat, meta, at, n, size)
	}
	raw := make([]byte, meta)
	if _, err := r.ReadAt(raw, headerSize); err != nil && !(errors.Is(err, io.EOF) && n == 0) {
		return Info{}, fmt.Errorf("cannot read the context metadata: %w", err)
	}
	info, err := decodeMeta(raw)
	if err != nil {
		return Info{}, err
	}
	info.Format, info.BlobOffset, info.BlobSize = "2.3", int64(at), int64(n)
	return info, nil
}

// parse22 reads format 2.2: a FlatBuffer that ends with the blob.
func parse22(r io.ReaderAt, size int64, _ []byte) (Info, error) {
	raw := make([]byte, min(size-oldHeader, maxMeta))
	if _, err := r.ReadAt(raw, oldHeader); err != nil && !errors.Is(err, io.EOF) {
		return Info{}, fmt.Errorf("cannot read the context metadata: %w", err)
	}
	info, err := decodeMeta(raw)
	if err != nil {
		return Info{}, err
	}
	root := flatbuffer.Root(raw)
	at, n := root.Vector(2)
	info.Format, info.BlobOffset, info.BlobSize = "2.2", int64(at)+oldHeader, int64(n)
	if root.Err() != nil || at == 0 || info.BlobOffset+info.BlobSize > size {
		return Info{}, fmt.Errorf("%w: the blob (%d bytes at offset %d) exceeds the file size of %d bytes; the file "+
			"is truncated or damaged", ErrFormat, n,
			info.BlobOffset, size)
	}
	return info, nil
}

// decodeMeta reads the metadata, of either kind.
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
		return i, fmt.Errorf("%w: metadata: unknown type %d, expected 1 or 3", ErrFormat, kind)
	}
	if err := t.Err(); err != nil {
		return i, fmt.Errorf("%w: metadata: %w", ErrFormat, err)
	}
	t = flatbuffer.Root(raw).Table(0).Table(2) // errors in the graphs are only warnings, because the rest identifies the file
	if i.Graphs = graphs(t); t.Err() != nil {
		i.Graphs, i.Warnings = nil, append(i.Warnings, fmt.Sprintf("unreadable graphs: %v", t.Err()))
	}
	return i, nil
}

// blob reads the options in the blob's text.
func (info *Info) blob(r *io.SectionReader) error {
	raw := make([]byte, min(r.Size(), maxScan))
	n, err := r.ReadAt(raw, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("cannot read the context blob: %w", err)
	}
	info.Simulated = bytes.HasPrefix(raw[:n], []byte(qnn.SimulatedContext))
	readOptions(info, raw[:n])
	return nil
}

// readOptions reads options of the first graph:
// "OpO=2;…min_arch=79;…vtcm_size=8388608;…soc_type=SM8650;…hvx_threads=4;".
func readOptions(info *Info, raw []byte) {
	find := func(pattern string) string {
		m := regexp.MustCompile(pattern).FindSubmatch(raw)
		if m == nil {
			return ""
		}
		return string(m[1])
	}
	number := func(pattern string) uint32 {
		n, _ := strconv.ParseUint(find(pattern), 10, 32) // 0 for a missing option
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
	if info.NoSoC = info.SoC == "UNKNOWN_SDM"; info.NoSoC { // the compiler's value for an unknown or missing SoC
		info.SoC = ""
	}
}
