package archtest_test

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"
)

// room is a part of the tree that the rules of docs/architecture.md are about.
type room struct {
	path  string
	level int
	holds string
}

// house lists the rooms from the roof down. A package belongs to the first whose path it lies below. Arrows go to
// lower levels, and within a room; rooms of one level are neighbors that do not know each other.
func house() []room {
	return []room{
		{"cmd", 6, "the command line and the tests of the whole"},
		{"steps", 5, "the kinds of steps, and what joins the domain folders"},
		{"simulated", 4, "what stands in for the vendor's parts"},
		{"oppackage", 3, "op packages"},
		{"patches", 3, "patches of sources"},
		{"model", 3, "models and contexts"},
		{"runner", 3, "devices"},
		{"toolchains", 3, "SDKs and tools"},
		{"qnn", 2, "facts of the vendor's world"},
		{"internal", 1, "the engine and mechanisms that know no domain"},
	}
}

func roomOf(rel string) (room, bool) {
	for _, r := range house() {
		if below(rel, r.path) {
			return r, true
		}
	}
	return room{}, false // the embedded files of the root
}

// testKit tells whether only tests may import the package: its name ends in "test", as net/http/httptest's does. What
// runs kernel tests for users is a tool.
func testKit(rel string) bool { return strings.HasSuffix(rel, "test") && rel != "oppackage/kerneltest" }

// arrows returns what is wrong with what packages import, a sentence each. Dependencies are looked at whole, not only
// direct ones, but said where they enter: at the import that crosses.
func arrows(all []pkg) []string {
	var wrong []string
	for _, p := range all {
		from, ok := roomOf(p.rel())
		if !ok {
			continue
		}
		for _, i := range local(p.Imports) {
			if testKit(i) && !testKit(p.rel()) {
				wrong = append(wrong, fmt.Sprintf("%s imports %s: only tests and other test kits import a test kit",
					p.rel(), i))
			}
			if to, ok := roomOf(i); ok && to.path != from.path && to.level >= from.level && !testKit(p.rel()) {
				wrong = append(wrong, fmt.Sprintf("%s imports %s: %s/ (%s) may not know %s/ (%s). %s", p.rel(), i,
					from.path, from.holds, to.path, to.holds, advice(from, to)))
			}
		}
		// Tests of the engine need no domain; tests of the domain may use what stands in, but no kinds and no command
		// line.
		for _, i := range local(slices.Concat(p.TestImports, p.XTestImports)) {
			to, ok := roomOf(i)
			if !ok || to.path == from.path || to.level < from.level || testKit(i) && from.level > 1 {
				continue
			}
			if from.level == 1 || to.level > 4 {
				wrong = append(wrong, fmt.Sprintf("a test of %s imports %s: move the test to %s/, or give it a part "+
					"of its own in place of the real one", p.rel(), i, to.path))
			}
		}
	}
	sort.Strings(wrong)
	return slices.Compact(wrong)
}

// advice says where a line that needs such an arrow should live.
func advice(from, to room) string {
	switch {
	case from.level == 1:
		return "The engine gets it as a value or a function from above: hand it in from steps/ or cmd/hexmage/cli."
	case from.level == to.level:
		return "A fact that both need belongs in qnn/, a mechanism in internal/, and what joins the two in steps/."
	case to.path == "simulated":
		return "The real side never learns from a simulation: what both need belongs in " + from.path +
			"/ or qnn/, and steps/ hands the simulation in."
	default:
		return "What is needed there belongs lower, or " + to.path + "/ hands it in."
	}
}

func TestArrows(t *testing.T) {
	for _, w := range arrows(packages(t)) {
		t.Error(w)
	}
}

// A planted arrow is found, and the message says where the line should live.
func TestArrowsBite(t *testing.T) {
	plant := func(from string, imports ...string) pkg {
		p := pkg{ImportPath: module + "/" + from}
		for _, i := range imports {
			p.Imports = append(p.Imports, module+"/"+i)
		}
		return p
	}
	for _, c := range []struct {
		p    pkg
		says []string
	}{
		{plant("internal/engine", "qnn"),
			[]string{"internal/engine imports qnn", "hand it in from steps/ or cmd/hexmage/cli"}},
		{plant("qnn/facts", "toolchains"), []string{"qnn/facts imports toolchains", "belongs lower"}},
		{plant("steps", "cmd/hexmage/cli"), []string{"steps imports cmd/hexmage/cli"}},
		{plant("internal/engine", "internal/execute/executetest"), []string{"only tests"}},
		{pkg{ImportPath: module + "/internal/planner", XTestImports: []string{module + "/qnn"}},
			[]string{"a test of internal/planner imports qnn", "move the test"}},
		{plant("steps", "simulated/phone", "runner", "toolchains", "qnn", "internal/plan"), nil},
		{plant("simulated/phone", "runner/adb", "model/mllm"), nil},
	} {
		got := arrows([]pkg{c.p})
		if len(c.says) == 0 {
			if len(got) > 0 {
				t.Errorf("%s: %q", c.p.rel(), got)
			}
			continue
		}
		if len(got) != 1 {
			t.Errorf("%s: found %q", c.p.rel(), got)
			continue
		}
		for _, s := range c.says {
			if !strings.Contains(got[0], s) {
				t.Errorf("%s: %q does not say %q", c.p.rel(), got[0], s)
			}
		}
	}
}

