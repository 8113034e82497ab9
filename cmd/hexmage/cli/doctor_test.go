//go:build linux

package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/cmd/hexmage/cli"
	"github.com/hexmage/hexmage/toolchains/doctor"
)

// TestDoctorSeesThePhone: the last thing that is done by hand is a phone, of the SoC that the pipeline builds for. A
// real adb server says that it is there.
func TestDoctorSeesThePhone(t *testing.T) {
	t.Parallel()
	p := newPhones(t)
	pipeline := filepath.Join(p.dir, "pipelines", "mine.hcl")
	if err := os.MkdirAll(filepath.Dir(pipeline), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(pipeline, []byte("target \"SM8750\" {}\ntoolchain \"ndk\" {}\nprofile \"device\" "+
		"{}\noutput \"all\" { value = toolchain.ndk.dir }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	doctorSays := func(args ...string) (code int, last doctor.Step) {
		t.Helper()
		var out, errs bytes.Buffer
		code = cli.Main(append([]string{"hexmage", "doctor", "mine", "--profile", "device", "--json"}, args...),
			cli.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Dir: p.dir, Vars: p.vars})
		var said struct{ Steps []doctor.Step }
		if err := json.Unmarshal(out.Bytes(), &said); err != nil || len(said.Steps) == 0 {
			t.Fatalf("%v: %s%s", err, out.Bytes(), errs.Bytes())
		}
		return code, said.Steps[len(said.Steps)-1]
	}
	if code, s := doctorSays(); code != cli.ExitFailed || s.Name != "phone" || s.State == doctor.Done ||
		s.Command == "" {
		t.Errorf("without a phone: exit code %d, %+v", code, s)
	}
	p.ok(t, "connect", p.one.Addr())
	if _, s := doctorSays(); s.State != doctor.Done ||
		s.What != p.one.Addr()+" hexmage simulated phone SM8750 v79 SM8750" {
		t.Errorf("with a phone: %+v", s)
	}
	if code, s := doctorSays("--soc", "SM8650"); code != cli.ExitFailed || s.State == doctor.Done ||
		!strings.Contains(s.What, "is SM8750, and what is built is for SM8650") {
		t.Errorf("with a phone of another SoC: exit code %d, %+v", code, s)
	}
}
