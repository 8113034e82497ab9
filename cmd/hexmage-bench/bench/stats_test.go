package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestStats(t *testing.T) {
	series := func(ms ...int) *Series {
		s := &Series{}
		for _, v := range ms {
			s.Samples = append(s.Samples, Sample{Wall: time.Duration(v) * time.Millisecond})
		}
		return s
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"median of three", median([]float64{3, 1, 2}), 2},
		{"median of four", median([]float64{4, 1, 2, 3}), 2.5},
		{"median of none", median(nil), 0},
		{"spread", spread([]float64{8, 10, 14}), 0.3},
		{"spread of none", spread(nil), 0},
		// Both were slow the third time: the pairs say 2, what the medians say by chance.
		{"paired", median(ratios(series(2, 20, 200), series(1, 10, 100), wall)), 2},
		{"more samples than the other", float64(len(ratios(series(1, 2, 3), series(1, 2), wall))), 2},
		{"nothing to compare with", float64(len(ratios(series(1), series(0), wall))), 0},
	} {
		if math.Abs(c.got-c.want) > 1e-9 {
			t.Errorf("%s: %v, not %v", c.name, c.got, c.want)
		}
	}
	for v, want := range map[float64]string{12.34: "12.3 s", 1.234: "1.23 s", 0.0123: "12.3 ms", 0.00789: "7.89 ms"} {
		if got := seconds(v); got != want {
			t.Errorf("%v s is written %q, not %q", v, got, want)
		}
	}
}

func TestAffected(t *testing.T) {
	for name, c := range map[string]struct {
		g    Graph
		want int
	}{
		"wide":    {Wide(10, 1, false), 2},
		"grouped": {Wide(10, 3, true), 3},
		"chain":   {Chain(10), 10},
		"layered": {Layered(2, 100, false), 6},
		"deep":    {Layered(3, 500, true), 1 + 5 + 9},
		"large":   {Large(8, 1<<20), 1},
	} {
		if got := c.g.affected(c.g.Sources[0]); got != c.want {
			t.Errorf("%s: %d actions, not %d", name, got, c.want)
		}
	}
}

// What the cases promise is met, missed, or missed by as much as the floor is above it.
func TestBudgets(t *testing.T) {
	c := Case{Name: "case", Limits: Limits{
		Ninja:    map[Scenario]float64{Cold: 1, NoOp: 1, Changed: 0.5, Back: 0.5},
		Memory:   map[Scenario]float64{Cold: 80e6, NoOp: 30e6},
		Restore:  0.4,
		Syscalls: 85,
	}}
	g := &GraphResult{Case: c}
	add := func(s Scenario, tool string, ms int, bytes int64) {
		g.add(s, tool, Sample{Wall: time.Duration(ms) * time.Millisecond, MaxRSS: bytes})
	}
	add(Cold, shipped, 1300, 70e6)
	add(Cold, ninja, 1000, 0)
	add(Cold, floor, 1000, 0)
	add(NoOp, shipped, 9, 40e6)
	add(NoOp, ninja, 10, 0)
	add(NoOp, floor, 1, 0)
	add(Changed, shipped, 9, 0)
	add(Changed, ninja, 10, 0)
	add(Changed, floor, 1, 0)
	add(Back, shipped, 9, 0)
	add(Back, ninja, 10, 0)
	add(Back, isolated, 8, 0)
	add(Back, floor, 1, 0)
	add(Restored, shipped, 500, 0)
	add(Restored, floor, 200, 0)
	verdicts := func(g *GraphResult) map[string]string {
		all := map[string]string{}
		for _, b := range (&Report{Graphs: []*GraphResult{g}}).Budgets() {
			all[strings.TrimPrefix(b.What, "case, ")] = b.Verdict
		}
		return all
	}
	want := map[string]string{
		"cold: hexmage / ninja":         asFloor,
		"no-op: hexmage / ninja":        met,
		"one changed: hexmage / ninja":  missed,
		"changed back: hexmage / ninja": asIsolated,
		"outputs removed":               met, // by what the floor takes
		"cold: peak memory":             met,
		"no-op: peak memory":            missed,
		"cold: system calls of hexmage's own process for each action": unmeasured,
		"case: wrong outputs, and actions run for nothing":            met,
	}
	if got := verdicts(g); !maps.Equal(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
	add(Restored, shipped, 700, 0)
	add(Restored, floor, 200, 0)
	add(Restored, shipped, 700, 0)
	add(Restored, floor, 200, 0)
	g.Syscalls = Syscalls{"openat": 60, "read": 20, "futex": 30}
	g.Problems = []string{"something"}
	got := verdicts(g)
	for what, want := range map[string]string{
		"outputs removed": missed,
		"cold: system calls of hexmage's own process for each action": met, // without those of the scheduler
		"case: wrong outputs, and actions run for nothing":            missed,
	} {
		if got[what] != want {
			t.Errorf("%s: %s, not %s", what, got[what], want)
		}
	}
}

// Threads' calls count, those of child processes do not, and a call that ends on another line is one.
func TestCountSyscalls(t *testing.T) {
	log := `10 execve("bin/hexmage", ["bin/hexmage"], 0x7ffd /* 3 vars */) = 0
10 openat(AT_FDCWD, "a (b)", O_RDONLY <unfinished ...>
11 read(3,  <unfinished ...>
10 <... openat resumed>)             = 3
10 clone(child_stack=NULL, flags=CLONE_VM|CLONE_VFORK|SIGCHLD <unfinished ...>
12 setpgid(0, 0)                     = 0
12 execve("./tools/tiny", ["./tools/tiny"], 0xc000 /* 2 vars */ <detached ...>
11 <... read resumed>"", 4096)       = 0
10 <... clone resumed>)              = 12
11 futex(0x1, FUTEX_WAIT_PRIVATE, 0, NULL) = 0
`
	got, err := countSyscalls(bufio.NewScanner(strings.NewReader(log)), 2)
	want := Syscalls{"execve": 0.5, "openat": 0.5, "read": 0.5, "clone": 0.5, "futex": 0.5}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v, not %v", got, err, want)
	}
	if got.Total() != 2 || got.most(2) != "clone 0.5, execve 0.5" {
		t.Errorf("%v in all; most are %s", got.Total(), got.most(2))
	}
}

