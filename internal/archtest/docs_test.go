package archtest_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// root is the repository's folder.
func root(elem ...string) string { return filepath.Join(append([]string{"..", ".."}, elem...)...) }

func page(t *testing.T, elem ...string) string {
	t.Helper()
	b, err := os.ReadFile(root(elem...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Each room says in a README what lives there, what may not, and how to add one.
func TestRoomsHaveREADMEs(t *testing.T) {
	entries, err := os.ReadDir(root())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") || e.Name() == "bin" || e.Name() == "out" ||
			e.Name() == "dist" {
			continue
		}
		b, err := os.ReadFile(root(e.Name(), "README.md"))
		if err != nil {
			t.Errorf("%s/ has no README.md: what lives there, what may not, how to add one", e.Name())
			continue
		}
		if e.Name() == "docs" || e.Name() == "examples" {
			continue
		}
		text := string(b)
		if !strings.Contains(text, "To add ") || !strings.Contains(text, "Not here:") &&
			!strings.Contains(text, "May not live here:") {
			t.Errorf("%s/README.md does not say what may not live there (`May not live here:`), or how to add one "+
				"(`To add …`)", e.Name())
		}
	}
}

// Every package says in its comment what it does not know: where the next line does not belong.
func TestPackagesSayWhatTheyDoNotKnow(t *testing.T) {
	says := regexp.MustCompile(
		`(?i)\b(does|do|did) not\b|\bknows? (no|none|nothing|neither)\b|\bnothing of\b|\bnor\b|\bnever\b|\bnobody\b|\bno [a-z]+ of its own|\bnothing\b|\bnone\b|\bnames only\b|not its business`)
	for _, p := range packages(t) {
		if len(p.GoFiles) == 0 || testKit(p.rel()) || below(p.rel(), "examples") {
			continue
		}
		if doc := packageDoc(t, p); !says.MatchString(doc) {
			t.Errorf("%s: its comment does not say what it does not know", p.rel())
		}
	}
}

// packageDoc is the whole package comment; go list has its first sentence only.
func packageDoc(t *testing.T, p pkg) string {
	var all strings.Builder
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil,
			parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			t.Fatal(err)
		}
		if f.Doc != nil {
			all.WriteString(f.Doc.Text())
		}
	}
	return strings.ReplaceAll(all.String(), "\n", " ")
}

// Each word of docs/glossary.md stands there once, with the package that it lives in.
func TestGlossary(t *testing.T) {
	seen := map[string]bool{}
	rows := regexp.MustCompile(`(?m)^\| \*\*(.+?)\*\* \| (.+?) \| (.+?) \|$`).FindAllStringSubmatch(page(t, "docs",
		"glossary.md"), -1)
	if len(rows) < 40 {
		t.Errorf("the glossary has %d words", len(rows))
	}
	for _, r := range rows {
		word := strings.ToLower(r[1])
		if seen[word] {
			t.Errorf("the glossary has %q twice", r[1])
		}
		seen[word] = true
		places := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(r[3], -1)
		if len(places) == 0 {
			t.Errorf("the glossary does not say where %q lives", r[1])
		}
		for _, p := range places {
			if fi, err := os.Stat(root(filepath.FromSlash(p[1]))); err != nil || !fi.IsDir() {
				t.Errorf("the glossary says that %q lives in %s, which is no folder", r[1], p[1])
			}
		}
	}
	for _, w := range []string{"pipeline", "step", "kind", "instance", "artifact", "plan", "spec", "action", "result",
		"digest", "blob", "executor", "toolchain", "target", "profile", "deferred", "fact", "simulation", "state file",
		"run log", "exec root", "garbage collection"} {
		if !seen[w] {
			t.Errorf("the glossary lacks %q", w)
		}
	}
}

// Each link of a page leads to a file that exists, and to a heading in it.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for _, p := range pages(t) {
		text := withoutCode(page(t, p))
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			to := p
			if file != "" {
				to = filepath.Join(filepath.Dir(p), filepath.FromSlash(file))
			}
			if _, err := os.Stat(root(to)); err != nil {
				t.Errorf("%s: the link %s leads nowhere", p, m[1])
			} else if anchor != "" && strings.HasSuffix(to, ".md") && !slices.Contains(headings(page(t, to)), anchor) {
				t.Errorf("%s: %s has no heading for %s", p, to, m[1])
			}
		}
	}
}

// pages are the Markdown files of the repository, by their paths in it.
func pages(t *testing.T) []string { return filesEnding(t, ".md") }

// filesEnding are the repository's files of that ending, by their path in it.
func filesEnding(t *testing.T, ending string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(root(), func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata" || d.Name() == "out" || d.Name() == "bin") {
			return filepath.SkipDir
		}
		if rel, err := filepath.Rel(root(), p); err == nil && strings.HasSuffix(p, ending) {
			all = append(all, rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// withoutCode leaves out fenced blocks and code in a line: what looks like a link there is none.
func withoutCode(text string) string {
	text = regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(text, "")
	return regexp.MustCompile("`[^`\\n]*`").ReplaceAllString(text, "x")
}

// headings are the anchors of a page's headings, as GitHub makes them.
func headings(text string) []string {
	var all []string
	for _, m := range regexp.MustCompile("(?m)^#+ (.*)$").FindAllStringSubmatch(text, -1) {
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, m[1])
		all = append(all, name)
	}
	return all
}

// Each row of "to add X, touch Y" names a test or a script that exists.
func TestToAddTable(t *testing.T) {
	rows := regexp.MustCompile("(?m)^\\| an? ([^|]+) \\| ([^|]+) \\| `([^`]+)` \\|$").FindAllStringSubmatch(page(t,
		"CONTRIBUTING.md"), -1)
	if len(rows) < 8 {
		t.Errorf("the table has %d rows", len(rows))
	}
	for _, r := range rows {
		if !shown(t, r[3]) {
			t.Errorf("CONTRIBUTING.md: to add a %s is shown by %s, which does not exist", r[1], r[3])
		}
	}
}

// shown tells whether there is a test or a script of that name.
func shown(t *testing.T, name string) bool {
	if strings.HasSuffix(name, ".txtar") {
		_, err := os.Stat(root("cmd", "hexmage", "cli", "testdata", "script", name))
		return err == nil
	}
	found := false
	err := filepath.WalkDir(root(), func(p string, d fs.DirEntry, err error) error {
		if err != nil || found || d.IsDir() && d.Name() == ".git" {
			return err
		}
		if strings.HasSuffix(p, "_test.go") {
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			found = strings.Contains(string(b), "\nfunc "+name+"(t *testing.T")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
