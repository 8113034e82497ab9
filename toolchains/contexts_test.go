package toolchains_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/qnnctx"
	"github.com/hexmage/hexmage/qnn/qnnctx/qnnctxtest"
)

// TestWhichRuntimeLoadsWhich judges each context on each runtime as Qualcomm's emulator did when it was asked to load it: those of its own release and
// of older ones it loads, newer ones it refuses. (All 25 pairs were tried; docs/fidelity.md.)
func TestWhichRuntimeLoadsWhich(t *testing.T) {
	c, _ := builtin(t)
	versions := []string{"2.47.0.260601", "2.48.40.260702", "2.49.40.260810", "2.50.40.260831", "2.51.0.260929"}
	for i, made := range versions {
		raw := qnnctxtest.Real(t, made[:4]+"-SM8750.bin")
		info, err := qnnctx.Parse(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			t.Fatal(err)
		}
		for k, version := range versions {
			_, r, err := c.Find("qairt", version)
			if err != nil {
				t.Fatal(err)
			}
			if r.CoreAPI == "" || r.HTPAPI == "" || r.ContextBlob == "" || r.SystemAPI == "" || r.BuildID == "" {
				t.Errorf("%s: %+v", version, r.Release)
			}
			if i == k && (info.BuildID != r.BuildID || info.CoreAPI.String() != r.CoreAPI || info.BackendAPI.String() != r.HTPAPI || info.BlobVersion.String() != r.ContextBlob) {
				t.Errorf("a context of %s says %+v", version, info)
			}
			findings := qnn.CheckContext(info.Binary("context"), qnn.Runtime{Version: version, BuildID: r.BuildID, CoreAPI: r.CoreAPI, HTPAPI: r.HTPAPI, Blob: r.ContextBlob,
				Target: qnn.Target{Arch: "v79", SoC: "SM8750", SoCModel: 69, VTCMMB: 8}})
			refused := slices.ContainsFunc(findings, func(f qnn.Finding) bool { return f.Rule == "context-newer" })
			if refused != (k < i) || len(findings) > 1 || !refused && len(findings) > 0 {
				t.Errorf("a context of %s on %s: %+v", made, version, findings)
			}
		}
	}
}
