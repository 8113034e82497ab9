// Package inspect says what a file is: a safetensors or .mllm model, an ELF file, a QNN context binary.
//
// It looks at bytes, never at names, and trusts none of them. It does not run or load anything, and does not judge whether files fit together.
package inspect

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/hexmage/hexmage/model/buildid"
	"github.com/hexmage/hexmage/model/mllm"
	"github.com/hexmage/hexmage/model/qnnctx"
	"github.com/hexmage/hexmage/model/safetensors"
)

// Version names the form of Description's JSON.
const Version = "1"

// ErrUnknown says that a file is none of the formats this package knows.
var ErrUnknown = errors.New("neither safetensors, .mllm, ELF nor a QNN context binary")

// Description is what a file turned out to be. Exactly one of the last four fields is set.
type Description struct {
	Path    string       `json:"path"`
	Format  string       `json:"format"` // safetensors, mllm-v1, mllm-v2, elf, qnn-context
	Size    int64        `json:"size"`
	Tensors *Tensors     `json:"tensors,omitempty"`
	ELF     *ELF         `json:"elf,omitempty"`
	Context *qnnctx.Info `json:"context,omitempty"`
}

// Tensors describes a model file.
type Tensors struct {
	Metadata  map[string]string `json:"metadata,omitempty"`
	ModelName string            `json:"model_name,omitempty"`
	Warnings  []string          `json:"warnings,omitempty"`
	Count     int               `json:"count"`
	List      []Tensor          `json:"list"`
}

// Tensor is one tensor of a model file. Shape is null where the format stores none.
type Tensor struct {
	Name   string  `json:"name"`
	DType  string  `json:"dtype"`
	Shape  []int64 `json:"shape"`
	Offset int64   `json:"offset"`
	Size   int64   `json:"size"`
}

// ELF describes a program or library.
type ELF struct {
	Class    string   `json:"class"`
	Machine  string   `json:"machine"`
	Type     string   `json:"type"`
	Flags    uint32   `json:"flags"`
	Arch     string   `json:"arch,omitempty"` // of Hexagon files: v79
	SOName   string   `json:"soname,omitempty"`
	Needed   []string `json:"needed,omitempty"`
	BuildIDs []string `json:"qnn_build_ids,omitempty"` // QNN build ids in the file's text
	GNUID    string   `json:"gnu_build_id,omitempty"`
}

// Describe opens the file at path and says what it is. Errors that mean "not a known format" wrap ErrUnknown.
func Describe(path string) (Description, error) {
	f, err := os.Open(path)
	if err != nil {
		return Description{}, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return Description{}, err
	}
	if !st.Mode().IsRegular() {
		return Description{}, fmt.Errorf("%s: not a regular file", path)
	}
	d := Description{Path: path, Size: st.Size()}
	if err := d.read(f); err != nil {
		return Description{}, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}

func (d *Description) read(r io.ReaderAt) error {
	head := make([]byte, 9)
	n, err := r.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	head = head[:n]
	switch magic := uint32At(head); {
	case bytes.HasPrefix(head, []byte(elf.ELFMAG)):
		d.Format = "elf"
		d.ELF, err = describeELF(r, d.Size)
	case magic == 20012 || magic == 0x519A:
		err = d.mllm(r)
	case bytes.HasPrefix(head, []byte{0, 0, 0, 2, 0, 0, 0, 3}):
		d.Format = "qnn-context"
		var info qnnctx.Info
		info, err = qnnctx.Parse(r, d.Size)
		d.Context = &info
	case len(head) == 9 && head[8] == '{':
		d.Format = "safetensors"
		err = d.safetensors(r)
	default:
		err = ErrUnknown
	}
	return err
}

func uint32At(b []byte) uint32 {
	if len(b) < 4 {
		return 0
	}
	return binary.LittleEndian.Uint32(b)
}

func (d *Description) mllm(r io.ReaderAt) error {
	m, err := mllm.Parse(r, d.Size)
	if err != nil {
		return err
	}
	d.Format = fmt.Sprintf("mllm-v%d", m.Version)
	d.Tensors = &Tensors{ModelName: m.ModelName, Warnings: m.Warnings, Count: len(m.Params())}
	for _, p := range m.Params() {
		d.Tensors.List = append(d.Tensors.List, Tensor{p.Name, p.DType.String(), p.Shape, p.Offset, p.Size})
	}
	return nil
}

func (d *Description) safetensors(r io.ReaderAt) error {
	f, err := safetensors.Parse(r, d.Size)
	if err != nil {
		return err
	}
	d.Tensors = &Tensors{Metadata: f.Metadata, Count: len(f.Tensors())}
	for _, t := range f.Tensors() {
		d.Tensors.List = append(d.Tensors.List, Tensor{t.Name, string(t.DType), t.Shape, t.Offset, t.Size})
	}
	return nil
}

// emHexagon is ELF's number for Hexagon, which debug/elf prints as a bare number.
const emHexagon = 164

func describeELF(r io.ReaderAt, size int64) (*ELF, error) {
	f, err := elf.NewFile(r)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	e := &ELF{Class: f.Class.String(), Machine: f.Machine.String(), Type: f.Type.String()}
	// debug/elf does not keep e_flags: they are at 36 in 32-bit and at 48 in 64-bit files.
	at := int64(48)
	if f.Class == elf.ELFCLASS32 {
		at = 36
	}
	var flags [4]byte
	if _, err := r.ReadAt(flags[:], at); err != nil {
		return nil, err
	}
	e.Flags = f.ByteOrder.Uint32(flags[:])
	if f.Machine == emHexagon {
		e.Machine = "EM_HEXAGON"
		e.Arch = fmt.Sprintf("v%x", e.Flags&0x3ff) // in hexadecimal digits: 0x79 is v79
	}
	if names, err := f.DynString(elf.DT_SONAME); err == nil && len(names) > 0 {
		e.SOName = names[0]
	}
	if names, err := f.DynString(elf.DT_NEEDED); err == nil {
		e.Needed = names
	}
	if e.GNUID, err = gnuID(f); err != nil {
		return nil, err
	}
	e.BuildIDs, err = buildid.Find(io.NewSectionReader(r, 0, size))
	return e, err
}

// maxNote bounds the section of the linker's build id.
const maxNote = 4096

func gnuID(f *elf.File) (string, error) {
	s := f.Section(".note.gnu.build-id")
	if s == nil || s.Type == elf.SHT_NOBITS || s.Size > maxNote {
		return "", nil
	}
	raw, err := s.Data()
	if err != nil {
		return "", err
	}
	if len(raw) < 16 {
		return "", nil
	}
	name, desc := uint64(f.ByteOrder.Uint32(raw)), uint64(f.ByteOrder.Uint32(raw[4:]))
	begin := 12 + (name+3)&^3
	if begin+desc > uint64(len(raw)) {
		return "", nil
	}
	return fmt.Sprintf("%x", raw[begin:begin+desc]), nil
}
