//go:build linux

package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/cmd/hexmage/cli"
	"github.com/hexmage/hexmage/toolchains/doctor"
)

// TestDoctorSeesThePhone: a real adb server says whether a phone is attached.
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
	devices := func() (all []doctor.Finding) {
		t.Helper()
		var out, errs bytes.Buffer
		cli.Main([]string{"hexmage", "doctor", "mine", "--profile", "device", "--json"},
			cli.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Dir: p.dir, Vars: p.vars})
		var said struct{ Findings []doctor.Finding }
		if err := json.Unmarshal(out.Bytes(), &said); err != nil {
			t.Fatalf("%v: %s%s", err, out.Bytes(), errs.Bytes())
		}
		return slices.DeleteFunc(said.Findings,
			func(f doctor.Finding) bool { return f.Section != doctor.SectionDevices })
	}
	if fs := devices(); len(fs) != 1 || fs[0].Status != doctor.Missing || fs[0].Command == "" {
		t.Errorf("without a phone: %+v", fs)
	}
	p.ok(t, "connect", p.one.Addr())
	if fs := devices(); len(fs) != 1 || fs[0].Status != doctor.OK || fs[0].Name != p.one.Addr() ||
		!strings.Contains(fs[0].Detail, "SM8750, Hexagon v79") {
		t.Errorf("with a phone: %+v", fs)
	}
}
