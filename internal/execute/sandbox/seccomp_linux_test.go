package sandbox

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
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
	const other = answer(unix.SECCOMP_RET_TRAP)
	enosys, eperm, eacces := refuse(unix.ENOSYS), refuse(unix.EPERM), refuse(unix.EACCES)
	for _, name := range []string{"amd64", "arm64"} {
		for _, inet := range []answer{allow, ask, eacces} {
			signals, owner := allow, allow // as one or another; sockets and signals have nothing to do with each other
			if inet != allow {
				signals, owner = refuse(unix.ENOTTY), eperm
			}
			a := archOf(name)
			f := newFilter(a, policy{meta: ask, other: other, inet: inet, signals: signals})
			if len(f) > unix.BPF_MAXINSNS {
				t.Errorf("%s: %d instructions", name, len(f))
			}
			expect := func(want answer, a *arch, nr uint32, args ...uint64) {
				t.Helper()
				if got := f.run(t, a.audit, nr, args...); got != want {
					t.Errorf("%s, %#x, sockets %#x: call %d%v gets %#x, want %#x", name, a.audit, inet, nr, args, got,
						want)
				}
			}
			known := map[uint32]bool{a.ioctl: true, a.socket: true}
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
			for _, nr := range a.attributes {
				once(nr)
				expect(refuse(unix.EOPNOTSUPP), a, nr)
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
			}
			expect(allow, a, a.tgkill, 7, 8, uint64(unix.SIGURG))
			once(a.pidfd)
			if signals == allow {
				expect(allow, a, a.pidfd)
			} else {
				expect(enosys, a, a.pidfd)
			}
			for _, nr := range []uint32{a.fcntl} {
				once(nr)
				expect(signals, a, nr, 3, unix.F_SETOWN, 7)
				expect(owner, a, nr, 3, unix.F_SETOWN_EX)
				expect(allow, a, nr, 3, unix.F_SETFD)
			}
			expect(owner, a, a.ioctl, 3, 0x8901)
			expect(eperm, a, a.ioctl, 0, unix.TIOCSTI)
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
			for _, other := range []uint32{unix.AUDIT_ARCH_PPC64LE, unix.AUDIT_ARCH_I386, unix.AUDIT_ARCH_ARM} {
				expect(enosys, &arch{audit: other}, 1)
			}
		}
	}
	if archOf("riscv64") != nil {
		t.Error("there is a filter without numbers")
	}
}

// The numbers of all processors' calls are those that golang.org/x/sys has from the kernel's headers.
func TestNumbers(t *testing.T) {
	out, err := exec.Command("go", "list", "-find", "-f", "{{.Dir}}", "golang.org/x/sys/unix").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"amd64", "arm64"} {
		file := filepath.Join(strings.TrimSpace(string(out)), "zsysnum_linux_"+name+".go")
		checkNumbers(t, name, archOf(name), callNumbers(t, file))
	}
}

// callNumbers reads the numbers of a file of package unix that only builds on another processor.
func callNumbers(t *testing.T, file string) map[string]uint32 {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[string]uint32{}
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Names) == 1 && len(v.Values) == 1 {
			if lit, ok := v.Values[0].(*ast.BasicLit); ok {
				if n, err := strconv.ParseUint(lit.Value, 0, 32); err == nil {
					numbers[strings.TrimPrefix(v.Names[0].Name, "SYS_")] = uint32(n)
				}
			}
		}
		return true
	})
	return numbers
}

func checkNumbers(t *testing.T, name string, a *arch, numbers map[string]uint32) {
	t.Helper()
	seen := map[uint32]bool{}
	number := func(call string) uint32 {
		nr := numbers[call]
		seen[nr] = true
		return nr
	}
	changes := map[string]change{
		"CHMOD": byPath(chmod), "FCHMOD": byFile(chmod), "FCHMODAT": byFolder(chmod, none),
		"FCHMODAT2": byFolder(chmod, 3), "FCHOWNAT": byFolder(chown, 4),
		"UTIME": byPath(utime), "UTIMES": byPath(utimes), "FUTIMESAT": byFolder(utimes, none),
		"UTIMENSAT": byFolder(utimens, 3),
		"CHOWN":     byPath(chown), "LCHOWN": byLink(chown), "FCHOWN": byFile(chown),
	}
	for call, want := range changes {
		if _, ok := numbers[call]; !ok {
			continue // newer processors have no use for it
		}
		if nr := number(call); a.changes[nr] != want {
			t.Errorf("%s: %s, call %d: %+v, want %+v", name, call, nr, a.changes[nr], want)
		}
	}
	for call, want := range map[string]process{
		"PRLIMIT64": whose(0), "SETPRIORITY": whoseKind(0), "IOPRIO_SET": whoseKind(1),
		"SCHED_SETAFFINITY": whose(0), "SCHED_SETSCHEDULER": whose(0), "SCHED_SETPARAM": whose(0),
		"SCHED_SETATTR": whose(0),
	} {
		if nr := number(call); a.processes[nr] != want {
			t.Errorf("%s: %s, call %d: %+v, want %+v", name, call, nr, a.processes[nr], want)
		}
	}
	for _, list := range []struct {
		got   []uint32
		calls string
	}{
		{slices.Concat(a.missing, missingEverywhere()), "ADD_KEY REQUEST_KEY KEYCTL SHMGET SEMGET MSGGET " +
			"MQ_OPEN MQ_UNLINK IO_URING_SETUP SETXATTRAT REMOVEXATTRAT FILE_SETATTR"},
		{a.attributes, "SETXATTR LSETXATTR FSETXATTR REMOVEXATTR LREMOVEXATTR FREMOVEXATTR"},
		{a.signals, "KILL TKILL RT_SIGQUEUEINFO RT_TGSIGQUEUEINFO"}, {[]uint32{a.tgkill}, "TGKILL"},
		{[]uint32{a.pidfd}, "PIDFD_SEND_SIGNAL"}, {[]uint32{a.fcntl}, "FCNTL"},
		{[]uint32{a.ioctl}, "IOCTL"},
		{[]uint32{a.socket}, "SOCKET"},
	} {
		var want []uint32
		for call := range strings.FieldsSeq(list.calls) {
			if _, ok := numbers[call]; ok {
				want = append(want, number(call))
			}
		}
		if got := slices.Sorted(slices.Values(list.got)); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Errorf("%s: %s: %v, want %v", name, list.calls, list.got, want)
		}
	}
	for nr := range a.changes {
		if !seen[nr] {
			t.Errorf("%s: nobody knows call %d", name, nr)
		}
	}
	for nr := range a.processes {
		if !seen[nr] {
			t.Errorf("%s: nobody knows call %d", name, nr)
		}
	}
}
