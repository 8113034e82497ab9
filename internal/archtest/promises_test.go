package archtest_test

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "bring docs/promises up to the pages; what nobody has looked at gets a ?")

// unlisted are the pages whose promises nobody has listed yet. The list only shrinks.
func unlisted() []string {
	return nil
}

// noPromise says why a block promises nothing.
func noPromise() []string {
	return []string{"definition", "example", "fact", "measured", "pointer", "reason"}
}

// A block is a paragraph, an item of a list or a row of a table.
type block struct {
	section string // the anchor of the heading above
	text    string
	row     bool
}

func (b block) id() string { return fmt.Sprintf("%x", sha256.Sum256([]byte(b.text)))[:8] }

// opening is as much of the text as it takes to find it.
func (b block) opening() string {
	words := strings.Fields(strings.ReplaceAll(b.text, "|", " "))
	return strings.Join(words[:min(len(words), 9)], " ")
}

// blocks cuts a page into what is listed one by one. Fenced examples are left out, and what is generated, whose generator has a test.
func blocks(text string) (all []block) {
	var words []string
	section, fenced, generated := "", false, false
	end := func(row bool) {
		switch b := (block{section, strings.Join(words, " "), row}); {
		case len(words) == 0:
		case regexp.MustCompile(`^\|[-|: ]*-[-|: ]*$`).MatchString(b.text):
			all = all[:len(all)-1] // the row above is the table's head
		default:
			all = append(all, b)
		}
		words = nil
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```"):
			end(false)
			fenced = !fenced
		case fenced:
		case strings.HasPrefix(line, "<!--"):
			end(false)
			generated = strings.Contains(line, ": generated")
		case generated:
		case line == "":
			end(false)
		case strings.HasPrefix(line, "#"):
			end(false)
			section = headings(line)[0]
		case strings.HasPrefix(line, "|"):
			end(false)
			words = strings.Fields(line)
			end(true)
		default:
			if regexp.MustCompile(`^([-*]|\d+\.) `).MatchString(line) {
				end(false)
			}
			words = append(words, strings.Fields(line)...)
		}
	}
	end(false)
	return all
}

// A promise is a line of a list: the block, and the tests that fail when it does not hold, or why there is none.
type promise struct{ id, opening, tests, note string }

func (p promise) String() string {
	line := p.id + " | " + p.opening + " | " + p.tests
	if p.note != "" {
		line += " | " + p.note
	}
	return line
}

// promises reads a list. Its lines "rows of #section | TEST" say that a test of its own reads the tables of that section.
func promises(text string) (lines []promise, rows map[string]string, err error) {
	rows = map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "//") {
			continue
		}
		cells := strings.Split(line, " | ")
		if section, ok := strings.CutPrefix(cells[0], "rows of #"); ok && len(cells) == 2 {
			rows[section] = cells[1]
			continue
		}
		if len(cells) < 3 || len(cells) > 4 {
			return nil, nil, fmt.Errorf("%q is no line of a list: it has ID | OPENING | TESTS, and perhaps | NOTE", line)
		}
		p := promise{id: cells[0], opening: cells[1], tests: cells[2]}
		if len(cells) == 4 {
			p.note = cells[3]
		}
		lines = append(lines, p)
	}
	return lines, rows, nil
}

// match brings a list up to its page: what is as it was keeps its line, what was changed or is new has a ? in it.
func match(page string, lines []promise, rows map[string]string) (all []promise) {
	for _, b := range blocks(page) {
		if b.row && rows[b.section] != "" {
			continue
		}
		now := promise{b.id(), b.opening(), "?", ""}
		for _, p := range lines {
			if p.id == now.id {
				now.tests, now.note = p.tests, p.note
				break
			}
			if p.opening == now.opening && !strings.HasPrefix(p.tests, "?") {
				now.tests, now.note = "? "+p.tests, p.note
			}
		}
		if !slices.Contains(all, now) {
			all = append(all, now)
		}
	}
	return all
}

// mistake says what is wrong with a line that a person wrote.
func (p promise) mistake(exists func(test string) bool) string {
	switch {
	case strings.Contains(p.tests, "?"):
		return "is new or changed: write the tests that fail when it does not hold, or - and one of " + strings.Join(noPromise(), ", ") + ", in place of the ?"
	case p.tests == "-" && slices.Contains(noPromise(), p.note):
		return ""
	case p.tests == "-":
		return "promises nothing, and the note does not say why: it is one of " + strings.Join(noPromise(), ", ")
	case p.tests == "untested" && p.note == "":
		return "is untested, and the note does not say why"
	case p.tests == "untested":
		return ""
	}
	for _, name := range strings.Fields(p.tests) {
		if !exists(name) {
			return "names " + name + ", which does not exist: a test is FOLDER.TestName, FOLDER.TestName/subtest, or the end of a script's path"
		}
	}
	return ""
}

// TestPromises holds the pages to docs/promises: each block of a page is listed there, with tests that exist or with the reason why there are none.
func TestPromises(t *testing.T) {
	exists := testNames(t)
	pages := map[string]string{"README": "README.md"}
	found, err := filepath.Glob(root("docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range found {
		if name := strings.TrimSuffix(filepath.Base(p), ".md"); name != "README" {
			pages[name] = "docs/" + name + ".md"
		}
	}
	untested := 0
	for name, path := range pages {
		list := root("docs", "promises", name+".txt")
		b, err := os.ReadFile(list)
		if slices.Contains(unlisted(), name) {
			if err == nil {
				t.Errorf("docs/promises/%s.txt exists: take %s out of unlisted", name, name)
			}
			continue
		} else if err != nil && !*update {
			t.Errorf("%v: every page has a list of its promises", err)
			continue
		}
		lines, rows, err := promises(string(b))
		if err != nil {
			t.Errorf("docs/promises/%s.txt: %v", name, err)
			continue
		}
		text := page(t, filepath.FromSlash(path))
		now := match(text, lines, rows)
		if *update {
			if err := os.WriteFile(list, []byte(listed(path, now, rows)), 0o644); err != nil {
				t.Fatal(err)
			}
			lines = now
		}
		if !slices.Equal(now, lines) {
			t.Errorf("%s is not what docs/promises/%s.txt lists: run\n\tgo test ./internal/archtest -run Promises -update\nand look at each line with a ? there", path, name)
		}
		for _, p := range now {
			if m := p.mistake(exists); m != "" {
				t.Errorf("docs/promises/%s.txt: %s: what begins so %s", name, p, m)
			}
			if p.tests == "untested" {
				untested++
			}
		}
		for section, test := range rows {
			if !exists(test) || !exists(test+" "+filepath.Base(path)) {
				t.Errorf("docs/promises/%s.txt: rows of #%s: no test %s in a package whose tests read %s", name, section, test, filepath.Base(path))
			}
			if !slices.ContainsFunc(blocks(text), func(b block) bool { return b.row && b.section == section }) {
				t.Errorf("docs/promises/%s.txt: %s has no table below #%s", name, path, section)
			}
		}
	}
	if untested > 0 {
		t.Logf("%d are untested", untested)
	}
	lists, err := filepath.Glob(root("docs", "promises", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lists {
		if pages[strings.TrimSuffix(filepath.Base(l), ".txt")] == "" {
			t.Errorf("docs/promises/%s is the list of no page", filepath.Base(l))
		}
	}
}

func listed(path string, lines []promise, rows map[string]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "// What %s promises, and the tests that fail when it does not hold: docs/design/0008-promises.md.\n", path)
	for _, section := range slices.Sorted(maps.Keys(rows)) {
		fmt.Fprintf(&b, "rows of #%s | %s\n", section, rows[section])
	}
	for _, p := range lines {
		fmt.Fprintln(&b, p)
	}
	return b.String()
}

// testNames returns what tells whether there is a test of that name: FOLDER.TestName, with a subtest behind a /, the end of a script's path, or
// a test and, after a space, a word that stands in a test file of its folder.
func testNames(t *testing.T) func(string) bool {
	t.Helper()
	functions, texts := map[string]bool{}, map[string]string{}
	named := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	for _, path := range filesEnding(t, "_test.go") {
		folder, text := filepath.ToSlash(filepath.Dir(path)), page(t, path)
		texts[folder] += text
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			functions[folder+"."+m[1]] = true
		}
	}
	scripts, err := filepath.Glob(root("cmd", "hexmage", "cli", "testdata", "script", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob(root("internal", "planner", "testdata", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	scripts = append(scripts, more...)
	return func(name string) bool {
		if strings.HasSuffix(name, ".txtar") {
			return slices.ContainsFunc(scripts, func(s string) bool { return strings.HasSuffix(filepath.ToSlash(s), "/"+name) })
		}
		name, word, _ := strings.Cut(name, " ")
		at := strings.LastIndex(name, ".Test")
		if at < 0 {
			at = strings.LastIndex(name, ".Fuzz")
		}
		if at < 0 {
			return false
		}
		function, sub, _ := strings.Cut(name[at+1:], "/")
		text := texts[name[:at]]
		return functions[name[:at]+"."+function] && (strings.Contains(text, strings.ReplaceAll(sub, "_", " ")) || strings.Contains(text, sub)) && strings.Contains(text, word)
	}
}

// TestPromisesBite plants what would let a promise rot.
func TestPromisesBite(t *testing.T) {
	text := "# Page\n\nA thing holds.\nIt always\ndoes.\n\n| | |\n|---|---|\n| `x` | does y |\n\n- one\n  of two\n- two\n\n```\nshown\n```\n<!-- t: generated -->\nmade\n<!-- end of t -->\n## Words\n\n| w | is |\n|---|---|\n| w | a word |\n"
	exists := testNames(t)
	list, rows, err := promises("// comment\nrows of #words | internal/archtest.TestPromisesBite\n")
	if err != nil {
		t.Fatal(err)
	}
	list = match(text, list, rows)
	var got []string
	for i, p := range list {
		got = append(got, p.opening)
		if p.mistake(exists) == "" {
			t.Errorf("%s is taken though nobody looked at it", p)
		}
		list[i].tests, list[i].note = "internal/archtest.TestPromisesBite", ""
	}
	if want := []string{"A thing holds. It always does.", "`x` does y", "- one of two", "- two"}; !slices.Equal(got, want) {
		t.Errorf("the blocks are %q, not %q", got, want)
	}
	same := match(strings.ReplaceAll(text, "holds.\nIt", "holds. It"), list, rows)
	if !slices.Equal(same, list) {
		t.Errorf("other line ends make %q", same)
	}
	read, _, err := promises(listed("page.md", list, rows))
	if err != nil || !slices.Equal(read, list) {
		t.Errorf("what is written is read as %q, %v", read, err)
	}
	changed := match(strings.ReplaceAll(text, "does y", "does z")+"\nAnd it is new.\n", list, rows)
	var marked []string
	for _, p := range changed {
		if strings.Contains(p.tests, "?") {
			marked = append(marked, p.opening+": "+p.tests)
		}
	}
	if got := strings.Join(marked, "; "); got != "`x` does z: ?; And it is new.: ?" {
		t.Errorf("of what was changed %q is marked", got)
	}
	long := match("One two three four five six seven eight nine ten.", nil, nil)
	long[0].tests = "a.TestB"
	if got := match("One two three four five six seven eight nine eleven.", long, nil); got[0].tests != "? a.TestB" {
		t.Errorf("a changed end leaves %q", got)
	}
	for _, p := range []promise{{tests: "internal/archtest.TestNothingOfTheKind"}, {tests: "internal/nowhere.TestPromisesBite"}, {tests: "nothing.txtar"}, {tests: "-"}, {tests: "-", note: "because"},
		{tests: "untested"}, {tests: "TestPromisesBite"}, {tests: "internal/archtest.TestPromisesBite/no" + "_such_subtest"}} {
		if p.mistake(exists) == "" {
			t.Errorf("%q is taken", p)
		}
	}
	for _, p := range []promise{{tests: "script/cache.txtar internal/lang.TestFunctions"}, {tests: "-", note: "reason"}, {tests: "untested", note: "needs a phone"}} {
		if m := p.mistake(exists); m != "" {
			t.Errorf("%q %s", p, m)
		}
	}
	if _, _, err := promises("no line\n"); err == nil {
		t.Error("a line that is none is taken")
	}
}
