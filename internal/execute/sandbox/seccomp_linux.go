package sandbox

import (
	"maps"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in struct seccomp_data. All supported processors are little-endian, so the low half of an argument comes
// first.
const (
	dataNumber = 0
	dataArch   = 4
	dataArgs   = 16
)

// x32Bit marks system calls of the x32 interface.
const x32Bit = 0x40000000

// answer is what a filter returns for a system call.
type answer uint32

const (
	allow = answer(unix.SECCOMP_RET_ALLOW)
	ask   = answer(unix.SECCOMP_RET_USER_NOTIF) // the supervisor decides
)

func refuse(errno unix.Errno) answer { return unix.SECCOMP_RET_ERRNO | answer(errno) }

// filter is a program that the kernel runs for system calls. The kernel remembers the calls that it allows for all
// arguments, and does not run it for them.
type filter []unix.SockFilter

func (f *filter) op(code uint16, k uint32, yes, no uint8) {
	*f = append(*f, unix.SockFilter{Code: code, K: k, Jt: yes, Jf: no})
}

func (f *filter) load(offset uint32) { f.op(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, offset, 0, 0) }

func (f *filter) ret(a answer) { f.op(unix.BPF_RET|unix.BPF_K, uint32(a), 0, 0) }

// equal runs body, which ends in an answer, if the loaded value is k.
func (f *filter) equal(k uint32, body func()) {
	at := len(*f)
	f.op(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, k, 0, 0)
	body()
	(*f)[at].Jf = uint8(len(*f) - at - 1)
}

func (f *filter) is(k uint32, a answer) { f.equal(k, func() { f.ret(a) }) }

// policy has the answers of a filter.
type policy struct {
	meta    answer // for calls that change attributes of files
	other   answer // for calls that change other processes
	inet    answer // for calls that make network sockets
	signals answer // for calls that send signals; allow: the kernel restricts them to the command
}

// newFilter returns the filter of a thread. Calls of other interfaces get ENOSYS.
func newFilter(a *arch, p policy) filter {
	var f filter
	f.load(dataArch)
	f.op(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, a.audit, 1, 0)
	f.ret(refuse(unix.ENOSYS))
	f.load(dataNumber)
	f.op(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K, x32Bit, 0, 1)
	f.ret(refuse(unix.ENOSYS))
	bodies := map[uint32]func(){}
	all := func(a answer, numbers ...uint32) {
		for _, nr := range numbers {
			bodies[nr] = func() { f.ret(a) }
		}
	}
	all(refuse(unix.ENOSYS), slices.Concat(missingEverywhere(), a.missing)...)
	all(refuse(unix.EOPNOTSUPP), a.attributes...)
	all(p.meta, slices.Collect(maps.Keys(a.changes))...)
	for nr, process := range a.processes {
		bodies[nr] = func() { f.process(process, p.other) }
	}
	bodies[a.ioctl] = func() {
		f.load(dataArgs + 8)
		requests := slices.Concat(inodeIoctls(), inputIoctls())
		if p.signals != allow {
			requests = append(requests, ownerIoctls()...)
		}
		for _, request := range requests {
			f.is(request, refuse(unix.EPERM))
		}
		f.ret(allow)
	}
	if p.signals != allow {
		f.signals(a, p.signals, bodies)
	}
	if p.inet != allow {
		bodies[a.socket] = func() { f.sockets(p.inet) }
	}
	// The kernel runs a new filter once for each system call number, so the filter compares a number with few others.
	for group := range slices.Chunk(slices.Sorted(maps.Keys(bodies)), groupSize) {
		f.op(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K, group[len(group)-1]+1, 0, 1)
		at := len(f)
		f.op(unix.BPF_JMP|unix.BPF_JA, 0, 0, 0) // to the next group; the distance may exceed that of a condition
		for _, nr := range group {
			f.equal(nr, bodies[nr])
		}
		f.ret(allow)
		f[at].K = uint32(len(f) - at - 1)
	}
	f.ret(allow)
	return f
}

// groupSize is the number of system calls in a group.
const groupSize = 8

// sockets allows socket() for unix sockets, answers inet for internet sockets, and refuses others with EACCES.
func (f *filter) sockets(inet answer) {
	f.load(dataArgs)
	f.is(unix.AF_UNIX, allow)
	f.is(unix.AF_INET, inet)
	f.is(unix.AF_INET6, inet)
	f.ret(refuse(unix.EACCES))
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

// signals sets the answer for calls that send signals, except to the caller's process group.
func (f *filter) signals(a *arch, other answer, bodies map[uint32]func()) {
	for _, nr := range a.signals {
		bodies[nr] = func() { f.process(whose(0), other) }
	}
	// Go's scheduler preempts threads of its own process by this signal; other programs ignore it by default. In this
	// process the signal must not wait for the supervisor, which may be the goroutine that has to run.
	bodies[a.tgkill] = func() {
		f.load(dataArgs + 16)
		f.is(uint32(unix.SIGURG), allow)
		f.process(whose(0), other)
	}
	bodies[a.pidfd] = func() { f.ret(refuse(unix.ENOSYS)) }
	bodies[a.fcntl] = func() { // F_SETOWN names the process that gets a signal when data arrives
		f.load(dataArgs + 8)
		f.is(unix.F_SETOWN, other)
		f.is(unix.F_SETOWN_EX, refuse(unix.EPERM))
		f.ret(allow)
	}
}

// install sets the filter for the calling thread. With listen it returns the descriptor from which a supervisor reads
// the kernel's questions.
func (f filter) install(listen bool) (int, error) {
	var flags uintptr
	if listen {
		// Once the supervisor has read a question, only a fatal signal interrupts the caller, so no call is carried
		// out twice.
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
