//go:build linux

package cli_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/cmd/hexmage/cli"
	"github.com/hexmage/hexmage/simulated/phone"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
)

// phones are two simulated phones at a real adb server, and hexmage beside them.
type phones struct {
	dir      string
	one, two *phone.Device
	vars     []string
}

// run returns the exit code and what was printed.
func (p *phones) run(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	env := cli.Env{Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs, Dir: p.dir, Self: self, Vars: p.vars}
	code = cli.Main(append([]string{"hexmage", "device"}, args...), env)
	return code, out.String(), errs.String()
}

// ok wants success and returns standard output.
func (p *phones) ok(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errs := p.run(t, "", args...)
	if code != 0 {
		t.Fatalf("hexmage device %s: exit code %d\n%s%s", strings.Join(args, " "), code, out, errs)
	}
	return out
}

func newPhones(t *testing.T) *phones {
	t.Helper()
	image := phonetest.Image(t, nil)
	if err := os.WriteFile(filepath.Join(image, "vendor/lib64/libQnnHtp.so"),
		[]byte("\x7fELF\x00v2.34.0.250424201103_119471\x00"), 0o644); err != nil {
		t.Fatal(err)
	}
	server := phonetest.Server(t)
	cache := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	init := func(o *phone.Options) { o.Self = []string{self, "tool", "phone-init"} }
	return &phones{
		dir: t.TempDir(), one: phonetest.Start(t, image, init), two: phonetest.Start(t, image, init),
		vars: []string{"HOME=" + cache, "HEXMAGE_CACHE=" + cache,
			"ADB_SERVER_SOCKET=localfilesystem:" + server.Address()},
	}
}

