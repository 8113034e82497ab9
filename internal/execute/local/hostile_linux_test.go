package local_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
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
	"github.com/hexmage/hexmage/internal/execute/dirpool"
	"github.com/hexmage/hexmage/internal/execute/local"
	"github.com/hexmage/hexmage/internal/execute/sandbox"
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
		acl := "\x02\x00\x00\x00\x01\x00\x07\x00\xff\xff\xff\xff\x04\x00\x07\x00\xff\xff\xff\xff\x20\x00\x07\x00\xff\xff\xff\xff"
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
	case "io_uring":
		var params [120]byte
		return syscall3(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)), 0)
	case "hold": // a daemon without marks that has an output open, and writes to it a little later
		if len(args) == 1 {
			cmd := &syscall.ProcAttr{Env: []string{"HEXMAGE_SELF=x"}, Files: []uintptr{0, 0, 0}, Sys: &syscall.SysProcAttr{Setsid: true}}
			_, err := syscall.ForkExec(os.Getenv("HEXMAGE_SELF"), []string{"x", "poke", "hold", args[0], "now"}, cmd)
			for range 500 {
				if _, serr := os.Stat(args[0]); serr == nil {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			return err
		}
		f, err := os.Create(args[0])
		if err != nil {
			return err
		}
		_, err = f.WriteString("right\n")
		time.Sleep(3 * time.Second)
		_, werr := f.WriteAt([]byte("WRONG"), 0)
		return errors.Join(err, werr)
	}
	return fmt.Errorf("no %q", what)
}

// hostile are scripts of actions that try to change what others have: IN is an input, OUT a folder outside, PID this process, poke runs poke.
// What each leads to is looked at afterwards; whether it fails is its own affair.
func hostile() map[string]string {
	return map[string]string{
		"mode":                     "chmod +x IN",
		"mode for all":             "chmod 777 IN",
		"mode, write, time back":   "touch -r IN $TMPDIR/t; chmod u+w IN && echo x >> IN; touch -r $TMPDIR/t IN; chmod a-w IN",
		"same size, time back":     "touch -r IN $TMPDIR/t; chmod u+w IN && printf X | dd of=IN bs=1 conv=notrunc; touch -r $TMPDIR/t IN; chmod 444 IN",
		"time":                     "touch -d 2001-01-01 IN",
		"time by name":             "poke utime IN",
		"time of an open file":     "poke futimens IN",
		"mode of an open file":     "poke fchmod IN",
		"mode by /proc":            "poke 'chmod by /proc' IN",
		"mode without links":       "poke fchmodat2 IN",
		"attribute":                "poke setxattr IN",
		"attribute, open file":     "poke fsetxattr IN",
		"flags":                    "poke flags IN",
		"owner":                    "poke chown IN",
		"cut":                      "chmod 666 IN; poke truncate IN",
		"rename over":              "echo x > $TMPDIR/x; mv -f $TMPDIR/x IN",
		"link, mode":               "ln IN $TMPDIR/l; ln IN out/l; ln IN l; for l in $TMPDIR/l out/l l; do chmod 777 $l; echo x > $l; done",
		"move, mode":               "mv IN moved; mv IN out/moved; for m in moved out/moved; do chmod 777 $m; echo x > $m; done",
		"by a symlink":             "ln -s $PWD/IN $TMPDIR/s; chmod 777 $TMPDIR/s; touch -d 2001-01-01 $TMPDIR/s",
		"from its folder":          "cd $(dirname IN) && chmod 777 $(basename IN)",
		"all":                      "chmod -R 777 . ; chown -R 12345 . ; find . -type f | xargs touch -d 2001-01-01",
		"attributes of folders":    "for d in . out $HOME $TMPDIR; do poke setxattr $d; poke acl $d; done",
		"owner of folders":         "for d in . out $HOME $TMPDIR; do poke chown $d; done",
		"outside, mode":            "chmod 777 OUT OUT/file",
		"outside, time":            "touch -d 2001-01-01 OUT OUT/file; poke utime OUT/file",
		"outside, attribute":       "poke setxattr OUT/file; poke setxattr OUT",
		"outside, owner":           "poke chown OUT/file",
		"outside, flags":           "poke flags OUT/file",
		"outside, by symlinks":     "ln -s OUT $TMPDIR/o; ln -s OUT/file out/f; chmod 777 $TMPDIR/o/file out/f; cd $TMPDIR/o && chmod 777 file",
		"the toolchain":            "chmod -R 777 toolchains/sdk/ ; chmod 777 toolchains/sdk/bin/cc; ln toolchains/sdk/bin/cc out/cc; chmod 777 out/cc; touch -d 2001-01-01 toolchains/sdk/bin/cc",
		"limits of hexmage":        "poke prlimit PID",
		"priority of hexmage":      "poke setpriority PID",
		"priority of all":          "poke 'setpriority of all'",
		"processors of hexmage":    "poke affinity PID",
		"end hexmage":              "poke kill PID; kill -9 PID",
		"shared memory":            "poke shm; poke sem; poke msg",
		"keyring":                  "poke keyring",
		"a daemon keeps it open":   "poke hold out/o",
		"a race of links and mode": "for i in 1 2 3 4 5 6 7 8 9; do (ln -sfn OUT/file $TMPDIR/r; ln -sfn $PWD/IN $TMPDIR/r) & chmod 777 $TMPDIR/r; done; wait",
	}
}

