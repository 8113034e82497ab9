//go:build linux

package mainjob_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// TestProfileOfAPhone: the table has what a phone's kernel told meanwhile. The phone is the simulated one, and what
// its program writes is a profile of Qualcomm's emulator, in the place of qnn-net-run.
func TestProfileOfAPhone(t *testing.T) {
	w := Warmed(t)
	csv, err := os.ReadFile(filepath.Join(Repo(), "model", "profile", "testdata", "detailed.csv"))
	if err != nil {
		t.Fatal(err)
	}
	w.Write(t, "net.csv", string(csv))
	w.Write(t, "pipelines/phone.hcl", `profile "simulated" { default = true }
target "SM8750" {}
toolchain "adb" {}
toolchain "llvm" {}
toolchain "qemu" {}
toolchain "busybox" {}
step "simulated_phone" "phone" {}
step "run" "net" {
  device    = step.simulated_phone.phone.outputs.image
  push      = { "net.csv" = "net.csv" }
  argv      = ["sh", "-c", "sleep 0.5; mkdir results; cp net.csv results/"]
  pull      = ["results/net.csv"]
  sample_ms = 20
}
step "npu_profile" "net" {
  profile = "${step.run.net.outputs.results}/net.csv"
}
check "gpu" {
  condition     = step.run.net.outputs.measured.mean_gpu_busy.median < 10
  error_message = "The GPU was busy, so it may be that the graph ran there."
}
output "table" {
  value = step.npu_profile.net.outputs.table
  show  = "table"
}
`)
	o := w.Run(t, "run", "phone")
	Wants(t, o, ExitOK, "head", "passed         check.gpu")
	if strings.Contains(o.Stdout, "emulator's") {
		t.Errorf("it says of a phone that it is the vendor's emulator: %s", o)
	}
	t.Log(o.Stdout)
}
