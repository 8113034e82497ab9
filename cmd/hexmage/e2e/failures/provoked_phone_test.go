//go:build linux

package failures_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/simulated/phone"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
)

// phoneMistake is something wrong with a phone itself.
type phoneMistake struct {
	id, mistake, in, plan string

	faults phone.Faults
	before string // what a shell on the phone does before the runner starts
	code   int    // exit code of the run; 0 stands for ExitFailed
	says   string
}

func phoneMistakes() []phoneMistake {
	return []phoneMistake{
		{id: "dsp-crash", in: onPhone, mistake: "the DSP crashes at the first call",
			faults: phone.Faults{WedgeDSP: true}},
		{id: "dsp-wedged", in: onPhone, mistake: "the DSP has crashed and takes nothing until a reboot",
			faults: phone.Faults{WedgeDSP: true},
			before: "echo hello | ./mllm-qwen3-aot-runner -m model.bin -t tokenizer.json -c config.json --ar_len 32"},
		{id: "phone-out-of-memory", in: onPhone, mistake: "the system kills the runner as it opens the DSP",
			faults: phone.Faults{KillAtDSP: true}},
		{id: "skel-mismatch", in: onPhone,
			mistake: "/vendor/lib64, where the phone has an older QNN, comes first in LD_LIBRARY_PATH",
			plan:    "compat run-vendor-libraries",
			before:  "export LD_LIBRARY_PATH=/vendor/lib64:$LD_LIBRARY_PATH"},
		{id: "vendor-skel", in: onPhone, mistake: "the skel was not pushed, and the vendor's is found",
			before: "rm libQnnHtpV79Skel.so; export ADSP_LIBRARY_PATH=\"$PWD;/vendor/dsp/cdsp\""},
		{id: "usb-dropped", in: "the push", mistake: "the link drops, and nothing can connect any more",
			faults: phone.Faults{DropAfterBytes: 400, Refuse: time.Hour}, code: ExitEngine},
		{id: "disk-full", in: "the push", mistake: "the phone's /data is nearly full",
			faults: phone.Faults{DiskBytes: 1 << 20}, code: ExitEngine},
	}
}

// TestProvokedPhones has phones on which something is wrong, at a real adb server, and the pipeline's run on them.
func TestProvokedPhones(t *testing.T) {
	w := Warmed(t)
	good := w.Shipped(t)
	w.WriteShipped(t, good.Output("phone", "module.toy.phone.device"))
	if o := w.Run(t, "run", Simulated, Pipeline); o.Code != 0 {
		t.Fatal(o)
	}
	image, server, cat := w.Out("phone"), phonetest.Server(t), catalog(t)
	w.Env = append(w.Env, "HEXMAGE_DEVICES="+filepath.Join(w.Home, "devices.hcl"))
	good = attached(t, good)
	start := func(t *testing.T, image string, f phone.Faults, log io.Writer) *phone.Device {
		t.Helper()
		e, err := phone.Start(t.Context(),
			phone.Options{Self: []string{Hexmage(), "tool", "phone-init"}, Image: image, Dir: t.TempDir(),
				Log: log, Faults: f})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
		choosePhone(t, w, e, server)
		return e
	}
	t.Run("another SoC than the phone says", func(t *testing.T) { // is seen before anything is pushed
		w.WriteShipped(t, good)
		other := phonetest.Image(t, nil)
		if err := os.WriteFile(filepath.Join(other, "vendor/etc/open_soc"), []byte("arch=v75\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		e := start(t, other, phone.Faults{}, io.Discard)
		Wants(t, w.Run(t, "run", Simulated, Pipeline, AOT+"run.llm"), ExitFailed, "check before pushing",
			e.Addr()+" has Hexagon v75, but the target is v79; build for the device's SoC, or choose another device")
	})
	for _, m := range phoneMistakes() {
		t.Run(m.id+"/"+m.mistake, func(t *testing.T) {
			var log bytes.Buffer
			start(t, image, m.faults, &log)
			w.WriteShipped(t, provocation{before: m.before}.pipeline(t, good))
			o := w.Run(t, "run", Simulated, Pipeline, AOT+"run.llm")
			if m.code == 0 {
				m.code = ExitFailed
			}
			Wants(t, o, m.code, AOT+"run.llm", m.says)
			diagnosed(t, cat, m.id, o)
			if t.Failed() {
				t.Logf("the phone's log:\n%s", &log)
			}
		})
	}
}

// choosePhone makes the phone the only one that the world knows.
func choosePhone(t *testing.T, w *World, e *phone.Device, server *adb.Server) {
	t.Helper()
	w.Write(t, "../home/devices.hcl",
		fmt.Sprintf("device \"it\" {\n  serial = %q\n  server = \"unix:%s\"\n}\n", e.Addr(), server.Address()))
}

// attached is the pipeline with a phone of devices.hcl in the place of one that it starts.
func attached(t *testing.T, good Shipped) Shipped {
	t.Helper()
	return good.With(t, "  device      = local.phone.device\n", "").With(t, "  serial      = local.phone.serial\n", "")
}
