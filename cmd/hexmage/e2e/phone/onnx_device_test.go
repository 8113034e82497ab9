//go:build linux

package phone_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
	"github.com/hexmage/hexmage/runner/ssh/sshtest"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// onDevice is a pipeline with module onnx-device and few tokens. It checks the device's words and speed, and pushes
// the license text of its model.
const onDevice = `pipeline { description = "a language model on a device of the test's" }
profile "emulator" { default = true }
profile "device" {}
target "SM8750" {}
variable "board" { type = optional(string) }
variable "prompt" { type = optional(string) }
variable "launcher" { type = optional(list(string)) }
step "toy_model" "tiny" {
  seed   = 79
  layers = 2
}
step "exec" "licensed" {
  argv = ["sh", "-c", "mkdir model && cp ${step.toy_model.tiny.outputs.dir}/* model && echo do what you like >model/LICENSE"]
  output "dir" { tree = "model" }
}
module "llm" {
  source   = "onnx-device"
  board    = var.board
  launcher = var.launcher
  model    = step.exec.licensed.outputs.dir
  prompt   = var.prompt
  tokens   = 4
}
check "device" {
  condition     = module.llm.rows.device.cosine > 0.99 && module.llm.rows.device.equal == module.llm.rows.device.tokens && module.llm.measured.decode_tokens_per_s.median > 0
  error_message = "The device's words differ from the emulator's, or its speed is missing."
}
output "context" { value = module.llm.context }
output "metrics" { value = module.llm.metrics }
output "table" { value = module.llm.table }
`

// sentNothing is the output of `device push` if the device has all files already.
var sentNothing = regexp.MustCompile(`files, [0-9.]+ [kM]B: 0 B sent in `)

// answers runs pipeline onnx with the arguments, and returns the first run. A second run executes nothing; another
// prompt compiles nothing.
func answers(t *testing.T, w *World, args ...string) *Outcome {
	t.Helper()
	w.Write(t, "pipelines/onnx.hcl", onDevice)
	first := w.Run(t, append([]string{"run", "onnx"}, args...)...)
	Wants(t, first, ExitOK, "on ONNX Runtime's own kernels in the NPU's place", "4 of 4", "aarch64")
	t.Logf("the first run: %s", first)
	var metrics map[string]any
	if err := json.Unmarshal([]byte(Read(t, filepath.Join(w.Dir, "out", "onnx", "metrics"))), &metrics); err != nil {
		t.Error(err)
	}
	license := filepath.Join(w.Dir, "out", "onnx", "context", "device", "licenses", "LICENSE")
	if text := Read(t, license); text != "do what you like\n" {
		t.Errorf("the pushed license is %q", text)
	}
	args = append([]string{"onnx"}, args...)
	if r := w.RunJSON(t, args...); r.Executed != 0 {
		t.Errorf("again: %q ran", r.Names)
	}
	r := w.RunJSON(t, append(args, "--var=prompt=Name three fruits.")...)
	if len(r.Names) == 0 || slices.ContainsFunc(r.Names, func(name string) bool {
		return strings.Contains(name, "htp_context") || strings.Contains(name, "exec.program")
	}) {
		t.Errorf("with another prompt: %q ran", r.Names)
	}
	return first
}

// pushed pushes the context to a folder of the device: of what the run pushed nothing is sent again.
func pushed(t *testing.T, w *World, serial, folder string) *Outcome {
	t.Helper()
	o := w.Run(t, "device", "push", "-s", serial, filepath.Join("out", "onnx", "context", "device"), folder)
	if o.Code != ExitOK || !sentNothing.MatchString(o.Stdout) {
		t.Errorf("the context, again: %s", o)
	}
	return o
}

