//go:build linux

package failures_test

import (
	"path/filepath"
	"strings"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
	"github.com/hexmage/hexmage/simulated/phone"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
)

// TestNoise: what the programs say although all is well is no diagnosis: not in a run that succeeds, not in one that
// fails for a reason that nobody knows, and not in the logs of both sides.
func TestNoise(t *testing.T) {
	cold, did := FirstRun(t)
	w := Warmed(t)
	if all := did.Stdout + did.Stderr; strings.Contains(all, "hint: ") || strings.Contains(all, "remedy: ") {
		t.Errorf("the good run has hints: %s", did)
	}
	good := w.Shipped(t)

	// The runner's own output.
	said := cold.Out("stdout.txt")
	for _, noise := range []string{"<W> Initializing HtpProvider", "PrepareLib isn't loaded",
		"fopen failed for fastrpc_shell_unsigned_3"} {
		if !strings.Contains(Read(t, said), noise) {
			t.Errorf("the runner does not say %q: %s", noise, Read(t, said))
		}
	}
	o := w.Run(t, "diagnose", said)
	Wants(t, o, ExitOK, "No failure in", "3 lines look like errors but are harmless.")

	// The compiler's.
	w.WriteShipped(t, provocation{script: compiled(`"soc":"SM8750","arch":"v79"`) + busybox + " true\n"}.pipeline(t,
		good).With(t, " -o o ", " -o context.bin > o "))
	Wants(t, w.Run(t, "run", Simulated, Pipeline), ExitOK)
	said = w.Out("it")
	if !strings.Contains(Read(t, said), "couldn't open libcdsprpc") {
		t.Errorf("the compiler does not say that a host has no DSP: %s", Read(t, said))
	}
	Wants(t, w.Run(t, "diagnose", said), ExitOK, "No failure in",
		"1 lines look like errors but are harmless.")

	// The phone's log of a good run, at a real adb server.
	image := func() string {
		w.WriteShipped(t, good.Output("phone", "module.toy.phone.device"))
		Wants(t, w.Run(t, "run", Simulated, Pipeline), ExitOK)
		return w.Out("phone")
	}()
	server := phonetest.Server(t)
	e, err := phone.Start(t.Context(),
		phone.Options{Self: []string{Hexmage(), "tool", "phone-init"}, Image: image, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	w.Env = append(w.Env, "HEXMAGE_DEVICES="+filepath.Join(w.Home, "devices.hcl"))
	choosePhone(t, w, e, server)
	own := attached(t, good)
	w.WriteShipped(t, own)
	o = w.Run(t, "run", Simulated, Pipeline, AOT+"run.llm")
	Wants(t, o, ExitOK, "on it (simulated phone SM8750 v79)")
	if strings.Contains(o.Stdout+o.Stderr, "hint: ") {
		t.Errorf("the good run has hints: %s", o)
	}
	log := w.Run(t, "device", "log", "--all", "--serial", e.Addr())
	Wants(t, log, ExitOK, "the simulated SM8750 has started")
	w.Write(t, "phone.log", log.Stdout)
	Wants(t, w.Run(t, "diagnose", "phone.log"), ExitOK, "No failure in")

	// A failure that is in no catalog, among noise.
	w.WriteShipped(t, provocation{instead: "./mllm-qwen3-aot-runner -m model.bin -t tokenizer.json -c config.json " +
		"--ar_len 32 && exit 3"}.pipeline(t, own))
	o = w.Run(t, "run", Simulated, Pipeline, AOT+"run.llm")
	Wants(t, o, ExitFailed, "exit code 3")
	if strings.Contains(o.Stderr, "hint: ") {
		t.Errorf("noise is taken for a failure: %s", o)
	}
}
