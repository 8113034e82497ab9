package runner_test

import (
	"strings"
	"testing"

	"github.com/hexmage/hexmage/runner"
)

func TestDiagnose(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ log, want string }{
		{"all is well\n", ""},
		{"Stub lib id mismatch: expected (v2.36.0.250627), detected (v2.34.0.250424)\n", "of one SDK"},
		{"DspTransport.openSession qnn_open failed, 0x80000406, prio 100\n", "separated by ';'"},
		{"dlopen failed: library \"libomp.so\" not found\n", "push set"},
		{"[ERROR] main.cc:79 Graph model.0.s128 not found for execution\n", "--ar_len 32"},
		{"Unknown config socModel 0\n", "SM8750 is 69"},
		{"/dsp/fastrpc_shell_3 load failed 69\nPrepare: Function not called, PrepareLib isn't loaded!\n", ""},
		{"Could not create context from binary for context index = 0 : err 5005\n", "VTCM"},
	} {
		got := strings.Join(runner.Diagnose([]byte(c.log)), "\n")
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.log, got, c.want)
		}
	}
}
