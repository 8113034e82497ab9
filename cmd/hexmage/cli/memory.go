package cli

import (
	"os"
	"path"
	"strconv"
	"strings"
)

// totalMemory returns the bytes of memory that hexmage and its children may use: the machine's memory, or the limit of
// the control group if that is lower. It returns 0 if both are unknown.
func totalMemory() int64 {
	var total int64
	for line := range strings.Lines(kernelFile("/proc/meminfo")) {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			total, _ = strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 53)
			total <<= 10
		}
	}
	for line := range strings.Lines(kernelFile("/proc/self/cgroup")) {
		_, line, _ = strings.Cut(strings.TrimSpace(line), ":")
		kind, group, _ := strings.Cut(line, ":")
		root, limit := "/sys/fs/cgroup", "memory.max" // version 2
		switch kind {
		case "":
		case "memory":
			root, limit = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		// A group's limit applies to all groups below it.
		for group = path.Clean("/" + group); ; group = path.Dir(group) {
			n, err := strconv.ParseInt(kernelFile(path.Join(root, group, limit)), 10, 64)
			if err == nil && (total == 0 || n < total) {
				total = n
			}
			if group == "/" {
				break
			}
		}
	}
	return total
}

// kernelFile returns the text of a file in /proc or /sys, or "" if it cannot be read.
func kernelFile(name string) string {
	b, _ := os.ReadFile(name)
	return strings.TrimSpace(string(b))
}
