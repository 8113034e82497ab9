package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/facts"
	"github.com/hexmage/hexmage/toolchains"
)

// TestInitReleases: init writes releases that have the SoC's arch, whatever the template. If only a release that is not
// simulated is known to know the SoC, profile device takes it.
func TestInitReleases(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "Ops", "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		var stdout, stderr bytes.Buffer
		if code := Main(append([]string{"hexmage", "init", "--print"}, args...), Env{Stdin: strings.NewReader(""),
			Stdout: &stdout, Stderr: &stderr, Dir: dir,
			Vars: []string{"HEXMAGE_CACHE=" + dir + "/cache", "HOME=" + dir}}); code != 0 {
			t.Fatalf("%q: exit code %d\n%s", args, code, stderr.String())
		}
		return stdout.String()
	}
	c, diags := toolchains.Load(nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var simulated []string
	for _, r := range c.SDK("qairt").Releases {
		if _, release, err := c.Find("qairt", r.Version); err == nil && hasSimulation(release) {
			simulated = append(simulated, r.Arches...)
		}
	}
	written := regexp.MustCompile(`(?m)(?:toolchain "(\w+)" \{ version|^ +release) += "([^"]+)"`)
	// fault returns the rules that a release breaks for a SoC; a doubt is a note.
	fault := func(s *qnn.SoC, name, release string) (broken, doubt string) {
		record := c.SDK(name)
		i := slices.IndexFunc(record.Releases, func(r *qnn.Release) bool { return r.Version == release })
		if i < 0 {
			return "there is no " + name + " " + release, ""
		}
		known := []qnn.Known{record.Known(record.Releases[i])}
		found, _ := c.Ask(facts.Subject{Target: s.Target(), Toolchains: known}, name)
		for _, f := range found {
			if f.Severity != qnn.SeverityNote {
				broken += f.Text()
			} else if f.Doubt {
				doubt += f.Text()
			}
		}
		return broken, doubt
	}
	seen := map[string]bool{} // SoCs with the same facts about releases are asked once
	for _, s := range c.SoCs {
		facts := s.Arch + " " + s.MinSDK + " " + s.SeenSDK
		if !c.HasHTP(s.Arch) || !slices.Contains(simulated, s.Arch) || seen[facts] {
			continue
		}
		seen[facts] = true
		for _, args := range [][]string{{"--soc", s.Name, "--op", "Ops"}, {"--soc", s.Name}} {
			text, device := run(args...), ""
			for _, m := range written.FindAllStringSubmatch(text, -1) {
				name := m[1]
				if name == "" {
					name = "qairt" // of the module
				}
				broken, doubt := fault(s, name, m[2])
				if broken != "" {
					t.Errorf("%q: %s", args, broken)
				}
				if name == "qairt" && device == "" { // the first is profile device's, if that has one
					if device = m[2]; doubt != "" && len(args) > 2 {
						t.Errorf("%q: profile device has a doubt: %s", args, doubt)
					}
				}
			}
			if device == "" {
				t.Errorf("%q: no QAIRT\n%s", args, text)
			}
		}
	}
	for soc, want := range map[string]string{"SM8750": "2.41.0.251128", "SM8850": "2.42.0.251225",
		"SM8735": "2.51.0.260929", "OURS1 --arch v81 --soc-model 990": "2.41.0.251128",
		"OURS1 --arch v85 --soc-model 990": "2.51.0.260929", "OURS1 --arch v75 --soc-model 990": "2.41.0.251128"} {
		text := run(append([]string{"--op", "Ops", "--soc"}, strings.Fields(soc)...)...)
		if !strings.Contains(text, `toolchain "qairt" { version = "`+want+`" }`) {
			t.Errorf("%s: not with QAIRT %s\n%s", soc, want, text)
		}
	}
}
