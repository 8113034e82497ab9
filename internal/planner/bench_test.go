//go:build unix

package planner_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/planner"
)

// wide is a pipeline with a copy of a step for each of n files, a step that takes all of them, and an output of each.
func wide(b *testing.B, n int) (pipeline, workspace string) {
	b.Helper()
	workspace = b.TempDir()
	if err := os.Mkdir(filepath.Join(workspace, "src"), 0o755); err != nil {
		b.Fatal(err)
	}
	for i := range n {
		if err := os.WriteFile(filepath.Join(workspace, "src", fmt.Sprintf("s%05d", i)), nil, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	return `step "exec" "obj" {
  for_each = toset(fileset("src", "*"))
  argv     = ["./tools/tiny", "o", "${each.value}"]
  inputs   = ["tools/tiny", "${each.value}"]
  output "o" { file = "o" }
}
step "exec" "all" {
  argv   = ["./tools/tiny", "all", step.exec.obj["src/s00000"].outputs.o]
  inputs = concat(["tools/tiny"], [for s in step.exec.obj : s.outputs.o])
  output "all" { file = "all" }
}
output "all" { value = step.exec.all.outputs.all }
output "objs" { value = [for s in step.exec.obj : s.outputs.o] }
`, workspace
}

// blocks is a pipeline with n steps of their own, each with the inputs given by needs, and one that takes the last.
func blocks(n int, needs func(i int) []int) string {
	var b strings.Builder
	for i := range n {
		inputs := `"tools/tiny", "src/s"`
		for _, d := range needs(i) {
			inputs += fmt.Sprintf(", step.exec.s%d.outputs.o", d)
		}
		fmt.Fprintf(&b, "step \"exec\" \"s%d\" {\n  argv   = [\"./tools/tiny\", \"o\", \"src/s\"]\n  inputs = "+
			"[%s]\n  output \"o\" { file = \"o\" }\n}\n", i, inputs)
	}
	fmt.Fprintf(&b, "output \"last\" { value = step.exec.s%d.outputs.o }\n", n-1)
	return b.String()
}

// layers gives each step three inputs of the layer of a hundred before it.
func layers(i int) []int {
	const width = 100
	if i < width {
		return nil
	}
	first := (i/width - 1) * width
	return []int{first + i%width, first + (i*7+1)%width, first + (i*13+2)%width}
}

func chain(i int) []int {
	if i == 0 {
		return nil
	}
	return []int{i - 1}
}

func benchPlan(b *testing.B, pipeline, workspace string, nodes int) {
	b.Helper()
	benchFiles(b, fstest.MapFS{"pipelines/x.hcl": {Data: []byte(pipeline)}}, workspace, nodes)
}

func benchFiles(b *testing.B, files fstest.MapFS, workspace string, nodes int) {
	b.Helper()
	load := func() *plan.Plan {
		p, _, _, diags := loadAndBuild(files, "x", planner.Options{Kinds: kindsForTest(), Workspace: workspace})
		if diags.HasErrors() || len(p.Instances) != nodes {
			b.Fatalf("%v", diags)
		}
		return p
	}
	b.ReportAllocs()
	before := cpu(b)
	for b.Loop() {
		load()
	}
	b.ReportMetric(float64((cpu(b)-before).Milliseconds())/float64(b.N), "cpu-ms/op")
	b.StopTimer()
	b.ReportMetric(live(load), "live-B")
}

// cpu is the time that the process has had of processors: on a machine that others use too it says more than a clock.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// live is how many bytes a plan holds.
func live(load func() *plan.Plan) float64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	p := load()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(p)
	return float64(after.HeapAlloc) - float64(before.HeapAlloc)
}

func benchForEach(b *testing.B, n int) {
	pipeline, workspace := wide(b, n)
	benchPlan(b, pipeline, workspace, n+1)
}

// BenchmarkEvaluate is a pipeline of ten steps whose copies refer to a toolchain and to the copy of the same key before
// them, which HCL has to evaluate.
func BenchmarkEvaluate(b *testing.B) {
	const steps, copies = 10, 500
	_, workspace := wide(b, copies)
	var s strings.Builder
	s.WriteString("toolchain \"llvm\" {\n  version = \"22\"\n}\n")
	for i := range steps {
		in := "each.value"
		if i > 0 {
			in = fmt.Sprintf("step.exec.s%d[each.key].outputs.o", i-1)
		}
		fmt.Fprintf(&s, "step \"exec\" \"s%d\" {\n  for_each = toset(fileset(\"src\", \"*\"))\n", i)
		fmt.Fprintf(&s, "  argv = [\"${toolchain.llvm.dir}/bin/clang\", \"-o\", \"${basename(each.key)}.o\", %s]\n  "+
			"inputs = [%s]\n", in, in)
		s.WriteString("  output \"o\" { file = \"${basename(each.key)}.o\" }\n}\n")
	}
	benchPlan(b, s.String(), workspace, steps*copies+1)
}

// BenchmarkCompute is a pipeline of ten steps whose copies each work out by arithmetic and functions which five of
// the step before they take.
func BenchmarkCompute(b *testing.B) {
	const steps, copies = 10, 500
	var s strings.Builder
	fmt.Fprintf(&s, "locals {\n  names = { for i in range(%d) : format(\"s%%05d\", i) => i }\n}\n", copies)
	for i := range steps {
		in, inputs := `["src/${each.key}"]`, `["tools/tiny", "src/${each.key}"]`
		if i > 0 {
			inputs = `["tools/tiny"]`
			in = fmt.Sprintf(`[for j in range(5) : step.exec.s%d[format("s%%05d", (each.value + 97 * j) %% %d)].outputs.o]`, i-1, copies)
		}
		fmt.Fprintf(&s, "step \"exec\" \"s%d\" {\n  for_each = local.names\n  argv = concat([\"./tools/tiny\", "+
			"\"o\"], %s)\n  inputs = %s\n", i, in, inputs)
		s.WriteString("  output \"o\" { file = \"o\" }\n}\n")
	}
	benchPlan(b, s.String(), b.TempDir(), steps*copies)
}

// The same 10,000 instances: written out, by for_each over the steps, and by for_each over modules, three levels of
// them.
const compileSteps = `step "exec" "cc%[1]s" {
  argv   = ["cc", %[2]s, "-o", "x.o"]
  inputs = [%[2]s]
  output "o" { file = "x.o" }
}
step "exec" "ar%[1]s" {
  argv = ["ar", "x.a", step.exec.cc%[1]s.outputs.o]
  output "a" { file = "x.a" }
}
`

func BenchmarkPlanFlat10000(b *testing.B) {
	_, workspace := wide(b, 1)
	var s strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&s, compileSteps, fmt.Sprint(i),
			fmt.Sprintf("%q", fmt.Sprintf("src/s%d-%d-%d", i/500, i/25%20, i%25)))
	}
	benchPlan(b, s.String(), workspace, 10000)
}