// place is a strict executor with everything that its actions could harm; the input flat is a folder of as many files.
type place struct {
	room
	root    string // of the store
	outside string
	inputs  map[string]string
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
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	x := local.New(local.Options{Dir: dir, Store: blobs, Trees: merkle.NewTrees(root), Fn: digest.BLAKE3, Self: self, Base: base,
		Pool: dirpool.New(filepath.Join(root, "dirpool"), digest.BLAKE3, store.Unmodified, time.Time{})})
	t.Cleanup(func() { _ = x.Close() })
	p := &place{room: room{fixture: fixture{x, blobs, dir}, strict: true}, root: root, outside: t.TempDir()}
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
	script = "poke() { \"$HEXMAGE_SELF\" poke \"$@\"; }\n" + strings.NewReplacer("OUT", p.outside, "PID", strconv.Itoa(os.Getpid())).Replace(script)
	return p.x.Execute(t.Context(), &execute.Request{Action: &action.Action{
		Command:   action.Command{Args: []string{"sh", "-c", script}, Outputs: []string{output}},
		InputRoot: p.room.root(t, p.inputs),
	}})
}

// seen is what an independent action sees of the inputs.
func (p *place) seen(t *testing.T, output string) string {
	t.Helper()
	res, err := p.run(t, output, "find -L . -type f | grep -v '^./o$' | sort | xargs sha256sum; find . -type f | sort | xargs stat -c '%n %a %u:%g %s'; stat -c '%n %a %u:%g' . out $HOME $TMPDIR | sed 's,/.*/,,'; umask; ls -A $HOME $TMPDIR | grep -v :")
	if err != nil || res.ExitCode != 0 {
		t.Fatalf("%+v, %v: %s", res, err, res.Stderr)
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
	var limit unix.Rlimit
	var cpus unix.CPUSet
	if err := errors.Join(unix.Getrlimit(unix.RLIMIT_NOFILE, &limit), unix.SchedGetaffinity(os.Getpid(), &cpus)); err != nil {
		t.Fatal(err)
	}
	nice, err := unix.Getpriority(unix.PRIO_PROCESS, os.Getpid())
	fmt.Fprintln(&s, limit, cpus.Count(), nice, err)
	for _, list := range []string{"shm", "sem", "msg"} {
		b, _ := os.ReadFile("/proc/sysvipc/" + list)
		fmt.Fprintln(&s, list, strings.Contains(string(b), strconv.Itoa(0x68657870)))
	}
	_, err = unix.KeyctlSearch(unix.KEY_SPEC_USER_KEYRING, "user", "hexmage-hostile", 0)
	fmt.Fprintln(&s, "key", err == nil)
	return s.String()
}

// checkStore looks at every file of the store, and of the trees that are unpacked there.
func (p *place) checkStore(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(p.root, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(p.root, path)
		if err != nil || !d.Type().IsRegular() || !slices.ContainsFunc([]string{"cas/", "exec/", "trees/"}, func(in string) bool { return strings.Contains(rel, in) }) {
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

// TestHostile: whatever an action does, the store stays what it is, the next action gets what it declares, and nothing outside changes.
func TestHostile(t *testing.T) {
	base := supervised(t)
	if asUser(t, "TestHostile"); t.Failed() {
		return
	}
	outputs, inputs := []string{"out/o", "o"}, "in src/in src/prog big out/big out/in flat/f7" // with the second, the whole exec root is open
	if testing.Short() {
		outputs, inputs = outputs[:1], "src/in"
	}
	for _, output := range outputs {
		flat := 8
		if output == "o" {
			flat = dirpool.MinFiles // a folder that is kept
		}
		p := newPlace(t, base, flat)
		want := p.seen(t, output)
		for name, script := range hostile() {
			if strings.Contains(script, "IN") {
				script = "for in in " + inputs + "; do (" + strings.ReplaceAll(script, "IN", "$in") + "); done"
			}
			before := p.outsiders(t)
			_, _ = p.run(t, output, script)
			if got := p.seen(t, output); got != want {
				t.Errorf("%s, output %s: the next action sees %s", name, output, difference(want, got))
				want = got
			}
			if got := p.outsiders(t); got != before {
				t.Errorf("%s, output %s: outside %s", name, output, difference(before, got))
			}
			p.checkStore(t)
			if t.Failed() {
				t.Fatalf("%q, output %s", name, output)
			}
		}
	}
}

// A process that threw its marks away is ended only when no other command runs. What it has open for writing is no output until then.
func TestOutputThatIsWrittenTo(t *testing.T) {
	p := newPlace(t, supervised(t), 1)
	running, ended := make(chan struct{}), make(chan struct{})
	other := &action.Action{Command: action.Command{Args: []string{"sh", "-c", "echo progress 1 2 x >&2; sleep 60"}}, InputRoot: p.room.root(t, nil)}
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		defer close(ended)
		var begin sync.Once
		_, _ = p.x.Execute(ctx, &execute.Request{Action: other, Progress: func(int64, int64, string) { begin.Do(func() { close(running) }) }})
	}()
	<-running
	res, err := p.run(t, "out/o", "poke hold out/o")
	if err == nil || !strings.Contains(err.Error(), "open for writing") {
		t.Errorf("%+v, %v", res, err)
	}
	stop()
	<-ended
	p.checkStore(t)
}

// What an action leaves behind, and nobody can tell whose it is, writes to no output of another one: not while it lives, and it ends when no
// command runs any more.
func TestWhatIsLeftReachesNobody(t *testing.T) {
	p := newPlace(t, supervised(t), 1)
	running, ended := make(chan string, 1), make(chan struct{})
	other := &action.Action{Command: action.Command{Args: []string{"sh", "-c", "echo progress 1 2 $HEXMAGE_ROOT >&2; sleep 60"}, Outputs: []string{"o"}}, InputRoot: p.room.root(t, nil)}
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		defer close(ended)
		_, _ = p.x.Execute(ctx, &execute.Request{Action: other, Progress: func(_, _ int64, root string) { running <- root }})
	}()
	mark := fmt.Sprintf("left-%d-%d", os.Getpid(), time.Now().UnixNano())
	for _, env := range []string{"", " HEXMAGE_ROOT=/nowhere", " HEXMAGE_ROOT=" + <-running} {
		left := "(env -i" + env + " /usr/bin/setsid /bin/sh -c ': > up; while /bin/sleep 0.01; do [ ! -e o ] || echo WRONG >> o; done' " + mark + " <&- >&- 2>&- &)"
		if res, err := p.run(t, "first", left+"; while [ ! -e up ]; do sleep 0.01; done; echo > first"); err != nil || res.ExitCode != 0 {
			t.Fatalf("%+v, %v", res, err)
		}
		if len(marked(mark)) == 0 {
			t.Error("nothing is left: there is nothing to see")
		}
		res, err := p.run(t, "o", "echo right > o; sleep 0.3")
		if err != nil || res.ExitCode != 0 || len(res.Files) != 1 || res.Files[0].Digest != digest.BLAKE3.Bytes([]byte("right\n")) {
			t.Errorf("with%q in its environment: %+v, %v", env, res, err)
		}
	}
	stop()
	<-ended
	if res, err := p.run(t, "o", "echo right > o"); err != nil || res.ExitCode != 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	if left := marked(mark); len(left) > 0 {
		t.Errorf("no command runs any more, and there still are %q", left)
	}
}

// marked are the processes that have the text among their arguments.
func marked(text string) (found []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		if b, _ := os.ReadFile(f); strings.Contains(string(b), "\x00"+text+"\x00") {
			found = append(found, f)
		}
	}
	return found
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
		"cp -p":                          {"cp -p src/in $TMPDIR/c && stat -c %a $TMPDIR/c; stat -c %Y src/in $TMPDIR/c | uniq | wc -l", "444\n1"},
		"cp -rp":                         {"mkdir out/d && cp -rp src out/d/ && stat -c '%a' out/d/src/prog", "555"},
		"install":                        {"install -p -m 600 src/in out/i && stat -c %a out/i; install -d -m 700 out/dir && stat -c %a out/dir", "600\n700"},
		"tar":                            {"tar cf $TMPDIR/t.tar src && cd out && tar xpf $TMPDIR/t.tar && stat -c '%n %a' src/in src/prog", "src/in 444\nsrc/prog 555"},
		"tar of modes":                   {"cd $TMPDIR; mkdir d; echo > d/f; chmod 604 d/f; chmod 705 d; touch -d @1234567890 d/f; tar cf t.tar d; rm -r d; tar xpf t.tar; stat -c '%n %a' d d/f; stat -c %Y d/f", "d 705\nd/f 604\n1234567890"},
		"git":                            {"export GIT_CONFIG_NOSYSTEM=1; cd $HOME && git init -q . && cp -r ../root/src . && git add . && git -c user.name=x -c user.email=x@x commit -qm x && git status --porcelain && git gc -q && git fsck && echo ok", "ok"},
		"git clone":                      {"export GIT_CONFIG_NOSYSTEM=1; cd $TMPDIR && git init -q a && cd a && echo > f && git add f && git -c user.name=x -c user.email=x@x commit -qm x && cd .. && git clone -q a b && ls b", "f"},
		"touch":                          {"touch -d @1111111111 in out/n && stat -c '%Y' in out/n", "1111111111\n1111111111"},
		"sed -i":                         {"cp src/in out/s && chmod u+w out/s && sed -i s/src/dst/ out/s && cat out/s", "dst/in"},
		"own hard links":                 {"echo a > $TMPDIR/a; ln $TMPDIR/a $TMPDIR/b; chmod 600 $TMPDIR/a; stat -c '%a %h' $TMPDIR/b", "600 2"},
		"a read-only one's own":          {"echo a > out/a; chmod 444 out/a; ln out/a out/b; chmod 640 out/b; stat -c '%a %h' out/a", "640 2"},
		"mode through a symlink":         {"echo > out/f; ln -s f out/l; chmod 600 out/l; stat -c %a out/f", "600"},
		"mode by a long path":            {"mkdir -p out/$(printf %0200d 0)/$(printf %0200d 0); echo > out/$(printf %0200d 0)/$(printf %0200d 0)/f; chmod 600 out/*/*/f; stat -c %a out/*/*/f", "600"},
		"compile":                        {"printf 'int main(void){return 0;}' > out/m.c && gcc -o out/m out/m.c && strip out/m && ar rcs out/m.a out/m && ranlib out/m.a && out/m && echo ran", "ran"},
		"limits of one's own":            {"ulimit -n 100; ulimit -n; echo $(($(nice -n 5 nice) - $(nice)))", "100\n5"},
		"processors of one's own":        {"taskset 1 true; taskset -p 1 $$ > /dev/null; echo $?", "0"},
		"limits of a child":              {"sleep 5 & prlimit --pid $! --nofile=50:50 && prlimit --pid $! --nofile -o SOFT --noheadings | tr -d ' '; kill $!", "50"},
		"standard output":                {"chmod 600 /dev/stdout; echo out | (chmod 600 /proc/self/fd/0; cat)", "out"},
		"what is not there":              {"chmod 600 nothing 2>&1 | grep -c 'No such'; chmod 600 in/x 2>&1 | grep -c 'Not a directory'", "1\n1"},
		"umask and mkdir -m":             {"mkdir -m 711 out/m; stat -c %a out/m; mkfifo -m 640 out/p; stat -c %a out/p; rm out/p", "711\n640"},
	}
}

