//go:build linux

package phone_test

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/runner/transport"
	"github.com/hexmage/hexmage/simulated/phone"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
)

// dspPhone is a device with a DSP that answers every byte, and a client for it at /data/local/tmp/client.
func dspPhone(t *testing.T, change func(*phone.Options)) (*phone.Device, *adb.Server, *adb.Device) {
	t.Helper()
	shell := phonetest.Compile(t, "hexagon", hexagonDSP)
	e := phonetest.Start(t, phonetest.Image(t, func(m *phone.Image) { m.FastRPCShell = shell }), change)
	s := phonetest.Server(t)
	if err := s.Connect(t.Context(), e.Addr()); err != nil {
		t.Fatal(err)
	}
	d := s.Device(e.Addr())
	client, err := os.ReadFile(phonetest.Compile(t, "aarch64", phonetest.DSPClient))
	if err != nil {
		t.Fatal(err)
	}
	push(t, d, "/data/local/tmp/client", client)
	return e, s, d
}

// openFrame asks the DSP for a library.
const openFrame = "FRP1\x01\x00\x00\x00\x07\x00\x00\x00\x06\x00\x00\x00\x02\x00\x00\x00/x"

// callDSP sends bytes to the DSP and returns the answer.
func callDSP(t *testing.T, d *adb.Device, command, frame string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	code, err := d.Shell(t.Context(), command, transport.Streams{Stdin: strings.NewReader(frame), Stdout: &out, Stderr: &out})
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), code
}

func output(t *testing.T, d *adb.Device, command string) string {
	t.Helper()
	out, err := transport.Output(t.Context(), d, command, nil)
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return strings.TrimSpace(out)
}

// comeBack waits until a device accepts connections again.
func comeBack(t *testing.T, d *adb.Device) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		err := d.Reconnect(t.Context())
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

const wedgedReply = "FRP1\x01\x00\x00\x80\x07\x00\x00\x00"

func TestReboot(t *testing.T) {
	t.Parallel()
	e, s, d := dspPhone(t, func(o *phone.Options) { o.WedgeDSP = true })
	adbCommand := official(t, s, phonetest.ServerOptions(t), t.TempDir())
	const bootID = "cat /proc/sys/kernel/random/boot_id"
	seen := map[string]bool{output(t, d, bootID): true}

	callDSP(t, d, "/data/local/tmp/client", openFrame)
	for range 2 {
		out, _ := callDSP(t, d, "/data/local/tmp/client", openFrame+openFrame)
		if want := wedgedReply; strings.Count(out, want) != 2 || !strings.Contains(out, "\x06\x04\x00\x80") {
			t.Fatalf("a wedged DSP answered %q", out)
		}
	}
	if log := output(t, d, "logcat -d"); !strings.Contains(log, " E adsprpc : Error 0x80000406") {
		t.Errorf("the log says nothing of the DSP: %s", log)
	}
	output(t, d, "echo stays >/data/local/tmp/x; sleep 77 >/dev/null 2>&1 &")

	// By the device's own command, through package adb.
	if _, err := transport.Output(t.Context(), d, "reboot; sleep 30", nil); !transport.Retryable(err) {
		t.Fatalf("reboot: got %v, want a link that breaks", err)
	}
	comeBack(t, d)
	if got := output(t, d, "cat /data/local/tmp/x; pgrep sleep; logcat -d | grep -c Error; getprop sys.boot.reason"); got != "stays\n0\nreboot" {
		t.Errorf("after the reboot: %q", got)
	}
	seen[output(t, d, bootID)] = true
	if out, _ := callDSP(t, d, "/data/local/tmp/client", "ABC"); out != "v79BCD" {
		t.Errorf("after the reboot the DSP answered %q", out)
	}

	// By the process that started the device.
	if err := e.Reboot(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if id, err := transport.Output(t.Context(), d, bootID, nil); err == nil && !seen[strings.TrimSpace(id)] {
			seen[strings.TrimSpace(id)] = true
			break
		}
		_ = d.Reconnect(t.Context())
		if time.Now().After(deadline) {
			t.Fatal("it does not reboot")
		}
	}

	// By the official client.
	if out, errs, code := adbCommand("reboot"); code != 0 {
		t.Fatalf("adb reboot: %d %s%s", code, out, errs)
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		adbCommand("disconnect", e.Addr()) // the server would reconnect by itself, every ten seconds
		out, _, _ := adbCommand("connect", e.Addr())
		if state, _, _ := adbCommand("get-state"); strings.TrimSpace(state) == "device" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("adb connect: %s", out)
		}
	}
	out, errs, _ := adbCommand("shell", bootID)
	seen[strings.TrimSpace(out)] = true
	if len(seen) != 4 {
		t.Errorf("boot ids: %v %s", seen, errs)
	}

	if _, err := transport.Output(t.Context(), d, "poweroff; sleep 30", nil); !transport.Retryable(err) {
		t.Fatalf("poweroff: got %v, want a link that breaks", err)
	}
	select {
	case <-e.Done():
	case <-time.After(5 * time.Second):
		t.Error("the device is still on")
	}
}

