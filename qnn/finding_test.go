package qnn_test

import (
	"strings"
	"testing"

	"github.com/hexmage/hexmage/qnn"
)

func rules(found []qnn.Finding) string {
	var ids []string
	for _, f := range found {
		ids = append(ids, f.Rule)
	}
	return strings.Join(ids, " ")
}

func TestPushSet(t *testing.T) {
	htp := qnn.File{Name: "libQnnHtp.so", BuildID: "v2.41.0.251128145156_191518"}
	for name, x := range map[string]struct {
		files []qnn.File
		want  string
		says  []string
	}{
		"one SDK":             {files: []qnn.File{htp, {Name: "libQnnHtpV79Stub.so", BuildID: "v2.41.0.251128145156"}, {Name: "libQnnHtpV79Skel.so", Arch: "v79", BuildID: "v2.41.0.251128"}}},
		"nothing known":       {files: []qnn.File{{Name: "runner"}, {Name: "a.so"}}},
		"a stub of another":   {[]qnn.File{htp, {Name: "libQnnHtpV79Stub.so", From: "old/libQnnHtpV79Stub.so", BuildID: "v2.34.0.250424201103_119471"}}, "push-one-sdk", []string{"v2.34.0.250424201103_119471 (libQnnHtpV79Stub.so from old/libQnnHtpV79Stub.so)", "v2.41.0.251128145156_191518 (libQnnHtp.so)", "Stub lib id mismatch"}},
		"cut short, of two":   {[]qnn.File{{Name: "a", BuildID: "v2.41.0.251128"}, {Name: "b", BuildID: "v2.42.0.251225135753_193295"}, {Name: "c", BuildID: "v2.42.0.251225"}}, "push-one-sdk", []string{"v2.41.0.251128 (a)", "v2.42.0.251225135753_193295 (b, c)"}},
		"a skel for another":  {[]qnn.File{htp, {Name: "libQnnHtpV75Skel.so", Arch: "v75"}}, "push-arch", []string{"libQnnHtpV75Skel.so is built for Hexagon v75, but the target has v79"}},
		"many of another one": {[]qnn.File{htp, {Name: "1", BuildID: "v9.0.0.000000"}, {Name: "2", BuildID: "v9.0.0.000000"}, {Name: "3", BuildID: "v9.0.0.000000"}, {Name: "4", BuildID: "v9.0.0.000000"}, {Name: "5", BuildID: "v9.0.0.000000"}}, "push-one-sdk", []string{"(1, 2, 3, and 2 more)"}},
	} {
		found := qnn.PushSet(x.files, "v79")
		if rules(found) != x.want {
			t.Errorf("%s: %q, want %q", name, rules(found), x.want)
			continue
		}
		for _, s := range x.says {
			if text := found[0].Text(); !strings.Contains(text, s) || !strings.Contains(text, "[compat "+x.want+"; ") {
				t.Errorf("%s: %s does not say %q", name, text, s)
			}
		}
	}
	if found := qnn.PushSet([]qnn.File{{Name: "x", Arch: "v75"}}, ""); len(found) != 0 {
		t.Errorf("without a target: %v", found)
	}
}