// TestONNXPhone runs module onnx-device on a simulated phone behind a real adb server: the program and ONNX Runtime
// for arm64 run under qemu. The user's adb server has the phone first, and its link breaks every 4 MB; then it is the
// pipeline's own phone.
func TestONNXPhone(t *testing.T) {
	w, server := EmulatorWarmed(t), phonetest.Server(t)
	w.Env = []string{"ADB_SERVER_SOCKET=localfilesystem:" + server.Address()}
	one := emulate(t, w, "--linux", "--connect", "--fault", "drop-every=4MB")
	Wants(t, answers(t, w, "--serial", one.Serial), ExitOK, "not a phone's speed", "aarch64, in the NPU's place",
		"times during the push")
	Wants(t, w.Run(t, "plan", "-v", "onnx"), ExitOK, "answer.c", "--target=aarch64-linux-gnu", "./answer --context")
	pushed(t, w, one.Serial, "/data/local/tmp/context")

	// Profile device with the simulated phone as a Linux board: Qualcomm's provider, stub and skel for arm64 Linux
	// load the compiled context.
	t.Run("as far as the skel", func(t *testing.T) {
		Wants(t, w.Run(t, "run", "onnx", "--profile", "device", "--var=board="+one.Serial), ExitFailed,
			"the simulated DSP does not run it: this is as far as it goes",
			"prefill_ctx.onnx: the context was not loaded",
			"The context is for SM8750, Hexagon v79, compiled by QAIRT 2.51.0",
			"The libraries fit each other and the phone, and the DSP would load the skel")
	})
	t.Run("the first-run kit", func(t *testing.T) { kit(t, w, one.Serial) })
	one.input.Close()
	one.end(t)
	t.Run("the pipeline's own phone", func(t *testing.T) {
		Wants(t, w.Run(t, "run", "onnx"), ExitOK, "on simulated phone SM8750 v79", "4 of 4", "not a phone's speed")
	})
}

// kit runs the first-run kit with the phone as a board, without an SDK. Its archive has the commands of the plans, and
// the run up to the skel, without the phone's serial number and the names of this machine.
func kit(t *testing.T, w *World, serial string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "hexmage")
	text := "#!/bin/sh\n[ \"$1\" != run ] || set -- \"$@\" --offline\nexec " + Hexmage() + " \"$@\"\n"
	if err := os.WriteFile(program, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := w.Command(t.Context())
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", filepath.Join(Repo(), "examples", "first-run.sh")}
	cmd.Env = append(cmd.Env, "PATH="+Path()+":/usr/bin:/bin", "HEXMAGE="+program, "BOARD="+serial)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	to := t.TempDir()
	archive := filepath.Join(w.Dir, "hexmage-first-run.tar.gz")
	if out, err := exec.CommandContext(t.Context(), "tar", "-xzf", archive, "-C", to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	read := func(name string) string { return Read(t, filepath.Join(to, "hexmage-first-run", name)) }
	for name, wants := range map[string][]string{
		"plan-qairt.txt": {"/qairt-converter --input_network ", "--config_file context/link.json",
			"downloads 2.4 GB"},
		"plan-onnx-device.txt": {"./answer --context context", "libQnnHtpV79Skel.so"},
		"run-onnx-device.txt": {"the simulated DSP does not run it: this is as far as it goes",
			"The libraries fit each other and the phone, and the DSP would load the skel"},
		"outcomes.txt": {"version 0\n", "run-qairt ", "run-onnx-device 1\n"},
	} {
		got := read(name)
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("%s has no %q: %s", name, want, got)
			}
		}
		for _, secret := range []string{serial, w.Home, w.Dir} {
			if strings.Contains(got, secret) {
				t.Errorf("%s has %q", name, secret)
			}
		}
	}
}

// TestONNXBoard runs module onnx-device on a board: a real sshd of this machine, where a launcher starts the arm64
// program under qemu. The link breaks in the middle of the push.
func TestONNXBoard(t *testing.T) {
	w := EmulatorWarmed(t)
	programs := t.TempDir()
	launcher := "#!/bin/sh\nexec " + toolchaintest.Path(t, "qemu@11.1", "usr/bin/qemu-aarch64-static") + " -L " +
		toolchaintest.Root(t, "linux_arm64") + ` "$@"` + "\n"
	if err := os.WriteFile(filepath.Join(programs, "arm64"), []byte(launcher), 0o755); err != nil {
		t.Fatal(err)
	}
	s := sshtest.Start(t, sshtest.Options{Path: []string{programs}})
	c := s.Cable(t)
	w.Env = append(w.Env, "PATH="+s.Program(t)+":"+Path())
	c.CutAfter(8<<20, false)
	answers(t, w, "--var=board="+c.Address(), `--var=launcher=["arm64"]`)
	if c.Cuts() != 1 {
		t.Errorf("the link broke %d times", c.Cuts())
	}
	pushed(t, w, c.Address(), s.Home+"/")
}