func TestKeep(t *testing.T) {
	options := func() *Options {
		return &Options{Cases: Cases(FullSizes()), Watched: 1000, Examples: []string{"hello"}}
	}
	o := options()
	names := o.names()
	for _, want := range []string{"wide-1000", "wide-1000-explicit", "wide-10000", "wide-10000-explicit", "wide-100000", "wide-100000-explicit", "chain-500",
		"layered-20-x-500", "layered-20-x-500-explicit", "large-8-x-256-MB", "watch", "start"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not among %v", want, names)
		}
	}
	for _, name := range names {
		o := options()
		if err := o.keep(name); err != nil {
			t.Error(err)
		}
		n := len(o.Cases) + len(o.Examples) + o.Watched/1000
		if n != 1 || len(o.Cases) == 1 && o.Cases[0].option() != name {
			t.Errorf("-only %s keeps %d: %v", name, n, o.Cases)
		}
	}
	if err := o.keep("layered,large"); err != nil || len(o.Cases) != 3 || o.Watched != 0 || o.Examples != nil {
		t.Errorf("layered,large: %v, %v", o.names(), err)
	}
	o = options()
	if err := o.keep(""); err != nil || len(o.names()) != len(names)-1 || slices.Contains(o.names(), "wide-100000-explicit") {
		t.Errorf("nothing asked for: %v, %v", o.names(), err)
	}
	for _, asked := range []string{",", "wid", "wide-1000,nothing"} {
		if err := options().keep(asked); err == nil {
			t.Errorf("-only %q was taken", asked)
		}
	}
}