// TestContext goes through the order in which QNN finds out.
func TestContext(t *testing.T) {
	made := qnn.ContextBinary{Name: "context.bin", BuildID: "v2.41.0.251128145156_191518", CoreAPI: "2.31.0", HTPAPI: "5.41.0", Blob: "3.2.3", Arch: "v79", SoC: "SM8750", SoCModel: 69, VTCMMB: 8}
	run := qnn.Runtime{Version: "2.41.0.251128", CoreAPI: "2.31.0", HTPAPI: "5.41.0", Blob: "3.2.3", Target: qnn.Target{Arch: "v79", SoC: "SM8750", SoCModel: 69, VTCMMB: 8}}
	for name, x := range map[string]struct {
		change func(c *qnn.ContextBinary, r *qnn.Runtime)
		want   string
	}{
		"the same": {func(*qnn.ContextBinary, *qnn.Runtime) {}, ""},
		"an older context": {func(c *qnn.ContextBinary, _ *qnn.Runtime) {
			c.BuildID, c.CoreAPI, c.Blob = "v2.34.0.250424201103_1", "2.25.0", "3.2.0"
		}, ""},
		"another build of a release": {func(c *qnn.ContextBinary, _ *qnn.Runtime) { c.BuildID = "v2.41.0.251201000000_1" }, ""},
		"a newer SDK":                {func(c *qnn.ContextBinary, _ *qnn.Runtime) { c.BuildID = "v2.42.0.251225135753_193295" }, "context-newer"},
		"a newer API":                {func(c *qnn.ContextBinary, _ *qnn.Runtime) { c.CoreAPI = "2.32.0" }, "context-newer"},
		"a newer backend":            {func(c *qnn.ContextBinary, _ *qnn.Runtime) { c.HTPAPI = "5.42.0" }, "context-newer"},
		"a newer format":             {func(c *qnn.ContextBinary, _ *qnn.Runtime) { c.Blob = "3.3.3" }, "context-newer"},
		"all of it newer": {func(c *qnn.ContextBinary, _ *qnn.Runtime) {
			c.BuildID, c.CoreAPI, c.Blob = "v2.50.0.260828000000", "2.40.0", "3.4.0"
		}, "context-newer"},
		// Qualcomm's runtime of 2.48.0 does not refuse one of 2.48.40: steps/failures.TestVendorRuntime.
		"a newer build of a release": {func(c *qnn.ContextBinary, _ *qnn.Runtime) { c.BuildID = "v2.41.40.251201000000_1" }, "context-build"},
		"a patch that was built later than one with a higher number": {func(c *qnn.ContextBinary, r *qnn.Runtime) {
			*c, *r = qnn.ContextBinary{BuildID: "v2.49.1.260821105127_1"}, qnn.Runtime{Version: "2.49.40.260810"}
		}, "context-build"},
		"a patch that was built earlier than one with a lower number": {func(c *qnn.ContextBinary, r *qnn.Runtime) {
			*c, *r = qnn.ContextBinary{BuildID: "v2.49.40.260810104044"}, qnn.Runtime{Version: "2.49.1.260821"}
		}, ""},
		"only the build id known": {func(c *qnn.ContextBinary, r *qnn.Runtime) {
			*r = qnn.Runtime{BuildID: "v2.37.0.250724000000_1"}
		}, "context-newer"},
		"nothing known":  {func(c *qnn.ContextBinary, _ *qnn.Runtime) { *c = qnn.ContextBinary{} }, ""},
		"another arch":   {func(_ *qnn.ContextBinary, r *qnn.Runtime) { r.Arch = "v81" }, "context-arch"},
		"less VTCM":      {func(_ *qnn.ContextBinary, r *qnn.Runtime) { r.VTCMMB = 4 }, "context-vtcm"},
		"another SoC":    {func(c *qnn.ContextBinary, _ *qnn.Runtime) { c.SoCModel = 75 }, "context-soc"},
		"the next phone": {func(_ *qnn.ContextBinary, r *qnn.Runtime) { r.Arch, r.SoCModel, r.VTCMMB = "v81", 96, 4 }, "context-arch context-vtcm context-soc"},
	} {
		c, r := made, run
		x.change(&c, &r)
		found := qnn.CheckContext(c, r)
		if rules(found) != x.want {
			t.Errorf("%s: %q, want %q", name, rules(found), x.want)
		}
		for _, f := range found {
			if f.Reason == "" || f.Remedy == "" || f.Source == "" || (f.Severity == qnn.SeverityError) == (f.Rule == "context-soc" || f.Rule == "context-build") {
				t.Errorf("%s: %+v", name, f)
			}
		}
	}
}

func TestText(t *testing.T) {
	for _, c := range []struct{ reason, remedy, want string }{
		{"it fails", "do this", "It fails. Do this. [compat r; s]"},
		{"libQnnHtp.so fails.", "", "libQnnHtp.so fails. [compat r; s]"},
		{"QAIRT fails", "r28 works", "QAIRT fails. r28 works. [compat r; s]"},
	} {
		if got := (qnn.Finding{Rule: "r", Source: "s", Reason: c.reason, Remedy: c.remedy}).Text(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// Releases of one minor version are ordered by the day of their build, all others by number.
func TestCompareReleases(t *testing.T) {
	order := []string{"2.13.0.230725", "2.38.0.250901", "2.38.1.251113", "2.40.0.251030", "v2.49.0.260730134355", "2.49.40.260810",
		"v2.49.1.260821105127_200413", "2.50.0.260828", "2.51.0.260929"}
	for i, a := range order {
		for j, b := range order {
			if got := qnn.CompareReleases(a, b); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%s and %s: %d", a, b, got)
			}
		}
	}
	// Without a day numbers decide, and what is not known is neither older nor newer.
	if !qnn.OlderRelease("2.49.1.260821", "2.49.40") || qnn.OlderRelease("2.49.1.260821", "2.49.1") || qnn.OlderRelease("", "2.49") ||
		qnn.OlderRelease("2.49", "") || qnn.CompareReleases("v2.48.0.260626120635", "2.48.0.260626") != 0 {
		t.Error("thresholds")
	}
	sdk := &qnn.SDK{Releases: []*qnn.Release{{Version: "2.49.40.260810"}, {Version: "2.49.1.260821"}, {Version: "2.49.0.260730"}}}
	if got := sdk.Sorted(); got[0].Version != "2.49.1.260821" || got[2].Version != "2.49.0.260730" {
		t.Errorf("newest %s, oldest %s", got[0].Version, got[2].Version)
	}
}