func TestDeviceCommands(t *testing.T) {
	t.Parallel()
	p := newPhones(t)
	if out := p.ok(t, "list"); !strings.HasPrefix(out, "No device is connected") ||
		!strings.Contains(out, "`hexmage device connect ADDRESS`") {
		t.Errorf("none: %q", out)
	}
	if code, _, errs := p.run(t, "", "info"); code != cli.ExitUsage || !strings.Contains(errs, "no device") {
		t.Errorf("none: exit code %d, %q", code, errs)
	}
	one, two := p.one.Addr(), p.two.Addr()
	if out := p.ok(t, "connect", one); out != "connected "+one+"\n" {
		t.Errorf("connect: %q", out)
	}
	if out := p.ok(t, "shell", "getprop", "ro.soc.model"); out != "SM8750\n" {
		t.Errorf("the only one: %q", out)
	}
	p.ok(t, "shell", "--serial", two, "true") // an address is connected to

	var rows []map[string]string
	if err := json.Unmarshal([]byte(p.ok(t, "list", "--json")), &rows); err != nil || len(rows) != 2 ||
		rows[0]["soc"] != "SM8750" || rows[0]["arch"] != "v79" || rows[1]["state"] != "device" {
		t.Errorf("list: %v, %v", rows, err)
	}
	if out := p.ok(t, "list"); !strings.Contains(out,
		one+"  device  SM8750  v79  hexmage simulated phone SM8750 v79\n") ||
		!strings.Contains(out, two) {
		t.Errorf("list: %q", out)
	}
	for _, args := range [][]string{{"info"}, {"shell", "true"}, {"push", "x", "/data/x"}, {"pull", "/x"}, {"log"},
		{"clean"}} {
		code, _, errs := p.run(t, "", args...)
		if code != cli.ExitUsage || !strings.Contains(errs, "--serial") || !strings.Contains(errs, one) ||
			!strings.Contains(errs, two) {
			t.Errorf("%s with two devices: exit code %d, %q", args[0], code, errs)
		}
	}
	p.vars = append(p.vars, "ANDROID_SERIAL="+one)

	t.Run("info", func(t *testing.T) {
		out := p.ok(t, "info")
		for _, want := range []string{one, "SM8750 (soc_id 618)", "Hexagon v79, soc_model 69, VTCM 8 MB",
			"vendor       /vendor/lib64/libQnnHtp.so v2.34.0.250424201103\n", " free, 0 B used by hexmage"} {
			if !strings.Contains(out, want) {
				t.Errorf("info lacks %q:\n%s", want, out)
			}
		}
		var info struct {
			Target struct{ Arch string }
			Disk   struct{ Free int64 }
		}
		if err := json.Unmarshal([]byte(p.ok(t, "info", "--json")), &info); err != nil || info.Target.Arch != "v79" ||
			info.Disk.Free < 1<<20 {
			t.Errorf("%+v, %v", info, err)
		}
	})
	t.Run("shell", func(t *testing.T) {
		for _, c := range []struct {
			args             []string
			stdin, out, errs string
			code             int
		}{
			{args: []string{"echo a; echo b >&2; exit 7"}, out: "a\n", errs: "b\n", code: 7},
			{args: []string{"printf", "%s|", "it's", "$HOME", "-x"}, out: "it's|$HOME|-x|"},
			{args: []string{"--", "cat"}, stdin: "input", out: "input"},
			{stdin: "cd /vendor/etc; ls; exit 3", out: "open_soc\n", code: 3},
		} {
			code, out, errs := p.run(t, c.stdin, append([]string{"shell"}, c.args...)...)
			if code != c.code || out != c.out || errs != c.errs {
				t.Errorf("%q: exit code %d, %q, %q", c.args, code, out, errs)
			}
		}
	})
	t.Run("log", func(t *testing.T) {
		p.ok(t, "shell", "logcat -c; echo '11-21 19:00:00.000 1 1 E adsprpc : open failed 0x80000406' "+
			">>/dev/log/main; echo '11-21 19:00:00.000 1 1 I wifi : roaming' >>/dev/log/main")
		if out := p.ok(t, "log"); !strings.HasSuffix(out, "open failed 0x80000406\n") || strings.Contains(out, "wifi") {
			t.Errorf("log: %q", out)
		}
		if out := p.ok(t, "log", "--all"); !strings.Contains(out, "roaming") {
			t.Errorf("log --all: %q", out)
		}
		p.followLog(t)
	})
	t.Run("push and pull", func(t *testing.T) {
		p.pushAndPull(t)
	})
	t.Run("connect", func(t *testing.T) {
		if code, _, errs := p.run(t, "", "connect", "127.0.0.1:1"); code != cli.ExitEngine ||
			!strings.Contains(errs, "failed to connect") || !strings.Contains(errs, "Wireless debugging") {
			t.Errorf("to nothing: exit code %d, %q", code, errs)
		}
		code, _, errs := p.run(t, "", "pair", "127.0.0.1:1", "987654")
		if code != cli.ExitEngine || strings.Contains(errs, "987654") || !strings.Contains(errs, "127.0.0.1:1") {
			t.Errorf("pair with nothing: exit code %d, %q", code, errs)
		}
		if code, _, errs := p.run(t, "", "pair", "127.0.0.1:1", "98:7"); code != cli.ExitEngine ||
			!strings.Contains(errs, "invalid pairing code") {
			t.Errorf("no code: exit code %d, %q", code, errs)
		}
		if out := p.ok(t, "connect", "--off", two); out != "disconnected "+two+"\n" ||
			strings.Contains(p.ok(t, "list"), two) {
			t.Errorf("disconnect: %q", out)
		}
	})
}

// TestDeviceOfAnotherArch has a phone that says of itself another arch than its SoC's record has: list and info say
// the same.
func TestDeviceOfAnotherArch(t *testing.T) {
	t.Parallel()
	p := &phones{dir: t.TempDir()}
	cache := t.TempDir()
	p.vars = []string{"HOME=" + cache, "HEXMAGE_CACHE=" + cache,
		"ADB_SERVER_SOCKET=localfilesystem:" + phonetest.Server(t).Address()}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	image := phonetest.Image(t, func(i *phone.Image) { i.SoC.Arch = "v75" })
	p.ok(t, "connect", phonetest.Start(t,
		image, func(o *phone.Options) { o.Self = []string{self, "tool", "phone-init"} }).Addr())
	var rows []struct{ Arch string }
	if err := json.Unmarshal([]byte(p.ok(t, "list", "--json")), &rows); err != nil || len(rows) != 1 ||
		rows[0].Arch != "v75" {
		t.Errorf("list: %v, %v", rows, err)
	}
	if out := p.ok(t, "info"); !strings.Contains(out, "Hexagon v75") {
		t.Errorf("info: %s", out)
	}
}

