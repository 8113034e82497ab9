package front

import (
	"bytes"
	"os"
	"strconv"
	"testing"
)

// resident is how many bytes of files the process has in its memory, such as its program.
func resident(t *testing.T) int64 {
	t.Helper()
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(b, []byte("\nRssFile:"))
	n, err := strconv.ParseInt(string(bytes.Fields(rest)[0]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n << 10
}

// What of the program is not needed goes, and what is needed comes back.
func TestFreeProgram(t *testing.T) {
	before := resident(t)
	for range 50 { // what is needed to look, and by whatever else runs, is back at once
		freeProgram()
		if resident(t) < before {
			return
		}
	}
	t.Errorf("%d bytes of files in memory, as before", resident(t))
}
