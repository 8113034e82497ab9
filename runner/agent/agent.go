// Package agent holds hexmage-agent, a program of our own for the device (AArch64, a few KB, needs nothing of what is installed there), and
// reads what it says: samples of a running process and of the device, as a time series.
//
// The compiled program is part of the package, so that nobody needs a compiler to use a device; it is what src gives with the pinned clang:
//
//	go test ./runner/agent -run Program -update
//
// The package does not know how the program gets to a device or is started there, nor what the numbers are compared with.
package agent

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"strconv"
	"time"
)

//go:embed hexmage-agent-aarch64
var program string

// Name is the program's file name on a device.
const Name = "hexmage-agent"

// Program returns the compiled program, and its SHA-256 in hexadecimal.
func Program() (content, sum string) {
	b := sha256.Sum256([]byte(program))
	return program, hex.EncodeToString(b[:])
}

// SampleArgs are the program's arguments for samples of the process whose id the file pidFile of the device will hold (a number and a line
// end), of its descendants, its process group and session. It writes to standard output until the process is gone or standard input ends.
func SampleArgs(pidFile string, interval time.Duration) []string {
	return []string{"sample", "--interval-ms", strconv.FormatInt(interval.Milliseconds(), 10), "--pid-file", pidFile}
}

// Bounds of the interval between two samples.
const (
	MinInterval = 10 * time.Millisecond
	MaxInterval = time.Minute
)
