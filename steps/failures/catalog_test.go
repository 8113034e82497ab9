package failures_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/runner/diagnose"
	"github.com/hexmage/hexmage/steps/failures"
)

func shipped(t testing.TB) *diagnose.Catalog {
	t.Helper()
	c, diags := failures.Load(nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return c
}

// Each entry is the diagnosis of its own examples: no other claims them. A benign one is noise, and nothing else is found.
func TestExamples(t *testing.T) {
	t.Parallel()
	c := shipped(t)
	seeds, known := 0, 0
	for _, e := range c.Entries {
		if len(e.Examples) == 0 {
			t.Errorf("%s: %s has no example", e.File, e.ID)
		}
		if e.Seed {
			seeds++
		}
		if !e.Benign {
			known++
		}
		if e.Source == "" {
			t.Errorf("%s: %s has no source", e.File, e.ID)
		}
		for _, text := range e.Examples {
			r := c.Text([]byte(text))
			if e.Benign {
				if !r.Clean() || r.Benign == 0 {
					t.Errorf("%s: benign %s: %q gives %+v", e.File, e.ID, text, r)
				}
				continue
			}
			if len(r.Findings) == 0 || r.Findings[0].ID != e.ID {
				var got []string
				for _, f := range r.Findings {
					got = append(got, f.ID)
				}
				t.Errorf("%s: %q is diagnosed as %q, want %q first", e.File, text, got, e.ID)
				continue
			}
			if f := r.Findings[0]; regexp.MustCompile(`[{][a-z_]+[}]`).MatchString(f.Cause + f.Remedy) {
				t.Errorf("%s: %s: a placeholder is left in %q, %q", e.File, e.ID, f.Cause, f.Remedy)
			}
		}
	}
	if seeds < 8 || known < 100 {
		t.Errorf("%d failures, %d of them from the reproduction; want at least 100 and 8", known, seeds)
	}
}

// A proxy for HTTPS is proposed where one may help, and not for a host that is reached by ssh.
func TestProxyIsForHTTPS(t *testing.T) {
	t.Parallel()
	c := shipped(t)
	for text, proxy := range map[string]bool{
		"git: https://me@git.example.com:8443/ops.git: dial tcp: lookup git.example.com: no such host":       true,
		"fetch: Get \"https://example.com/x.zip\": dial tcp: lookup example.com: no such host":               true,
		"git: ssh://git@git.example.com/ops.git: dial tcp: lookup git.example.com: no such host":             false,
		"git: git@git.example.com:ops.git: dial tcp: lookup git.example.com: no such host":                   false,
		"ssh: ssh://root@board.example: it cannot be reached: dial tcp: lookup board.example: no such host":  false,
		"ssh: Could not resolve hostname git.example.com: Temporary failure in name resolution\nfatal: over": false,
	} {
		hints := strings.Join(c.Text([]byte(text)).Hints(), "\n")
		if strings.Contains(hints, "HTTPS_PROXY") != proxy || !strings.Contains(hints, "Check the ") {
			t.Errorf("%s: the hints are %q", text, hints)
		}
	}
}

// Every pattern is there for a text: each matches some example of its entry.
func TestEveryPatternHasAnExample(t *testing.T) {
	t.Parallel()
	c := shipped(t)
	for _, e := range c.Entries {
		for _, p := range e.Patterns {
			one := *e
			one.Patterns, one.Explains = []string{p}, nil
			only, err := diagnose.New([]*diagnose.Entry{&one}, nil)
			if err != nil {
				t.Fatal(err)
			}
			seen := false
			for _, text := range e.Examples {
				r := only.Text([]byte(text))
				seen = seen || len(r.Findings) > 0 || r.Benign > 0
			}
			if !seen {
				t.Errorf("%s: %s: no example has %q", e.File, e.ID, p)
			}
		}
	}
}

// Each remedy begins with the next step: an imperative, or a condition and then an imperative.
func TestRemediesAreSteps(t *testing.T) {
	t.Parallel()
	const verbs = "Activate|Add|Allocate|Ask|Build|Calibrate|Check|Choose|Close|Compare|Compile|Configure|Convert|Copy|" +
		"Correct|Create|Declare|Delete|Do|Download|End|Export|Find|Free|Generate|Give|Go|Have|Install|Keep|Leave|" +
		"Let|Link|Load|Log|Look|Make|Name|Open|Pass|Pin|Plug|Prepare|Push|Put|Quantize|Read|Reboot|Register|Remove|" +
		"Rename|Repeat|Report|Rewrite|Run|Save|Separate|Set|Split|Start|Switch|Take|Test|Try|Unlock|Update|Use|" +
		"Wait|Work|Write"
	step := regexp.MustCompile("^(?:(?:If|In|On|For|When) [^.,:]+[,:] )?(?:(?i:" + verbs + "))[ ,:]")
	for _, e := range shipped(t).Entries {
		if !e.Benign && !step.MatchString(e.Remedy) {
			t.Errorf("%s: %s: the remedy begins with no step: %q", e.File, e.ID, e.Remedy)
		}
	}
}
