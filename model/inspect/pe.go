package inspect

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/hexmage/hexmage/qnn/buildid"
)

// PE describes a program or library for Windows: only which machine it is for, and which QNN it is of.
type PE struct {
	Machine   string   `json:"machine"`
	BuildIDs  []string `json:"qnn_build_ids,omitempty"`
	Providers []string `json:"qnn_providers,omitempty"`
	Versions  []string `json:"qnn_aisw_versions,omitempty"`
}

// errNoPE says that a file begins like one for DOS and is none for Windows.
var errNoPE = errors.New("it begins with MZ and has no PE header")

func describePE(r io.ReaderAt, size int64) (*PE, error) {
	var head [64]byte
	var sign [6]byte
	if n, _ := r.ReadAt(head[:], 0); n < len(head) {
		return nil, errNoPE
	}
	at := int64(binary.LittleEndian.Uint32(head[0x3c:]))
	if n, _ := r.ReadAt(sign[:], at); n < len(sign) || string(sign[:4]) != "PE\x00\x00" {
		return nil, errNoPE
	}
	m := binary.LittleEndian.Uint16(sign[4:])
	p := &PE{Machine: fmt.Sprintf("%#x", m)}
	if name, ok := map[uint16]string{0x14c: "x86", 0x8664: "x86-64", 0xaa64: "ARM64", 0xa641: "ARM64EC"}[m]; ok {
		p.Machine = name
	}
	texts, err := buildid.Scan(io.NewSectionReader(r, 0, size))
	p.BuildIDs, p.Providers, p.Versions = texts.IDs, texts.Providers, texts.Versions
	return p, err
}
