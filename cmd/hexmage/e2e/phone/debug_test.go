//go:build linux

package phone_test

import (
	"bufio"
	"encoding/json"
	"net"
	"os/exec"
	"slices"
	"strings"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// TestDebug stops the runner on the simulated phone: real code for AArch64, a real adb server, qemu's stub and a real
// LLDB with the printed commands. LLDB's output has the function, the line of the source with its text, and the input
// of the step's program: its prompt has 144 tokens.
func TestDebug(t *testing.T) {
	w, server := Warmed(t), phonetest.Server(t)
	w.Env = []string{"ADB_SERVER_SOCKET=localfilesystem:" + server.Address()}
	t.Run("by the printed commands", func(t *testing.T) { debugsPrinted(t, w) })
	t.Run("a phone that is connected", func(t *testing.T) { debugsOnConnectedPhone(t, w) })
	t.Run("what cannot be", func(t *testing.T) { debugsNot(t, w) })
}

// debugged is the runner's name on the phone.
const debugged = "mllm-qwen3-aot-runner"

// debugs runs `hexmage device debug --json`, and LLDB up to function Model::prefill. It returns LLDB's output.
func debugs(t *testing.T, w *World, args ...string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(address)
	cmd := w.Command(t.Context(), append([]string{"device", "debug", Simulated, Pipeline, "--port", port, "--json"},
		args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Cancel() })
	var said struct {
		Device, Address, Program string
		LLDB                     []string                    `json:"lldb"`
		SourceMap                []struct{ From, To string } `json:"source_map"`
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &said)
	}
	if err != nil || len(said.LLDB) == 0 || said.LLDB[0] != "lldb" || said.Address != address ||
		len(said.SourceMap) == 0 || !strings.Contains(said.Device, "SM8750") ||
		!strings.HasSuffix(said.Program, debugged) {
		t.Fatalf("%v: %s", err, line)
	}
	argv := slices.Concat(said.LLDB[1:], []string{"--batch", "--no-lldbinit", "--one-line", "b Model::prefill",
		"--one-line", "continue", "--one-line", "bt", "--one-line", "frame variable", "--one-line", "process kill"})
	debugger := exec.CommandContext(t.Context(), toolchaintest.Path(t, "lldb", "usr/bin/lldb-22"), argv...)
	debugger.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + w.Home}
	text, err := debugger.CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, text)
	}
	if err := cmd.Wait(); err != nil { // the program has ended
		t.Errorf("debug ended: %v", err)
	}
	return string(text)
}

// debugsPrinted holds LLDB's output to the sources and arguments, and the pipeline's cached results stay.
func debugsPrinted(t *testing.T, w *World) {
	text := debugs(t, w, "module.aot.run.llm")
	for _, want := range []string{"stop reason = breakpoint 1.1", "n=144, real=144, chunk=32) at model.cc:",
		"for (u32 at = 0; at < n; at += chunk) {", "at main.cc:", "(u32) n = 144\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("LLDB does not print %q", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
	if r := w.RunJSON(t, Simulated, Pipeline); slices.ContainsFunc(r.Names,
		func(n string) bool { return strings.HasPrefix(n, AOT) }) {
		t.Errorf("what is known ran again: %q", r.Names)
	}
}

// debugsNot has mistakes reported before a phone is asked for, with a next step.
func debugsNot(t *testing.T, w *World) {
	for _, c := range []struct{ args, says string }{
		{"module.aot.module.toy.exec.runner", "is not a step of kind run"},
		{"module.aot.run.lm", "did you mean module.aot.run.llm?"},
		{"--port 99999", "use a number from 1 to 65535"},
	} {
		Wants(t, w.Run(t, append([]string{"device", "debug", Simulated, Pipeline}, strings.Fields(c.args)...)...),
			ExitUsage, c.says)
	}
	Wants(t, w.Run(t, "device", "debug", "sdk-matrix"), ExitUsage, "lacks a `run` step in this profile")
	own := w.Shipped(t)
	w.WriteShipped(t, own.With(t, `argv = concat(["./${local.program}", `, `argv = concat(["sh", "-c", `))
	Wants(t, w.Run(t, "device", "debug", Simulated, Pipeline), ExitUsage,
		"module.aot.run.llm: program sh is not among the pushed files")
	w.WriteShipped(t, own)
}

// debugsOnConnectedPhone takes a phone of the user's own adb server, here a simulated one, by its serial.
func debugsOnConnectedPhone(t *testing.T, w *World) {
	one := emulate(t, w, "--connect")
	if text := debugs(t, w, "-s", one.Serial); !strings.Contains(text, "(u32) n = 144") {
		t.Error(text)
	}
	if o := w.Run(t, "device", "shell", "-s", one.Serial, "ls /data/local/tmp/hexmage/run | wc -l"); o.Stdout != "0\n" {
		t.Errorf("left on the phone: %s", o)
	}
	one.input.Close()
	one.end(t)
}