// followLog has a line of the log shown as soon as it is written, and others left out, until the device goes away.
func (p *phones) followLog(t *testing.T) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, in := io.Pipe()
	defer time.AfterFunc(time.Minute, func() { out.Close() }).Stop()
	defer out.Close() // who writes to nobody ends
	go func() {
		cli.Main([]string{"hexmage", "device", "log", "-f"},
			cli.Env{Stdin: strings.NewReader(""), Stdout: in, Stderr: io.Discard, Dir: p.dir, Self: self, Vars: p.vars})
		in.Close()
	}()
	lines := bufio.NewScanner(out)
	for _, want := range []string{"open failed 0x80000406", "QNN: first", "QNN: second"} {
		if !lines.Scan() || !strings.HasSuffix(lines.Text(), want) {
			t.Fatalf("log -f: %q where %q was to come", lines.Text(), want)
		}
		next := strings.Replace(strings.Replace(want, "QNN: first", "QNN: second", 1), "open failed 0x80000406",
			"QNN: first", 1)
		p.ok(t, "shell", "echo '11-21 19:00:01.000 1 1 I wifi : roaming' >>/dev/log/main; echo '11-21 19:00:01.000 "+
			"1 1 I x : "+next+"' >>/dev/log/main")
	}
}

func (p *phones) pushAndPull(t *testing.T) {
	for name, content := range map[string]string{"m/a.bin": "aaaa", "m/sub/b.bin": "bbbbbb",
		"c.sh": "#!/system/bin/sh\necho ran\n"} {
		at := filepath.Join(p.dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var done struct{ Files, Sent, Missing int }
	push := func(args ...string) {
		t.Helper()
		done.Sent, done.Missing = 0, 0
		if err := json.Unmarshal([]byte(p.ok(t, append([]string{"push", "--json"}, args...)...)), &done); err != nil {
			t.Fatal(err)
		}
	}
	push("m", "/data/local/tmp/")
	if done.Files != 2 || done.Sent < 10 || done.Sent > 4096 || done.Missing != 2 { // an archive has headers
		t.Errorf("a folder: %+v", done)
	}
	push("m", "c.sh", "/data/local/tmp/all")
	if done.Files != 3 || done.Sent < 26 || done.Sent > 4096 || done.Missing != 1 {
		t.Errorf("what is there in part: %+v", done)
	}
	push("c.sh", "/data/local/tmp/all")       // a folder there
	push("c.sh", "/data/local/tmp/new/named") // a new name
	if done.Sent != 0 {
		t.Errorf("what is there: %+v", done)
	}
	if out := p.ok(t, "shell",
		"cd /data/local/tmp; all/c.sh; new/named; cat m/a.bin m/sub/b.bin all/m/a.bin"); out != "ran\nran\n"+
		"aaaabbbbbbaaaa" {
		t.Errorf("on the device: %q", out)
	}
	if out := p.ok(t, "push", "c.sh", "/data/local/tmp/all/"); !strings.HasPrefix(out, "1 file, 26 B: 0 B sent in ") {
		t.Errorf("push: %q", out)
	}
	if code, _, errs := p.run(t, "", "push", "c.sh", "relative"); code != cli.ExitUsage ||
		!strings.Contains(errs, "/data/local/tmp/relative") {
		t.Errorf("a relative path: exit code %d, %q", code, errs)
	}
	if code, _, errs := p.run(t, "", "push", "nowhere", "/data/x"); code != cli.ExitUsage ||
		!strings.Contains(errs, "nowhere") {
		t.Errorf("no such file: exit code %d, %q", code, errs)
	}

	p.ok(t, "pull", "/data/local/tmp/all", "back")
	p.ok(t, "pull", "/data/local/tmp/m/a.bin")
	p.ok(t, "pull", "/data/local/tmp/m/sub/b.bin", "a.bin") // replaces
	for name, want := range map[string]string{"back/m/sub/b.bin": "bbbbbb", "a.bin": "bbbbbb"} {
		if b, err := os.ReadFile(filepath.Join(p.dir, name)); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	// Nothing is pulled through a link of the workspace that leads out of it.
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "file"), []byte("theirs"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"folder": "", "named": "file", "none": "none"} {
		if err := os.Symlink(filepath.Join(outside, to), filepath.Join(p.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, at := range []string{"folder", "folder/x", "folder/sub/x", "named", "none"} {
		if code, _, errs := p.run(t, "", "pull", "/data/local/tmp/m/a.bin", at); code != cli.ExitUsage ||
			!strings.Contains(errs, " is a link to "+outside) {
			t.Errorf("pull to %s: exit code %d, %q", at, code, errs)
		}
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) != 1 {
		t.Errorf("outside: %v, %v", left, err)
	}
	if b, err := os.ReadFile(filepath.Join(outside, "file")); err != nil || string(b) != "theirs" {
		t.Errorf("outside: %q, %v", b, err)
	}
	if code, _, errs := p.run(t, "", "pull", "/nowhere"); code != cli.ExitEngine ||
		!strings.Contains(errs, "/nowhere: file does not exist") {
		t.Errorf("pull nothing: exit code %d, %q", code, errs)
	}
	if left, err := filepath.Glob(filepath.Join(p.dir, ".pull*")); err != nil || len(left) != 0 {
		t.Errorf("left: %q, %v", left, err)
	}
	if out := p.ok(t, "clean"); !strings.HasSuffix(out, " removed\n") {
		t.Errorf("clean: %q", out)
	}
	if out := p.ok(t, "shell",
		"ls /data/local/tmp; ls -d /data/local/tmp/hexmage 2>/dev/null || echo gone"); out != "all\nm\nnew\ngone\n" {
		t.Errorf("after clean: %q", out)
	}
	if out := p.ok(t, "clean"); out != "0 B removed\n" {
		t.Errorf("clean again: %q", out)
	}
}

// The server is started when it does not run, and goes on when hexmage has ended.
func TestDeviceStartsTheServer(t *testing.T) {
	t.Parallel()
	o := phonetest.ServerOptions(t)
	bin := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s \"$@\"\n", o.LibraryPath, o.Path)
	if err := os.WriteFile(filepath.Join(bin, "adb"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := fmt.Sprint("tcp:", l.Addr().(*net.TCPAddr).Port)
	l.Close()
	p := &phones{dir: t.TempDir()}
	for _, socket := range []string{"localfilesystem:" + filepath.Join(o.Dir, "own.sock"), port} {
		vars := []string{"HOME=" + o.Dir, "HEXMAGE_CACHE=" + t.TempDir(), "PATH=" + bin + ":/usr/bin:/bin",
			"ADB_SERVER_SOCKET=" + socket, "ADB_MDNS=0", "ADB_USB=0", "ADB_EMU=0"}
		p.vars = vars
		t.Cleanup(func() {
			cmd := exec.Command(filepath.Join(bin, "adb"), "-L", socket, "kill-server")
			cmd.Env = vars
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("kill-server: %v: %s", err, out)
			}
		})
		for range 2 {
			if out := p.ok(t, "list"); !strings.HasPrefix(out, "No device is connected") {
				t.Errorf("list: %q", out)
			}
		}
	}
	p.vars = []string{"HOME=" + o.Dir, "HEXMAGE_CACHE=" + t.TempDir(), "PATH=/nowhere",
		"ADB_SERVER_SOCKET=localfilesystem:/nowhere/x"}
	code, _, errs := p.run(t, "", "list")
	if code != cli.ExitUsage || !strings.Contains(errs, "No adb server is running") {
		t.Errorf("no adb: exit code %d, %q", code, errs)
	}
	p.vars = append(p.vars, "ADB_SERVER_SOCKET=vsock:1")
	if code, _, errs := p.run(t, "", "list"); code != cli.ExitUsage || !strings.Contains(errs, "ADB_SERVER_SOCKET") {
		t.Errorf("an unknown socket: exit code %d, %q", code, errs)
	}
}
