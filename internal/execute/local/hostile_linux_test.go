package local_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/execute/local"
	"github.com/hexmage/hexmage/internal/execute/sandbox"
	"github.com/hexmage/hexmage/internal/gc"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/disk"
)

// poke is what hostile actions do that no program of a shell does.
func poke(what string, args []string) error {
	num := func(i int) int { n, _ := strconv.Atoi(args[i]); return n }
	syscall3 := func(nr, a, b, c uintptr) error {
		if _, _, errno := unix.Syscall(nr, a, b, c); errno != 0 {
			return errno
		}
		return nil
	}
	descriptor := func(do func(fd int) error) error {
		f, err := os.Open(args[0])
		if err != nil {
			return err
		}
		defer f.Close()
		return do(int(f.Fd()))
	}
	switch what {
	case "fchmod":
		return descriptor(func(fd int) error { return unix.Fchmod(fd, 0o777) })
	case "fchmodat2":
		return unix.Fchmodat(unix.AT_FDCWD, args[0], 0o777, unix.AT_SYMLINK_NOFOLLOW)
	case "chmod by /proc":
		return descriptor(func(fd int) error { return os.Chmod(fmt.Sprintf("/proc/self/fd/%d", fd), 0o777) })
	case "futimens":
		return descriptor(func(fd int) error { return unix.Futimes(fd, []unix.Timeval{{}, {}}) })
	case "utime":
		return unix.Utimes(args[0], []unix.Timeval{{}, {}})
	case "setxattr":
		return unix.Setxattr(args[0], "user.hostile", []byte("x"), 0)
	case "fsetxattr":
		return descriptor(func(fd int) error { return unix.Fsetxattr(fd, "user.hostile", []byte("x"), 0) })
	case "acl":
		acl := "\x02\x00\x00\x00\x01\x00\x07\x00\xff\xff\xff\xff\x04\x00\x07\x00\xff\xff\xff\xff\x20\x00\x07\x00\xff" +
			"\xff\xff\xff"
		return unix.Setxattr(args[0], "system.posix_acl_default", []byte(acl), 0)
	case "flags":
		const nodump = 0x40
		return descriptor(func(fd int) error {
			flags, err := unix.IoctlGetInt(fd, unix.FS_IOC_GETFLAGS)
			if err != nil {
				return err
			}
			return unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, flags|nodump)
		})
	case "chown":
		return os.Lchown(args[0], 12345, 12345)
	case "truncate":
		return os.Truncate(args[0], 1)
	case "prlimit":
		return unix.Prlimit(num(0), unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 77, Max: 77}, nil)
	case "setpriority":
		return unix.Setpriority(unix.PRIO_PROCESS, num(0), 7)
	case "setpriority of all":
		return unix.Setpriority(unix.PRIO_USER, os.Getuid(), 7)
	case "affinity":
		var one unix.CPUSet
		one.Set(0)
		return unix.SchedSetaffinity(num(0), &one)
	case "kill":
		return unix.Kill(num(0), unix.SIGKILL)
	case "shm":
		return syscall3(unix.SYS_SHMGET, 0x68657870, 4096, unix.IPC_CREAT|0o600)
	case "sem":
		return syscall3(unix.SYS_SEMGET, 0x68657870, 1, unix.IPC_CREAT|0o600)
	case "msg":
		return syscall3(unix.SYS_MSGGET, 0x68657870, unix.IPC_CREAT|0o600, 0)
	case "keyring":
		_, err := unix.AddKey("user", "hexmage-hostile", []byte("x"), unix.KEY_SPEC_USER_KEYRING)
		return err
	case "link by /proc":
		return descriptor(func(fd int) error {
			return unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, args[1],
				unix.AT_SYMLINK_FOLLOW)
		})
	case "race of links": // one of the store's files takes the place of the copy that a change of its mode makes
		link, next := args[1]+"/link", args[1]+"/next"
		if err := os.Link(args[0], link); err != nil {
			return err
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			for end := time.Now().Add(200 * time.Millisecond); time.Now().Before(end); {
				_ = os.Chmod(args[0], 0o777)
			}
		}()
		for {
			select {
			case <-done:
				return nil
			default:
				// which is left where both are the same file
				_ = errors.Join(os.Link(link, next), os.Rename(next, args[0]), os.Remove(next))
			}
		}
	case "write by /proc":
		return descriptor(func(fd int) error {
			return os.WriteFile(fmt.Sprintf("/proc/self/fd/%d", fd), []byte("x"),
				0o666)
		})
	case "write to memory":
		f, err := os.OpenFile(args[0], os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		b, err := unix.Mmap(int(f.Fd()), 0, 1, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err == nil {
			b[0] = 'X'
			err = unix.Munmap(b)
		}
		return err
	case "lease":
		return descriptor(func(fd int) error {
			_, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_WRLCK)
			time.Sleep(20 * time.Millisecond)
			return err
		})
	case "project":
		var attr [28]byte // struct fsxattr: its fourth number is the project
		attr[12] = 7
		return descriptor(func(fd int) error {
			return syscall3(unix.SYS_IOCTL, uintptr(fd), 0x401c5820, uintptr(unsafe.Pointer(&attr)))
		})
	case "verity":
		return descriptor(func(fd int) error {
			attr := [16]uint64{1 | 1<<32, 4096}
			return syscall3(unix.SYS_IOCTL, uintptr(fd), 0x40806685, uintptr(unsafe.Pointer(&attr)))
		})
	case "capability":
		return unix.Setxattr(args[0], "security.capability",
			[]byte("\x01\x00\x00\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), 0)
	case "trace":
		return errors.Join(unix.PtraceAttach(num(0)), unix.PtraceSeize(num(0)))
	case "type": // at the terminal
		tty, err := os.OpenFile(args[0], os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer tty.Close()
		return syscall3(unix.SYS_IOCTL, tty.Fd(), unix.TIOCSTI, uintptr(unsafe.Pointer(&[]byte("x")[0])))
	case "enter group":
		return unix.Setpgid(0, num(0))
	case "setpriority of a group":
		return unix.Setpriority(unix.PRIO_PGRP, num(0), 7)
	case "signal by pidfd":
		fd, err := unix.PidfdOpen(num(0), 0)
		if err != nil {
			return err
		}
		return unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	case "signal by owner":
		p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		for _, c := range [][2]int{{unix.F_SETSIG, int(unix.SIGKILL)}, {unix.F_SETOWN, num(0)},
			{unix.F_SETFL, unix.O_ASYNC}} {
			if _, err := unix.FcntlInt(uintptr(p[0]), c[0], c[1]); err != nil {
				return err
			}
		}
		_, err = unix.Write(p[1], []byte("x"))
		return err
	case "queue a signal":
		var info [128]byte
		*(*int32)(unsafe.Pointer(&info[0])), *(*int32)(unsafe.Pointer(&info[8])) = int32(unix.SIGKILL), -1
		return syscall3(unix.SYS_RT_SIGQUEUEINFO, uintptr(num(0)), uintptr(unix.SIGKILL),
			uintptr(unsafe.Pointer(&info)))
	case "io_uring":
		var params [120]byte
		return syscall3(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)), 0)
	}
	return fmt.Errorf("no %q", what)
}

