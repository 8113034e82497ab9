package sandbox

import (
	"maps"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in struct seccomp_data. Both processors are little-endian: an argument's low half comes first.
const (
	dataNumber = 0
	dataArch   = 4
	dataArgs   = 16
)

// x32Bit marks system calls of the x32 interface, which has numbers of its own.
const x32Bit = 0x40000000

// answer is what a filter returns for a system call.
type answer uint32

const (
	allow = answer(unix.SECCOMP_RET_ALLOW)
	ask   = answer(unix.SECCOMP_RET_USER_NOTIF) // the supervisor
)

func refuse(errno unix.Errno) answer { return unix.SECCOMP_RET_ERRNO | answer(errno) }

// filter is a program for the kernel that is run for system calls. Those that it allows whatever their arguments the
// kernel knows to be so, and does not ask: they cost nothing.
type filter []unix.SockFilter

func (f *filter) op(code uint16, k uint32, yes, no uint8) {
	*f = append(*f, unix.SockFilter{Code: code, K: k, Jt: yes, Jf: no})
}

func (f *filter) load(offset uint32) { f.op(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, offset, 0, 0) }

func (f *filter) ret(a answer) { f.op(unix.BPF_RET|unix.BPF_K, uint32(a), 0, 0) }

// equal is: if what was loaded is k, body, which ends in an answer.
func (f *filter) equal(k uint32, body func()) {
	at := len(*f)
	f.op(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, k, 0, 0)
	body()
	(*f)[at].Jf = uint8(len(*f) - at - 1)
}

func (f *filter) is(k uint32, a answer) { f.equal(k, func() { f.ret(a) }) }

// policy says what a filter answers.
type policy struct {
	meta    answer // for calls that change files beside their content
	other   answer // for calls that change other processes
	inet    answer // for those that make sockets of the network
	signals answer // for those that send signals; allow: the kernel checks to whom
}

// newFilter makes the filter of a thread. Calls of other interfaces get ENOSYS.
func newFilter(a *arch, p policy) filter {
	var f filter
	f.load(dataArch)
	f.op(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, a.audit, 1, 0)
	f.ret(refuse(unix.ENOSYS))
	f.load(dataNumber)
	f.op(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K, x32Bit, 0, 1)
	f.ret(refuse(unix.ENOSYS))
	for _, nr := range slices.Concat(missingEverywhere(), a.missing) {
		f.is(nr, refuse(unix.ENOSYS))
	}
	for _, nr := range a.attributes {
		f.is(nr, refuse(unix.EOPNOTSUPP))
	}
	for _, nr := range slices.Sorted(maps.Keys(a.changes)) {
		f.is(nr, p.meta)
	}
	for _, nr := range slices.Sorted(maps.Keys(a.processes)) {
		f.equal(nr, func() { f.process(a.processes[nr], p.other) })
	}
	f.equal(a.ioctl, func() {
		f.load(dataArgs + 8)
		requests := slices.Concat(inodeIoctls(), inputIoctls())
		if p.signals != allow {
			requests = append(requests, ownerIoctls()...)
		}
		for _, request := range requests {
			f.is(request, refuse(unix.EPERM))
		}
		f.ret(allow)
	})
	if p.signals != allow {
		f.signals(a, p.signals)
	}
	if p.inet != allow {
		f.sockets(a, p.inet)
	}
	f.ret(allow)
	return f
}

// sockets has socket() make unix sockets alone: inet is the answer for the internet's, others are EACCES.
func (f *filter) sockets(a *arch, inet answer) {
	f.equal(a.socket, func() {
		f.load(dataArgs)
		f.is(unix.AF_UNIX, allow)
		f.is(unix.AF_INET, inet)
		f.is(unix.AF_INET6, inet)
		f.ret(refuse(unix.EACCES))
	})
}

func (f *filter) process(p process, other answer) {
	if p.kind {
		f.load(dataArgs)
		f.op(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, p.first, 2, 0)
		f.op(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, p.first+1, 1, 0)
		f.ret(refuse(unix.EPERM))
	}
	f.load(dataArgs + 8*p.pid)
	f.is(0, allow)
	f.ret(other)
}

// signals gives an answer for all ways to send a signal, but to the caller's own process group.
func (f *filter) signals(a *arch, other answer) {
	for _, nr := range a.signals {
		f.equal(nr, func() { f.process(whose(0), other) })
	}
	// Go's scheduler has threads of its own process let others run by this signal, which does nothing to who does not
	// wait for it. In this process that must not wait for a supervisor who is to be let run.
	f.equal(a.tgkill, func() {
		f.load(dataArgs + 16)
		f.is(uint32(unix.SIGURG), allow)
		f.process(whose(0), other)
	})
	f.is(a.pidfd, refuse(unix.ENOSYS))
	f.equal(a.fcntl, func() { // the owner of a descriptor gets one when there is something to read
		f.load(dataArgs + 8)
		f.is(unix.F_SETOWN, other)
		f.is(unix.F_SETOWN_EX, refuse(unix.EPERM))
		f.ret(allow)
	})
}

// install puts the filter on the calling thread. With listen it returns the descriptor of the file by which the
// kernel asks.
func (f filter) install(listen bool) (int, error) {
	var flags uintptr
	if listen {
		// Once the supervisor has a question, only what kills the caller interrupts it: nothing is done twice.
		flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
	}
	prog := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	fd, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags,
		uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}
