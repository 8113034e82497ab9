// Package convert converts safetensors models to .mllm files with the same tensors as mllm's converters.
//
// Version 2 keeps every element type. Version 1 has no shapes. It stores booleans as Int8 and bytes unchanged, and
// converts other types to Float32. It renames _weight and _bias to .weight and .bias.
//
// Tensors are sorted by name, so equal models give equal files for any sharding. Memory use does not depend on the
// model's size. The package does not quantize or interpret tensors.
package convert

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/hexmage/hexmage/model/mllm"
	"github.com/hexmage/hexmage/model/safetensors"
	"github.com/hexmage/hexmage/qnn"
)

// Options describe the file to write.
type Options struct {
	Version   mllm.Version
	ModelName string // for version 2 only; mllm leaves it empty
}

// Convert writes all tensors of m to w. It stops when ctx is canceled.
func Convert(ctx context.Context, w io.Writer, m *safetensors.Model, o Options) error {
	if mark := m.Metadata()[qnn.SimulatedKey]; mark != "" {
		o.ModelName = strings.TrimSpace(mark + " " + o.ModelName) // files made from a simulated model keep its mark
	}
	sources := make([]mllm.Source, 0, len(m.Tensors()))
	names := map[string]string{} // source tensor of each written name
	for _, t := range m.Tensors() {
		if o.Version == mllm.V1 {
			if strings.HasPrefix(t.Name, "_") { // mllm's converter skips these
				continue
			}
			was := t.Name
			t.Name = strings.NewReplacer("_weight", ".weight", "_bias", ".bias").Replace(was)
			if other, ok := names[t.Name]; ok {
				return fmt.Errorf("tensors %q and %q would both be named %q in format v1; rename one", other, was, t.Name)
			}
			names[t.Name] = was
		}
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
			return s, fmt.Errorf("element type %s is not supported in .mllm version 2: convert the tensor to F32 first", t.DType)
		}
		return s, nil
	}
	switch t.DType {
	case safetensors.I8, safetensors.Bool: // mllm's shadow outlier marks are booleans
		s.DType = mllm.Int8
	case safetensors.U8:
		s.DType = mllm.V1Uint8
	case safetensors.F32:
		s.DType = mllm.Float32
	default:
		cast := castTo32(t.DType)
		if cast == nil {
			return s, fmt.Errorf("element type %s is not supported in .mllm version 1", t.DType)
		}
		width := t.DType.Size()
		s.DType, s.Size = mllm.Float32, t.Size/width*4
		s.Write = func(w io.Writer) error {
			return castStream(ctx, w, t.Data(), width, cast)
		}
	}
	return s, nil
}

func dtypeV2(d safetensors.DType) (mllm.DType, bool) {
	v2, ok := map[safetensors.DType]mllm.DType{
		safetensors.F32: mllm.Float32, safetensors.F16: mllm.Float16, safetensors.BF16: mllm.BFloat16, safetensors.C64: mllm.ComplexFloat32,
		safetensors.I8: mllm.Int8, safetensors.I16: mllm.Int16, safetensors.I32: mllm.Int32, safetensors.I64: mllm.Int64,
		safetensors.U8: mllm.Uint8, safetensors.U16: mllm.Uint16, safetensors.U32: mllm.Uint32, safetensors.U64: mllm.Uint64,
		safetensors.Bool: mllm.Uint8, // mllm stores booleans as bytes
	}[d]
	return v2, ok
}

// copyRange copies n bytes at off. io.Copy lets a destination such as os.File read from the file directly
// (copy_file_range, reflinks).
func copyRange(w io.Writer, f *os.File, off, n int64) error {
	if _, err := f.Seek(off, io.SeekStart); err != nil {
		return err
	}
	copied, err := io.Copy(w, &io.LimitedReader{R: f, N: n})
	if err == nil && copied < n {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// castStream converts elements of the given width, one buffer at a time.
func castStream(ctx context.Context, w io.Writer, r io.Reader, width int64, cast caster) error {
	in := make([]byte, 1<<16) // a multiple of every width
	out := make([]byte, 1<<18)
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n, err := io.ReadFull(r, in)
		elements := int64(n) / width
		cast(out[:4*elements], in[:elements*width])
		if _, werr := w.Write(out[:4*elements]); werr != nil {
			return werr
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil // the caller checks the number of written bytes
		}
		if err != nil {
			return err
		}
	}
}

// caster converts the elements of src to little-endian float32. dst has room for all of them.
type caster func(dst, src []byte)

// castTo32 has special loops for the two most common types of models.
func castTo32(d safetensors.DType) caster {
	le := binary.LittleEndian
	switch d {
	case safetensors.F16:
		return func(dst, src []byte) {
			for i := 0; i+1 < len(src); i += 2 {
				le.PutUint32(dst[2*i:], half(le.Uint16(src[i:])))
			}
		}
	case safetensors.BF16:
		return func(dst, src []byte) {
			for i := 0; i+1 < len(src); i += 2 {
				le.PutUint32(dst[2*i:], uint32(le.Uint16(src[i:]))<<16)
			}
		}
	case safetensors.F64:
		return each[float64]
	case safetensors.I16:
		return each[int16]
	case safetensors.U16:
		return each[uint16]
	case safetensors.I32:
		return each[int32]
	case safetensors.U32:
		return each[uint32]
	case safetensors.I64:
		return each[int64]
	case safetensors.U64:
		return each[uint64]
	}
	return nil
}

func each[T float64 | int16 | uint16 | int32 | uint32 | int64 | uint64](dst, src []byte) {
	var one T
	numbers := make([]T, len(src)/binary.Size(one))
	_, _ = binary.Decode(src, binary.LittleEndian, numbers) // src holds exactly these numbers
	for i, n := range numbers {
		binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(float32(n)))
	}
}

// half converts the bits of an IEEE binary16 to a binary32, exactly.
func half(h uint16) uint32 {
	sign, exp, frac := uint32(h>>15)<<31, uint32(h>>10)&31, uint32(h)&0x3ff
	switch exp {
	case 31:
		return sign | 0x7f800000 | frac<<13
	case 0:
		return sign | math.Float32bits(float32(frac)*0x1p-24)
	}
	return sign | (exp+112)<<23 | frac<<13
}
