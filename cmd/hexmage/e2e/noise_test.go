//go:build linux

package e2e_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/standin/phone"
	"github.com/hexmage/hexmage/standin/phone/phonetest"
)

// TestNoise: what the programs say although all is well is no diagnosis: not in a run that succeeds, not in one that fails for a reason that
// nobody knows, and not in the logs of both sides.
func TestNoise(t *testing.T) {
	w := warmed(t)
	if all := shared.did.stdout + shared.did.stderr; strings.Contains(all, "hint: ") || strings.Contains(all, "remedy: ") {
		t.Errorf("the good run has hints: %s", shared.did)
	}
	good := w.shipped(t)

	// The runner's own output.
	said := shared.cold.out("stdout.txt")
	for _, noise := range []string{"<W> Initializing HtpProvider", "PrepareLib isn't loaded", "fopen failed for fastrpc_shell_unsigned_3"} {
		if !strings.Contains(read(t, said), noise) {
			t.Errorf("the runner does not say %q: %s", noise, read(t, said))
		}
	}
	o := w.run(t, "diagnose", said)
	wants(t, o, exitOK, "No failure shows", "3 of them look like errors and are known to mean nothing.")

	// The compiler's.
	w.writeShipped(t, provocation{script: compiled(`"soc":"SM8750","arch":"v79"`) + busybox + " true\n"}.pipeline(t, good).with(t, " -o o ", " -o context.bin > o "))
	wants(t, w.run(t, "run", pipeline), exitOK)
	said = w.out("it")
	if !strings.Contains(read(t, said), "couldn't open libcdsprpc") {
		t.Errorf("the compiler does not say that a host has no DSP: %s", read(t, said))
	}
	wants(t, w.run(t, "diagnose", said), exitOK, "No failure shows", "1 of them look like errors and are known to mean nothing.")

	// The phone's log of a good run, at a real adb server.
	image := func() string {
		w.writeShipped(t, good.output("phone", "step.emulator.phone.outputs.image"))
		wants(t, w.run(t, "run", pipeline), exitOK)
		return w.out("phone")
	}()
	server := phonetest.Server(t)
	e, err := phone.Start(t.Context(), phone.Options{Self: []string{shared.hexmage + "-engine", "tool", "emulator-init"}, Image: image, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	w.env = append(w.env, "HEXMAGE_DEVICES="+filepath.Join(w.home, "devices.hcl"))
	w.choose(t, e, server)
	own := attached(t, good)
	w.writeShipped(t, own)
	o = w.run(t, "run", pipeline, aot+"run.llm")
	wants(t, o, exitOK, "on it (emulator SM8750 v79)")
	if strings.Contains(o.stdout+o.stderr, "hint: ") {
		t.Errorf("the good run has hints: %s", o)
	}
	log := w.run(t, "device", "log", "--all", "--serial", e.Addr())
	wants(t, log, exitOK, "the emulated SM8750 has started")
	w.write(t, "phone.log", log.stdout)
	wants(t, w.run(t, "diagnose", "phone.log"), exitOK, "No failure shows")

	// A failure that is in no catalogue, among noise.
	w.writeShipped(t, provocation{instead: "./mllm-qwen3-aot-runner -m model.bin -t tokenizer.json -c config.json --ar_len 32 && exit 3"}.pipeline(t, own))
	o = w.run(t, "run", pipeline, aot+"run.llm")
	wants(t, o, exitFailed, "exit code 3")
	if strings.Contains(o.stderr, "hint: ") {
		t.Errorf("noise is taken for a failure: %s", o)
	}
}
