package steps

import (
	"bytes"
	"io"

	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/toolchains"
)

// maxMarked is the number of bytes of a file that are searched for a mark: more than any simulated file has before its
// mark, and a small part of a model.
// maxSearched is the limit on files and folders to search: more than users push.
const (
	maxMarked   = 16 << 20
	maxSearched = 4096
)

// simulatedAllowed reports whether simulated files may replace Qualcomm's: in profile simulated, and in pipelines
// without profiles, which print a warning.
func (q *question) simulatedAllowed() bool {
	return q.p.Profile == toolchains.ProfileSimulated || q.p.Profile == ""
}

// refuseSimulated rejects workspace files with a simulation's mark in profiles with real files.
func (q *question) refuseSimulated(arg, at string) {
	if at == "" || q.simulatedAllowed() {
		return
	}
	left := maxSearched
	if found := q.simulated(at, &left); found != "" {
		q.p.Fail(arg, "Simulated file", "%s: hexmage's simulation wrote this file, but profile %s accepts only real "+
			"files. Use a file from the real tool.", found, q.p.Profile)
	}
}

// simulated returns the first file at or below a path that has a simulation's mark, or "". It searches the next left
// files.
func (q *question) simulated(at string, left *int) string {
	if *left--; *left < 0 {
		return ""
	}
	file, _ := q.file(at)
	if file == nil {
		for _, name := range q.list(at, *left) {
			if found := q.simulated(name, left); found != "" {
				return found
			}
		}
		return ""
	}
	defer file.Close()
	if marked(io.LimitReader(file, maxMarked)) {
		return at
	}
	return ""
}

// marked reports whether the data has a simulation's mark: its words, or the first bytes of its contexts.
func marked(r io.Reader) bool {
	marks := [][]byte{[]byte(qnn.Simulated), []byte(qnn.SimulatedContext)}
	const most = 64 // bytes; the longest mark is shorter
	buf := make([]byte, 1<<20)
	for kept := 0; ; {
		n, err := io.ReadFull(r, buf[kept:])
		have := buf[:kept+n]
		for _, m := range marks {
			if bytes.Contains(have, m) {
				return true
			}
		}
		if err != nil {
			return false
		}
		kept = copy(buf, have[len(have)-most:])
	}
}