// hostile are scripts of actions that try to change what others have: IN is an input, OUT a folder outside, PID this
// process, poke runs poke. What each leads to is looked at afterwards; whether it fails is its own affair.
func hostile() map[string]string {
	return map[string]string{
		"mode":         "chmod +x IN",
		"mode for all": "chmod 777 IN",
		"mode, write, time back": "touch -r IN $TMPDIR/t; chmod u+w IN && echo x >> IN; touch -r $TMPDIR/t IN; " +
			"chmod a-w IN",
		"same size, time back": "touch -r IN $TMPDIR/t; chmod u+w IN && printf X | dd of=IN bs=1 conv=notrunc; " +
			"touch -r $TMPDIR/t IN; chmod 444 IN",
		"time":                 "touch -d 2001-01-01 IN",
		"time by name":         "poke utime IN",
		"time of an open file": "poke futimens IN",
		"mode of an open file": "poke fchmod IN",
		"mode by /proc":        "poke 'chmod by /proc' IN",
		"mode without links":   "poke fchmodat2 IN",
		"attribute":            "poke setxattr IN",
		"attribute, open file": "poke fsetxattr IN",
		"flags":                "poke flags IN",
		"owner":                "poke chown IN",
		"cut":                  "chmod 666 IN; poke truncate IN",
		"rename over":          "echo x > $TMPDIR/x; mv -f $TMPDIR/x IN",
		"link, mode": "ln IN $TMPDIR/l; ln IN out/l; ln IN l; for l in $TMPDIR/l out/l l; do chmod " +
			"777 $l; echo x > $l; done",
		"move, mode": "mv IN moved; mv IN out/moved; for m in moved out/moved; do chmod 777 $m; echo " +
			"x > $m; done",
		"by a symlink":    "ln -s $PWD/IN $TMPDIR/s; chmod 777 $TMPDIR/s; touch -d 2001-01-01 $TMPDIR/s",
		"from its folder": "cd $(dirname IN) && chmod 777 $(basename IN)",
		"all":             "chmod -R 777 . ; chown -R 12345 . ; find . -type f | xargs touch -d 2001-01-01",
		"times of folders": "for d in $HOME $TMPDIR out src flat . $(dirname $PWD); do echo x > $d/left; " +
			"touch -d @1000000001 $d; done",
		"times as of others": "for d in $HOME $TMPDIR src .; do mkdir $d/left; touch -r flat $d; cp -p " +
			"--attributes-only -T flat $d; done",
		"attributes of folders": "for d in . out $HOME $TMPDIR; do poke setxattr $d; poke acl $d; done",
		"owner of folders":      "for d in . out $HOME $TMPDIR; do poke chown $d; done",
		"outside, mode":         "chmod 777 OUT OUT/file",
		"outside, time":         "touch -d 2001-01-01 OUT OUT/file; poke utime OUT/file",
		"outside, attribute":    "poke setxattr OUT/file; poke setxattr OUT",
		"outside, owner":        "poke chown OUT/file",
		"outside, flags":        "poke flags OUT/file",
		"outside, by symlinks": "ln -s OUT $TMPDIR/o; ln -s OUT/file out/f; chmod 777 $TMPDIR/o/file out/f; cd " +
			"$TMPDIR/o && chmod 777 file",
		"the toolchain": "chmod -R 777 toolchains/sdk/ ; chmod 777 toolchains/sdk/bin/cc; ln " +
			"toolchains/sdk/bin/cc out/cc; chmod 777 out/cc; touch -d 2001-01-01 toolchains/sdk/bin/cc",
		"limits of hexmage":     "poke prlimit PID",
		"priority of hexmage":   "poke setpriority PID",
		"priority of all":       "poke 'setpriority of all'",
		"processors of hexmage": "poke affinity PID",
		"end hexmage":           "poke kill PID; kill -9 PID",
		"shared memory":         "poke shm; poke sem; poke msg",
		"keyring":               "poke keyring",
		"a daemon": "setsid -f sh -c 'while :; do echo x > out/w; mv -f out/w out/o; done' > " +
			"/dev/null 2>&1 < /dev/null",
		"a daemon without marks": "env -i in=IN setsid -f setsid -f sh -c 'while :; do chmod 777 $in; echo x > " +
			"$in; done' > /dev/null 2>&1 < /dev/null",
		"a daemon with wrong ones": "env -i HEXMAGE_ROOT=/x/root setsid -f sh -c 'exec 3>>out/o; while :; do echo x " +
			">&3; done' > /dev/null 2>&1 < /dev/null",
		"background": "(while :; do echo x > out/o; done) & timeout 9 sh -c 'while :; do echo x > " +
			"out/o; done' &",
		"a daemon of namespaces": "unshare -Urpf --mount-proc setsid -f setsid -f sh -c 'while :; do echo x > " +
			"out/o; done' > /dev/null 2>&1 < /dev/null",
		"many groups":    "for i in 1 2 3 4 5 6 7 8 9; do setsid -f setsid -f sleep 60; done",
		"by redirection": ": > IN; echo x >> IN; echo x <> IN 1>&0",
		"write by /proc": "poke 'write by /proc' IN; exec 3<IN; echo x > /proc/self/fd/3; chmod 666 " +
			"/proc/self/fd/3",
		"link by /proc":        "poke 'link by /proc' IN out/l; chmod 777 out/l && echo x > out/l",
		"mapped":               "poke 'write to memory' IN; chmod 666 IN; poke 'write to memory' IN",
		"holes":                "fallocate -p -o 0 -l 1 IN; chmod 666 IN; fallocate -p -o 0 -l 1 IN",
		"a lease":              "poke lease IN",
		"a lock that stays":    "setsid -f flock IN sleep 60; flock -n . true",
		"project":              "poke project IN; poke project OUT/file",
		"verity":               "poke verity IN",
		"capability":           "poke capability IN; poke capability OUT/file",
		"set-user-id":          "chmod 6777 IN; cp IN out/s; chown 0:0 out/s; chmod 6777 out/s",
		"output is a link":     "ln -sf OUT/file out/o; echo x > out/o",
		"output is an input":   "ln -f IN out/o; chmod 777 out/o; echo x > out/o",
		"output was an input":  "mv -f IN out/o; chmod 777 out/o; echo x > out/o",
		"folder of the output": "rm -rf out; ln -s OUT out; echo x > out/o; echo x > out/file; chmod 777 out/file",
		"folder of an input": "d=$(dirname IN); mv $d moved; ln -s OUT $d; echo x > IN; chmod 777 $d/file; rm " +
			"-f $d/file",
		"home and temporary": "rm -rf $HOME $TMPDIR; ln -s OUT $HOME; ln -s OUT $TMPDIR; chmod 777 $HOME/file " +
			"$TMPDIR/file",
		"locked folders": "mkdir -p out/d/e $HOME/d $TMPDIR/d; echo > out/d/e/f; chmod 000 out/d/e out/d " +
			"$HOME/d $TMPDIR/d",
		"modes of folders": "chmod 000 out $HOME $TMPDIR .",
		"deep folders":     "cd $TMPDIR; for i in $(seq 300); do mkdir d; cd d; done",
		"odd names": "for d in out $HOME $TMPDIR; do echo > \"$d/$(printf 'a\\nb\\377 *')\"; ln -s / " +
			"\"$d/..-\"; mkfifo $d/p; done",
		"other exec roots": "for d in ../../exec-*/root/out; do echo x > $d/o; done; chmod -R 777 ../..",
		"the store": "chmod -R 777 STORE; touch -d 2001-01-01 STORE STORE/*; echo x > STORE/x; rm " +
			"-rf STORE/tmp STORE/cas STORE/blake3; poke 'link by /proc' toolchains/sdk/bin/cc out/l; chmod 777 out/l",
		"outside, write": "echo x > OUT/file; echo x > OUT/new; rm -rf OUT/file; mv OUT/file OUT/x; ln " +
			"OUT/file out/l; mkdir OUT/d; mkfifo OUT/p",
		"outside, by ..": "cd $TMPDIR; r=../../../../../../../../../../../..; chmod 777 $r/OUT/file; echo " +
			"x > $r/OUT/file",
		"outside, by /proc": "chmod 777 /proc/self/root/OUT/file /proc/$$/root/OUT/file; touch -d 2001-01-01 " +
			"/proc/self/root/OUT; cd OUT && chmod 777 /proc/self/cwd/file; chmod 777 /proc/PID/cwd " +
			"/proc/PID/root/OUT/file",
		"outside, by folders": "cd OUT; exec 3<. 4<file; chmod 777 /dev/fd/3/file /dev/fd/4; poke fchmod file; " +
			"poke futimens file",
		"outside, user namespace": "unshare -Ur sh -c 'chmod 777 OUT/file; chown 0:0 OUT/file; touch -d 2001-01-01 " +
			"OUT/file'; unshare -Urm sh -c 'mount -t tmpfs x OUT; mount --bind out OUT; echo x > OUT/file'",
		"input, user namespace": "unshare -Urm sh -c 'chmod 777 IN; chown 0:0 IN; mount --bind OUT/file IN; echo " +
			"x > IN'; unshare -Ur chroot / sh -c 'chmod 777 OUT/file'",
		"mounts": "mount -t tmpfs x out; mount --bind OUT out; mount -o remount,rw /; umount -l " +
			"/dev/shm; umount -l $PWD",
		"devices":      "mknod out/b b 254 0; mknod out/c c 1 1; mknod out/o c 1 3; chmod 666 /dev/null",
		"the terminal": "poke type /dev/tty; poke type /dev/ptmx; stty -echo < /dev/tty",
		"memory of hexmage": "poke trace PID; dd if=/dev/zero of=/proc/PID/mem bs=1 count=1; cat " +
			"/proc/PID/environ /proc/PID/maps",
		"what /proc may set": "for f in oom_score_adj comm coredump_filter timerslack_ns autogroup uid_map; " +
			"do echo 1 > /proc/PID/$f; done; chmod 777 /proc/PID/comm; echo x > /proc/sys/kernel/hostname; hostname " +
			"x; echo 3 > /proc/sys/vm/drop_caches",
		"control groups": "for d in /sys/fs/cgroup /sys/fs/cgroup/*; do mkdir $d/hexmage-hostile; echo $$ " +
			"> $d/cgroup.procs; done",
		"the clock": "date -s 2001-01-01",
		"signals": "poke kill PID; poke 'signal by pidfd' PID; poke 'signal by owner' PID; poke " +
			"'queue a signal' PID; kill -9 -GROUP; kill -9 -1",
		"the group of hexmage": "poke 'enter group' GROUP; poke 'setpriority of a group' GROUP; renice -n 7 -g " +
			"GROUP",
		"the worker": "for p in kill 'signal by pidfd' 'signal by owner' 'queue a signal' trace prlimit setpriority " +
			"affinity 'enter group' 'setpriority of a group'; do poke \"$p\" $PPID; done; kill -9 -$PPID; cat " +
			"/proc/$PPID/environ /proc/$PPID/maps; for f in /proc/$PPID/fd/* /proc/$PPID/mem /proc/$PPID/comm; do " +
			"echo x > $f; done",
		"classes of hexmage": "ionice -c 3 -p PID; chrt -i -p 0 PID; prlimit --pid PID --nofile=77:77; renice " +
			"-n 7 -p PID",
		"a race of folders": "mkdir $TMPDIR/a; echo > $TMPDIR/a/file; ln -s OUT $TMPDIR/b; (for i in 1 2 3 4 " +
			"5 6 7 8 9; do mv -T $TMPDIR/a $TMPDIR/c; mv -T $TMPDIR/b $TMPDIR/a; mv -T $TMPDIR/a $TMPDIR/b; mv -T " +
			"$TMPDIR/c $TMPDIR/a; done) & for i in 1 2 3 4 5 6 7 8 9; do chmod 777 $TMPDIR/a/file; done; wait",
		"a race of inputs": "(for i in 1 2 3 4 5 6 7 8 9; do mv IN IN.x; mv IN.x IN; done) & for i in 1 2 3 " +
			"4 5 6 7 8 9; do chmod 777 IN; echo x > IN; chmod 444 IN; done; wait",
		"shared memory, files": "for d in /dev/shm /dev/shm/*; do chmod 777 $d; echo x > $d/hexmage-hostile; " +
			"done; echo x > /dev/shm/x; chmod 000 /dev/shm/x",
		"files for all": "echo x > /tmp/hexmage-hostile; echo x > /var/tmp/hexmage-hostile; echo x > " +
			"/run/hexmage-hostile",
		"a race of the store's": "poke 'race of links' IN $TMPDIR; rm -f $TMPDIR/link $TMPDIR/next",
		"a race of links and mode": "for i in 1 2 3 4 5 6 7 8 9; do (ln -sfn OUT/file $TMPDIR/r; ln -sfn $PWD/IN " +
			"$TMPDIR/r) & chmod 777 $TMPDIR/r; done; wait",
	}
}

