package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// describe says on what was measured, without naming the machine.
func describe(dir string) string {
	s := fmt.Sprintf("%d cores (%s), %s", runtime.NumCPU(), runtime.GOARCH, runtime.GOOS)
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		v, _, _ := strings.Cut(strings.TrimSpace(string(b)), "-") // what follows may name who built it
		s += " " + v
	}
	if fs := fileSystem(dir); fs != "" {
		s += ", " + fs
	}
	if b, err := os.ReadFile("/proc/loadavg"); err == nil {
		load, _, _ := strings.Cut(string(b), " ")
		s += ", load before " + load
	}
	return s
}

// fileSystem is the type of the file system that a folder is on, or "".
func fileSystem(dir string) string {
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	best, kind := -1, ""
	for line := range bytes.Lines(b) {
		f := strings.Fields(string(line))
		_, after, ok := strings.Cut(string(line), " - ")
		if len(f) < 5 || !ok {
			continue
		}
		at := f[4]
		if (at == "/" || dir == at || strings.HasPrefix(dir, at+"/")) && len(at) >= best {
			best, kind = len(at), strings.Fields(after)[0]
		}
	}
	return kind
}
