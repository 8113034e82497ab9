package blob

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/hexmage/hexmage/internal/flatbuffer"
	"github.com/hexmage/hexmage/qnn/qnnctx"
)

// maxIndex bounds everything before the weights.
const maxIndex = 64 << 20

// reader checks places in the index before they are read.
type reader struct {
	b     []byte // the blob up to its weights
	names []byte
}

// at gives n records of size bytes at off.
func (r reader) at(off, n, size uint64) ([]byte, error) {
	total := uint64(len(r.b))
	if off > total || size != 0 && n > (total-off)/size {
		return nil, fmt.Errorf("%d records of %d bytes at %d lie outside the index of %d", n, size, off, total)
	}
	return r.b[off : off+n*size], nil
}

func (r reader) text(b []byte) (string, error) {
	off, n := uint64(binary.LittleEndian.Uint32(b)), uint64(binary.LittleEndian.Uint32(b[4:]))
	if n > flatbuffer.MaxString || off+n > uint64(len(r.names)) {
		return "", fmt.Errorf("a string of %d bytes at %d lies outside the names of %d", n, off, len(r.names))
	}
	return string(r.names[off : off+n]), nil
}

// Parse reads a context binary that the stand-in's compiler has written. Errors that say it is none wrap qnnctx.ErrFormat.
func Parse(r io.ReaderAt, size int64) (qnnctx.Info, *Blob, error) {
	info, err := qnnctx.Parse(r, size)
	if err != nil {
		return info, nil, err
	}
	if !info.Open {
		return info, nil, fmt.Errorf("%w of the open stand-in: a real one runs on a real phone only", qnnctx.ErrFormat)
	}
	b, err := parse(io.NewSectionReader(r, info.BlobOffset, info.BlobSize), info.BlobSize)
	if err != nil {
		return info, nil, fmt.Errorf("%w: blob: %w", qnnctx.ErrFormat, err)
	}
	if h := b.header; info.BuildID != h.buildID || info.SoCModel != h.socModel || info.Arch != h.arch || info.VTCM != uint64(h.vtcm)<<20 {
		return info, nil, fmt.Errorf("%w: metadata (%s, SoC model %d, v%d) and blob (%s, SoC model %d, v%d) disagree", qnnctx.ErrFormat,
			info.BuildID, info.SoCModel, info.Arch, h.buildID, h.socModel, h.arch)
	}
	return info, b, nil
}

func parse(s *io.SectionReader, size int64) (*Blob, error) {
	if size < blobHeader {
		return nil, errors.New("too short for its header")
	}
	head := make([]byte, blobHeader)
	if _, err := s.ReadAt(head, 0); err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	if v := le.Uint32(head[8:]); v != ArithmeticVersion {
		return nil, fmt.Errorf("arithmetic version %d; this program knows %d", v, ArithmeticVersion)
	}
	if v := le.Uint32(head[12:]); v != blobHeader {
		return nil, fmt.Errorf("header of %d bytes, expected %d", v, blobHeader)
	}
	at, n := le.Uint64(head[104:]), le.Uint64(head[112:])
	if at < blobHeader || at > maxIndex || at > uint64(size) || n != uint64(size)-at {
		return nil, fmt.Errorf("weights of %d bytes at %d do not end the blob of %d", n, at, size)
	}
	r := reader{b: make([]byte, at)}
	if k, err := s.ReadAt(r.b, 0); k < len(r.b) {
		return nil, errors.Join(io.ErrUnexpectedEOF, err)
	}
	var err error
	if r.names, err = r.at(le.Uint64(head[88:]), le.Uint64(head[96:]), 1); err != nil {
		return nil, fmt.Errorf("names: %w", err)
	}
	b := &Blob{data: io.NewSectionReader(s, int64(at), int64(n))}
	var nums [14]uint32
	for i := range nums {
		nums[i] = le.Uint32(head[16+4*i:])
	}
	b.header = blobFields{arch: nums[0], socModel: nums[1], vtcm: nums[2]}
	b.Shape = Shape{nums[3], nums[4], nums[5], nums[6], nums[7], nums[8], nums[9], nums[10], nums[11]}
	for _, f := range []struct {
		at int
		to *string
	}{{120, &b.header.buildID}, {128, new(string)}, {136, &b.OpPackage}} {
		if *f.to, err = r.text(head[f.at:]); err != nil {
			return nil, err
		}
	}
	if nums[12] > maxTensors || nums[13] > maxGraphs {
		return nil, fmt.Errorf("%d statics (limit %d), %d graphs (limit %d)", nums[12], maxTensors, nums[13], maxGraphs)
	}
	if b.Statics, err = r.tensors(le.Uint64(head[72:]), nums[12]); err != nil {
		return nil, fmt.Errorf("statics: %w", err)
	}
	for i, t := range b.Statics {
		if t.Kind != Static || t.Offset%align != 0 || t.Offset > int64(n) || t.Size > int64(n)-t.Offset {
			return nil, fmt.Errorf("static %d (%q): kind %d, %d bytes at %d of %d", i, t.Name, t.Kind, t.Size, t.Offset, n)
		}
	}
	records, err := r.at(le.Uint64(head[80:]), uint64(nums[13]), graphSize)
	if err != nil {
		return nil, fmt.Errorf("graphs: %w", err)
	}
	for i := range nums[13] {
		g, err := r.graph(records[i*graphSize:(i+1)*graphSize], len(b.Statics))
		if err != nil {
			return nil, fmt.Errorf("graph %d: %w", i, err)
		}
		b.Graphs = append(b.Graphs, g)
	}
	return b, nil
}

