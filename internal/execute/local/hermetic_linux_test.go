package local_test

import (
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/execute/local"
	"github.com/hexmage/hexmage/internal/execute/worker"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
)

// TestMain makes the test's own program a worker, and a tool that actions can run: it does to the network, and to
// files, what a shell cannot.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "tool" && os.Args[2] == worker.Tool {
		worker.Main(os.Args[3], store.MayBeLink)
		return
	}
	if len(os.Args) > 2 && os.Args[1] == "poke" && os.Getenv("HEXMAGE_SELF") != "" {
		if err := poke(os.Args[2], os.Args[3:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) == 5 && os.Getenv("HEXMAGE_SELF") != "" && os.Args[1] == "tool" {
		c, err := net.DialTimeout(os.Args[3], os.Args[4], 5*time.Second)
		if err == nil {
			_, err = c.Write([]byte("hello"))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// scoped tells whether the kernel keeps restricted processes from other processes' signals and abstract sockets.
func scoped() bool {
	abi, _, _ := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	return abi >= 6 && abi < 1<<16
}

// room is a workspace and an executor that has its commands restricted, or not.
type room struct {
	fixture
	strict     bool
	supervised bool
	workspace  string
}

func newRoom(t *testing.T, l level) room {
	t.Helper()
	f, ws := newFixture(t), t.TempDir()
	f.x = local.New(local.Options{
		Dir: f.dir, Store: f.blobs, Trees: merkle.NewTrees(filepath.Dir(filepath.Dir(f.dir))), Fn: digest.BLAKE3,
		Self: self(t), Base: l.base, Workspace: ws,
	})
	t.Cleanup(func() {
		if err := f.x.Close(); err != nil {
			t.Error(err)
		}
	})
	return room{f, l.base != nil, l.base != nil && l.base.Unsupervised() == nil, ws}
}

// sh runs a shell script with these inputs; its output is out/o.
func (r room) sh(t *testing.T, script string, inputs map[string]string, platform ...string) *action.Result {
	t.Helper()
	a := &action.Action{
		Command: action.Command{Args: []string{"sh", "-c", script}, Outputs: []string{"out/o"},
			Platform: map[string]string{}},
		InputRoot: r.root(t, inputs),
	}
	for _, p := range platform {
		name, value, _ := strings.Cut(p, "=")
		a.Command.Platform[name] = value
	}
	return r.execute(t, a)
}

func (r room) execute(t *testing.T, a *action.Action) *action.Result {
	t.Helper()
	res, err := r.x.Execute(t.Context(), &execute.Request{Action: a})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// wants checks that a command was refused what it did, and that someone is told what to do.
func wants(t *testing.T, res *action.Result, hint string) {
	t.Helper()
	if res.ExitCode == 0 {
		t.Errorf("it succeeded: %s%s", res.Stdout, res.Stderr)
	}
	if !regexp.MustCompile(hint).MatchString(strings.Join(res.Hints, "\n")) {
		t.Errorf("hints %q, want %s; it printed %s", res.Hints, hint, res.Stderr)
	}
}

// TestNarrow: a program of 32 bits, which ends with code 7, does not run in the strict sandbox, and a hint says so.
func TestNarrow(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the program is for x86")
	}
	program, err := hex.DecodeString("7f454c460101010000000000000000000200030001000000548004083400000000000000" +
		"0000000034002000010000000000000001000000000000000080040800800408600000006000000005000000" +
		"00100000b801000000bb07000000cd80")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range levels(t) {
		r := newRoom(t, l)
		a := &action.Action{Command: action.Command{Args: []string{"./prog"}},
			InputRoot: r.root(t, map[string]string{"prog": string(program)})}
		switch res := r.execute(t, a); {
		case r.strict:
			wants(t, res, "^./prog is a 32-bit program")
		case len(res.Hints) > 0 || res.ExitCode != 7 && res.ExitCode < 126:
			t.Errorf("%s: code %d, hints %q", l.name, res.ExitCode, res.Hints)
		}
	}
}

func TestHermetic(t *testing.T) {
	for _, l := range levels(t) {
		t.Run(l.name, func(t *testing.T) {
			r := newRoom(t, l)
			t.Run("files", func(t *testing.T) { testFiles(t, r) })
			t.Run("writes", func(t *testing.T) { testWrites(t, r) })
			t.Run("inputs", func(t *testing.T) { testInputs(t, r) })
			t.Run("environment", func(t *testing.T) { testEnvironment(t, r) })
			t.Run("network", func(t *testing.T) { testNetwork(t, r) })
			t.Run("network hint", func(t *testing.T) { testNetworkHint(t, r) })
			t.Run("git", func(t *testing.T) { testGit(t, r) })
			t.Run("background", func(t *testing.T) { testBackground(t, r) })
			t.Run("secrets", func(t *testing.T) { testSecrets(t, r) })
		})
	}
}

// testFiles reads files that the action does not declare.
func testFiles(t *testing.T, r room) {
	write(t, filepath.Join(r.workspace, "src", "config.h"), "x")
	in := map[string]string{"src/main.c": "m"}
	wants(t, r.sh(t, "cat src/config.h", in),
		`^src/config.h is in the workspace but not an input of the step; add it to .inputs.`)
	wants(t, r.sh(t, "echo 'src/main.c:1:10: fatal error: config.h: No such file or directory'; exit 1", in),
		`^src/config.h is in the workspace but not an input`)
	if !r.strict {
		return
	}
	wants(t, r.sh(t, "cat "+filepath.Join(r.workspace, "src", "config.h"), in),
		`the command cannot see the workspace; add src/config.h to`)
	home := write(t, filepath.Join(t.TempDir(), "home", ".netrc"), "secret")
	wants(t, r.sh(t, "cat "+home, in), `the sandbox blocked access to `+regexp.QuoteMeta(home)+`; declare`)
	temp, err := os.CreateTemp("/tmp", "hermetic-*")
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(temp.Name())
	defer temp.Close()
	wants(t, r.sh(t, "cat "+temp.Name(), in), `the sandbox blocked access to `)
	wants(t, r.sh(t, "cat /proc/$PPID/environ", in), "")
	if res := r.sh(t, "mkdir -p out && cat /etc/passwd /proc/self/status > /dev/null && ls $HOME $TMPDIR /usr > "+
		"/dev/null && echo > $TMPDIR/x && echo > $HOME/x", in); res.ExitCode != 0 {
		t.Errorf("what every action may do: %s", res.Stderr)
	}
}

// testWrites writes to where no output is.
func testWrites(t *testing.T, r room) {
	if !r.strict {
		return
	}
	for name, dir := range map[string]string{"workspace": r.workspace, "home": t.TempDir(),
		"store": filepath.Dir(filepath.Dir(r.dir)), "temporary folder": "/tmp"} {
		file := filepath.Join(dir, "hermetic-new")
		wants(t, r.sh(t, "echo x > "+file, nil), "the sandbox blocked a write to "+file)
		if _, err := os.Lstat(file); err == nil {
			t.Errorf("%s: the file is there", name)
			os.Remove(file)
		}
	}
	wants(t, r.sh(t, "echo x > other", nil), "the sandbox blocked a write to other")
	wants(t, r.sh(t, "mkdir ../x", nil), "")
	wants(t, r.sh(t, "mv ../tmp ../root ..", nil), "")
}

// testInputs writes to an input in all ways, in folders in which the action may write and in others. The input stays
// what it is for everyone else.
func testInputs(t *testing.T, r room) {
	big := strings.Repeat("large\n", 1<<18)
	for name, script := range map[string]string{
		"append":        "echo x >> IN",
		"mode":          "chmod u+w IN && echo x > IN",
		"truncate":      "chmod 777 IN; : > IN",
		"rename over":   "echo x > $TMPDIR/x && mv -f $TMPDIR/x IN",
		"link and mode": "ln IN out/l && chmod u+w out/l && echo x > out/l",
		"dd":            "chmod u+w IN; dd if=/dev/zero of=IN bs=1 count=3 conv=notrunc",
	} {
		for _, in := range []string{"in", "src/in", "out/in"} {
			res := r.sh(t, strings.ReplaceAll(script, "IN", in), map[string]string{in: "input\n", "src/big": big})
			if r.strict && in != "out/in" {
				wants(t, res, "")
			}
			for _, text := range []string{"input\n", big} {
				d := digest.BLAKE3.Bytes([]byte(text))
				if got := r.content(t, d); got != text && (r.strict || !strings.HasPrefix(got, "blob ")) {
					t.Errorf("%s of %s: the store has %.20q", name, in, got)
				}
			}
		}
	}
	if r.strict {
		wants(t, r.sh(t, "echo x >> in", map[string]string{"in": "input\n"}),
			"^input in is read-only")
		// Equal inputs below a writable folder are two files, and may be changed through a descriptor, too.
		res := r.sh(t, "[ $(stat -c %i out/a) != $(stat -c %i out/b) ] && "+
			"perl -e 'open(F, q(<), q(out/a)) && chmod(0644, *F) or die $!' && echo x >> out/a && cp out/a out/o",
			map[string]string{"out/a": "input\n", "out/b": "input\n"})
		if want := digest.BLAKE3.Bytes([]byte("input\nx\n")); len(res.Files) != 1 || res.Files[0].Digest != want {
			t.Errorf("equal inputs below a writable folder: %q, %v", res.Stderr, res.Files)
		}
	}
}

func testEnvironment(t *testing.T, r room) {
	t.Setenv("HEXMAGE_TEST_LEAK", "leak")
	res := r.sh(t, "env", nil)
	for _, kv := range strings.Fields(string(res.Stdout)) {
		name, _, _ := strings.Cut(kv, "=")
		switch name {
		case "PATH", "LANG", "HOME", "TMPDIR", "HEXMAGE_ROOT", "HEXMAGE_SELF", "PWD", "SHLVL", "_", "OLDPWD":
		default:
			t.Errorf("the command has %s", kv)
		}
	}
}

// testNetwork talks to sockets of this process.
func testNetwork(t *testing.T, r room) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	abstract := "@hermetic-" + strconv.Itoa(os.Getpid())
	unix, err := net.Listen("unix", abstract)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close()
	for network, addr := range map[string]string{"tcp": tcp.Addr().String(), "udp": udp.LocalAddr().String(),
		"unix": abstract} {
		a := &action.Action{
			Command: action.Command{
				Args:     []string{action.ToolArg0, "tool", "dial", network, addr},
				Platform: map[string]string{action.PropertyTool: "dial/1"},
			},
			InputRoot: r.root(t, nil),
		}
		switch res := r.execute(t, a); {
		case !r.strict && res.ExitCode != 0:
			t.Errorf("%s: %s", network, res.Stderr)
		case r.strict && network != "unix":
			wants(t, res, "set `network = true`")
		case r.strict && res.ExitCode == 0 && scoped():
			t.Errorf("%s: it succeeded", network)
		}
		a.Command.Platform[action.PropertyNetwork] = "true"
		if res := r.execute(t, a); res.ExitCode != 0 && network != "unix" {
			t.Errorf("%s with network = true: %s", network, res.Stderr)
		}
	}
}

// testNetworkHint: what was refused is known, whatever the command prints about it, and said of no other command.
func testNetworkHint(t *testing.T, r room) {
	if !r.supervised {
		t.Skip("nobody counts what is refused")
	}
	const hint = "set `network = true`"
	for _, tt := range []struct {
		script string
		hint   bool
	}{
		{"$HEXMAGE_SELF tool dial tcp 127.0.0.1:1 > /dev/null 2>&1; exit 1", true},
		{"echo 'socket.gaierror: name resolution: dial tcp: could not resolve host: permission denied'; exit 1", false},
		{"$HEXMAGE_SELF tool dial udp '[::1]:1'; echo ok > out/o", false}, // an earlier command's
		{"exit 1", false},
		{"$HEXMAGE_SELF tool dial unix nothing; exit 1", false},
		{"$HEXMAGE_SELF tool dial udp 127.0.0.1:1 > /dev/null 2>&1; echo bad input; exit 1", false},
		{"$HEXMAGE_SELF tool dial udp 127.0.0.1:1 > /dev/null 2>&1; echo could not resolve host x; exit 1", true},
	} {
		res := r.sh(t, tt.script, nil)
		if got := strings.Contains(strings.Join(res.Hints, "\n"), hint); got != tt.hint {
			t.Errorf("%s: hints %q", tt.script, res.Hints)
		}
		if res := r.sh(t, tt.script, nil,
			action.PropertyNetwork+"=true"); strings.Contains(strings.Join(res.Hints, "\n"), hint) {
			t.Errorf("%s with network = true: hints %q", tt.script, res.Hints)
		}
	}
	if res := r.sh(t, "echo 'sh: socket: Permission denied'; $HEXMAGE_SELF tool dial tcp 127.0.0.1:1; echo "+
		"'/nosuch/x (Permission denied).'; exit 1", nil); len(res.Hints) != 1 {
		t.Errorf("hints %q, want one", res.Hints)
	}
}

// testGit: git does not go on when it may not read the settings of the machine.
func testGit(t *testing.T, r room) {
	if _, err := execute.LookPath("git", ""); err != nil {
		t.Skip(err)
	}
	if res := r.sh(t, "git init -q out/o && git -C out/o config -l > /dev/null", nil); res.ExitCode != 0 {
		t.Errorf("%s", res.Stderr)
	}
}

// testBackground leaves processes behind.
func testBackground(t *testing.T, r room) {
	for name, script := range map[string]string{
		"child":   "sleep 60 & echo $! >",
		"group":   "set -m; sleep 60 & echo $! >",
		"session": "setsid sleep 60 & echo $! >",
		"daemon": "setsid sh -c '(sleep 60 >/dev/null 2>&1 </dev/null & echo $! > $TMPDIR/p)'; cat " +
			"$TMPDIR/p >",
		"no environment": "env -i setsid sh -c 'sleep 60 & echo $!' > $TMPDIR/p; cat $TMPDIR/p >",
		"daemon of daemon": "setsid sh -c '(setsid sh -c \"sleep 60 & echo \\$! > $TMPDIR/p; sleep 60\" & sleep " +
			"0.2)'; cat $TMPDIR/p >",
	} {
		if name == "no environment" && !r.strict {
			continue
		}
		start := time.Now()
		res := r.sh(t, script+" out/o", nil)
		if res.ExitCode != 0 || len(res.Files) != 1 {
			t.Errorf("%s: %+v %s", name, res, res.Stderr)
			continue
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s: it was waited for, for %v", name, took)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(r.content(t, res.Files[0].Digest)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil &&
			!strings.Contains(string(state), ") Z ") {
			t.Errorf("%s: process %d lives: %s", name, pid, state)
		}
	}
	if r.strict && scoped() {
		wants(t, r.sh(t, "kill -0 "+strconv.Itoa(os.Getpid()), nil), "")
	}
}

// A program that an action changed, which it may where it also writes its output, is as it was for the next one.
func TestProgramsThatAreWrittenTo(t *testing.T) {
	for _, l := range levels(t) {
		r := newRoom(t, l)
		prog := "#!/bin/sh\necho right\n"
		for _, script := range []string{"true", "chmod u+w prog; echo 'echo wrong' >> prog",
			"chmod u+w prog; printf X | dd of=prog bs=1 conv=notrunc; touch -d 2001-01-01 prog", "rm -f prog", "true"} {
			a := &action.Action{
				Command: action.Command{Args: []string{"sh", "-c", "./prog; (" + script + ") 2>/dev/null"},
					Outputs: []string{"o"}},
				InputRoot: r.root(t, map[string]string{"prog": prog}),
			}
			if res := r.execute(t, a); string(res.Stdout) != "right\n" {
				t.Errorf("%s: before %q it printed %q %s", l.name, script, res.Stdout, res.Stderr)
			}
			if got := r.content(t, digest.BLAKE3.Bytes([]byte(prog))); l.base != nil && got != prog {
				t.Errorf("%s: after %q the store has %q", l.name, script, got)
			}
		}
	}
}

// A toolchain may be programs of the host. What those need is read too, and nothing else.
func TestToolchainsOfTheHost(t *testing.T) {
	for _, l := range levels(t) {
		t.Run(l.name, func(t *testing.T) {
			r, host, other := newRoom(t, l), t.TempDir(), t.TempDir()
			write(t, filepath.Join(host, "lib", "x"), "of the host")
			write(t, filepath.Join(other, "x"), "of nobody")
			inputs := map[string]string{"toolchains/sdk/" + action.HostFile: "relative\n/\n" + host + "\n",
				"toolchains/sdk/bin/x": "x"}
			if res := r.sh(t, "cat "+host+"/lib/x > out/o", inputs); res.ExitCode != 0 {
				t.Errorf("what the toolchain names: %s", res.Stderr)
			}
			if res := r.sh(t, "cat "+other+"/x > out/o", inputs); (res.ExitCode == 0) == r.strict {
				t.Errorf("what it does not name: exit code %d", res.ExitCode)
			}
		})
	}
}
