//go:build linux

package phone_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/runner/transport"
	"github.com/hexmage/hexmage/simulated/phone"
	"github.com/hexmage/hexmage/simulated/phone/cdsp"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// arm64 prints a line and exits with the number of its arguments.
const arm64 = phonetest.Calls + `
void run(long *sp) {
	static const char line[] = "hello from aarch64\n";
	call(64, 1, (long)line, sizeof line - 1);
	call(93, sp[0], 0, 0);
}
`

// hexagonCalls is the system call of the simulated Linux and the start of a program.
const hexagonCalls = `
static int call(int n, int a, int b, int c) {
	register int r6 __asm__("r6") = n, r0 __asm__("r0") = a, r1 __asm__("r1") = b, r2 __asm__("r2") = c;
	__asm__ volatile("trap0(#1)" : "+r"(r0) : "r"(r6), "r"(r1), "r"(r2) : "memory");
	return r0;
}
void run(int *sp);
__asm__(".globl _start\n_start: { r0 = r29 ; r29 = and(r29, #-16) }\n { call run }\n");
`

// hexagonDSP prints its argument, and then answers each byte by the byte plus one, until the end of input.
const hexagonDSP = hexagonCalls + `
void run(int *sp) {
	char *arch = (char *)sp[2];
	unsigned char c;
	call(64, 1, (int)arch, 3);
	while (call(63, 0, (int)&c, 1) == 1) {
		c++;
		call(64, 1, (int)&c, 1);
	}
	call(93, 0, 0, 0);
}
`

func TestDeviceIsAPhone(t *testing.T) {
	t.Parallel()
	d := phonetest.Device(t, phonetest.Image(t, nil), nil)
	for _, c := range []struct{ name, command, want string }{
		{"soc", "getprop ro.soc.model", "SM8750\n"},
		{"manufacturer", "getprop ro.soc.manufacturer", "QTI\n"},
		{"unset property", "getprop ro.nothing none", "none\n"},
		{"all properties", "getprop | grep soc", "[ro.soc.manufacturer]: [QTI]\n[ro.soc.model]: [SM8750]\n"},
		{"soc id", "cat /sys/devices/soc0/soc_id", "618\n"},
		{"open soc", "cat /vendor/etc/open_soc", "arch=v79\nsoc=SM8750\nsoc_model=69\nsoc_id=618\nvtcm_mb=8\n"},
		{"serial number", "getprop ro.serialno | cut -c 1-3", "EMU\n"},
		{"platform", "getprop ro.hardware; getprop sys.boot_completed", "qcom\n1\n"},
		{"boot id", "wc -c </proc/sys/kernel/random/boot_id", "37\n"},
		{"heat", "cd /sys/class/thermal; cat thermal_zone3/type thermal_zone3/temp; ls | wc -l", "nsphvx-0\n30000\n8\n"},
		{"battery", "cd /sys/class/power_supply/battery; cat capacity status; cut -c 1 current_now", "80\nCharging\n1\n"},
		{"gpu", "cat /sys/class/kgsl/kgsl-3d0/gpu_busy_percentage", "0 %\n"},
		{"frequency", "cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2000000\n"},
		{"vendor", "ls /vendor/lib64 /vendor/dsp/cdsp | tr '\\n' ' '; grep -aoE 'v[0-9]+[.][0-9.]+_[0-9]+' /vendor/lib64/libQnnHtp.so",
			"/vendor/dsp/cdsp: libQnnHtpV79Skel.so  /vendor/lib64: libQnnHtp.so libQnnHtpV79Stub.so libQnnSystem.so v2.28.0.241101000000_100000\n"},
		{"sysfs is read-only", "echo 1 2>/dev/null >/sys/class/thermal/thermal_zone3/temp; echo $?", "1\n"},
		{"root", "ls -A /", "bin\ndata\ndev\netc\nproc\nsys\nsystem\nvendor\n"},
		{"environment", "env | sort | grep -v -e ^PWD= -e ^SHLVL= | head -3; echo $PATH", "ANDROID_DATA=/data\nANDROID_ROOT=/system\nHOME=/\n/system/bin:/vendor/bin\n"},
		{"user", "id -u", "0\n"},
		{"processes", "ls /proc | grep -c '^1$'", "1\n"},
		{"read-only", "touch /x /system/x 2>/dev/null; echo $?", "1\n"},
		{"data", "echo hi > /data/local/tmp/x && cat /data/local/tmp/x", "hi\n"},
		{"null", "echo x > /dev/null; head -c 3 /dev/zero | sha256sum | head -c 8", "709e80c8"},
		{"host name", "hostname", "hexmage\n"},
		{"cores", "grep -c '^CPU architecture: 8$' /proc/cpuinfo; grep -c vendor_id /proc/cpuinfo || :", fmt.Sprintf("%d\n0\n", runtime.NumCPU())},
		{"no DSP", "ls /dev/fastrpc-cdsp 2>/dev/null; echo $?", "1\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := transport.Output(t.Context(), d, c.command, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("%s: got %q, want %q", c.command, got, c.want)
			}
		})
	}
}

