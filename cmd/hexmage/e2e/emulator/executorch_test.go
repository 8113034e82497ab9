//go:build linux

package emulator_test

import (
	"context"
	"os"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// TestExecuTorch: what cannot be lowered is refused with what to do. With HEXMAGE_EXECUTORCH ExecuTorch is installed,
// quantizes, and comes as far as Qualcomm's libraries of public packages let it: their reason is held word for
// word, so the day that ExecuTorch takes them this test fails. HEXMAGE_EXECUTORCH is the folder of a cache whose
// downloads are taken, or anything else.
func TestExecuTorch(t *testing.T) {
	t.Run("refused", func(t *testing.T) {
		w := NewWorld(t)
		Wants(t, w.Run(t, "plan", "executorch-qnn", "--profile=emulator", "--var=precision=int4"), ExitUsage, "a16w4")
	})

	from := os.Getenv("HEXMAGE_EXECUTORCH")
	if from == "" {
		t.Skip("NOT TESTED: the lowering. HEXMAGE_EXECUTORCH is not set; its environment has 2.9 GB of PyTorch")
	}
	w := EmulatorWarmed(t).WithDownloadsOf(t, from)
	ctx, cancel := context.WithTimeout(t.Context(), 4*RunLimit) // gigabytes to download and install
	defer cancel()
	if o := Ended(t, w.Command(ctx, "toolchain", "fetch", "executorch")); o.Code != ExitOK {
		t.Fatal(o)
	}

	for _, precision := range []string{"a16w8", "a16w4", "f16"} {
		o := w.Run(t, "run", "executorch-qnn", "--profile=emulator", "--var=precision="+precision)
		if o.Code == ExitOK {
			t.Fatalf("%s: ExecuTorch lowers with the libraries of public packages now. Have docs/executorch.md and "+
				"modules/executorch-qnn say so, read the .pte here, and run it:\n%s", precision, o.Stdout)
		}
		Wants(t, o, ExitFailed, "Failed to set scatter gather parameters: unknown custom config socModel 0",
			"Failed to parse platform config: 14001",
			"Failed to create device_handle for Backend ID 6, error=14001",
			"built against another release of the QNN SDK", "ExecuTorch 1.5.1 wants QAIRT 2.37")
	}

	const half = "import torch\ndef module(): return torch.nn.Linear(4, 4)\n"
	w.Write(t, "half.py", half)
	w.Write(t, "none.py", half+"def samples(): return []\n")
	w.Write(t, "typo.py", "import torch\ndef samples(): return []\ndef module(): return torch.nn.Lineal(4, 4)\n")
	w.Write(t, "net.py", half+"def samples(): return [(torch.ones(1, 4),)]\n")
	for module, want := range map[string]string{
		"half.py": "half.py has no samples(): module() returns",
		"none.py": "samples() of none.py does not return a list of tuples",
		"typo.py": "typo.py, line 3: AttributeError: ",
	} {
		Wants(t, w.Run(t, "run", "executorch-qnn", "--profile=emulator", "--var=module="+module), ExitFailed, want)
	}
	o := w.Run(t, "run", "executorch-qnn", "--profile=emulator", "--var=module=net.py", "--soc=QCS8550")
	Wants(t, o, ExitFailed, "This ExecuTorch does not know QCS8550. It knows ", "SM8750")
}
