//go:build linux

package phone_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
)

// lineOf is the number of the first line that has the text, of a source of the simulation's runner as its toolchain has
// it.
func lineOf(t *testing.T, w *World, name, text string) int {
	t.Helper()
	trees, err := filepath.Glob(filepath.Join(w.Cache, "trees", "*", "src", "runner", name))
	if err != nil || len(trees) == 0 {
		t.Fatalf("no %s in the store: %v", name, err)
	}
	before, _, found := strings.Cut(Read(t, trees[0]), text)
	if !found {
		t.Fatalf("%s has no %q", name, text)
	}
	return 1 + strings.Count(before, "\n")
}

// TestDebug stops the simulation's runner on the simulated phone: real code for AArch64, a real adb server, the
// emulator's own stub, a real LLDB that hexmage fetches itself. What LLDB prints has the function, the line of our
// source, with its text, and what the step gives its program: its prompt has 144 tokens.
func TestDebug(t *testing.T) {
	w, server := Warmed(t).WithDownloads(t), phonetest.Server(t)
	w.Env = []string{"ADB_SERVER_SOCKET=localfilesystem:" + server.Address()}
	t.Run("batch", func(t *testing.T) { debugsBatch(t, w) })
	t.Run("by hand", func(t *testing.T) { debugsByHand(t, w) })
	t.Run("a phone that is connected", func(t *testing.T) { debugsOnConnectedPhone(t, w) })
	t.Run("what cannot be", func(t *testing.T) { debugsNot(t, w) })
	t.Run("without debug information", func(t *testing.T) { debugsWithoutInformation(t, w) })
}

// debugsBatch has the first command of docs/debug.md print what the page says, but for its numbers: lines move when
// the runner's sources change.
func debugsBatch(t *testing.T, w *World) {
	_, page, _ := strings.Cut(Read(t, filepath.Join(Repo(), "docs/debug.md")), "```\n$ hexmage ")
	page, _, _ = strings.Cut(page, "\n```\n")
	args, printed, found := strings.Cut(page, "\n")
	if !found {
		t.Fatal("docs/debug.md begins with no command")
	}
	at := lineOf(t, w, "model.cc", "  for (u32 at = 0; at < n; at += chunk) {")
	o := w.Run(t, strings.Fields(args)...)
	t.Logf("with LLDB to unpack: %v", o.Took)
	number, space := regexp.MustCompile(`0x[0-9a-f]+|[0-9]+`), regexp.MustCompile(`(?m)[ \t]+$`)
	plain := func(text string) string {
		return strings.TrimSpace(space.ReplaceAllString(number.ReplaceAllString(text, "…"), ""))
	}
	if says, has := plain(o.Stdout), plain(printed); says != has {
		t.Errorf("docs/debug.md has\n%q\nand the command prints\n%q", has, says)
	}
	Wants(t, o, 0, "stop reason = breakpoint 1.1", fmt.Sprintf("n=144, real=144, chunk=32) at model.cc:%d:", at),
		fmt.Sprintf("-> %d  \t  for (u32 at = 0; at < n; at += chunk) {", at), "at main.cc:", "(u32) n = 144\n")
	if strings.Contains(o.Stdout, "(lldb)") || strings.Contains(o.Stdout, "num_tokens") ||
		!strings.Contains(o.Stderr, "num_tokens: 144") {
		t.Errorf("the program's words and the debugger's are not apart: %s", o)
	}

	// The first of two places, a line of a file that is named with its folder; the step is named, too. Its arguments
	// have come to the program.
	at = lineOf(t, w, "main.cc", "  model.prefill(")
	o = w.Run(t, "debug", Simulated, Pipeline, "module.aot.run.llm", "-b", "Model::decode", "-b",
		fmt.Sprintf("runner/main.cc:%d", at), "--batch")
	t.Logf("again: %v", o.Took)
	Wants(t, o, 0, "stop reason = breakpoint 2.1", fmt.Sprintf("at main.cc:%d:", at),
		`(Flags) flags = (model = "model.bin", tokenizer = "tokenizer.json", config = "config.json", ar_len = 32, help = false)`)

	// What the pipeline knows is as it was.
	if r := w.RunJSON(t, Simulated, Pipeline); slices.ContainsFunc(r.Names,
		func(n string) bool { return strings.HasPrefix(n, AOT) }) {
		t.Errorf("what is known ran again: %q", r.Names)
	}
}

