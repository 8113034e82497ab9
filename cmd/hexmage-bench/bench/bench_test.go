package bench_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/cmd/hexmage-bench/bench"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// options measure with the real tools, and hexmage as it is in this checkout.
func options(t *testing.T) bench.Options {
	t.Helper()
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, "github.com/hexmage/hexmage/cmd/hexmage", "github.com/hexmage/hexmage/cmd/hexmage-bench").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	strace, _ := exec.LookPath("strace")
	return bench.Options{
		Hexmage: filepath.Join(bin, "hexmage"),
		Floor:   filepath.Join(bin, "hexmage-bench"),
		Ninja:   toolchaintest.Path(t, "ninja", "usr/bin/ninja"),
		Samurai: toolchaintest.Path(t, "ninja", "usr/bin/ninja"), // which it stands in for
		Make:    toolchaintest.Path(t, "make", "usr/bin/make"),
		Entr:    toolchaintest.Path(t, "entr", "usr/bin/entr"),
		EntrEnv: []string{"LD_LIBRARY_PATH=" + filepath.Dir(toolchaintest.Path(t, "entr", "usr/lib/x86_64-linux-gnu/libbsd.so.0"))},
		Strace:  strace,
		CC:      bench.Clang(toolchaintest.Root(t, "llvm")),
		Dir:     t.TempDir(),
		Repeat:  1,
		Log:     t.Output(),
	}
}

func TestHarness(t *testing.T) {
	if testing.Short() {
		t.Skip("not run: measuring is not short, and other processes do it")
	}
	o := options(t)
	t.Run("measures", func(t *testing.T) { measures(t, o) })
	t.Run("notices", func(t *testing.T) { notices(t, o) })
}

// Every case with few small actions: all tools make the same, and hexmage runs what it must and no more.
func measures(t *testing.T, o bench.Options) {
	o.Cases = bench.Cases(bench.Sizes{Small: 4, Few: 20, Many: 30, Most: 40, Chain: 5, Layers: 3, Width: 12, Large: 1 << 20})
	o.Repeat = 2
	o.Watched = 20
	o.Examples = []string{filepath.Join("..", "..", "..", "examples", "hello")}
	o.Env = []string{"PATH=" + os.Getenv("PATH"), "HEXMAGE_CACHE=" + t.TempDir()}
	o.Profiles = t.TempDir()
	r, err := bench.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Problems() {
		t.Error(p)
	}
	if len(r.Graphs) != len(o.Cases) {
		t.Errorf("%d graphs of %d cases", len(r.Graphs), len(o.Cases))
	}
	for _, g := range r.Graphs {
		always := append([]string{"hexmage", "floor"}, g.Tools...)
		for _, tool := range always {
			if n := samples(t, g, bench.Cold, tool); n != 1 && (n != 2 || g.ColdOnce) {
				t.Errorf("%s: %d cold builds by %s", g.Name, n, tool)
			}
		}
		for _, scenario := range g.Scenarios {
			for _, tool := range always {
				n, want := samples(t, g, scenario, tool), 6
				if tool == "ninja, own -j" || scenario == bench.Restored && tool != "hexmage" && tool != "floor" {
					want = 0
				}
				if scenario == bench.NoOp && g.NoOps > 0 {
					want = 2 * g.NoOps
				}
				if n != want {
					t.Errorf("%s, %s: %s was measured %d times, not %d", g.Name, scenario, tool, n, want)
				}
			}
		}
		if g.Traced && o.Strace != "" && (g.Syscalls.Total() < 10 || g.Syscalls.Total() > 10_000 || g.Syscalls["clone"]+g.Syscalls["clone3"] < 1) {
			t.Errorf("%s: system calls %v", g.Name, g.Syscalls)
		}
	}
	if w := r.Watch; w == nil || len(w.Hexmage.Samples) == 0 || len(w.Entr.Samples) != len(w.Hexmage.Samples) {
		t.Errorf("watching: %+v", w)
	}
	if len(r.Examples) != 2 || r.Examples[1].Name != "hello/hello" || len(r.Examples[0].NoOp.Samples) == 0 {
		t.Errorf("examples: %+v", r.Examples)
	}
	text := r.Markdown("the test")
	t.Log(text)
	if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
		t.Error("not all numbers are finite")
	}
	for _, b := range r.Budgets() {
		if b.Floor == 0 && strings.Contains(b.What, "/ ninja") {
			t.Errorf("%s: there is no floor beside it", b.What)
		}
	}
	for _, name := range []string{"wide-20-cold.cpu", "chain-5-no-op.mem"} {
		if fi, err := os.Stat(filepath.Join(o.Profiles, name)); err != nil || fi.Size() == 0 {
			t.Errorf("profile %s: %v", name, err)
		}
	}
}

