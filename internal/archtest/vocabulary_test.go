package archtest_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// forbidden finds words that the style guide replaces: companies and projects have names, and spelling is American.
var forbidden = regexp.MustCompile(`(?i)\bthe vendor\b|upstream|\bstand-?ins?\b|` +
	`colour|catalogue|licence|artefact|behaviour|neighbour|honour|favour(?:$|[^i])|cancelled|travelled|signalled|` +
	`\b(?:quanti|dequanti|optimi|materiali|organi|authori|recogni|normali|summari|tokeni)s(?:e|ing|ation)`)

// allowedWords are files that keep a forbidden word, with the reason. Test files are not looked at.
func allowedWords() map[string]string {
	return map[string]string{}
}

// TestVocabulary: programs, catalogs and pipelines use the words of the style guide.
func TestVocabulary(t *testing.T) {
	used := map[string]bool{}
	for _, ending := range []string{".go", ".hcl", ".py"} {
		for _, p := range filesEnding(t, ending) {
			p = filepath.ToSlash(p)
			if strings.HasSuffix(p, "_test.go") || strings.Contains(p, "/tests/") {
				continue
			}
			for i, line := range strings.Split(page(t, filepath.FromSlash(p)), "\n") {
				if w := forbidden.FindString(line); w != "" {
					if used[p] = true; allowedWords()[p] == "" {
						t.Errorf("%s:%d: %q: name the company or project, in American spelling", p, i+1, w)
					}
				}
			}
		}
	}
	for p := range allowedWords() {
		if !used[p] {
			t.Errorf("%s has no forbidden word: take it out of allowedWords", p)
		}
	}
	for text, want := range map[string]bool{"as the vendor's compiler": true, "upstreamModel": true, "a stand-in": true,
		"freestanding": false, "MaterialiseOptions": true, "--colour": true, "a favorite": false, "promise": false,
		"optimized": false, "the catalogue": true, "quantised": true} {
		if forbidden.MatchString(text) != want {
			t.Errorf("%q: found is %v", text, !want)
		}
	}
}
