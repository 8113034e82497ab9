package failures_test

import (
	"os"
	"path/filepath"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/runner/diagnose"
)

// What Qualcomm's own libraries for arm64 Linux (QAIRT 2.48.0 and 2.51.0) printed under qemu, of what was missing or mixed on purpose.
func TestVendorLogs(t *testing.T) {
	t.Parallel()
	c := shipped(t)
	cases := map[string]string{
		"48-nocdsprpc":     "remote-symbols", // no libcdsprpc.so
		"51-nocdsprpc":     "remote-symbols",
		"51-nostub":        "remote-symbols",  // no libQnnHtpV79Stub.so
		"48-noskel":        "skel-not-loaded", // the DSP's loader answers 0x80000406
		"51-noskel":        "skel-uri",
		"51-old-skel":      "skel-symbol",   // it answers 0x80000442
		"51-foreign-stub":  "stub-mismatch", // the stub of 2.48.0
		"51-nosoc":         "no-snapdragon", // no /sys/devices/soc0/soc_id
		"51-soc999":        "soc-without-htp",
		"48-newer-context": "context-newer", // a context of 2.51 on 2.48.0
	}
	names, err := filepath.Glob(filepath.Join("testdata", "vendor", "*.log"))
	if err != nil || len(names) != len(cases) {
		t.Errorf("%d logs, %v", len(names), err)
	}
	for name, want := range cases {
		log, err := os.ReadFile(filepath.Join("testdata", "vendor", name+".log"))
		if err != nil {
			t.Fatal(err)
		}
		r := c.Text(log)
		hints := r.Hints()
		if len(r.Findings) == 0 || r.Findings[0].ID != want || len(hints) != 1 {
			t.Errorf("%s: want %s, %d hints:\n%s", name, want, len(hints), strings.Join(hints, "\n---\n"))
		}
		for _, l := range r.Unknown {
			if strings.HasPrefix(l.Text, "<E>") { // else it is the program's that loaded them
				t.Errorf("%s: nobody knows %q", name, l.Text)
			}
		}
	}
}

// Logs as people have them, of many lines with noise and with what follows from the failure: each comes out as one clear diagnosis, named like the
// file, with its remedy. Among them is everything that went wrong in the reproduction of llm.npu.
func TestLogs(t *testing.T) {
	t.Parallel()
	c := shipped(t)
	names, err := filepath.Glob(filepath.Join("testdata", "logs", "*.log"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, name := range names {
		log, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.TrimSuffix(filepath.Base(name), ".log")
		e := c.Entry(want)
		if e == nil {
			t.Errorf("%s: no failure has this name", name)
			continue
		}
		seen[want] = true
		for _, text := range []string{string(log), strings.ReplaceAll(string(log), "\n", "\r\n"), healthy + string(log) + healthy} {
			r := c.Text([]byte(text))
			hints := r.Hints()
			if len(r.Findings) == 0 || r.Findings[0].ID != want || len(hints) != 1 {
				t.Errorf("%s: %d hints:\n%s", name, len(hints), strings.Join(hints, "\n---\n"))
				continue
			}
			if !strings.Contains(hints[0], "\nremedy: "+r.Findings[0].Remedy) || !strings.Contains(string(log), r.Findings[0].Text) {
				t.Errorf("%s: %s", name, hints[0])
			}
		}
	}
	others := 0
	for _, e := range c.Entries {
		switch {
		case e.Seed && !seen[e.ID]:
			t.Errorf("no log has %s, which the reproduction met", e.ID)
		case !e.Seed && seen[e.ID]:
			others++
		}
	}
	if others < 20 {
		t.Errorf("only %d more failures have logs", others)
	}
}

// Reading never takes long, nor fails, whatever is in the text: each line is looked at once, and only its beginning.
func FuzzText(f *testing.F) {
	c := shipped(f)
	for _, e := range c.Entries {
		for _, x := range e.Examples {
			f.Add([]byte(x))
		}
	}
	f.Add([]byte(strings.Repeat("ADSP_LIBRARY_PATH=a:", 200)))
	f.Add([]byte("\x1b[31m" + strings.Repeat("error ", 900)))
	f.Fuzz(func(t *testing.T, text []byte) {
		r := c.Text(text)
		if n := strings.Count(string(text), "\n") + 1; r.Lines > n || r.Benign > n || len(r.Unknown)+r.More > n {
			t.Errorf("%d lines: %+v", n, r)
		}
		for _, x := range r.Findings {
			if x.Count < 1 || x.Number < 1 || x.Number > r.Lines || x.Cause == "" || x.Remedy == "" || len(x.Hint()) > 4000 {
				t.Errorf("%+v", x)
			}
		}
		if len(r.Findings) > 0 != (len(r.Hints()) > 0) {
			t.Error("findings and hints do not go together")
		}
	})
}

// Four times the text takes about four times the time, also when every line is made to be tried against patterns: each example fills a line, so
// that each pattern of the catalog matches somewhere, and each is cut, so that each nearly matches, again and again.
func TestTimeIsLinear(t *testing.T) {
	c := shipped(t)
	const most = 500 // bytes of a line, or once the example
	text := func(times int) []byte {
		var b strings.Builder
		for _, e := range c.Entries {
			for _, x := range e.Examples {
				for one := range strings.FieldsFuncSeq(x, func(r rune) bool { return r == '\n' }) {
					for range times {
						b.WriteString(strings.Repeat(one+" ", most/(len(one)+1)+1) + "\n")
						b.WriteString(strings.Repeat(one[:len(one)-1]+" ", most/len(one)+1) + "\n")
					}
				}
			}
		}
		return []byte(b.String())
	}
	took := func(times int) time.Duration {
		in, best := text(times), time.Hour
		for range 2 {
			start := time.Now()
			r := c.Text(in)
			best = min(best, time.Since(start))
			if r.Skipped > 0 {
				t.Fatalf("%d lines of %d bytes were not looked at", r.Skipped, len(in))
			}
			for _, e := range c.Entries {
				if !e.Benign && !slices.ContainsFunc(r.Findings, func(f diagnose.Finding) bool { return f.ID == e.ID }) {
					t.Fatalf("%s is not found in %d bytes: its patterns were not tried", e.ID, len(in))
				}
			}
		}
		return best
	}
	short, long := took(1), took(4)
	t.Logf("%d bytes in %v, four times as many in %v", len(text(1)), short, long)
	if long > 10*short {
		t.Errorf("four times the text takes %.1f times the time", float64(long)/float64(short))
	}
}

// No pattern is so large that a line could keep it busy: RE2 needs at most as many steps for a byte as a pattern has instructions.
func TestPatternsAreSmall(t *testing.T) {
	t.Parallel()
	for _, e := range shipped(t).Entries {
		for _, p := range slices.Concat(e.Patterns, e.Also) {
			parsed, err := syntax.Parse(p, syntax.Perl)
			if err != nil {
				t.Fatal(err)
			}
			prog, err := syntax.Compile(parsed.Simplify())
			if err != nil {
				t.Fatal(err)
			}
			if n := len(prog.Inst); n > 300 {
				t.Errorf("%s: %s: pattern %q has %d instructions: write it as several", e.File, e.ID, p, n)
			}
		}
	}
}

func BenchmarkText(b *testing.B) {
	c := shipped(b)
	log := []byte(strings.Repeat(healthy+"06-12 12:00:00.123  1000  1000 I ActivityManager: Displayed com.example/.Main: +312ms, nothing failed\n", 2000))
	b.SetBytes(int64(len(log)))
	for b.Loop() {
		c.Text(log)
	}
}