// The page has the cases' limits.
func TestPageHasLimits(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "performance.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range Cases(FullSizes()) {
		row := "| " + c.option()
		for _, s := range []Scenario{Cold, NoOp, Changed, Back, Touched, Comment} {
			limit := "–"
			if v, ok := c.Limits.Ninja[s]; ok {
				limit = strconv.FormatFloat(v, 'g', -1, 64)
			}
			row += " | " + limit
		}
		if c.Limits.Ninja != nil && !bytes.Contains(page, []byte("\n"+row+" |\n")) {
			t.Errorf("the page has no row %q", row+" |")
		}
		say := func(has bool, text string) {
			if has && !bytes.Contains(page, []byte(text)) {
				t.Errorf("%s: the page does not say %q", c.Name, text)
			}
		}
		say(c.Limits.Restore > 0, fmt.Sprintf("are back in %g s, or in %d × the time", c.Limits.Restore, restoreLinks))
		say(c.Limits.Memory != nil, fmt.Sprintf("%.0f MB cold and %.0f MB with nothing to do", c.Limits.Memory[Cold]/1e6, c.Limits.Memory[NoOp]/1e6))
		say(c.Limits.Syscalls > 0, fmt.Sprintf("own process %.0f system calls", c.Limits.Syscalls))
		say(true, fmt.Sprintf("graph that is watched are %g ms", watchLimit*1e3))
		say(true, fmt.Sprintf("nothing to do, and a graph of five actions, take %g ms, the main pipeline %g ms", startLimit*1e3, mainLimit*1e3))
		say(true, fmt.Sprintf("at most %g × what the floor takes", nearFloor))
		say(true, fmt.Sprintf("all files, in %g × Bazel's time", remoteLimit))
	}
}

// hexmage is measured as it comes, and staged beside it; samurai where there is one.
func TestTools(t *testing.T) {
	t.Setenv("HEXMAGE_SANDBOX", "off")
	c := Cases(Sizes{Few: 3})[0]
	var names []string
	for _, tool := range newTools(Options{Jobs: 2}, c, t.TempDir()) {
		names = append(names, tool.name)
		level := slices.DeleteFunc(tool.program.env, func(v string) bool { return !strings.HasPrefix(v, "HEXMAGE_SANDBOX=") })
		if want := []string{"HEXMAGE_SANDBOX=staged"}; tool.name == staged && !slices.Equal(level, want) || tool.name != staged && len(level) > 0 {
			t.Errorf("%s has %v", tool.name, level)
		}
	}
	if want := []string{shipped, staged, ninja, ninjaDefault, maketool, isolated, floor}; !slices.Equal(names, want) {
		t.Errorf("%v, not %v", names, want)
	}
}

// TestRemoteReport: what fetching takes is held against the fastest form of Bazel, run by run; what was wrong is in the report.
func TestRemoteReport(t *testing.T) {
	r := &RemoteResult{Actions: 2000, Bytes: map[string][2]int64{shipped: {500_000, 8_600_000}, bazel: {1_200_000, 8_900_000}}, Problems: []string{"hexmage: not all was fetched"}}
	for i, ms := range [][4]int{{600, 4000, 9000, 1000}, {900, 5000, 9000, 2000}, {800, 3000, 9000, 2000}} {
		for k, tool := range []string{shipped, bazel, bazelCold, bazelMany} {
			r.add(Fetched, tool, Sample{Wall: time.Duration(ms[k]) * time.Millisecond})
		}
		if i == 0 {
			r.add(Alone, shipped, Sample{Wall: time.Second})
			r.add(Sent, shipped, Sample{Wall: 2 * time.Second})
			r.add(Farther, shipped, Sample{Wall: time.Second})
			r.add(Farther, bazelMany, Sample{Wall: 4 * time.Second})
		}
	}
	budgets := r.budgets()
	if len(budgets) != 3 || budgets[0].Got != "0.45 ×" || budgets[0].Verdict != met || budgets[1].Got != "0.25 ×" || budgets[2].Verdict != missed {
		t.Errorf("%+v", budgets)
	}
	text := (&Report{Remote: r}).Markdown("the test")
	for _, want := range []string{"| all fetched (3) | 800 ms ±19 % | 4.00 s ±25 % | 9.00 s ±0 % | 2.00 s ±25 % | 0.18 | 0.09 | 0.45 |", "hexmage, all fetched: 0.5 MB to the server, 8.6 MB from it", "**Wrong:** hexmage: not all was fetched"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report has no %q:\n%s", want, text)
		}
	}
	if b := Wide(2, 1, false).bazel(); !strings.Contains(b, `genrule(name = "a2", outs = ["out/all"], srcs = ["out/o.0", "out/o.1"], tools = ["tools/tiny"]`) || !strings.Contains(b, `filegroup(name = "outputs", srcs = ["out/o.0", "out/o.1", "out/all"])`) {
		t.Error(b)
	}
}
