//go:build linux

package phone_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
)

// handset is a `hexmage device simulate` that runs.
type handset struct {
	Serial, Serialno, SoC, Arch, Data string
	Faults                            []string

	cmd    *exec.Cmd
	input  io.WriteCloser
	stderr bytes.Buffer
	took   time.Duration // until it said what it is
}

// emulate starts a phone by the command.
func emulate(t *testing.T, w *World, args ...string) *handset {
	t.Helper()
	h := &handset{cmd: w.Command(t.Context(), append([]string{"device", "simulate", "--stdin", "--json"}, args...)...)}
	h.cmd.Stderr = &h.stderr
	in, err := h.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	h.input = in
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.cmd.Cancel(); _ = h.cmd.Wait() })
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, h)
	}
	if err != nil {
		t.Fatalf("device simulate %q: %v %s%s", args, err, line, &h.stderr)
	}
	h.took = time.Since(start)
	return h
}

// resultsIn counts what the cache remembers of actions.
func resultsIn(t *testing.T, w *World) (n int) {
	t.Helper()
	var stats struct {
		Groups []struct {
			Kind  string
			Count int
		}
	}
	o := w.Run(t, "cache", "stats", "--json")
	if err := json.Unmarshal([]byte(o.Stdout), &stats); err != nil {
		t.Fatalf("%v: %s", err, o)
	}
	for _, g := range stats.Groups {
		if g.Kind == "results" {
			n += g.Count
		}
	}
	return n
}

// end waits for the end of a phone, which must be a good one.
func (h *handset) end(t *testing.T) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- h.cmd.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("device simulate ended: %v\n%s", err, &h.stderr)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("device simulate does not end")
	}
	if c, err := net.Dial("tcp", h.Serial); err == nil {
		c.Close()
		t.Error("the phone outlived it")
	}
}

// TestEmulateLinux has a phone that also runs programs of arm64 Linux, with the distribution's loader and C library.
func TestEmulateLinux(t *testing.T) {
	w, server := Warmed(t), phonetest.Server(t)
	w.Env = []string{"ADB_SERVER_SOCKET=localfilesystem:" + server.Address()}
	one := emulate(t, w, "--linux", "--connect")
	o := w.Run(t, "device", "shell",
		"qnn-load libcdsprpc.so; echo $?; qnn-load libQnnHtp.so; echo $?; ls /lib/aarch64-linux-gnu | wc -l")
	want := "qnn-load: dlsym: /lib/aarch64-linux-gnu/libcdsprpc.so: undefined symbol: QnnInterface_getProviders\n1\n" +
		"qnn-load: dlopen: libQnnHtp.so: cannot open shared object file: No such file or directory\n1\n10\n"
	if o.Stdout != want {
		t.Errorf("%s, want %q", o, want)
	}
	one.input.Close()
	one.end(t)
}

func TestEmulate(t *testing.T) {
	w, server := Warmed(t), phonetest.Server(t)
	w.Env = []string{"ADB_SERVER_SOCKET=localfilesystem:" + server.Address()}

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	l.Close()
	data := filepath.Join(w.Dir, "phone's data")
	args := []string{"--soc", "sm8650", "--port", port, "--data", data, "--serialno", "R5CX123", "--fault",
		"refuse=1s", "--fault", "clock=-175200h", "--connect"}
	one := emulate(t, w, args...)
	if one.Serial != "127.0.0.1:"+port || one.Serialno != "R5CX123" || one.SoC != "SM8650" || one.Arch != "v75" ||
		one.Data != data ||
		!slices.Equal(one.Faults, []string{"refuse=1s", "clock=-175200h"}) {
		t.Errorf("it says it is %+v", one)
	}
	o := w.Run(t, "device", "shell", "getprop ro.soc.model; getprop ro.serialno; cat /sys/devices/soc0/soc_id; grep "+
		"arch /vendor/etc/open_soc; date +%Y; echo kept >/data/local/tmp/x")
	if want := "SM8650\nR5CX123\n557\narch=v75\n" + time.Now().Add(-175200*time.Hour).UTC().Format("2006") +
		"\n"; o.Stdout != want {
		t.Errorf("it is %s, want %q", o, want)
	}
	Wants(t, w.Run(t, "device", "simulate", "--port", port), ExitEngine, "",
		"127.0.0.1:"+port+": bind: address already in use")
	if _, err := io.WriteString(one.input, "shake\nreboot\n"); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(15 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		w.Run(t, "device", "connect", "--off", one.Serial)
		if o := w.Run(t, "device", "shell", "-s", one.Serial, "getprop sys.boot.reason"); o.Stdout == "reboot,host\n" {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("it does not reboot: %s", o)
		}
	}
	Wants(t, w.Run(t, "device", "simulate", "--data", data), 4, "another simulated phone uses this folder")
	one.input.Close()
	one.end(t)
	if said := one.stderr.String(); !strings.Contains(said,
		`unknown command "shake"; use unplug [DURATION] or reboot`) {
		t.Errorf("an order that is none: %q", said)
	}
	if o := w.Run(t, "device", "list"); !strings.HasPrefix(o.Stdout, "No device") {
		t.Errorf("the adb server still knows it: %s", o)
	}

	made := resultsIn(t, w)
	again := emulate(t, w, args...)
	t.Logf("the first phone of its SoC after %v, again after %v", one.took, again.took)
	if now := resultsIn(t, w); now != made || made == 0 {
		t.Errorf("%d results before the second start, %d after: is the image made again?", made, now)
	}
	if o := w.Run(t, "device", "shell", "-s", again.Serial, "cat /data/local/tmp/x"); o.Stdout != "kept\n" {
		t.Errorf("its data: %s", o)
	}
	Wants(t, w.Run(t, "cache", "gc", "--max-size", "1MB"), 4, "in use") // what it runs from stays
	if err := again.cmd.Process.Signal(syscall.SIGINT); err != nil {    // what Ctrl-C does
		t.Fatal(err)
	}
	again.end(t)
	if left, err := os.ReadDir(filepath.Join(w.Cache, "tmp")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}

	for _, c := range []struct {
		args, says string
	}{
		{"--soc SM8751", "did you mean"},
		{"--fault unplug", `unknown fault "unplug"; choose one of drop-every`},
		{"--fault drop-every", "write drop-every=SIZE"},
		{"--fault wedge-dsp=crash", "write wedge-dsp"},
		{"--data x --fault disk=1MB", "cannot be combined"},
	} {
		Wants(t, w.Run(t, append([]string{"device", "simulate"}, strings.Fields(c.args)...)...), ExitUsage, "", c.says)
	}
}