func TestNothingOfTheHostShows(t *testing.T) {
	t.Parallel()
	d := phonetest.Device(t, phonetest.Image(t, nil), nil)
	mounts, err := transport.Output(t.Context(), d, "cat /proc/mounts", nil)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(mounts) {
		at := strings.Fields(line)[1]
		switch first, _, _ := strings.Cut(at[1:], "/"); first {
		case "", "data", "dev", "proc", "sys", "system", "vendor":
		default:
			t.Errorf("mounted on the device: %s", line)
		}
	}
	home, err := transport.Output(t.Context(), d, "ls -d /home /root /usr /tmp /etc/passwd /.simulated phone 2>/dev/null; find / -name 'qemu-*' 2>/dev/null; true", nil)
	if err != nil {
		t.Fatal(err)
	}
	if home != "" {
		t.Errorf("visible on the device: %s", home)
	}
}

func TestForeignProgramsRun(t *testing.T) {
	t.Parallel()
	d := phonetest.Device(t, phonetest.Image(t, nil), nil)
	for _, c := range []struct{ machine, source, out string }{
		{"aarch64", arm64, "hello from aarch64\n"},
		{"hexagon", hexagonCalls + `void run(int *sp) { call(64, 1, (int)"hello from hexagon\n", 19); call(93, sp[0], 0, 0); }`, "hello from hexagon\n"},
	} {
		t.Run(c.machine, func(t *testing.T) {
			program, err := os.ReadFile(phonetest.Compile(t, c.machine, c.source))
			if err != nil {
				t.Fatal(err)
			}
			push(t, d, "/data/local/tmp/"+c.machine, program)
			var out bytes.Buffer
			code, err := d.Shell(t.Context(), "cd /data/local/tmp && ./"+c.machine+" a b c", transport.Streams{Stdout: &out, Stderr: &out})
			if err != nil {
				t.Fatal(err)
			}
			if code != 4 || out.String() != c.out {
				t.Errorf("exit code %d, output %q; want 4, %q", code, out.String(), c.out)
			}
		})
	}
}

func TestDSPSocket(t *testing.T) {
	t.Parallel()
	shell := phonetest.Compile(t, "hexagon", hexagonDSP)
	d := phonetest.Device(t, phonetest.Image(t, func(m *phone.Image) { m.FastRPCShell = shell }), nil)
	client, err := os.ReadFile(phonetest.Compile(t, "aarch64", phonetest.DSPClient))
	if err != nil {
		t.Fatal(err)
	}
	push(t, d, "/data/local/tmp/client", client)
	for range 3 { // each connection has its own protection domain
		out, err := transport.Output(t.Context(), d, "/data/local/tmp/client", strings.NewReader("ABC"))
		if err != nil {
			t.Fatal(err)
		}
		if out != "v79BCD" {
			t.Errorf("the DSP answered %q, want its arch and every byte plus one: %q", out, "v79BCD")
		}
	}
	// Orphans and protection domains are gone, without zombies.
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		out, err := transport.Output(t.Context(), d, "ps -o comm,stat | grep -E 'qemu|Z' | grep -v grep; true", nil)
		if err != nil {
			t.Fatal(err)
		}
		if out == "" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("still there: %s", out)
		}
	}
}

