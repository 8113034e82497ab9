//go:build linux

package failures_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// TestProvokedTable: docs/diagnosis.md lists the mistakes that the tests of this package make, and no others; each
// failure that the reproduction of llm.npu met is among them. go test ./cmd/hexmage/e2e/failures -run ProvokedTable
// -update writes it.
func TestProvokedTable(t *testing.T) {
	const begin, end = "<!-- provoked: generated, do not edit -->", "<!-- end of provoked -->"
	cat := catalog(t)
	rules := Read(t, filepath.Join(Repo(), "qnn", "facts", "compat.hcl"))
	planned := Read(t, filepath.Join(Repo(), "cmd", "hexmage", "cli", "compat_test.go"))
	rows := map[string][]string{}
	add := func(id, mistake, in, plan string) {
		if plan != "" {
			rule := strings.TrimPrefix(plan, "compat ")
			if !strings.Contains(rules, "compat \""+rule+"\" {") ||
				!regexp.MustCompile("compat "+rule+`["; ]`).MatchString(planned) {
				t.Errorf("%s: %s: no test of the plan has rule %q refuse or warn", id, mistake, rule)
			}
			plan = "`" + rule + "`"
		}
		rows[id] = append(rows[id], fmt.Sprintf("%s | %s | %s", mistake, in, plan))
	}
	for _, p := range provocations() {
		add(p.id, p.mistake, p.in, p.plan)
	}
	for _, m := range fetchMistakes(t) {
		add(m.id, m.mistake, "fetching", "")
	}
	for _, m := range phoneMistakes() {
		add(m.id, m.mistake, m.in, m.plan)
	}
	linkTests := Read(t, filepath.Join(Repo(), "steps", "failures", "provoked_test.go"))
	for _, m := range regexp.MustCompile(`\{"([a-z-]+)", "([^"]+)", func\(`).FindAllStringSubmatch(linkTests, -1) {
		add(m[1], m[2], "the real adb server and the simulated phone", "")
	}
	var b strings.Builder
	failures, mistakes, seeds := 0, 0, 0
	for _, e := range cat.Entries {
		id := "`" + e.ID + "`"
		if e.Seed {
			id += " ●"
		}
		for i, row := range rows[e.ID] {
			if i > 0 {
				id = ""
			}
			fmt.Fprintf(&b, "| %s | %s |\n", id, row)
		}
		mistakes += len(rows[e.ID])
		switch n := len(rows[e.ID]); {
		case n == 0 && e.Seed:
			t.Errorf("%s was met in the reproduction and is not provoked", e.ID)
		case n > 0 && e.Seed:
			seeds++
			fallthrough
		case n > 0:
			failures++
		}
		delete(rows, e.ID)
	}
	for id := range rows {
		t.Errorf("no failure has the name %q", id)
	}
	text := fmt.Sprintf("%d mistakes, which come out as %d failures, %d of them from the reproduction of llm.npu "+
		"(●).\n\n", mistakes, failures, seeds) +
		"| comes out as | what is wrong | who finds it | the plan refuses it, or warns, by rule |\n" +
		"|---|---|---|---|\n" + b.String()
	path := filepath.Join(Repo(), "docs", "diagnosis.md")
	doc := []byte(Read(t, path))
	i, j := bytes.Index(doc, []byte(begin)), bytes.Index(doc, []byte(end))
	if i < 0 || j < i {
		t.Fatalf("%s has no lines %s and %s", path, begin, end)
	}
	want := string(doc[:i]) + begin + "\n\n" + text + "\n" + string(doc[j:])
	if want == string(doc) {
		return
	}
	if !Update() {
		t.Fatalf("%s is not what the tests do: run go test ./cmd/hexmage/e2e/failures -run ProvokedTable -update", path)
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
