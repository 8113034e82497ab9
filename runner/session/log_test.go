package session

import (
	"strings"
	"testing"
)

func FuzzSince(f *testing.F) {
	f.Add("since 11-21 21:04:58.%N\n11-21 21:04:57.645 1 1 I adbd: old\n11-21 21:04:58.645 1 1 I adbd: new\ntombstone x\n")
	f.Fuzz(func(t *testing.T, out string) {
		if got := string(since(out)); len(got) > len(out) || got != "" && !strings.HasPrefix(out, "since ") {
			t.Errorf("%q", got)
		}
	})
}

// since keeps later lines across the end of a year, and lines without a time.
func TestSince(t *testing.T) {
	t.Parallel()
	const dump = "tombstone /data/tombstones/tombstone_00\nsignal 11\n"
	for in, want := range map[string]string{
		"since 11-21 21:04:58.500000000\n11-21 21:04:58.499 a\n11-21 21:04:58.500 b\n11-22 00:00:00.000 c\n" + dump: "11-21 21:04:58.500 b\n11-22 00:00:00.000 c\n" + dump,
		"since 11-21 21:04:58.%N\n11-21 21:04:57.999 a\n11-21 21:04:58.001 b\n":                                     "11-21 21:04:58.001 b\n",
		"since 12-31 23:59:59.900000000\n01-01 00:00:00.100 a\n12-31 10:00:00.000 b\n":                              "01-01 00:00:00.100 a\n",
		"cat: no such file\n": "",
	} {
		if got := string(since(in)); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}