// TestProtectionDomain starts the real program of the DSP, which reports a missing library.
func TestProtectionDomain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, cdsp.Sources()); err != nil {
		t.Fatal(err)
	}
	argv := cdsp.Args(filepath.Join(toolchaintest.Root(t, "llvm"), "usr/bin/clang-22"), cdsp.Program)
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Dir = dir
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	d := phonetest.Device(t, phonetest.Image(t, func(m *phone.Image) { m.FastRPCShell = filepath.Join(dir, cdsp.Program) }), nil)
	client, err := os.ReadFile(phonetest.Compile(t, "aarch64", phonetest.DSPClient))
	if err != nil {
		t.Fatal(err)
	}
	push(t, d, "/data/local/tmp/client", client)
	const path = "/data/local/tmp/none.so"
	open := binary.LittleEndian.AppendUint32([]byte("FRP1\x01\x00\x00\x00\x07\x00\x00\x00"), uint32(4+len(path)))
	open = append(binary.LittleEndian.AppendUint32(open, uint32(len(path))), path...)
	out, err := transport.Output(t.Context(), d, "/data/local/tmp/client", bytes.NewReader(open))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out, "FRP1\x01\x00\x00\x80\x07\x00\x00\x00") || !strings.Contains(out, "\x06\x04\x00\x80") || !strings.Contains(out, "none.so") {
		t.Errorf("the protection domain answered %q", out)
	}
}

// TestJunkOnTheLink sends invalid messages. Only that link may end.
func TestJunkOnTheLink(t *testing.T) {
	t.Parallel()
	e := phonetest.Start(t, phonetest.Image(t, nil), nil)
	header := func(cmd string, a, b, n uint32) string {
		h := []byte(cmd)
		for _, v := range []uint32{a, b, n, 0, ^binary.LittleEndian.Uint32([]byte(cmd))} {
			h = binary.LittleEndian.AppendUint32(h, v)
		}
		return string(h)
	}
	for name, junk := range map[string]string{
		"text":              "GET / HTTP/1.1\r\nHost: phone\r\n\r\n",
		"huge payload":      header("WRTE", 1, 1, 1<<31),
		"late packets":      header("OKAY", 1, 77, 0) + header("WRTE", 1, 78, 0) + header("CLSE", 1, 79, 0),
		"data twice":        header("OPEN", 1, 0, 6) + "sync:\x00" + strings.Repeat(header("WRTE", 1, 1, 3)+"abc", 50),
		"unknown sync":      header("OPEN", 1, 0, 6) + "sync:\x00" + header("WRTE", 1, 1, 8) + "WHAT\x00\x00\x00\x00",
		"half a message":    header("OPEN", 1, 0, 100) + "sh",
		"many streams":      strings.Repeat(header("OPEN", 1, 0, 9)+"shell:cat", 400),
		"unknown service":   header("OPEN", 1, 0, 5) + "root:",
		"tiny payloads":     header("CNXN", 0x01000001, 0, 0),
		"nothing whatever":  "",
		"shell with no end": header("OPEN", 1, 0, 9) + "shell,v2:",
	} {
		c, err := net.Dial("tcp", e.Addr())
		if err != nil {
			t.Fatalf("%s: the device is gone: %v", name, err)
		}
		_ = c.SetDeadline(time.Now().Add(200 * time.Millisecond))
		_, _ = io.WriteString(c, junk)
		_, _ = io.Copy(io.Discard, c)
		c.Close()
	}
	s := phonetest.Server(t)
	if err := s.Connect(t.Context(), e.Addr()); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		out, err := transport.Output(t.Context(), s.Device(e.Addr()), "ps -o comm,stat | grep -cE '^(cat|sh) |Z'; true", nil)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.TrimSpace(out); n == "1" || n == "2" { // the command's own shell, and its grep's
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("processes of links that ended are still there: %s", out)
		}
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	image := phonetest.Image(t, nil)
	t.Run("drop", func(t *testing.T) {
		t.Parallel()
		d := phonetest.Device(t, image, func(o *phone.Options) { o.DropAfterBytes = 1 << 20 })
		data := bytes.Repeat([]byte("hexagon "), 1<<18) // 2 MiB
		_, err := transport.Output(t.Context(), d, "cat >/data/local/tmp/x", bytes.NewReader(data))
		if !transport.Retryable(err) {
			t.Fatalf("push over a link that breaks: got %v, want an error that says it is worth another try", err)
		}
		if err := d.Reconnect(t.Context()); err != nil {
			t.Fatal(err)
		}
		push(t, d, "/data/local/tmp/y", data) // adbd may still have to remove the partial x
	})
	t.Run("disk", func(t *testing.T) {
		t.Parallel()
		e, s := phonetest.Start(t, image, func(o *phone.Options) { o.DiskBytes = 1 << 20 }), phonetest.Server(t)
		if err := s.Connect(t.Context(), e.Addr()); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := os.WriteFile(dir+"/x", make([]byte, 3<<20), 0o644); err != nil {
			t.Fatal(err)
		}
		out, errs, code := official(t, s, phonetest.ServerOptions(t), dir)("push", "x", "/data/local/tmp/x")
		if code == 0 || !strings.Contains(strings.ToLower(out+errs), "no space left on device") {
			t.Fatalf("push to a full device: exit code %d, %s%s", code, out, errs)
		}
		if out, err := transport.Output(t.Context(), s.Device(e.Addr()), "ls /data/local/tmp", nil); err != nil || out != "" {
			t.Errorf("half a file was left on the device: %q, %v", out, err)
		}
	})
	t.Run("slow", func(t *testing.T) {
		t.Parallel()
		d := phonetest.Device(t, image, func(o *phone.Options) { o.SlowBytesPerSecond = 1 << 20 })
		start := time.Now()
		push(t, d, "/data/local/tmp/x", make([]byte, 300<<10))
		if took := time.Since(start); took < 250*time.Millisecond {
			t.Errorf("300 KiB at 1 MiB/s took only %v", took)
		}
	})
}

