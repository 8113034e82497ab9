// Package torchtest writes PyTorch checkpoints for tests: as torch.save does, and as it never would.
package torchtest

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// Tensor is a tensor of a state dict.
type Tensor struct {
	Name    string
	Storage string // its key
	Class   string // of the storage, such as "FloatStorage"
	Count   int    // of the storage's elements
	First   int    // element
	Shape   []int
	Strides []int // nil: row by row
}

// Entry is a file of the archive.
type Entry struct {
	Name string
	Data []byte
}

// Pickle is the pickle of a state dict.
func Pickle(tensors ...Tensor) []byte {
	var b bytes.Buffer
	b.WriteString("\x80\x02ccollections\nOrderedDict\nq\x00)Rq\x01(")
	for _, t := range tensors {
		text(&b, t.Name)
		b.WriteString("ctorch._utils\n_rebuild_tensor_v2\n((")
		text(&b, "storage")
		b.WriteString("ctorch\n" + t.Class + "\n")
		text(&b, t.Storage)
		text(&b, "cpu")
		number(&b, t.Count)
		b.WriteString("tQ")
		number(&b, t.First)
		numbers(&b, t.Shape)
		strides := t.Strides
		if strides == nil {
			strides = make([]int, len(t.Shape))
			for i, n := len(t.Shape)-1, 1; i >= 0; i-- {
				strides[i], n = n, n*t.Shape[i]
			}
		}
		numbers(&b, strides)
		b.WriteString("\x89ccollections\nOrderedDict\n)RtR")
	}
	b.WriteString("u}q\x02X\x09\x00\x00\x00_metadatah\x01sb.")
	return b.Bytes()
}

func text(b *bytes.Buffer, s string) {
	b.WriteByte('X')
	binary.Write(b, binary.LittleEndian, uint32(len(s)))
	b.WriteString(s)
}

func number(b *bytes.Buffer, n int) {
	if n >= 0 && n < 256 {
		b.Write([]byte{'K', byte(n)})
		return
	}
	b.Write([]byte{0x8a, 8})
	binary.Write(b, binary.LittleEndian, int64(n))
}

func numbers(b *bytes.Buffer, all []int) {
	b.WriteByte('(')
	for _, n := range all {
		number(b, n)
	}
	b.WriteByte('t')
}

// Archive is the archive with the pickle and what else it is to have, by the name of a folder as torch.save gives them.
func Archive(pickle []byte, more ...Entry) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, e := range append([]Entry{{"m/data.pkl", pickle}, {"m/byteorder", []byte("little")}, {"m/version", []byte("3\n")}}, more...) {
		w, err := z.CreateRaw(&zip.FileHeader{
			Name: e.Name, Method: zip.Store, CRC32: crc32.ChecksumIEEE(e.Data),
			CompressedSize64: uint64(len(e.Data)), UncompressedSize64: uint64(len(e.Data)),
		})
		if err == nil {
			_, err = w.Write(e.Data)
		}
		if err != nil {
			panic(fmt.Sprint("torchtest: ", err)) // a buffer takes everything
		}
	}
	if err := z.Close(); err != nil {
		panic(fmt.Sprint("torchtest: ", err))
	}
	return b.Bytes()
}

// Storage is the entry of a storage.
func Storage(key string, data []byte) Entry { return Entry{"m/data/" + key, data} }
