package steps

import (
	"bytes"
	"io"

	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/toolchains"
)

// maxMarked is how much of a file is searched for a mark, in bytes: more than any that a simulation makes has before it, and little of a model.
// maxSearched is how many files and folders of a folder are: more than anybody pushes.
const (
	maxMarked   = 16 << 20
	maxSearched = 4096
)

// simulatedAllowed tells whether a simulation may take a vendor's place: in profile simulated, and in pipelines without profiles, which say so.
func (q *question) simulatedAllowed() bool {
	return q.p.Profile == toolchains.ProfileSimulated || q.p.Profile == ""
}

// refuseSimulated refuses a file of the workspace, or a folder with one, that says of itself that it is hexmage's own, in a profile whose results are to
// be a vendor's.
func (q *question) refuseSimulated(arg, at string) {
	if at == "" || q.simulatedAllowed() {
		return
	}
	left := maxSearched
	if found := q.simulated(at, &left); found != "" {
		q.p.Fail(arg, "Simulated file", "%s was made by a simulation of hexmage. Profile %s accepts real files only: name one that the real tool made.", found, q.p.Profile)
	}
}

// simulated returns the first file at a path, or below it, that has a simulation's mark; "" where there is none among those that are left to search.
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

// marked tells whether what is read has a simulation's mark: its words, or what its contexts begin with.
func marked(r io.Reader) bool {
	marks := [][]byte{[]byte(qnn.Simulated), []byte(qnn.SimulatedContext)}
	const most = 64 // bytes of the longest mark, at least
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