func BenchmarkPlanModules10000(b *testing.B) {
	_, workspace := wide(b, 1)
	call := func(source string, n int) string {
		return fmt.Sprintf("module \"m\" {\n  source   = %q\n  for_each = toset([for i in range(%d) : "+
			"tostring(i)])\n  name     = \"${var.name}-${each.key}\"\n}\n", source, n)
	}
	variable := "variable \"name\" {\n  type    = string\n  default = \"src/s\"\n}\n"
	benchFiles(b, fstest.MapFS{
		"pipelines/x.hcl": {Data: []byte(variable + call("../a", 10))},
		"a/a.hcl":         {Data: []byte(variable + call("../b", 20))},
		"b/b.hcl":         {Data: []byte(variable + call("../c", 25))},
		"c/c.hcl":         {Data: []byte(variable + fmt.Sprintf(compileSteps, "", "var.name"))},
	}, workspace, 10000)
}

func BenchmarkPlanForEach1000(b *testing.B)  { benchForEach(b, 1000) }
func BenchmarkPlanForEach10000(b *testing.B) { benchForEach(b, 10000) }
func BenchmarkPlanBlocks1000(b *testing.B)   { benchPlan(b, blocks(1000, layers), b.TempDir(), 1000) }
func BenchmarkPlanBlocks10000(b *testing.B)  { benchPlan(b, blocks(10000, layers), b.TempDir(), 10000) }
func BenchmarkPlanChain500(b *testing.B)     { benchPlan(b, blocks(500, chain), b.TempDir(), 500) }

// BenchmarkParse10000 is what the parser of HCL alone takes of BenchmarkPlanBlocks10000.
func BenchmarkParse10000(b *testing.B) {
	src := []byte(blocks(10000, layers))
	b.ReportAllocs()
	before := cpu(b)
	for b.Loop() {
		if _, diags := hclsyntax.ParseConfig(src, "x", hcl.InitialPos); diags.HasErrors() {
			b.Fatal(diags)
		}
	}
	b.ReportMetric(float64((cpu(b)-before).Milliseconds())/float64(b.N), "cpu-ms/op")
}
