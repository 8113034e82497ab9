package cli

import (
	"testing"
	"time"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"20GB": 20e9, "20G": 20e9, "1.5 GiB": 3 << 29, "500mb": 500e6, "500MB": 500e6, "4096": 4096, "1B": 1, "2TiB": 2 << 40, "8KiB": 8 << 10,
		"": 0, "0": 0, "-1GB": 0, "GB": 0, "1PB": 0, "20XB": 0, "1e30": 0, "NaN": 0, "Inf": 0, "0.1": 0,
	} {
		got, err := parseSize(text)
		if got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
}

func TestParseAge(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"30d": 720 * time.Hour, "2w": 336 * time.Hour, "12h": 12 * time.Hour, "0.5d": 12 * time.Hour, "90m": 90 * time.Minute, "0": 0,
		"": -1, "d": -1, "-3d": -1, "0d": -1, "1e9d": -1, "soon": -1, "NaNd": -1, "3": -1,
	} {
		got, err := parseAge(text)
		if want < 0 && err == nil || want >= 0 && (err != nil || got != want) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestByteCount(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 999_949: "999.9 kB", 999_951: "1.0 MB", 1_200_000_000: "1.2 GB", 5e18: "5.0 EB"} {
		if got := byteCount(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
