package sources

import (
	"strings"
	"testing"
	"time"
)

func TestProgressLines(t *testing.T) {
	var b strings.Builder
	now := time.Unix(1000, 0)
	p := &progressLines{w: &b, now: func() time.Time { return now }}
	const total = 1 << 30
	p.progress(100<<20, total, "download") // of an earlier run: no rate
	for range 8 {
		now = now.Add(250 * time.Millisecond)
		p.progress(p.meter.rate.at[len(p.meter.rate.at)-1].done+(8<<20), total, "download")
	}
	p.progress(total, total, "download")
	now = now.Add(10 * time.Second)
	p.progress(0, 0, "unpack")
	for i := range int64(8) {
		now = now.Add(250 * time.Millisecond)
		p.progress((i+1)<<20, 0, "unpack")
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if want := "progress 104857600 1073741824 download"; lines[0] != want {
		t.Errorf("%q, want %q", lines[0], want)
	}
	if want := "progress 171966464 1073741824 download, 32.0 MiB/s, about 27 s left"; lines[8] != want {
		t.Errorf("%q, want %q", lines[8], want)
	}
	if !strings.HasPrefix(lines[9], "progress 1073741824 1073741824 download, ") || strings.Contains(lines[9], "left") {
		t.Errorf("%q", lines[9])
	}
	if want := "progress 8388608 0 unpack, 8.0 MiB, 4.0 MiB/s"; lines[len(lines)-1] != want {
		t.Errorf("%q, want %q", lines[len(lines)-1], want)
	}
}

func TestTexts(t *testing.T) {
	for s, want := range map[float64]string{0.2: "1 s", 59: "59 s", 90: "2 min", 6000: "1.7 h"} {
		if got := leftText(s); got != want {
			t.Errorf("%v: %q, want %q", s, got, want)
		}
	}
}

func TestMeter(t *testing.T) {
	var m Meter
	now := time.Unix(1000, 0)
	for _, c := range []struct {
		after       time.Duration
		done, total int64
		what, want  string
	}{
		{0, 0, 0, "a: verify", "a: verify"},
		{0, 100 << 20, 1 << 30, "b: download", "b: download 9%, 100 MiB of 1.0 GiB"},
		{2 * time.Second, 164 << 20, 1 << 30, "b: download", "b: download 16%, 164 MiB of 1.0 GiB, 32.0 MiB/s, about 27 s left"},
		{0, 1 << 30, 1 << 30, "b: download", "b: download 100%, 1.0 GiB of 1.0 GiB, 462 MiB/s"},
	} {
		now = now.Add(c.after)
		if got := m.Text(now, c.done, c.total, c.what); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
