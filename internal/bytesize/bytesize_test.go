package bytesize_test

import (
	"math"
	"testing"

	"github.com/hexmage/hexmage/internal/bytesize"
)

func TestText(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 1500: "1.5 kB", 99_949: "99.9 kB",
		99_951: "100 kB", 999_499: "999 kB", 999_501: "1.0 MB",
		1_200_000_000: "1.2 GB", 5e18: "5.0 EB", math.MaxInt64: "9.2 EB", -1_500_000: "-1.5 MB"} {
		if got := bytesize.Decimal(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1500: "1.5 KiB",
		200 << 10: "200 KiB", 1023 << 10: "1023 KiB", 1<<20 - 1: "1.0 MiB",
		5 << 20: "5.0 MiB", 3 << 30: "3.0 GiB", math.MaxInt64: "8.0 EiB"} {
		if got := bytesize.Binary(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]int64{
		"20GB": 20e9, "20G": 20e9, "1.5 GiB": 3 << 29, "500mb": 500e6, "500MB": 500e6, "4096": 4096, "1B": 1,
		"2TiB": 2 << 40, "8KiB": 8 << 10,
		"": 0, "0": 0, "-1GB": 0, "GB": 0, "1PB": 0, "20XB": 0, "1e30": 0, "NaN": 0, "Inf": 0, "0.1": 0,
		"99999999999GiB": 0,
	} {
		got, err := bytesize.Parse(text)
		if got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
}
