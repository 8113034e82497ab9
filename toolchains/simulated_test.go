package toolchains_test

import (
	"archive/zip"
	"bytes"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/version"
	"github.com/hexmage/hexmage/simulated/sdk"
	"github.com/hexmage/hexmage/simulated/sdk/sdktest"
	"github.com/hexmage/hexmage/toolchains"
)

// The simulation's backends know the SoCs that the catalog says their release knows, and no later ones.
func TestSimulatedKnowsItsSoCs(t *testing.T) {
	t.Parallel()
	c, diags := toolchains.Load(nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for _, r := range sdk.Releases() {
		if r.Name != "qairt" {
			continue
		}
		var b bytes.Buffer
		if err := sdktest.Archive(&b, r.Name, r.Version); err != nil {
			t.Fatal(err)
		}
		z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		for _, machine := range []string{"aarch64-android", "x86_64-linux-clang"} {
			f, err := z.Open(r.Prefix + "/lib/" + machine + "/libQnnHtp.so")
			if err != nil {
				t.Fatal(err)
			}
			raw, err := io.ReadAll(f)
			if err != nil {
				t.Fatal(err)
			}
			_, rest, _ := strings.Cut(string(raw), "open_socs=")
			list, _, ok := strings.Cut(rest, ";")
			if !ok {
				t.Fatalf("%s %s: %s: it lists no SoCs", r.Name, r.Version, machine)
			}
			for _, s := range c.SoCs {
				if s.MinSDK == "" {
					continue
				}
				if got, want := slices.Contains(strings.Split(list, ","), strconv.Itoa(s.SoCModel)), !version.Older(r.Version, s.MinSDK); got != want {
					t.Errorf("qairt %s: it knows %s (%d): %v; the catalog says %v, from %s on", r.Version, s.Name, s.SoCModel, got, want, s.MinSDK)
				}
			}
		}
	}
}