// place is a strict executor with everything that its actions could harm; the input flat is a folder of as many files.
type place struct {
	room
	root    string // of the store
	outside string
	private bool // shared memory is
	inputs  map[string]string
	tree    digest.Digest // of the inputs, when it was needed
}

func newPlace(t *testing.T, base *sandbox.Base, flat int) *place {
	t.Helper()
	root := t.TempDir()
	blobs, err := disk.NewBlobs(root)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(root)
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, "tmp", "run")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	x := local.New(local.Options{Dir: dir, Store: blobs, Trees: merkle.NewTrees(root), Fn: digest.BLAKE3,
		Self: self(t), Base: base})
	t.Cleanup(func() { _ = x.Close() })
	p := &place{room: room{fixture: fixture{x, blobs, dir}, strict: true}, root: root, outside: t.TempDir(),
		private: base.Mounts() == nil}
	write(t, filepath.Join(p.outside, "file"), "outside")
	p.inputs = map[string]string{
		"in": "in\n", "src/in": "src/in\n", "src/prog": "#!/bin/sh\necho program\n", "out/in": "out/in\n",
		"big": strings.Repeat("large\n", 1<<18), "out/big": strings.Repeat("larger\n", 1<<18),
		"toolchains/sdk/bin/cc": "#!/bin/sh\necho cc\n",
	}
	for i := range flat {
		p.inputs[fmt.Sprintf("flat/f%d", i)] = fmt.Sprintf("flat %d\n", i)
	}
	return p
}

