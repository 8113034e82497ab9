//go:build linux

package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/cmd/hexmage/cli"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
)

func TestDevicesFile(t *testing.T) {
	t.Parallel()
	p := newPhones(t)
	other := phonetest.Server(t)
	config := t.TempDir()
	p.vars = append(p.vars, "XDG_CONFIG_HOME="+config)
	file := filepath.Join(config, "hexmage", "devices.hcl")
	write := func(text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	one, two := p.one.Addr(), p.two.Addr()
	write(fmt.Sprintf(`
device "desk" { serial = %q }
device "rack" {
  serial = %q
  server = "unix:%s"
  soc    = "SM8750"
}
device "drawer" { serial = "R5CX123" }
`, one, two, other.Address()))

	var rows []map[string]string
	if err := json.Unmarshal([]byte(p.ok(t, "list", "--json")), &rows); err != nil || len(rows) != 3 {
		t.Fatal(rows, err)
	}
	for i, want := range []map[string]string{
		{"name": "desk", "serial": one, "state": "device", "soc": "SM8750", "arch": "v79"},
		{"name": "rack", "serial": two, "server": "unix:" + other.Address(), "state": "device", "soc": "SM8750"},
		{"name": "drawer", "serial": "R5CX123", "state": "unusable",
			"detail": "it is not connected to the adb server"},
	} {
		for k, v := range want {
			if rows[i][k] != v {
				t.Errorf("row %d: %s is %q, want %q", i, k, rows[i][k], v)
			}
		}
	}
	p.ok(t, "connect", two) // another way to the same phone, which is not in the file
	out := p.ok(t, "list")
	for _, want := range []string{
		`(?m)^desk +` + one + ` +device +SM8750 +v79 +hexmage`, `(?m)^rack +` + two + ` +unix:\S+ +device +SM8750`,
		`(?m)^drawer +R5CX123 +unusable +it is not connected`, `(?m)^ +` + two + ` +device +SM8750`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("the list lacks %s:\n%s", want, out)
		}
	}
	if out := p.ok(t, "shell", "-s", "rack", "getprop", "ro.soc.model"); out != "SM8750\n" {
		t.Errorf("by name: %q", out)
	}
	if code, _, errs := p.run(t, "", "shell", "-s", "drawer", "true"); code != cli.ExitEngine ||
		!strings.Contains(errs, "device drawer (R5CX123): it is not connected") {
		t.Errorf("one that is not there: exit code %d, %q", code, errs)
	}
	if code, _, errs := p.run(t, "", "shell", "true"); code != cli.ExitUsage || !strings.Contains(errs, "--serial") {
		t.Errorf("a pool is no reason to choose silently: exit code %d, %q", code, errs)
	}

	write("device \"desk\" {\n  serail = \"x\"\n}\n")
	code, _, errs := p.run(t, "", "list")
	if code != cli.ExitUsage || !strings.Contains(errs, file+" line 2") ||
		!strings.Contains(errs, `Did you mean "serial"?`) {
		t.Errorf("a mistake: exit code %d, %s", code, errs)
	}
	p.vars = append(p.vars, "HEXMAGE_DEVICES="+file+".missing")
	if code, _, errs := p.run(t, "", "list"); code != cli.ExitUsage || !strings.Contains(errs, "devices.hcl.missing") {
		t.Errorf("a file that is not there: exit code %d, %s", code, errs)
	}
}