func TestDSPCrashes(t *testing.T) {
	t.Parallel()
	_, _, d := dspPhone(t, func(o *phone.Options) { o.WedgeDSP = true })
	if out, _ := callDSP(t, d, "/data/local/tmp/client", openFrame); out != "" {
		t.Errorf("the call that crashed it was answered: %q", out)
	}
	if out, _ := callDSP(t, d, "/data/local/tmp/client", openFrame); !strings.HasPrefix(out, wedgedReply) {
		t.Errorf("the call after it: %q", out)
	}
	if log := output(t, d, "logcat -d"); !strings.Contains(log, "remoteproc-cdsp: fatal error received") {
		t.Errorf("the log says nothing of it: %s", log)
	}
}

func TestKills(t *testing.T) {
	t.Parallel()
	const client = "/data/local/tmp/client"
	_, _, d := dspPhone(t, func(o *phone.Options) { o.KillAtDSP = true })
	if _, code := callDSP(t, d, client, ""); code != 137 {
		t.Errorf("the first: exit code %d, want 137", code)
	}
	if out, code := callDSP(t, d, client, ""); code != 0 || out != "v79" {
		t.Errorf("the next one: exit code %d, %q", code, out)
	}
	if log := output(t, d, "logcat -d | grep -c \"lowmemorykiller: Kill 'client'\""); log != "1" {
		t.Errorf("the log tells of %s kills", log)
	}
}

func TestLinkStaysAway(t *testing.T) {
	t.Parallel()
	image := phonetest.Image(t, nil)
	e := phonetest.Start(t, image, func(o *phone.Options) { o.DropAfterBytes, o.Refuse = 1<<20, time.Second })
	s := phonetest.Server(t)
	if err := s.Connect(t.Context(), e.Addr()); err != nil {
		t.Fatal(err)
	}
	d := s.Device(e.Addr())
	_, err := transport.Output(t.Context(), d, "cat >/data/local/tmp/x", bytes.NewReader(bytes.Repeat([]byte("hexagon "), 1<<18)))
	if !transport.Retryable(err) {
		t.Fatalf("push over a link that breaks: %v", err)
	}
	start := time.Now()
	comeBack(t, d)
	if took := time.Since(start); took < 500*time.Millisecond {
		t.Errorf("the device was back after %v", took)
	}
	push(t, d, "/data/local/tmp/x", []byte("well"))

	// The cable is pulled while a command runs.
	pulled := time.Now()
	time.AfterFunc(100*time.Millisecond, func() {
		if err := e.Unplug(500 * time.Millisecond); err != nil {
			t.Error(err)
		}
	})
	if _, err := transport.Output(t.Context(), d, "sleep 30", nil); !transport.Retryable(err) {
		t.Fatalf("a command on a device that is unplugged: %v", err)
	}
	comeBack(t, d)
	if took := time.Since(pulled); took < 600*time.Millisecond {
		t.Errorf("it was back after %v", took)
	}
}

func TestCorruptByte(t *testing.T) {
	t.Parallel()
	d := phonetest.Device(t, phonetest.Image(t, nil), func(o *phone.Options) { o.CorruptByte = 100_000 })
	data := make([]byte, 200_000)
	push(t, d, "/data/local/tmp/x", data)
	if got := output(t, d, "tr -d '\\0' </data/local/tmp/x | od -An -tx1"); got != "01" {
		t.Errorf("not one bit of what was pushed is another: %q", got)
	}
	push(t, d, "/data/local/tmp/x", data)
	if got := output(t, d, "tr -d '\\0' </data/local/tmp/x | od -An -tx1"); got != "" {
		t.Errorf("once is not once: %q", got)
	}
}

func TestSerialno(t *testing.T) {
	t.Parallel()
	d := phonetest.Device(t, phonetest.Image(t, nil), func(o *phone.Options) { o.Serialno = "R5CX123" })
	if got := output(t, d, "getprop ro.soc.model; getprop ro.serialno"); got != "SM8750\nR5CX123" {
		t.Error(got)
	}
}

// TestClock has a device in the year 2006, like a phone that lost its clock.
func TestClock(t *testing.T) {
	t.Parallel()
	const skew = -20 * 365 * 24 * time.Hour
	d := phonetest.Device(t, phonetest.Image(t, nil), func(o *phone.Options) { o.Skew = skew })
	for command, want := range map[string]string{
		"date -u +%Y":                 time.Now().Add(skew).UTC().Format("2006"),
		"logcat -d | head -c 2; echo": time.Now().Add(skew).UTC().Format("01"),
	} {
		if got := output(t, d, command); got != want {
			t.Errorf("%s: got %q, want %q", command, got, want)
		}
	}
}

func TestCoolsDown(t *testing.T) {
	t.Parallel()
	d := phonetest.Device(t, phonetest.Image(t, nil), func(o *phone.Options) { o.Celsius = 50 })
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		n, err := strconv.Atoi(output(t, d, "cat /sys/class/thermal/thermal_zone3/temp"))
		if err != nil || n > 50_000 || n < 30_000 || time.Now().After(deadline) {
			t.Fatalf("%d thousandths of a degree, %v", n, err)
		}
		if n < 45_000 {
			return
		}
	}
}