func (p *place) run(t *testing.T, output, script string) (*action.Result, error) {
	t.Helper()
	script = "poke() { \"$HEXMAGE_SELF\" poke \"$@\"; }\n" +
		strings.NewReplacer("OUT", p.outside, "PID", strconv.Itoa(os.Getpid()), "GROUP", strconv.Itoa(unix.Getpgrp()),
			"STORE", p.root).Replace(script)
	if p.tree == (digest.Digest{}) {
		p.tree = p.room.root(t, p.inputs)
	}
	return p.x.Execute(t.Context(), &execute.Request{Action: &action.Action{
		Command:   action.Command{Args: []string{"sh", "-c", script}, Outputs: []string{output}},
		InputRoot: p.tree,
	}})
}

// seen is what an independent action sees of the inputs.
func (p *place) seen(t *testing.T, output string) string {
	t.Helper()
	res, err := p.run(t, output, "find -L . -type f | grep -v '^./o$' | sort | xargs sha256sum; find . -type f | "+
		"sort | xargs stat -c '%n %a %u:%g %s'; stat -c '%n %a %u:%g' . out $HOME $TMPDIR | sed 's,/.*/,,'; umask; "+
		"ls -A $HOME $TMPDIR | grep -v :; ls "+map[bool]string{true: "-A", false: "-d"}[p.private]+" /dev/shm")
	if err != nil {
		t.Fatal(err)
	} else if res.ExitCode != 0 {
		t.Fatalf("%+v: %s", res, res.Stderr)
	}
	return string(res.Stdout)
}