// wall is something that packages must not reach, not even through others.
type wall struct {
	of     []string // packages, and those below them
	not    []string // packages, and those below them; outside the module by full path
	reason string
	except map[string]string // package → why it may, for now
}

func walls() []wall {
	language := []string{"github.com/hashicorp/hcl", "github.com/zclconf/go-cty"}
	return []wall{
		{[]string{"internal/plan", "internal/engine", "internal/execute", "internal/store", "internal/merkle",
			"internal/gc", "internal/state", "internal/runlog", "internal/explain",
			"internal/event", "internal/report", "internal/trace", "internal/watch", "internal/action",
			"internal/addrs", "internal/digest", "model", "runner", "patches/cpptoken", "simulated"},
			language, "a plan is data, and what runs it knows no language", nil},
		{[]string{"internal/config", "internal/lang", "internal/planner", "internal/step"},
			[]string{"internal/engine", "internal/execute", "internal/store", "internal/gc"},
			"what makes a plan runs nothing and stores nothing", nil},
		{[]string{"internal/store", "internal/merkle"},
			[]string{"internal/execute", "internal/engine", "internal/plan", "internal/event"},
			"the store knows neither who runs nor what is planned", nil},
		{[]string{"internal/execute"},
			[]string{"internal/plan", "internal/engine", "internal/state", "internal/report"},
			"an executor gets an action and returns a result", nil},
		{[]string{"internal/engine"}, []string{"internal/planner", "internal/report", "internal/gc"},
			"a build gets a plan and tells events", nil},
		{[]string{"internal/report"},
			[]string{"internal/engine", "internal/execute", "internal/plan", "internal/store"},
			"a report shows events", nil},
		{[]string{"internal", "qnn", "oppackage", "patches", "model", "runner", "toolchains", "simulated", "steps",
			"cmd"}, []string{"github.com/bazelbuild/remote-apis", "google.golang.org/grpc",
			"google.golang.org/genproto"},
			"generated protobuf types are for tests of our own encoding, and for who speaks to servers " +
				"(docs/design/0005-remote.md)", map[string]string{
				"internal/remote": "it speaks to servers", "internal/settings": "it has a remote's options",
				"cmd/hexmage/cli": "it puts the engine together", "cmd/hexmage": "it is package cli",
			}},
	}
}

// reached returns what of the wall's far side each package of its near side depends on.
func reached(all []pkg, w wall) map[string]string {
	found := map[string]string{}
	for _, p := range all {
		if !below(p.rel(), w.of...) || testKit(p.rel()) {
			continue
		}
		for _, d := range p.Deps {
			d = strings.TrimPrefix(d, module+"/")
			if below(d, w.not...) && !below(p.rel(), w.not...) {
				found[p.rel()] = d
				break
			}
		}
	}
	return found
}

func TestWalls(t *testing.T) {
	all := packages(t)
	for _, w := range walls() {
		found := reached(all, w)
		for p, d := range found {
			if w.except[p] == "" {
				t.Errorf("%s depends on %s, if only indirectly: %s", p, d, w.reason)
			}
		}
		for p := range w.except {
			if found[p] == "" {
				t.Errorf("the exception of %s is of no use any more: take it out (%s)", p, w.reason)
			}
		}
		for _, of := range w.of {
			if !slices.ContainsFunc(all, func(p pkg) bool { return below(p.rel(), of) }) {
				t.Errorf("a wall is about %s, which does not exist", of)
			}
		}
	}
	if got := reached([]pkg{{ImportPath: module + "/internal/engine",
		Deps: []string{"github.com/hashicorp/hcl/v2/hclsyntax"}}}, walls()[0]); len(got) != 1 {
		t.Error("a planted dependency on the language is not found")
	}
}
