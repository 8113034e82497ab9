package archtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// plainExceptions are texts that match a pattern and stay, with the reason.
func plainExceptions() map[string]string { return map[string]string{} }

// patterns find sentences that need a second reading.
var patterns = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\bwhat (is|was|it|the|there)\b`), // name the thing with a noun
	regexp.MustCompile(`(?i)\b(is|are|there is|there are) no(ne)?\b`),
	regexp.MustCompile(`(?i)\b(likewise|whoever|somebody|nobody|anybody)\b`),
	regexp.MustCompile(`(?i)\b(is|are) (said|told)\b`), // name the actor
	regexp.MustCompile(`(?i)\b(of which|comes? of|as ever)\b`),
	regexp.MustCompile(`(^|[.:] )Of (an?|all|any|each|one|several|th[a-z]+|two|what|which)\b`),
}

// maxSentence is the longest sentence, in words.
const maxSentence = 25

// unplain returns the first words of a text that match a pattern, or of a sentence that is too long.
func unplain(text string) string {
	for _, p := range patterns {
		if found := p.FindString(text); found != "" {
			return found
		}
	}
	for _, sentence := range sentenceEnd.Split(text, -1) {
		if strings.ContainsAny(sentence, "$<{=") {
			continue // code
		}
		if w := strings.Fields(sentence); len(w) > maxSentence {
			return strings.Join(w[:5], " ") + " … (" + strconv.Itoa(len(w)) + " words)"
		}
	}
	return ""
}

var sentenceEnd = regexp.MustCompile(`[.:;?!](\s+|$)|\n\s*\n|\n\s*-|\n {4}`)

// TestPlain: comments and messages are written by the patterns.
func TestPlain(t *testing.T) {
	used := map[string]bool{}
	for _, p := range packages(t) {
		for _, name := range p.GoFiles {
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range texts(f) {
				if found := unplain(text.words); found == "" {
				} else if used[found] = true; plainExceptions()[found] == "" {
					t.Errorf("%s/%s:%d: %q needs a second reading", p.rel(), name, fset.Position(text.pos).Line, found)
				}
			}
		}
	}
	for found := range plainExceptions() {
		if !used[found] {
			t.Errorf("%q occurs nowhere: take it out of plainExceptions", found)
		}
	}
}

// TestPlainFinds: the patterns find planted sentences, and no others.
func TestPlainFinds(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "x.go", `// Package x says what it is.
package x
// There is no call. Likewise.
func call() error {
	// Of several none is chosen.
	return errors.New("the device is told nothing")
}
// one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
// nineteen twenty and one two three four five six.
var long = "short"
// Plain reads the file and returns its lines.
var plain = "invalid size \"20gigs\""
`, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, text := range texts(f) {
		if unplain(text.words) != "" {
			n++
		}
	}
	if n != 5 {
		t.Errorf("%d of 5 planted texts are found", n)
	}
}

type text struct {
	pos   token.Pos
	words string
}

// texts returns the comments of a file, and its strings of several words.
func texts(f *ast.File) (all []text) {
	for _, g := range f.Comments {
		all = append(all, text{g.Pos(), g.Text()})
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if s, err := strconv.Unquote(l.Value); err == nil && strings.Contains(s, " ") {
				all = append(all, text{l.Pos(), s})
			}
		}
		return true
	})
	return all
}