// outsiders is what the file system and the kernel say of what no action may change.
func (p *place) outsiders(t *testing.T) string {
	t.Helper()
	var s strings.Builder
	for _, at := range []string{p.outside, filepath.Join(p.outside, "file")} {
		var st unix.Stat_t
		if err := unix.Lstat(at, &st); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&s, at, st.Mode, st.Uid, st.Mtim, st.Ctim)
	}
	for _, dir := range []string{p.outside, p.root} {
		names, _ := os.ReadDir(dir)
		fmt.Fprintln(&s, names)
	}
	for _, dir := range []string{"/tmp", "/var/tmp", "/run", "/dev/shm", "/sys/fs/cgroup"} {
		_, err := os.Lstat(dir + "/hexmage-hostile")
		fmt.Fprintln(&s, dir, err == nil)
	}
	workers := p.workers(t)
	for _, pid := range workers {
		limits, _ := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
		nice, _ := unix.Getpriority(unix.PRIO_PROCESS, pid)
		group, _ := unix.Getpgid(pid)
		fmt.Fprintln(&s, string(limits), nice, group == pid, children(pid))
	}
	fmt.Fprintln(&s, len(workers), "workers")
	var limit unix.Rlimit
	var cpus unix.CPUSet
	if err := errors.Join(unix.Getrlimit(unix.RLIMIT_NOFILE, &limit),
		unix.SchedGetaffinity(os.Getpid(), &cpus)); err != nil {
		t.Fatal(err)
	}
	nice, err := unix.Getpriority(unix.PRIO_PROCESS, os.Getpid())
	class, _, _ := unix.Syscall(unix.SYS_IOPRIO_GET, 1, uintptr(os.Getpid()), 0)
	fmt.Fprintln(&s, limit, cpus.Count(), nice, err, class, unix.Getpgrp())
	for _, list := range []string{"shm", "sem", "msg"} {
		b, _ := os.ReadFile("/proc/sysvipc/" + list)
		fmt.Fprintln(&s, list, strings.Contains(string(b), strconv.Itoa(0x68657870)))
	}
	_, err = unix.KeyctlSearch(unix.KEY_SPEC_USER_KEYRING, "user", "hexmage-hostile", 0)
	fmt.Fprintln(&s, "key", err == nil)
	return s.String()
}

// workers are the processes that run the place's commands.
func (p *place) workers(t *testing.T) (pids []int) {
	t.Helper()
	for _, pid := range children(os.Getpid()) {
		args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if strings.HasSuffix(string(args), "\x00"+p.dir+"\x00") {
			pids = append(pids, pid)
		}
	}
	if len(pids) == 0 {
		t.Fatal("there is no worker")
	}
	return pids
}

