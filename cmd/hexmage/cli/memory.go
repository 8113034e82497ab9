package cli

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// memoryGB is this machine's memory: the pool memory_gb. Where it cannot be told, steps that ask for memory run one at a
// time.
func memoryGB() int {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 1
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	for s.Scan() {
		if rest, ok := strings.CutPrefix(s.Text(), "MemTotal:"); ok {
			kb, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")))
			if err == nil {
				return max(1, kb>>20)
			}
		}
	}
	return 1
}
