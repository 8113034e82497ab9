package cli

import (
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestCPULevel: the level is what the kernel says of the processor, and a plan that was made on another level does
// not hold.
func TestCPULevel(t *testing.T) {
	level := cpuLevel()
	if !regexp.MustCompile(`^(x86-64-v[1-4](-vnni)?|arm64(-dotprod)?(-i8mm)?(-sve)?|[a-z0-9]+)$`).MatchString(level) {
		t.Errorf("the level is %q", level)
	}
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil && runtime.GOARCH == "amd64" {
		_, flags, _ := strings.Cut(string(info), "\nflags")
		line, _, _ := strings.Cut(flags, "\n")
		has := func(names ...string) bool {
			return !slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(strings.Fields(line), n) })
		}
		if vnni := has("avx512_vnni") || has("avx_vnni"); strings.HasSuffix(level, "-vnni") != vnni {
			t.Errorf("%s, and VNNI is %v", level, vnni)
		}
		v3 := has("avx2", "fma", "bmi1", "bmi2", "sse4_2", "popcnt", "cx16")
		for name, want := range map[string]bool{"x86-64-v4": v3 &&
			has("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"), "x86-64-v3": v3 && !has("avx512f")} {
			if strings.HasPrefix(level, name) != want {
				t.Errorf("%s, and %s is %v", level, name, want)
			}
		}
	}
}