// children are the processes that have the process as their parent, those that have ended too.
func children(pid int) (pids []int) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, f := range files {
		b, _ := os.ReadFile(f)
		for _, number := range strings.Fields(string(b)) {
			n, _ := strconv.Atoi(number)
			pids = append(pids, n)
		}
	}
	return pids
}

// checkStore looks at every file of the store, and of the trees that are unpacked there.
func (p *place) checkStore(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(p.root, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(p.root, path)
		if err != nil || !d.Type().IsRegular() ||
			!slices.ContainsFunc([]string{"cas/", "exec/", "trees/"},
				func(in string) bool { return strings.Contains(rel, in) }) {
			return nil
		}
		if name := filepath.Base(path); strings.HasSuffix(name, ".ok") || strings.HasSuffix(name, ".lock") {
			return nil
		}
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !strings.Contains(rel, "trees/") && digest.BLAKE3.Bytes(b).Hex() != filepath.Base(path) {
			t.Errorf("the store's %s has another content", rel)
		}
		if perm := st.Mode & 0o7777; perm != 0o444 && perm != 0o555 || strings.Contains(rel, "cas/") && perm != 0o444 {
			t.Errorf("the store's %s has mode %o", rel, perm)
		}
		if age := st.Mtim.Sec - store.LinkTime().Unix(); age != 0 && age != 10 {
			t.Errorf("the store's %s has time %v", rel, st.Mtim)
		}
		if n, _ := unix.Llistxattr(path, nil); n > 0 {
			t.Errorf("the store's %s has attributes", rel)
		}
		if int(st.Uid) != os.Geteuid() {
			t.Errorf("the store's %s is of user %d", rel, st.Uid)
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		if flags, err := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS); err == nil && flags&0x40 != 0 {
			t.Errorf("the store's %s has flags %#x", rel, flags)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// verify does what `hexmage cache verify` does.
func (p *place) verify(t *testing.T) {
	t.Helper()
	v, err := gc.Verify(t.Context(), p.root, gc.VerifyOptions{})
	if err != nil || len(v.Problems) > 0 || v.Files == 0 {
		t.Errorf("cache verify: %+v, %v", v, err)
	}
}

// supervised returns the base system of a machine whose commands can be supervised, or skips the test.
func supervised(t testing.TB) *sandbox.Base {
	t.Helper()
	base, err := sandbox.Open()
	if err == nil {
		err = base.Unsupervised()
	}
	if err != nil {
		t.Skip(err)
	}
	return base
}

// TestHostile: whatever an action does, the store stays what it is, the next action gets what it declares, and
// nothing outside changes.
func TestHostile(t *testing.T) {
	base := supervised(t)
	defer asOthers(t)()
	// with the second, the whole exec root is open
	outputs, inputs := []string{"out/o", "o"}, "in src/in src/prog big out/big out/in flat/f7"
	if testing.Short() {
		outputs, inputs = outputs[:1], "src/in"
	}
	for _, output := range outputs {
		p := newPlace(t, base, 8)
		want := p.seen(t, output)
		p.verify(t)
		before := p.outsiders(t)
		var since []string
		check := func() {
			if got := p.outsiders(t); got != before {
				t.Fatalf("%q, output %s: outside %s", since, output, difference(before, got))
			}
			if got := p.seen(t, output); got != want {
				t.Fatalf("%q, output %s: the next action sees %s", since, output, difference(want, got))
			}
			p.verify(t)
			if p.checkStore(t); t.Failed() {
				t.Fatalf("%q, output %s", since, output)
			}
			since = nil
		}
		for name, script := range hostile() {
			switch {
			case name == "shared memory, files" && !p.private:
				continue
			case strings.Contains(script, "IN"):
				script = "export in; for in in " + inputs + "; do (" + strings.ReplaceAll(script, "IN", "$in") +
					"); done"
			}
			_, _ = p.run(t, output, script)
			// as `mage testAll` has it
			each := output == "out/o" && os.Getenv("HEXMAGE_TEST_OTHER") == "" || os.Getenv("HEXMAGE_HOSTILE") == "each"
			if since = append(since, name); each || len(since) == 4 { // most was seen then
				check()
			}
		}
		check()
	}
}

// difference are the lines that only one of two texts has.
func difference(want, got string) string {
	var out []string
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for _, line := range w {
		if !slices.Contains(g, line) {
			out = append(out, "-"+line)
		}
	}
	for _, line := range g {
		if !slices.Contains(w, line) {
			out = append(out, "+"+line)
		}
	}
	return strings.Join(out[:min(len(out), 6)], "\n")
}

// honest are scripts that have to do what they do anywhere, and what they print.
func honest() map[string][2]string {
	return map[string][2]string{
		"run a script after chmod":       {"chmod +x src/in2 && src/in2", "hello"},
		"twice":                          {"chmod 600 in; chmod 640 in; stat -c %a in", "640"},
		"write to an input of one's own": {"chmod u+w out/in && echo more >> out/in && cat out/in", "out/in\nmore"},
		"cp -p": {"cp -p src/in $TMPDIR/c && stat -c %a $TMPDIR/c; stat -c %Y src/in " +
			"$TMPDIR/c | uniq | wc -l", "444\n1"},
		"cp -rp": {"mkdir out/d && cp -rp src out/d/ && stat -c '%a' out/d/src/prog", "555"},
		"install": {"install -p -m 600 src/in out/i && stat -c %a out/i; install -d -m 700 " +
			"out/dir && stat -c %a out/dir", "600\n700"},
		"tar": {"tar cf $TMPDIR/t.tar src && cd out && tar xpf $TMPDIR/t.tar && stat -c '%n " +
			"%a' src/in src/prog", "src/in 444\nsrc/prog 555"},
		"tar of modes": {"cd $TMPDIR; mkdir d; echo > d/f; chmod 604 d/f; chmod 705 d; touch -d " +
			"@1234567890 d/f; tar cf t.tar d; rm -r d; tar xpf t.tar; stat -c '%n %a' d d/f; stat -c %Y d/f",
			"d 705\nd/f 604\n1234567890"},
		"git": {"export GIT_CONFIG_NOSYSTEM=1; cd $HOME && git init -q . && cp -r ../root/src " +
			". && git add . && git -c user.name=x -c user.email=x@x commit -qm x && git status --porcelain && git " +
			"gc -q && git fsck && echo ok", "ok"},
		"git clone": {"export GIT_CONFIG_NOSYSTEM=1; cd $TMPDIR && git init -q a && cd a && echo > " +
			"f && git add f && git -c user.name=x -c user.email=x@x commit -qm x && cd .. && git clone -q a b && " +
			"ls b", "f"},
		"touch": {"touch -d @1111111111 in out/n && stat -c '%Y' in out/n",
			"1111111111\n1111111111"},
		"sed -i": {"cp src/in out/s && chmod u+w out/s && sed -i s/src/dst/ out/s && cat out/s",
			"dst/in"},
		"own hard links": {"echo a > $TMPDIR/a; ln $TMPDIR/a $TMPDIR/b; chmod 600 $TMPDIR/a; stat -c '%a " +
			"%h' $TMPDIR/b", "600 2"},
		"a read-only one's own": {"echo a > out/a; chmod 444 out/a; ln out/a out/b; chmod 640 out/b; stat -c " +
			"'%a %h' out/a", "640 2"},
		"mode through a symlink": {"echo > out/f; ln -s f out/l; chmod 600 out/l; stat -c %a out/f", "600"},
		"mode by a long path": {"mkdir -p out/$(printf %0200d 0)/$(printf %0200d 0); echo > out/$(printf " +
			"%0200d 0)/$(printf %0200d 0)/f; chmod 600 out/*/*/f; stat -c %a out/*/*/f", "600"},
		"compile": {"printf 'int main(void){return 0;}' > out/m.c && gcc -o out/m out/m.c && " +
			"strip out/m && ar rcs out/m.a out/m && ranlib out/m.a && out/m && echo ran", "ran"},
		"limits of one's own":     {"ulimit -n 100; ulimit -n; echo $(($(nice -n 5 nice) - $(nice)))", "100\n5"},
		"processors of one's own": {"taskset 1 true; taskset -p 1 $$ > /dev/null; echo $?", "0"},
		"limits of a child": {"sleep 5 & prlimit --pid $! --nofile=50:50 && prlimit --pid $! --nofile -o " +
			"SOFT --noheadings | tr -d ' '; kill $!", "50"},
		"standard output": {"chmod 600 /dev/stdout; echo out | (chmod 600 /proc/self/fd/0; cat)", "out"},
		"what is not there": {"chmod 600 nothing 2>&1 | grep -c 'No such'; chmod 600 in/x 2>&1 | grep -c " +
			"'Not a directory'", "1\n1"},
		"parallel python": {"/usr/bin/python3 -c 'from multiprocessing import Pool, Lock, Value; v = " +
			"Value(\"i\", 0); Lock().acquire(); print(sum(Pool(2).map(abs, range(-9, 0))), v.value)'", "45 0"},
		"shared memory": {"/usr/bin/python3 -c 'from multiprocessing import shared_memory as m; s = " +
			"m.SharedMemory(create=True, size=9); t = m.SharedMemory(s.name); s.buf[0] = 7; print(t.buf[0]); " +
			"t.close(); s.close(); s.unlink()'", "7"},
		"times of python": {"/usr/bin/python3 -c 'import os, shutil; shutil.copy2(\"src/in\", \"out/p\"); " +
			"os.utime(\"out/p\", (1, 2)); f = os.open(\"out/p\", 0); os.fchmod(f, 0o600); os.utime(f, (3, 4)); s = " +
			"os.stat(\"out/p\"); print(s.st_mtime, oct(s.st_mode))'", "4.0 0o100600"},
		"temporary files of python": {"/usr/bin/python3 -c 'import tempfile, os; d = tempfile.TemporaryDirectory(); " +
			"p = os.path.join(d.name, \"a\"); open(p, \"w\"); os.chmod(p, 0o400); os.chmod(d.name, 0o700); " +
			"d.cleanup(); print(os.path.exists(d.name))'", "False"},
		"job control":             {"bash -mc 'sleep 5 & kill %1; wait %1; echo $?' 2> /dev/null", "143"},
		"a time limit":            {"timeout 0.05 sleep 5; echo $?; timeout 5 echo in time", "124\nin time"},
		"a session":               {"setsid -w sh -c 'echo $(($$ == $(ps -o sid= -p $$)))'", "1"},
		"signals among one's own": {"trap 'echo got; exit 0' USR1; (kill -USR1 $$) & wait; sleep 1", "got"},
		"its processes": {"test /proc/self/exe -ef /proc/$$/exe || test -e /proc/$$/exe && tr '\\0' ' ' " +
			"< /proc/$$/cmdline | head -1 | cut -c1-5", "sh -c"},
		"make": {"printf 'all: a b\\na b:\\n\\t@echo $@ > out/$@\\n' > $TMPDIR/mk && make -s " +
			"-j2 -f $TMPDIR/mk && cat out/a out/b", "a\nb"},
		"patch": {"cp src/in out/q && chmod 640 out/q && printf -- '--- q\\n+++ q\\n@@ -1 +1 " +
			"@@\\n-src/in\\n+new\\n' | (cd out && patch -s) && cat out/q && stat -c %a out/q", "new\n640"},
		"sparse files and holes": {"truncate -s 1M out/h && fallocate -p -o 0 -l 4096 out/h && stat -c %s out/h",
			"1048576"},
		"archives with ar and gzip": {"cd out && cp -p ../src/in ./g && gzip -k g && gunzip -c g.gz && stat -c %a " +
			"g.gz", "src/in\n444"},
		"umask and mkdir -m": {"mkdir -m 711 out/m; stat -c %a out/m; mkfifo -m 640 out/p; stat -c %a out/p; " +
			"rm out/p", "711\n640"},
	}
}

// TestHonest: programs that change what is theirs do it as anywhere.
func TestHonest(t *testing.T) {
	base := supervised(t)
	defer asOthers(t)()
	p := newPlace(t, base, 1)
	p.inputs["src/in2"] = "#!/bin/sh\necho hello\n"
	p.tree = p.room.root(t, p.inputs)
	for name, c := range honest() {
		res, err := p.run(t, "out/o", c[0])
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := strings.TrimSpace(string(res.Stdout)); got != c[1] {
			t.Errorf("%s: exit code %d, printed %q, want %q\n%s", name, res.ExitCode, got, c[1], res.Stderr)
		}
		if got, err := p.unrestricted(t, c[0]); got != c[1] {
			t.Errorf("%s: without a sandbox it prints %q, want %q: %v", name, got, c[1], err)
		}
	}
	p.checkStore(t)
}

// unrestricted runs a script as an action's, but as a plain process, and returns what it prints.
func (p *place) unrestricted(t *testing.T, script string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{"home", "tmp"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range p.inputs {
		at := write(t, filepath.Join(dir, "root", name), text)
		mode := fs.FileMode(0o444)
		if filepath.Base(name) == "prog" {
			mode = 0o555
		}
		if err := os.Chmod(at, mode); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.Dir = filepath.Join(dir, "root")
	cmd.Env = []string{"PATH=" + execute.HostPath, "LANG=C.UTF-8", "HOME=" + filepath.Join(dir, "home"),
		"TMPDIR=" + filepath.Join(dir, "tmp")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// asOthers runs the test also in two other processes, if this one is root's: an ordinary user's, and one that may do
// what a container's root may. The function that it returns waits for them.
func asOthers(t *testing.T) (wait func()) {
	t.Helper()
	const nobody = 65534
	var wg sync.WaitGroup
	if os.Getuid() != 0 || os.Getenv("HEXMAGE_TEST_OTHER") != "" {
		return wg.Wait
	}
	dir, err := os.MkdirTemp("", "user-")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	test := filepath.Join(dir, "test")
	if err := errors.Join(os.WriteFile(test, self, 0o755), os.Chown(dir, nobody, nobody), os.Chmod(dir, 0o711),
		os.Chmod(test, 0o755), os.Mkdir(filepath.Join(dir, "root"), 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, who := range []string{"a user", "a container"} {
		cmd := exec.CommandContext(t.Context(), test, "-test.run=^"+t.Name()+"$", "-test.v",
			"-test.short="+strconv.FormatBool(testing.Short()))
		if cmd.Dir = dir; who == "a user" {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		} else {
			cmd.Dir = filepath.Join(dir, "root")
		}
		cmd.Env = append(os.Environ(), "HEXMAGE_TEST_OTHER=1", "TMPDIR="+cmd.Dir, "HOME="+cmd.Dir)
		wg.Go(func() {
			if who != "a user" {
				runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
				for c := range uintptr(unix.CAP_LAST_CAP + 1) {
					if !slices.Contains(containers(), c) {
						_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
					}
				}
			}
			if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
				t.Errorf("as %s: %v\n%s", who, err, out)
			}
		})
	}
	return func() { wg.Wait(); os.RemoveAll(dir) }
}

// containers are the capabilities that container engines leave to root.
func containers() []uintptr {
	return []uintptr{
		unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_KILL, unix.CAP_SETGID,
		unix.CAP_SETUID, unix.CAP_SETPCAP,
		unix.CAP_NET_BIND_SERVICE, unix.CAP_NET_RAW, unix.CAP_SYS_CHROOT, unix.CAP_MKNOD, unix.CAP_AUDIT_WRITE,
		unix.CAP_SETFCAP,
	}
}
