// Package binfmt knows the kernel's binfmt_misc: which programs of other machines it starts by an interpreter, and how it is asked to. One enters it with
// Line and Interpreter. It does not know which interpreters there are, and mounts nothing.
package binfmt

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Header is how many bytes of an ELF file decide: up to the number of its machine.
const Header = 20

// Program says which ELF programs are meant: little-endian ones of a machine.
type Program struct {
	Class   byte // 1: 32 bits, 2: 64 bits
	Machine byte // low byte of the number; the high byte is 0 of all that are meant
}

// Line is what is written to the file register so that programs are started by an interpreter. Flag F opens it then, so that it need not be visible where they are.
func (p Program) Line(name, interpreter string) string {
	magic := p.header()
	mask := make([]byte, Header)
	for n := range 7 {
		mask[n] = 0xff
	}
	// The type: 2 is a program, 3 one that may stand anywhere; the lowest bit does not matter.
	magic[16], mask[16], mask[17] = 2, 0xfe, 0xff
	mask[18], mask[19] = 0xff, 0xff
	return fmt.Sprintf(":%s:M::%s:%s:%s:F", name, escape(magic), escape(mask), interpreter)
}

func (p Program) header() []byte {
	b := make([]byte, Header)
	copy(b, "\x7fELF")
	b[4], b[5], b[6] = p.Class, 1, 1 // little-endian, version 1
	b[18] = p.Machine
	return b
}

func escape(b []byte) string {
	var s strings.Builder
	for _, c := range b {
		fmt.Fprintf(&s, `\x%02x`, c)
	}
	return s.String()
}

// Interpreter is what starts such programs wherever they are, by the entries of a folder that binfmt_misc is mounted on; "" where nothing does. It was opened
// when it was registered: another file may have its name by now.
func (p Program) Interpreter(dir string) string {
	if status, err := os.ReadFile(filepath.Join(dir, "status")); err != nil || strings.TrimSpace(string(status)) != "enabled" {
		return ""
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if text, err := os.ReadFile(filepath.Join(dir, e.Name())); err == nil {
			if at := p.entry(string(text)); at != "" {
				return at
			}
		}
	}
	return ""
}

// entry is the interpreter that an entry names, if it is for such programs and opened already.
func (p Program) entry(text string) string {
	lines := strings.Split(text, "\n")
	said := map[string]string{"offset": "0"}
	for _, line := range lines {
		key, value, _ := strings.Cut(line, " ")
		said[strings.TrimSuffix(key, ":")] = value
	}
	magic, err := hex.DecodeString(said["magic"])
	if lines[0] != "enabled" || said["offset"] != "0" || !strings.Contains(said["flags"], "F") || err != nil || len(magic) < Header {
		return ""
	}
	mask, err := hex.DecodeString(said["mask"])
	if err != nil || len(mask) != len(magic) {
		return ""
	}
	header := p.header()
	header[16] = 2 // a program
	for i, b := range header {
		if b&mask[i] != magic[i]&mask[i] {
			return ""
		}
	}
	return said["interpreter"]
}
