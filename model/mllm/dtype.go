package mllm

import "fmt"

// DType is an element type's number in a .mllm file.
type DType int32

// The numbers of the format. Names follow upstream's; GGUF types are whole blocks of quantised values.
const (
	Float32            DType = 0
	Float16            DType = 1
	Q4_0               DType = 2
	Q4_1               DType = 3
	Q8_0               DType = 8
	Q8_1               DType = 9
	Q8PerTensor        DType = 10
	Q4K                DType = 12
	Q6K                DType = 14
	Q8K                DType = 15
	Int8               DType = 16
	Int16              DType = 17
	Int32              DType = 18
	Q4_0_4_4           DType = 19
	Q4_0_4_8           DType = 20
	Q4_0_8_8           DType = 21
	Q8_0_4_4           DType = 22
	Q3K                DType = 23
	Q2K                DType = 24
	Q1K                DType = 25
	IQ2XXS             DType = 26
	IQ2XS              DType = 27
	IQ1S               DType = 28
	IQ1M               DType = 29
	IQ2S               DType = 30
	V1Uint8            DType = 31 // what version 1 writes for unsigned bytes
	BFloat16           DType = 128
	Uint8              DType = 129
	Uint16             DType = 130
	Uint32             DType = 131
	Int64              DType = 132
	Uint64             DType = 133
	Byte               DType = 134
	MXFP4              DType = 135
	Int4               DType = 136
	Uint4              DType = 137
	Int2               DType = 138
	Uint2              DType = 139
	Int8PerTensorSym   DType = 140
	Int8PerChannelSym  DType = 141
	Uint8PerTensorSym  DType = 142
	Uint8PerChannelSym DType = 143
	Int16PerTensorSym  DType = 144
	Int16PerChannelSym DType = 145
	U16PerTensorSym    DType = 146
	U16PerChannelSym   DType = 147
	Int8PerTensorAsy   DType = 148
	Int8PerChannelAsy  DType = 149
	Uint8PerTensorAsy  DType = 150
	Uint8PerChannelAsy DType = 151
	Int16PerTensorAsy  DType = 152
	Int16PerChannelAsy DType = 153
	U16PerTensorAsy    DType = 154
	U16PerChannelAsy   DType = 155
	Bool               DType = 156
	ComplexFloat32     DType = 201
	ComplexFloat64     DType = 202
)

// dtypeInfo gives a type's name and, where an element takes whole bytes, its size. Types without a size
// (GGUF blocks, sub-byte types) are carried as they are and their sizes are not checked.
func dtypeInfo(d DType) (name string, size int64) {
	switch d {
	case Float32:
		return "Float32", 4
	case Float16:
		return "Float16", 2
	case Q4_0:
		return "GGUF_Q4_0", 0
	case Q4_1:
		return "GGUF_Q4_1", 0
	case Q8_0:
		return "GGUF_Q8_0", 0
	case Q8_1:
		return "GGUF_Q8_1", 0
	case Q8PerTensor:
		return "GGUF_Q8_Pertensor", 0
	case Q4K:
		return "GGUF_Q4_K", 0
	case Q6K:
		return "GGUF_Q6_K", 0
	case Q8K:
		return "GGUF_Q8_K", 0
	case Int8:
		return "Int8", 1
	case Int16:
		return "Int16", 2
	case Int32:
		return "Int32", 4
	case Q4_0_4_4:
		return "GGUF_Q4_0_4_4", 0
	case Q4_0_4_8:
		return "GGUF_Q4_0_4_8", 0
	case Q4_0_8_8:
		return "GGUF_Q4_0_8_8", 0
	case Q8_0_4_4:
		return "GGUF_Q8_0_4_4", 0
	case Q3K:
		return "GGUF_Q3_K", 0
	case Q2K:
		return "GGUF_Q2_K", 0
	case Q1K:
		return "GGUF_Q1_K", 0
	case IQ2XXS:
		return "GGUF_IQ2_XXS", 0
	case IQ2XS:
		return "GGUF_IQ2_XS", 0
	case IQ1S:
		return "GGUF_IQ1_S", 0
	case IQ1M:
		return "GGUF_IQ1_M", 0
	case IQ2S:
		return "GGUF_IQ2_S", 0
	case V1Uint8:
		return "UInt8(v1)", 1
	case BFloat16:
		return "BFloat16", 2
	case Uint8:
		return "UInt8", 1
	case Uint16:
		return "UInt16", 2
	case Uint32:
		return "UInt32", 4
	case Int64:
		return "Int64", 8
	case Uint64:
		return "UInt64", 8
	case Byte:
		return "Byte", 1
	case MXFP4:
		return "MXFP4", 0
	case Int4:
		return "Int4", 0
	case Uint4:
		return "UInt4", 0
	case Int2:
		return "Int2", 0
	case Uint2:
		return "UInt2", 0
	case Bool:
		return "Bool", 1
	case ComplexFloat32:
		return "ComplexFloat32", 8
	case ComplexFloat64:
		return "ComplexFloat64", 16
	}
	if d >= Int8PerTensorSym && d <= U16PerChannelAsy {
		return quantisedInfo(d)
	}
	return "", 0
}

// quantisedInfo derives names 140..155, which are a product of asymmetry × type × granularity.
func quantisedInfo(d DType) (string, int64) {
	i := int(d - Int8PerTensorSym)
	base := []string{"Int8", "UInt8", "Int16", "UInt16"}[i/2%4]
	size := []int64{1, 1, 2, 2}[i/2%4]
	per := []string{"PerTensor", "PerChannel"}[i%2]
	return base + per + []string{"Sym", "Asy"}[i/8], size
}

// String is the type's name, or its number for an unknown type.
func (d DType) String() string {
	if n, _ := dtypeInfo(d); n != "" {
		return n
	}
	return fmt.Sprintf("dtype(%d)", int32(d))
}

// Known reports whether the format defines d.
func (d DType) Known() bool { n, _ := dtypeInfo(d); return n != "" }

// Size is the number of bytes of one element, or 0 where an element does not take whole bytes.
func (d DType) Size() int64 { _, s := dtypeInfo(d); return s }
