// Package convert turns safetensors models into .mllm files, as upstream's converter does but reproducibly.
//
// Version 2 keeps every element type; version 1 has no shapes and stores everything but bytes and booleans as Float32.
// Tensors are written in the order of their names, so equal models give equal files however they were sharded. Memory
// use does not depend on the model's size.
//
// The package does not quantise, rename or interpret tensors.
package convert

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/hexmage/hexmage/model/mllm"
	"github.com/hexmage/hexmage/model/safetensors"
)

// Version names the bytes this package produces; it goes into cache keys. Raise it whenever an output changes.
const Version = "1"

// Options say what to write.
type Options struct {
	Version   mllm.Version
	ModelName string // stored by version 2 only; upstream leaves it empty
}

// Convert writes all tensors of m to w. It stops early when ctx is cancelled.
func Convert(ctx context.Context, w io.Writer, m *safetensors.Model, o Options) error {
	sources := make([]mllm.Source, 0, len(m.Tensors()))
	for _, t := range m.Tensors() {
		s, err := source(ctx, t, o.Version)
		if err != nil {
			return fmt.Errorf("tensor %q: %w", t.Name, err)
		}
		sources = append(sources, s)
	}
	return mllm.Write(w, o.Version, o.ModelName, sources)
}

func source(ctx context.Context, t safetensors.ModelTensor, v mllm.Version) (mllm.Source, error) {
	s := mllm.Source{Name: t.Name, Shape: t.Shape, Size: t.Size}
	s.Write = func(w io.Writer) error {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		return copyRange(w, t.File, t.Offset, t.Size)
	}
	var ok bool
	if v == mllm.V2 {
		if s.DType, ok = dtypeV2(t.DType); !ok {
			return s, fmt.Errorf("version 2 has no element type for %s; convert the tensor to F32 first", t.DType)
		}
		return s, nil
	}
	switch t.DType {
	case safetensors.I8:
		s.DType = mllm.Int8
	case safetensors.U8, safetensors.Bool:
		s.DType = mllm.V1Uint8
	case safetensors.F32:
		s.DType = mllm.Float32
	default:
		cast := castTo32(t.DType)
		if cast == nil {
			return s, fmt.Errorf("version 1 cannot store %s", t.DType)
		}
		width := t.DType.Size()
		s.DType, s.Size = mllm.Float32, t.Size/width*4
		s.Write = func(w io.Writer) error { return castStream(ctx, w, t.Data(), width, cast) }
	}
	return s, nil
}

func dtypeV2(d safetensors.DType) (mllm.DType, bool) {
	switch d {
	case safetensors.F32:
		return mllm.Float32, true
	case safetensors.F16:
		return mllm.Float16, true
	case safetensors.BF16:
		return mllm.BFloat16, true
	case safetensors.I8:
		return mllm.Int8, true
	case safetensors.I16:
		return mllm.Int16, true
	case safetensors.I32:
		return mllm.Int32, true
	case safetensors.I64:
		return mllm.Int64, true
	case safetensors.U8, safetensors.Bool: // upstream stores booleans as bytes
		return mllm.Uint8, true
	case safetensors.U16:
		return mllm.Uint16, true
	case safetensors.U32:
		return mllm.Uint32, true
	case safetensors.U64:
		return mllm.Uint64, true
	case safetensors.C64:
		return mllm.ComplexFloat32, true
	}
	return 0, false
}

// copyRange copies n bytes at off. A destination that reads from files by itself (os.File: copy_file_range, reflinks) is left to do so.
func copyRange(w io.Writer, f *os.File, off, n int64) error {
	if _, err := f.Seek(off, io.SeekStart); err != nil {
		return err
	}
	src := &io.LimitedReader{R: f, N: n}
	var err error
	if rf, ok := w.(io.ReaderFrom); ok {
		_, err = rf.ReadFrom(src)
	} else {
		_, err = io.CopyBuffer(w, struct{ io.Reader }{src}, make([]byte, 1<<20))
	}
	if err == nil && src.N != 0 {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// castStream converts elements of the given width one buffer at a time.
func castStream(ctx context.Context, w io.Writer, r io.Reader, width int64, cast func([]byte) float32) error {
	in := make([]byte, 1<<16)
	out := make([]byte, 0, 1<<18)
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n, err := io.ReadFull(r, in) // 1<<16 is a multiple of every width
		out = out[:0]
		for i := int64(0); i+width <= int64(n); i += width {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(cast(in[i:i+width])))
		}
		if _, werr := w.Write(out); werr != nil {
			return werr
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil // a short read is caught by the count of bytes written
		}
		if err != nil {
			return err
		}
	}
}

func castTo32(d safetensors.DType) func([]byte) float32 {
	le := binary.LittleEndian
	switch d {
	case safetensors.F16:
		return func(b []byte) float32 { return half(le.Uint16(b)) }
	case safetensors.BF16:
		return func(b []byte) float32 { return math.Float32frombits(uint32(le.Uint16(b)) << 16) }
	case safetensors.F64:
		return func(b []byte) float32 { return float32(math.Float64frombits(le.Uint64(b))) }
	case safetensors.I16:
		return func(b []byte) float32 { return float32(int16(le.Uint16(b))) }
	case safetensors.U16:
		return func(b []byte) float32 { return float32(le.Uint16(b)) }
	case safetensors.I32:
		return func(b []byte) float32 { return float32(int32(le.Uint32(b))) }
	case safetensors.U32:
		return func(b []byte) float32 { return float32(le.Uint32(b)) }
	case safetensors.I64:
		return func(b []byte) float32 { return float32(int64(le.Uint64(b))) }
	case safetensors.U64:
		return func(b []byte) float32 { return float32(le.Uint64(b)) }
	}
	return nil
}

// half widens an IEEE binary16, exactly.
func half(h uint16) float32 {
	sign, exp, frac := uint32(h>>15)<<31, uint32(h>>10)&31, uint32(h)&0x3ff
	switch exp {
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | frac<<13)
	case 0:
		v := float32(frac) * 0x1p-24
		return math.Float32frombits(sign | math.Float32bits(v))
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}
