package inspect

import (
	"bytes"
	"debug/pe"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/hexmage/hexmage/qnn/buildid"
)

// PE describes a program or library for Windows: which machine it is for, which QNN it is of, and what to.
type PE struct {
	Machine   string   `json:"machine"`
	Name      string   `json:"name,omitempty"` // that a library says of itself
	Role      string   `json:"role,omitempty"` // what it is to QNN
	Exported  int      `json:"exported"`       // symbols
	BuildIDs  []string `json:"qnn_build_ids,omitempty"`
	Providers []string `json:"qnn_providers,omitempty"`
	Versions  []string `json:"qnn_aisw_versions,omitempty"`
	Warnings  []string `json:"warnings,omitempty"`
}

// errNoPE says that a file begins like one for DOS and is none for Windows.
var errNoPE = errors.New("it begins with MZ and has no PE header")

// maxExports is how many exported symbols are looked at, and maxExport how long the name of one may be.
const (
	maxExports = 1 << 16
	maxExport  = 256
)

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
	if err != nil {
		return nil, err
	}
	p.BuildIDs, p.Providers, p.Versions = texts.IDs, texts.Providers, texts.Versions
	roles, err := p.exports(r)
	if err != nil { // the machine is known, which is worth telling
		p.Warnings = append(p.Warnings, "what it exports: "+err.Error())
	}
	p.Role = role(p.Name, roles, p.Providers)
	return p, nil
}

// errExports says that a directory of exports cannot be read.
var errExports = errors.New("its directory is damaged")

// exports reads the name of a library and those of its symbols, and returns what the symbols say that it is.
func (p *PE) exports(r io.ReaderAt) (roles []string, err error) {
	f, err := pe.NewFile(r)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	const exports, entry = 0, 40
	var dir pe.DataDirectory
	switch h := f.OptionalHeader.(type) {
	case *pe.OptionalHeader64:
		dir = h.DataDirectory[exports]
	case *pe.OptionalHeader32:
		dir = h.DataDirectory[exports]
	}
	if dir.VirtualAddress == 0 {
		return nil, nil // a program has none
	}
	le := binary.LittleEndian
	head, err := at(f, dir.VirtualAddress, entry)
	if err != nil {
		return nil, err
	}
	if p.Name, err = exportText(f, le.Uint32(head[12:])); err != nil {
		return nil, err
	}
	n := le.Uint32(head[24:])
	if n > maxExports {
		return nil, fmt.Errorf("%w: %d names", errExports, n)
	}
	p.Exported = int(n)
	names, err := at(f, le.Uint32(head[32:]), 4*n)
	if err != nil {
		return nil, err
	}
	for ; len(names) > 0; names = names[4:] {
		name, err := exportText(f, le.Uint32(names))
		if err != nil {
			return nil, err
		}
		if r := symbolRole(name); r != "" && !slices.Contains(roles, r) {
			roles = append(roles, r)
		}
	}
	return roles, nil
}

// at returns n bytes of the section that is loaded at an address.
func at(f *pe.File, address, n uint32) ([]byte, error) {
	for _, s := range f.Sections {
		if address >= s.VirtualAddress && address-s.VirtualAddress < s.Size {
			b := make([]byte, min(n, s.Size-(address-s.VirtualAddress)))
			if k, err := s.ReadAt(b, int64(address-s.VirtualAddress)); err != nil && k < len(b) {
				return nil, err
			}
			if uint32(len(b)) < n {
				return b, errExports
			}
			return b, nil
		}
	}
	return nil, errExports
}

// exportText is the text at an address, cut where it is longer than maxExport.
func exportText(f *pe.File, address uint32) (string, error) {
	b, err := at(f, address, maxExport)
	if err != nil && !errors.Is(err, errExports) {
		return "", err
	}
	b, _, whole := bytes.Cut(b, []byte{0})
	if !whole && err != nil {
		return "", errExports
	}
	return shown(string(b)), nil
}
