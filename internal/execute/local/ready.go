package local

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Ready returns why nothing can be executed here, nil if it can: a root folder that was only just filled may have no
// more than files.
func Ready() error {
	if runtime.GOOS != "linux" {
		return nil
	}
	for _, p := range []string{"/proc/self/fd", os.DevNull} {
		if _, err := os.Stat(p); err != nil {
			return fmt.Errorf("%s is not there, and no command runs without: in a chroot, `mount -t proc proc "+
				"/proc` and `mount --bind /dev /dev`, or enter it with a program that does", p)
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
					return "it is a script for " + words[0] + ", which is not on this machine"
				}
			}
		}
	}
	return "is the program there, executable, and built for this machine?"
}