// debugsNot has what is wrong said before a phone is asked for, with what to do; and what the program did not come to.
func debugsNot(t *testing.T, w *World) {
	Wants(t, w.Run(t, "debug", Simulated, Pipeline, "--break", "print_help", "--batch"), ExitFailed,
		"exited with status = 0", "the program did not come to a breakpoint")
	Wants(t, w.Run(t, "debug", Simulated, Pipeline, "--break", "parse_flgas", "--batch"), ExitUsage,
		"--break parse_flgas: there is no function parse_flgas in "+debugged+" and the", "did you mean parse_flags?")
	Wants(t, w.Run(t, "debug", Simulated, Pipeline, "--break", "flgas.cc:3", "--batch"), ExitUsage,
		"nothing was compiled from a file flgas.cc", "did you mean flags.cc?")
	for _, c := range []struct{ args, says string }{
		{"--batch", "say where with --break"},
		{"--batch --print --break x", "give one of them"},
		{"--break main.cc:x", `"x" is no line`},
		{"module.aot.module.toy.exec.runner", "is no run step"},
		{"module.aot.run.lm", "did you mean module.aot.run.llm?"},
		{"--port 99999", "want a number from 1 to 65535"},
	} {
		Wants(t, w.Run(t, append([]string{"debug", Simulated, Pipeline}, strings.Fields(c.args)...)...), ExitUsage,
			c.says)
	}
	Wants(t, w.Run(t, "debug", "sdk-matrix"), ExitUsage, "has no run step")
	own := w.Shipped(t)
	w.WriteShipped(t, own.With(t, `argv = concat(["./${local.program}", `, `argv = concat(["sh", "-c", `))
	Wants(t, w.Run(t, "debug", Simulated, Pipeline, "--break", "run", "--batch"), ExitUsage,
		"module.aot.run.llm starts sh, which is no program that it pushes")
	w.WriteShipped(t, own)
}

// debugged is what the simulation's runner is called on the phone.
const debugged = "mllm-qwen3-aot-runner"

// debugsByHand has LLDB take commands where there is no terminal, and an editor's debugger told how to connect.
func debugsByHand(t *testing.T, w *World) {
	cmd := w.Command(t.Context(), "debug", Simulated, Pipeline, "--break", "Model::prefill")
	cmd.Stdin = strings.NewReader("frame variable n\nquit\n")
	Wants(t, Ended(t, cmd), 0, "stop reason = breakpoint 1.1", "(u32) n = 144",
		"hexmage: ./"+debugged+" on simulated phone SM8750 v79")

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(address)
	cmd = w.Command(t.Context(), "debug", Simulated, Pipeline, "--break", "Model::prefill", "--print", "--port", port,
		"--json")
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
	if err != nil || len(said.LLDB) == 0 || said.Address != address || len(said.SourceMap) == 0 ||
		!strings.Contains(said.Device, "SM8750") {
		t.Fatalf("%v: %s", err, line)
	}
	debugger := exec.CommandContext(t.Context(), said.LLDB[0],
		append(said.LLDB[1:], "--batch", "--no-lldbinit", "--one-line", "frame variable n", "--one-line",
			"process kill")...)
	debugger.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + w.Home}
	if text, err := debugger.CombinedOutput(); err != nil || !strings.Contains(string(text), "(u32) n = 144") {
		t.Errorf("%v: %s", err, text)
	}
	if err := cmd.Wait(); err != nil { // the program has ended
		t.Errorf("debug --print ended: %v", err)
	}
}

// debugsWithoutInformation has a program without debug information named, before a phone is asked for, with what to do.
func debugsWithoutInformation(t *testing.T, w *World) {
	w.Edit(t, SimulatedFile, `output "symbols" {`, `output "others" {`)
	o := w.Run(t, "debug", Simulated, Pipeline, "--break", "flags.cc:20", "--batch")
	Wants(t, o, ExitUsage, "--break flags.cc:20: "+debugged+
		" has no debug information, so there are no lines: compile it with -g", `an output "symbols"`)
	Wants(t, w.Run(t, "debug", Simulated, Pipeline, "--break", "parse_flags", "--batch"), ExitUsage,
		"there is no function parse_flags in "+debugged)
}

// debugsOnConnectedPhone takes a phone of the user's own adb server, which here is a simulated one, by its serial.
func debugsOnConnectedPhone(t *testing.T, w *World) {
	one := emulate(t, w, "--connect")
	Wants(t, w.Run(t, "debug", Simulated, Pipeline, "-s", one.Serial, "--break", "Model::prefill", "--batch"), 0,
		"(u32) n = 144")
	if o := w.Run(t, "device", "shell", "-s", one.Serial, "ls /data/local/tmp/hexmage/run | wc -l"); o.Stdout != "0\n" {
		t.Errorf("left on the phone: %s", o)
	}
	one.input.Close()
	one.end(t)
}
