//go:build linux

package mainjob_test

import (
	"encoding/csv"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
	"github.com/hexmage/hexmage/runner/sample"
)

// TestSamples: what the runner took of the phone while it ran is a file, a table of numbers, and lines of the metrics.
func TestSamples(t *testing.T) {
	w, o := FirstRun(t)
	summary, note, err := sample.ReadJSON([]byte(Read(t, w.Out("samples/samples.json"))))
	if err != nil {
		t.Fatal(err)
	}
	if note != "" {
		t.Fatalf("note %q", note)
	}
	i := slices.IndexFunc(summary, func(v sample.Value) bool { return v.Name == "peak_rss" })
	if i < 0 {
		t.Fatalf("no peak RSS in %v", summary)
	}
	peak := summary[i].Value
	m := regexp.MustCompile(`\n +peak RSS +([0-9.]+) MB\n`).FindStringSubmatch(o.Stdout)
	if m == nil {
		t.Fatalf("no peak RSS in\n%s", o.Stdout)
	}
	// a model of a few MB, and qemu
	if mb, err := strconv.ParseFloat(m[1], 64); err != nil || mb != peak || mb < 5 || mb > 2000 {
		t.Errorf("peak RSS %s MB, in the samples %v MB: %v", m[1], peak, err)
	}
	lines, err := csv.NewReader(strings.NewReader(Read(t, w.Out("samples/samples.csv")))).ReadAll()
	if err != nil || len(lines) < 4 || lines[0][0] != "time_s" || lines[0][1] != "rss_bytes" {
		t.Errorf("CSV: %v, %d lines, %q", err, len(lines), lines[0])
	}
	t.Logf("%d lines: %v", len(lines), summary)
}