// TestHonest: programs that change what is theirs do it as anywhere.
func TestHonest(t *testing.T) {
	base := supervised(t)
	asUser(t, "TestHonest")
	p := newPlace(t, base, 1)
	p.inputs["src/in2"] = "#!/bin/sh\necho hello\n"
	for name, c := range honest() {
		res, err := p.run(t, "out/o", c[0])
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := strings.TrimSpace(string(res.Stdout)); got != c[1] {
			t.Errorf("%s: exit code %d, printed %q, want %q\n%s", name, res.ExitCode, got, c[1], res.Stderr)
		}
	}
	p.checkStore(t)
}

// asUser runs the test once more, in another process that is an ordinary user's, if this one is root's.
func asUser(t *testing.T, name string) {
	t.Helper()
	const nobody = 65534
	if os.Getuid() != 0 || os.Getenv("HEXMAGE_TEST_USER") != "" {
		return
	}
	t.Run("user", func(t *testing.T) {
		dir, err := os.MkdirTemp("", "user-")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		self, err := os.ReadFile("/proc/self/exe")
		if err != nil {
			t.Fatal(err)
		}
		test := filepath.Join(dir, "test")
		if err := errors.Join(os.WriteFile(test, self, 0o755), os.Chown(dir, nobody, nobody), os.Chmod(test, 0o755)); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), test, "-test.run=^"+name+"$", "-test.v", "-test.short="+strconv.FormatBool(testing.Short()))
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HEXMAGE_TEST_USER=1", "TMPDIR="+dir, "HOME="+dir)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+name) {
			t.Errorf("%v\n%s", err, out)
		}
	})
}
