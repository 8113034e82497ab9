package toolchains_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/hexmage/hexmage/internal/version"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/buildid"
	"github.com/hexmage/hexmage/qnn/facts"
	"github.com/hexmage/hexmage/toolchains"
)

// TestFormatted keeps the catalog's files in the canonical format.
func TestFormatted(t *testing.T) {
	files, err := filepath.Glob("*.hcl")
	if err != nil || len(files) < 7 {
		t.Fatalf("files %q, %v", files, err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want := hclwrite.Format(b)
		if bytes.Equal(b, want) {
			continue
		}
		if *update {
			if err := os.WriteFile(name, want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		t.Errorf("%s is not formatted: run go test ./toolchains -run Formatted -update", name)
	}
}

// TestReleases compares the catalog with itself: what one record says of another must be there.
func TestReleases(t *testing.T) {
	c, _ := builtin(t)
	arch := map[string]bool{}
	for _, a := range c.Arches {
		arch[a.Name] = true
	}
	full := regexp.MustCompile(`^\d+\.\d+\.\d+\.\d{6}$`)
	for _, tc := range c.Toolchains {
		seen := map[string]bool{}
		for i, r := range tc.Releases {
			if seen[r.Version] {
				t.Errorf("%s %s is there twice", tc.Name, r.Version)
			}
			seen[r.Version] = true
			if tc.Name != "llvm" { // knows archs that QNN does not
				for _, a := range r.Arches {
					if !arch[a] {
						t.Errorf("%s %s: arch %s has no record", tc.Name, r.Version, a)
					}
				}
			}
			if tc.Name == "qairt" {
				if !full.MatchString(r.Version) || i > 0 && qnn.CompareReleases(tc.Releases[i-1].Version, r.Version) >= 0 {
					t.Errorf("qairt %s is no full version, or not in order", r.Version)
				}
				if r.BuildID != "" && !buildid.Same(r.BuildID, "v"+r.Version) {
					t.Errorf("qairt %s: build id %s is of another", r.Version, r.BuildID)
				}
				// What is in a release stays in the next.
				if i > 0 && len(r.Arches) < len(tc.Releases[i-1].Arches) {
					t.Errorf("qairt %s has fewer archs than the one before", r.Version)
				}
			}
			if tc.Name == "hexagon" && (len(r.Arches) == 0 || r.ToolsVersion == "") {
				t.Errorf("hexagon %s: tools %q, archs %q", r.Version, r.ToolsVersion, r.Arches)
			}
		}
	}
	count := map[string]int{"qairt": 37, "hexagon": 13, "ndk": 9}
	for _, tc := range c.Toolchains {
		if len(tc.Releases) < count[tc.Name] {
			t.Errorf("%s has %d releases, %d are known", tc.Name, len(tc.Releases), count[tc.Name])
		}
	}
	qairt, _, err := c.Find("qairt", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range c.SoCs {
		if !arch[s.Arch] {
			t.Errorf("%s: arch %s has no record", s.Name, s.Arch)
		}
		// The first SDK that is said to know a SoC has its arch.
		for _, r := range qairt.Releases {
			if s.MinSDK != "" && !version.Older(r.Version, s.MinSDK) && !slices.Contains(r.Arches, s.Arch) {
				t.Errorf("%s is known from %s on, and %s has no %s", s.Name, s.MinSDK, r.Version, s.Arch)
			}
		}
	}
	for name, model := range c.Others.Models {
		for _, s := range c.SoCs {
			if s.SoCModel == model || s.Name == name {
				t.Errorf("%s (%d) is among the SoCs and among the others", name, model)
			}
		}
	}
}

// TestSoCNames is what people write for a SoC.
func TestSoCNames(t *testing.T) {
	c, _ := builtin(t)
	for name, says := range map[string]string{
		"618":    "618 is the Android soc_id of SM8750 (soc_model 69)",
		"69":     "69 is the soc_model of SM8750",
		"568":    "568 is the Android soc_id of SM4450",
		"4711":   "no SoC has this soc_model or Android soc_id",
		"SM6475": "(soc_model 76)",
		"SM8751": `did you mean "SM8750"`,
		"phone":  "`hexmage compat` lists the",
	} {
		if _, err := c.FindSoC(name); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v; want %q", name, err, says)
		}
	}
	if s, err := c.FindSoC("SM8850P"); err != nil || s.SoCModel != 87 || !slices.Contains(c.Features(s), "multi_core") {
		t.Errorf("SM8850P: %+v, %v", s, err)
	}
}

// TestSchemaIsDocumented has every block and attribute of the catalog's language named in docs/catalog.md or docs/compat.md.
func TestSchemaIsDocumented(t *testing.T) {
	var page []byte
	for _, name := range []string{"catalog.md", "compat.md"} {
		b, err := os.ReadFile(filepath.Join("..", "docs", name))
		if err != nil {
			t.Fatal(err)
		}
		page = append(page, b...)
	}
	var schema func(at string, s reflect.Type)
	schema = func(at string, s reflect.Type) {
		for s.Kind() == reflect.Pointer || s.Kind() == reflect.Slice {
			s = s.Elem()
		}
		for i := range s.NumField() {
			f := s.Field(i)
			name, kind, _ := strings.Cut(f.Tag.Get("hcl"), ",")
			switch {
			case name == "" || kind == "label":
			case kind == "block":
				if !bytes.Contains(page, []byte("`"+name+" ")) && !bytes.Contains(page, []byte("`"+name+"`")) {
					t.Errorf("block %s of %s is not in docs/catalog.md", name, at)
				}
				schema(name, f.Type)
			case !bytes.Contains(page, []byte("`"+name+"`")):
				t.Errorf("attribute %s of %s is not in docs/catalog.md", name, at)
			}
		}
	}
	for at, x := range map[string]any{"toolchain": toolchains.Toolchain{}, "release": toolchains.Release{}, "release of facts": qnn.Release{}, "tools": qnn.Tools{}, "soc": qnn.SoC{}, "arch": qnn.Arch{}, "fact": qnn.DefaultProvenance{}, "other_socs": qnn.OtherSoCs{}, "compat": facts.Rule{}, "refused": qnn.UnsupportedOp{}, "precision": qnn.Precision{}} {
		schema(at, reflect.TypeOf(x))
	}
	c, _ := builtin(t)
	for _, r := range c.Rules {
		if !bytes.Contains(page, []byte("`"+r.ID+"`")) {
			t.Errorf("rule %s is not in docs/catalog.md", r.ID)
		}
	}
}

// TestShippedRules asks every rule about every release and a SoC of each arch: none may be wrong in itself, and each has what people need.
func TestShippedRules(t *testing.T) {
	c, _ := builtin(t)
	arches := map[string]bool{}
	for _, s := range c.SoCs {
		if arches[s.Arch] {
			continue // the same releases say the same
		}
		arches[s.Arch] = true
		if _, diags := c.Matrix(s); diags.HasErrors() {
			t.Fatalf("%s: %v", s.Name, diags)
		}
	}
	coded := map[string]bool{}
	for _, i := range qnn.Coded() {
		coded[i.ID] = true
	}
	seen := map[string]bool{}
	for _, r := range c.Rules {
		seen[r.ID] = true
		if source, sure := r.KnownFrom(); source == "" || sure == "" {
			t.Errorf("compat %q does not say where it is known from, and how sure it is", r.ID)
		}
		if !coded[r.ID] && r.Severity != qnn.SeverityNote && (r.Remedy == nil || r.Summary == "") {
			t.Errorf("compat %q has no remedy, or no heading", r.ID)
		}
	}
	for id := range coded {
		if !seen[id] {
			t.Errorf("rule %s is code, and has no block", id)
		}
	}
}
