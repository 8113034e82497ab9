//go:build linux

package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// running returns the processes that have to do with the world: run the binary under test, or have the world's folders as
// their working folder, program, root or in their environment. What was just killed gets a moment to be gone.
func running(w *world) []string {
	base := filepath.Dir(w.cache)
	var found []string
	for deadline := time.Now().Add(2 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		found = nil
		dirs, _ := filepath.Glob("/proc/[0-9]*")
		for _, dir := range dirs {
			if dir == fmt.Sprintf("/proc/%d", os.Getpid()) {
				continue
			}
			text := ""
			for _, link := range []string{"exe", "cwd", "root"} {
				target, _ := os.Readlink(filepath.Join(dir, link))
				text += target + "\x00"
			}
			env, _ := os.ReadFile(filepath.Join(dir, "environ"))
			text += string(env)
			if strings.Contains(text, base+"/") || strings.Contains(text, shared.hexmage) {
				args, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
				found = append(found, filepath.Base(dir)+": "+strings.ReplaceAll(string(args), "\x00", " "))
			}
		}
		if len(found) == 0 || time.Now().After(deadline) {
			return found
		}
	}
}
