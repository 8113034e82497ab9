package sandbox

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// run is what the kernel does with the filter for a system call.
func (f filter) run(t *testing.T, audit, nr uint32, args ...uint64) answer {
	t.Helper()
	data := [16]uint32{dataNumber / 4: nr, dataArch / 4: audit}
	for i, a := range args {
		data[dataArgs/4+2*i], data[dataArgs/4+2*i+1] = uint32(a), uint32(a>>32)
	}
	var loaded uint32
	for at := 0; at < len(f); at++ {
		jump := func(is bool) {
			if is {
				at += int(f[at].Jt)
			} else {
				at += int(f[at].Jf)
			}
		}
		switch op := f[at]; op.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			loaded = data[op.K/4]
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			jump(loaded == op.K)
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			jump(loaded >= op.K)
		case unix.BPF_JMP | unix.BPF_JA:
			at += int(op.K)
		case unix.BPF_RET | unix.BPF_K:
			return answer(op.K)
		default:
			t.Fatalf("%d: no instruction %#x", at, op.Code)
		}
	}
	t.Fatal("it ends without an answer")
	return 0
}

func TestFilter(t *testing.T) {
	const other, secret = answer(unix.SECCOMP_RET_TRAP), 0x1234567
	enosys, eperm, eacces := refuse(unix.ENOSYS), refuse(unix.EPERM), refuse(unix.EACCES)
	for _, name := range []string{"amd64", "arm64"} {
		for _, inet := range []answer{allow, ask, eacces} {
			signals, owner := allow, allow // as one or another; sockets and signals have nothing to do with each other
			if inet != allow {
				signals, owner = refuse(unix.ENOTTY), eperm
			}
			f := newFilter(archs(name), policy{meta: ask, other: other, inet: inet, signals: signals, secret: secret})
			if len(f) > unix.BPF_MAXINSNS {
				t.Errorf("%s: %d instructions", name, len(f))
			}
			expect := func(want answer, a arch, nr uint32, args ...uint64) {
				t.Helper()
				if got := f.run(t, a.audit, nr, args...); got != want {
					t.Errorf("%s, %#x, sockets %#x: call %d%v gets %#x, want %#x", name, a.audit, inet, nr, args, got, want)
				}
			}
			for _, a := range archs(name) {
				known := map[uint32]bool{a.ioctl: true, a.setsid: true, a.setpgid: true, a.socket: true, a.socketCall: a.socketCall != 0}
				once := func(nr uint32) {
					if known[nr] {
						t.Errorf("%s, %#x: call %d is there twice", name, a.audit, nr)
					}
					known[nr] = true
				}
				for nr := range a.changes {
					once(nr)
					expect(ask, a, nr)
				}
				for _, nr := range append(missingEverywhere(), a.missing...) {
					once(nr)
					expect(enosys, a, nr)
				}
				for _, nr := range a.forbidden {
					once(nr)
					expect(eperm, a, nr)
				}
				for nr, p := range a.processes {
					once(nr)
					first, value := uint64(p.first), uint64(1)<<32 // only the upper half says that there is one
					switch {
					case p.kind:
						expect(allow, a, nr, first, 0)
						expect(allow, a, nr, first+1, 0)
						expect(eperm, a, nr, first+2, 0)
						expect(other, a, nr, first, 7)
					case p.query != none:
						expect(allow, a, nr, 0, 0, value)
						expect(allow, a, nr, 7, 0, 0)
						expect(other, a, nr, 7, 0, value)
					default:
						expect(allow, a, nr, 0, value)
						expect(other, a, nr, 7, 0)
					}
				}
				for _, nr := range append(a.signals, a.tgkill) {
					once(nr)
					expect(allow, a, nr, 0)
					expect(signals, a, nr, 7)
					expect(signals, a, nr, ^uint64(0))
					if nr != a.tgkill {
						expect(allow, a, nr, secret<<32+7)
					}
				}
				expect(allow, a, a.tgkill, 7, 8, uint64(unix.SIGURG))
				once(a.pidfd)
				expect(signals, a, a.pidfd)
				for _, nr := range a.fcntl {
					once(nr)
					expect(signals, a, nr, 3, unix.F_SETOWN, 7)
					expect(owner, a, nr, 3, unix.F_SETOWN_EX)
					expect(allow, a, nr, 3, unix.F_SETFD)
				}
				expect(owner, a, a.ioctl, 3, 0x8901)
				expect(eperm, a, a.ioctl, 0, unix.TIOCSTI)
				expect(ask, a, a.setsid)
				for _, args := range [][]uint64{{0, 0}, {0, 7}, {7, 0}, {7, secret << 32}, {0, secret<<32 + 7}, {0, (secret + 1) << 32}} {
					expect(ask, a, a.setpgid, args...)
				}
				expect(allow, a, a.setpgid, 0, secret<<32)
				expect(enosys, a, x32Bit+1)
				expect(eperm, a, a.ioctl, 3, 0x40086602)
				expect(allow, a, a.ioctl, 3, 0x80086601) // FS_IOC_GETFLAGS
				for nr := range uint32(500) {
					if !known[nr] {
						expect(allow, a, nr, ^uint64(0), ^uint64(0))
					}
				}
				rest := eacces
				if inet == allow {
					rest = allow
				}
				expect(inet, a, a.socket, unix.AF_INET)
				expect(inet, a, a.socket, unix.AF_INET6)
				expect(rest, a, a.socket, unix.AF_NETLINK)
				expect(allow, a, a.socket, unix.AF_UNIX)
				if a.socketCall != 0 {
					expect(inet, a, a.socketCall, 1)
					expect(allow, a, a.socketCall, 3)
				}
			}
			expect(enosys, arch{audit: unix.AUDIT_ARCH_PPC64LE}, 1)
		}
	}
	if archs("riscv64") != nil {
		t.Error("there is a filter without numbers")
	}
}

