// Package binfmt registers interpreters with the kernel's binfmt_misc (Line). For programs of other machines, it finds
// the registered interpreter (Interpreter). It does not know which interpreters exist, and mounts nothing.
package binfmt

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Header is the number of bytes that binfmt_misc compares. These bytes include the machine number.
const Header = 20

// Program selects little-endian ELF programs by their machine.
type Program struct {
	Class   byte // 1: 32 bits, 2: 64 bits
	Machine byte // low byte of the machine number; the high byte is 0
}

// Line returns the line that registers an interpreter in binfmt_misc. The registered interpreter works even in a
// sandbox that hides its path.
func (p Program) Line(name, interpreter string) string {
	magic := p.header()
	mask := make([]byte, Header)
	for n := range 7 {
		mask[n] = 0xff
	}
	// The type: 2 is a program, 3 a position-independent one; the mask ignores the lowest bit.
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

// Interpreter returns the path of the interpreter for these programs, or "". The parameter dir is the mount point of
// binfmt_misc. The kernel opened the interpreter at registration, so the file may have changed since.
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

// entry returns the interpreter in an entry for such programs with an open interpreter.
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
