package sandbox

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in struct seccomp_data; the low half of the first argument, as both processors are little-endian.
const (
	dataNumber = 0
	dataArch   = 4
	dataArg0   = 16
)

// x32Bit marks system calls of the x32 interface, which has numbers of its own.
const x32Bit = 0x40000000

// arch is one of the interfaces of system calls that a processor has.
type arch struct {
	audit      uint32
	socket     uint32
	socketCall uint32 // the call that stood for all of sockets', of which the first argument says which; 0: none
}

var (
	nativeArch  = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]
	archsByName = map[string][]arch{
		"amd64": {{audit: unix.AUDIT_ARCH_X86_64, socket: 41}, {audit: unix.AUDIT_ARCH_I386, socket: 359, socketCall: 102}},
		"arm64": {{audit: unix.AUDIT_ARCH_AARCH64, socket: 198}, {audit: unix.AUDIT_ARCH_ARM, socket: 281, socketCall: 102}},
	}
	networkFilter = assemble(archsByName[runtime.GOARCH])
)

// io_uring can make sockets without the system call for it; its number is the same everywhere. A program that gets ENOSYS
// does without.
const ioUringSetup = 425

// assemble writes the filter: socket() makes unix sockets alone, other families are EACCES. Interfaces that are not listed
// get ENOSYS for everything.
func assemble(archs []arch) []unix.SockFilter {
	const (
		load  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		above = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		ret   = unix.BPF_RET | unix.BPF_K
	)
	var f []unix.SockFilter
	op := func(code uint16, k uint32, yes, no uint8) {
		f = append(f, unix.SockFilter{Code: code, K: k, Jt: yes, Jf: no})
	}
	answer := func(errno uint32) { op(ret, unix.SECCOMP_RET_ERRNO|errno, 0, 0) }
	allow := func() { op(ret, unix.SECCOMP_RET_ALLOW, 0, 0) }
	op(load, dataArch, 0, 0)
	for _, a := range archs {
		skip := len(f)
		op(equal, a.audit, 0, 0) // to the next interface, a distance filled in below
		op(load, dataNumber, 0, 0)
		op(above, x32Bit, 0, 1)
		answer(uint32(unix.ENOSYS))
		op(equal, ioUringSetup, 0, 1)
		answer(uint32(unix.ENOSYS))
		if a.socketCall != 0 {
			op(equal, a.socketCall, 0, 4)
			op(load, dataArg0, 0, 0)
			op(equal, 1, 0, 1) // SYS_SOCKET; its family is in memory, where a filter cannot look
			answer(uint32(unix.EACCES))
			allow()
		}
		op(equal, a.socket, 1, 0)
		allow()
		op(load, dataArg0, 0, 0)
		op(equal, unix.AF_UNIX, 1, 0)
		answer(uint32(unix.EACCES))
		allow()
		f[skip].Jf = uint8(len(f) - skip - 1)
	}
	answer(uint32(unix.ENOSYS))
	return f
}

// refuseNetwork installs the filter on the calling thread.
func refuseNetwork() error {
	prog := unix.SockFprog{Len: uint16(len(networkFilter)), Filter: &networkFilter[0]}
	_, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return errno
	}
	return nil
}
