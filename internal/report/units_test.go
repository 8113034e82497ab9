package report_test

import (
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/report"
)

func TestMeasured(t *testing.T) {
	for _, c := range []struct{ unit, in, want string }{
		{"us", "1087290", "1.09 s"},
		{"us", "973561", "974 ms"},
		{"us", "999600", "1.00 s"},
		{"us", "685", "685 µs"},
		{"us", "12.50", "12.50 µs"},
		{"us", "± 1483 (200000 … 202000)", "± 1.48 (200 … 202) ms"},
		{"us", "-36492", "-36.5 ms"},
		{"ms", "2.5", "2.5 ms"},
		{"ms", "36492", "36.5 s"},
		{"us", "5000000000", "5000 s"},
		{"MB", "0", "< 1 MB"},
		{"MB", "16.70", "16.70 MB"},
		{"MB", "3291", "3.29 GB"},
		{"B", "43000000", "43.0 MB"},
		{"bytes", "1e9", "1.00 GB"},
		{"tokens/s", "123456", "123456 tokens/s"},
		{"percent", "0", "0 percent"},
		{"us", "not measured", "not measured µs"},
		{"us", "", " µs"},
		{"us|", "900|2500000|-", "0.90|2500|- ms"}, // a column
		{"us|", "201087 ± 4280|1010180 ± 13017", "201 ± 4.28|1010 ± 13.0 ms"},
		{"us", "1000000 ± 0", "1.00 ± 0.00 s"},
	} {
		unit, _, _ := strings.Cut(c.unit, "|")
		texts, u := report.Measured(unit, strings.Split(c.in, "|")...)
		if got := strings.Join(texts, "|") + " " + u; got != c.want {
			t.Errorf("%s %s: %q, want %q", c.in, c.unit, got, c.want)
		}
	}
}