func (r reader) tensors(off uint64, n uint32) ([]Tensor, error) {
	if n > maxTensors {
		return nil, fmt.Errorf("%d tensors (limit %d)", n, maxTensors)
	}
	raw, err := r.at(off, uint64(n), tensorSize)
	if err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	out := make([]Tensor, n)
	for i := range out {
		b := raw[i*tensorSize:]
		t := &out[i]
		if t.Name, err = r.text(b); err != nil {
			return nil, err
		}
		t.DType, t.Kind = le.Uint32(b[8:]), le.Uint32(b[12:])
		elements := uint64(1)
		for k := range t.Dims {
			t.Dims[k] = le.Uint32(b[16+4*k:])
			if t.Dims[k] == 0 || elements > math.MaxUint32/uint64(t.Dims[k]) {
				return nil, fmt.Errorf("tensor %q: dims %v", t.Name, t.Dims)
			}
			elements *= uint64(t.Dims[k])
		}
		t.Scale = math.Float32frombits(le.Uint32(b[32:]))
		t.ZeroPoint = int32(le.Uint32(b[36:]))
		want, ok := byteSize(t.DType, elements)
		off, size := le.Uint64(b[40:]), le.Uint64(b[48:])
		if !ok || t.Kind > State || size != want || off > math.MaxInt64 {
			return nil, fmt.Errorf("tensor %q: type %d, kind %d, dims %v, %d bytes at %d", t.Name, t.DType, t.Kind, t.Dims, size, off)
		}
		t.Offset, t.Size = int64(off), int64(size)
	}
	return out, nil
}

// byteSize is the size of elements of a type.
func byteSize(dtype uint32, elements uint64) (uint64, bool) {
	switch dtype {
	case QUint8, Uint8:
		return elements, true
	case QUint16:
		return 2 * elements, true
	case Float32, Int32:
		return 4 * elements, true
	case Int4Packed:
		return elements / 2, elements%2 == 0
	}
	return 0, false
}

func (r reader) graph(rec []byte, statics int) (Graph, error) {
	le := binary.LittleEndian
	var g Graph
	var err error
	if g.Name, err = r.text(rec); err != nil {
		return g, err
	}
	g.Tokens = le.Uint32(rec[8:])
	if g.Tensors, err = r.tensors(le.Uint64(rec[16:]), le.Uint32(rec[12:])); err != nil {
		return g, err
	}
	n := le.Uint32(rec[24:])
	if s := le.Uint32(rec[28:]); s != opSize || n > maxOps {
		return g, fmt.Errorf("%d ops (limit %d) of %d bytes, expected %d", n, maxOps, s, opSize)
	}
	ops, err := r.at(le.Uint64(rec[32:]), uint64(n), opSize)
	if err != nil {
		return g, err
	}
	for i := range n {
		o, err := r.op(ops[i*opSize:(i+1)*opSize], statics, len(g.Tensors))
		if err != nil {
			return g, fmt.Errorf("op %d: %w", i, err)
		}
		g.Ops = append(g.Ops, o)
	}
	in, out := uint64(le.Uint32(rec[40:])), uint64(le.Uint32(rec[44:]))
	io, err := r.at(le.Uint64(rec[48:]), in+out, 4)
	if err != nil {
		return g, err
	}
	for i := range in + out {
		v := le.Uint32(io[4*i:])
		if v >= uint32(len(g.Tensors)) {
			return g, fmt.Errorf("input or output %d names tensor %d of %d", i, v, len(g.Tensors))
		}
		if i < in {
			g.Inputs = append(g.Inputs, v)
		} else {
			g.Outputs = append(g.Outputs, v)
		}
	}
	return g, nil
}

func (r reader) op(b []byte, statics, tensors int) (Op, error) {
	le := binary.LittleEndian
	o := Op{Code: le.Uint32(b), Package: le.Uint32(b[4:])&1 != 0}
	var err error
	if o.Name, err = r.text(b[8:]); err != nil {
		return o, err
	}
	if o.Type, err = r.text(b[16:]); err != nil {
		return o, err
	}
	in, out := le.Uint32(b[24:]), le.Uint32(b[28:])
	if o.Code < OpEmbedding || o.Code > OpMul || in > maxIn || out > maxOut {
		return o, fmt.Errorf("%q: code %d with %d inputs and %d outputs", o.Name, o.Code, in, out)
	}
	operand := func(v uint32) (Operand, error) {
		if v&staticBit != 0 && v&^staticBit < uint32(statics) || v&staticBit == 0 && v < uint32(tensors) {
			return Operand(v), nil
		}
		return 0, fmt.Errorf("%q: no tensor %#x", o.Name, v)
	}
	for k := range in {
		v, err := operand(le.Uint32(b[32+4*k:]))
		if err != nil {
			return o, err
		}
		o.In = append(o.In, v)
	}
	for k := range out {
		v, err := operand(le.Uint32(b[80+4*k:]))
		if err != nil {
			return o, err
		}
		o.Out = append(o.Out, v)
	}
	return o, nil
}
