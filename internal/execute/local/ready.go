package local

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Ready returns the reason why this machine cannot run actions, or nil. For example, a chroot may lack /proc.
func Ready() error {
	if runtime.GOOS != "linux" {
		return nil
	}
	for _, p := range []string{"/proc/self/fd", os.DevNull} {
		if _, err := os.Stat(p); err != nil {
			return fmt.Errorf("%s is missing, and commands need it; in a chroot, run `mount -t proc proc /proc` and "+
				"`mount --bind /dev /dev`", p)
		}
	}
	return nil
}

// remedy is what may help where a program did not start.
func (s *execRoot) remedy(program string) string {
	if !filepath.IsAbs(program) {
		program = filepath.Join(s.root(), program)
	}
	if f, err := os.Open(program); err == nil {
		defer f.Close()
		var first [256]byte
		n, _ := f.Read(first[:])
		line, _, _ := bytes.Cut(first[:n], []byte("\n"))
		if after, ok := strings.CutPrefix(string(line), "#!"); ok {
			if words := strings.Fields(after); len(words) > 0 {
				if _, err := os.Stat(words[0]); err != nil {
					return "install " + words[0] + ", which the first line of the script names"
				}
			}
		}
	}
	return "check that the program exists, is executable, and is built for this machine"
}
