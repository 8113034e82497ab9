package cli

import (
	"runtime"

	"golang.org/x/sys/cpu"
)

// cpuLevel returns the level of this machine's instruction set by which numeric libraries choose kernels. On x86 this
// is a level of the System V ABI, with -vnni if the processor has 8-bit dot products. On arm64 it is the architecture
// with its extensions for dot and matrix products.
func cpuLevel() string {
	level := runtime.GOARCH
	var more []feature
	switch runtime.GOARCH {
	case "amd64":
		x := cpu.X86
		v2 := x.HasCX16 && x.HasPOPCNT && x.HasSSE3 && x.HasSSSE3 && x.HasSSE41 && x.HasSSE42
		v3 := v2 && x.HasAVX && x.HasAVX2 && x.HasBMI1 && x.HasBMI2 && x.HasFMA
		v4 := v3 && x.HasAVX512F && x.HasAVX512BW && x.HasAVX512CD && x.HasAVX512DQ && x.HasAVX512VL
		level = "x86-64-v1"
		for _, f := range []feature{{v2, "x86-64-v2"}, {v3, "x86-64-v3"}, {v4, "x86-64-v4"}} {
			if f.has {
				level = f.name
			}
		}
		more = []feature{{x.HasAVX512VNNI || x.HasAVXVNNI, "vnni"}}
	case "arm64":
		a := cpu.ARM64
		more = []feature{{a.HasASIMDDP, "dotprod"}, {a.HasI8MM, "i8mm"}, {a.HasSVE, "sve"}}
	}
	for _, f := range more {
		if f.has {
			level += "-" + f.name
		}
	}
	return level
}

type feature struct {
	has  bool
	name string
}
