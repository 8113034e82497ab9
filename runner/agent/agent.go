// Package agent holds hexmage-agent, a program for AArch64 devices that computes the SHA-256 of files. The compiled
// program is part of the package, has a few KB and needs no library. The package does not send it to devices.
//
// To compile src with the pinned clang:
//
//	go test ./runner/agent -run Program -update
package agent

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
)

//go:embed hexmage-agent-aarch64
var program string

// Name is the agent's file name on a device.
const Name = "hexmage-agent"

// Program returns the agent's executable file, and the file's SHA-256 in hexadecimal.
func Program() (content, sum string) {
	b := sha256.Sum256([]byte(program))
	return program, hex.EncodeToString(b[:])
}