// samples is how often a tool was measured, all with sensible numbers.
func samples(t *testing.T, g *bench.GraphResult, scenario bench.Scenario, tool string) int {
	t.Helper()
	s := g.Find(scenario, tool)
	if s == nil {
		return 0
	}
	for _, x := range s.Samples {
		links := scenario == bench.Restored && tool == "floor" // which is no process
		if x.Wall <= 0 || !links && (x.MaxRSS < 1<<10 || x.Read < 0) {
			t.Errorf("%s, %s: %s took %+v", g.Name, scenario, tool, x)
		}
	}
	return len(s.Samples)
}

// A tool that makes something else is noticed, and so are actions that run for nothing.
func notices(t *testing.T, o bench.Options) {
	o.Cases = bench.Cases(bench.Sizes{Few: 3})[:1]
	o.Make = filepath.Join(t.TempDir(), "make")
	script := "#!/bin/sh\nmkdir -p out\necho wrong > out/all\n"
	if err := os.WriteFile(o.Make, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	// A source that is in every action's inputs: an edit of one runs all.
	right := o.Cases[0].Graph
	o.Cases[0].Graph = func() bench.Graph {
		g := right()
		g.HCL[0] = strings.Replace(g.HCL[0], `inputs   = ["tools/tiny", each.value]`, `inputs   = ["tools/tiny", "src/s00000", each.value]`, 1)
		return g
	}
	r, err := bench.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(r.Problems(), "\n")
	for _, want := range []string{"the outputs in make/out are not those in floor/out", "one changed: hexmage ran 4 actions, not 2"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not among the problems:\n%s", want, all)
		}
	}
	// A tool that fails says what it said.
	if err := os.WriteFile(o.Make, []byte("#!/bin/sh\necho no rule to make it\nexit 2\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := bench.Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "no rule to make it") {
		t.Errorf("a tool that fails: %v", err)
	}
}

func TestInsert(t *testing.T) {
	doc := "before\n<!-- bench: generated, do not edit -->\nold\n<!-- end of bench -->\nafter\n"
	got, err := bench.Insert([]byte(doc), "new\n")
	if err != nil || !bytes.Contains(got, []byte("\nnew\n")) || bytes.Contains(got, []byte("old")) ||
		!bytes.HasPrefix(got, []byte("before\n")) || !bytes.HasSuffix(got, []byte("\nafter\n")) {
		t.Errorf("%q, %v", got, err)
	}
	again, err := bench.Insert(got, "new\n")
	if err != nil || !bytes.Equal(again, got) {
		t.Errorf("inserted twice: %q, %v", again, err)
	}
	if _, err := bench.Insert([]byte("no marks"), "new\n"); err == nil {
		t.Error("a document without marks was taken")
	}
}

// The page names benchmarks that exist, and has a place for the report.
func TestPage(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "performance.md"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bench.Insert(page, ""); err != nil {
		t.Error(err)
	}
	rows := regexp.MustCompile("(?m)^\\| ([a-z/]+) \\| ((?:`\\w+`(?:, )?)+) \\|").FindAllStringSubmatch(string(page), -1)
	if len(rows) < 5 {
		t.Errorf("the page has %d rows of benchmarks", len(rows))
	}
	for _, row := range rows {
		files, err := filepath.Glob(filepath.Join(root, "internal", row[1], "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		var tests []byte
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			tests = append(tests, b...)
		}
		for _, name := range strings.Split(row[2], ", ") {
			if !bytes.Contains(tests, []byte("func Benchmark"+strings.Trim(name, "`")+"(")) {
				t.Errorf("internal/%s has no benchmark %s", row[1], name)
			}
		}
	}
}