func TestDataIsKept(t *testing.T) {
	t.Parallel()
	image, data := phonetest.Image(t, nil), t.TempDir()
	keep := func(o *phone.Options) { o.Data = data }
	push(t, phonetest.Device(t, image, keep), "/data/local/tmp/x", []byte("kept"))
	got, err := transport.Output(t.Context(), phonetest.Device(t, image, keep), "cat /data/local/tmp/x", nil)
	if err != nil || got != "kept" {
		t.Errorf("after a restart: %q, %v", got, err)
	}
}

func TestStartIsRefused(t *testing.T) {
	t.Parallel()
	image := phonetest.Image(t, nil)
	for _, c := range []struct {
		name   string
		change func(*phone.Options)
		want   string
	}{
		{"no image", func(o *phone.Options) { o.Image = t.TempDir() }, "is not a phone image"},
		{"no folder", func(o *phone.Options) { o.Dir = "/nowhere" }, "/nowhere"},
		{"no program", func(o *phone.Options) { o.Self = []string{"/nowhere"} }, "/nowhere"},
		{"another program", func(o *phone.Options) { o.Self = []string{"/bin/true"} }, "does Options.Self call phone.Init?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := phone.Options{Self: phonetest.Self(t), Image: image, Dir: t.TempDir()}
			c.change(&o)
			e, err := phone.Start(t.Context(), o)
			if err == nil {
				e.Close()
				t.Fatal("started")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %q, want it to say %q", err, c.want)
			}
		})
	}
}

func push(t *testing.T, d *adb.Device, path string, content []byte) {
	t.Helper()
	at := transport.Quote(path)
	_, err := transport.Output(t.Context(), d, "cat >"+at+" && chmod 755 "+at+" && touch -d @1 "+at, bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
}
