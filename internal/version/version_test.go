package version_test

import (
	"testing"

	"github.com/hexmage/hexmage/internal/version"
)

func TestCompare(t *testing.T) {
	// In order; equal ones share a line.
	for i, line := range []string{"2.9", "2.13.0.230725", "2.37", "2.37.0", "2.37.0.250724", "2.37.1.250807", "2.100"} {
		for j, other := range []string{"2.9", "2.13.0.230725", "2.37", "2.37.0", "2.37.0.250724", "2.37.1.250807",
			"2.100"} {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got := version.Compare(line, other); got != want {
				t.Errorf("%s and %s: %d, want %d", line, other, got, want)
			}
		}
	}
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"r27c", "r28b", -1}, {"r28b", "r28c", -1}, {"r28", "r28b", -1}, {"r9", "r28", -1}, {"R28B", "r28b", 0},
		{"8.8.06", "19.0.04", -1}, {"8.8.06", "8.8.6", 0},
		{"6.4.0.2", "6.4.0.2-trimmed", -1}, {"6.4.0.2-trimmed", "6.5.0.0", -1}, {"", "", 0}, {"", "1", -1},
		{"v15", "v16", -1}, {"99999999999999999999", "100000000000000000000", -1},
	} {
		if got := version.Compare(c.a, c.b); got != c.want {
			t.Errorf("%s and %s: %d, want %d", c.a, c.b, got, c.want)
		}
		if got := version.Compare(c.b, c.a); got != -c.want {
			t.Errorf("%s and %s: %d, want %d", c.b, c.a, got, -c.want)
		}
	}
	if version.Older("", "1") || version.Older("1", "") || !version.Older("1", "2") || version.Older("2", "2") {
		t.Error("Older: what is not known is neither older nor newer")
	}
}

func FuzzCompare(f *testing.F) {
	f.Add("2.37.0.250724", "r28b", "19.0.04")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		if version.Compare(a, b) != -version.Compare(b, a) || version.Compare(a, a) != 0 {
			t.Errorf("%q and %q", a, b)
		}
		if version.Compare(a, b) < 0 && version.Compare(b, c) < 0 && version.Compare(a, c) >= 0 {
			t.Errorf("%q < %q < %q", a, b, c)
		}
	})
}