// The numbers of this processor's calls are those that others know.
func TestNumbers(t *testing.T) {
	all := archs(runtime.GOARCH)
	if all == nil {
		t.Skip("no filter for this processor")
	}
	a := all[0]
	for nr, want := range map[uint32]change{
		unix.SYS_FCHMOD: byFile(chmod), unix.SYS_FCHMODAT: byFolder(chmod, none), unix.SYS_FCHMODAT2: byFolder(chmod, 3),
		unix.SYS_FCHOWN: byFile(chown), unix.SYS_FCHOWNAT: byFolder(chown, 4), unix.SYS_UTIMENSAT: byFolder(utimens, 3),
		unix.SYS_SETXATTR: byPath(setxattr), unix.SYS_LSETXATTR: byLink(setxattr), unix.SYS_FSETXATTR: byFile(setxattr),
		unix.SYS_REMOVEXATTR: byPath(removexattr), unix.SYS_LREMOVEXATTR: byLink(removexattr), unix.SYS_FREMOVEXATTR: byFile(removexattr),
	} {
		if a.changes[nr] != want {
			t.Errorf("call %d: %+v, want %+v", nr, a.changes[nr], want)
		}
	}
	for nr, want := range map[uint32]process{
		unix.SYS_PRLIMIT64: unlessNull(2), unix.SYS_SETPRIORITY: whoseKind(0), unix.SYS_IOPRIO_SET: whoseKind(1),
		unix.SYS_SCHED_SETAFFINITY: whose(0), unix.SYS_SCHED_SETSCHEDULER: whose(0), unix.SYS_SCHED_SETPARAM: whose(0), unix.SYS_SCHED_SETATTR: whose(0),
	} {
		if a.processes[nr] != want {
			t.Errorf("call %d: %+v, want %+v", nr, a.processes[nr], want)
		}
	}
	gone := map[uint32]bool{}
	for _, nr := range append(missingEverywhere(), a.missing...) {
		gone[nr] = true
	}
	for _, nr := range []uint32{
		unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL, unix.SYS_SHMGET, unix.SYS_SEMGET, unix.SYS_MSGGET, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
		unix.SYS_IO_URING_SETUP, unix.SYS_SETXATTRAT, unix.SYS_REMOVEXATTRAT, unix.SYS_FILE_SETATTR,
	} {
		if !gone[nr] {
			t.Errorf("call %d is there", nr)
		}
	}
	if a.ioctl != unix.SYS_IOCTL || a.socket != unix.SYS_SOCKET {
		t.Errorf("ioctl %d, socket %d", a.ioctl, a.socket)
	}
}
