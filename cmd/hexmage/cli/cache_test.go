package cli

import (
	"testing"
	"time"
)

func TestParseAge(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"30d": 720 * time.Hour, "2w": 336 * time.Hour, "12h": 12 * time.Hour, "0.5d": 12 * time.Hour,
		"90m": 90 * time.Minute, "0": 0,
		"": -1, "d": -1, "-3d": -1, "0d": -1, "1e9d": -1, "soon": -1, "NaNd": -1, "3": -1,
	} {
		got, err := parseAge(text)
		if want < 0 && err == nil || want >= 0 && (err != nil || got != want) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
}
