package planner_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/tools/txtar"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/planner"
)

// filler is so many steps that some of them are left for later.
func filler() string {
	var b strings.Builder
	for i := 0; b.Len() < 80<<10; i++ {
		in := ""
		if i > 3 {
			in = fmt.Sprintf(", step.exec.zz%d.outputs.o", i-1-i%3)
		}
		fmt.Fprintf(&b, "step \"exec\" \"zz%d\" {\n  description = \"%s\"\n  argv = [\"true\"%s]\n  output \"o\" { file = \"o%d\" }\n}\n", i, strings.Repeat("long ", 100), in, i%5)
	}
	return b.String()
}

// asRead plans a pipeline twice: read whole, and as it is read. The plans must have the same, each instance after what it needs. It says whether it was planned as it was read.
func asRead(t *testing.T, files fs.FS, name string, o planner.Options) bool {
	t.Helper()
	whole, wholeDiags := config.Load(files, name, nil)
	opened, openedDiags := config.Open(files, name, nil)
	if wholeDiags.HasErrors() {
		if opened.Rest == nil && !openedDiags.HasErrors() {
			t.Fatalf("nothing is wrong with what was opened; read whole: %v", wholeDiags)
		}
		if openedDiags.HasErrors() {
			return false
		}
	}
	o.Config = opened
	var made []*plan.Instance
	o.Made = func(more []*plan.Instance) { made = append(made, more...) }
	got, _, diags := planner.Build(o)
	o.Config, o.Made = whole, nil
	var want *plan.Plan
	if !wholeDiags.HasErrors() {
		want, _, wholeDiags = planner.Build(o)
	}
	if diags.HasErrors() && diags.Error() != wholeDiags.Error() {
		t.Fatalf("said before all was read: %v\nafter: %v", diags, wholeDiags)
	}
	if want == nil && got != nil {
		t.Fatal("a pipeline was planned that is wrong")
	}
	if got == nil {
		t.Logf("read whole: %v", wholeDiags)
		return false
	}
	at := map[addrs.Instance]int{}
	for i, n := range got.Instances {
		at[n.At], at[addrs.Instance{Step: n.At.Step}] = i, i // which stands for all copies in After
		for _, d := range n.Needs() {
			if before, ok := at[d]; !ok || before >= i {
				t.Fatalf("%s comes before %s, which it needs", n.At, d)
			}
		}
	}
	for _, n := range made {
		if i, ok := at[n.At]; ok && got.Instances[i] != n {
			t.Errorf("%s was made otherwise", n.At)
		}
	}
	byAt := func(a, b *plan.Instance) int { return addrs.Compare(a.At, b.At) }
	slices.SortFunc(got.Instances, byAt)
	slices.SortFunc(want.Instances, byAt)
	for i, n := range want.Instances { // one by one: all of them at once take seconds
		if i < len(got.Instances) && reflect.DeepEqual(n, got.Instances[i]) {
			continue
		}
		if diff := cmp.Diff(want.Instances[i:i+1], got.Instances[i:min(i+1, len(got.Instances))], cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("another plan (-whole +as read):\n%s", diff)
		}
	}
	if len(got.Instances) != len(want.Instances) {
		t.Fatalf("%d instances, read whole %d", len(got.Instances), len(want.Instances))
	}
	want.Instances, got.Instances = nil, nil
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("another plan (-whole +as read):\n%s", diff)
	}
	return opened.Rest != nil
}

// Every pipeline of the goldens, with many steps more, is planned as it is read, or what is wrong with it is found when it is read whole.
func TestAsReadGoldens(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	planned := 0
	for _, file := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for i := range a.Files {
				if f := &a.Files[i]; path.Dir(f.Name) == "pipelines" && strings.HasPrefix(path.Base(f.Name), "p.") && !strings.Contains(f.Name, "hexvars") {
					f.Data = append(append(f.Data, '\n'), filler()...)
				}
			}
			o := unpack(t, a)
			if asRead(t, os.DirFS(o.Workspace), "p", o) {
				planned++
			}
		})
	}
	if planned < 10 {
		t.Errorf("%d pipelines were planned as they were read", planned)
	}
}

// Steps of all sorts, in any order and over several files: what cannot be planned as it is read waits for the rest.
func TestAsRead(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for range 2 {
		var parts [3]strings.Builder
		n := 3000
		for i := range n {
			b := &parts[i*len(parts)/n]
			ref := func() string {
				of := rnd.IntN(i + 1)
				switch rnd.IntN(60) {
				case 0:
					return fmt.Sprintf(", local.l%d", of%5)
				case 1:
					return ", var.v"
				case 2:
					if late := i/50 + rnd.IntN(3); late < n/50 { // which may come later, and needs nothing
						return fmt.Sprintf(", step.exec.late%d.outputs.o", late)
					}
				case 3:
					return ", toolchain.used.dir"
				case 4:
					return ", path.module, profile.name"
				}
				if of == i {
					return ""
				}
				return fmt.Sprintf(", step.exec.s%d.outputs.o", of)
			}
			more := ""
			switch rnd.IntN(40) {
			case 0:
				more = "  when = var.v == \"v\"\n"
			case 1:
				more = "  timeout = \"10m\"\n  retries = 2\n"
			case 2:
				more = "  env = { A = var.v, B = \"${local.l1}\" }\n"
			case 3:
				more = "  cache = var.v == \"v\" ? \"local\" : \"on\"\n"
			}
			fmt.Fprintf(b, "step \"exec\" \"s%d\" {\n  description = \"number %[1]d\"\n  argv = [\"cc\", \"%[1]d\"%s%s]\n%s  output \"o\" { file = \"o%d\" }\n}\n", i, ref(), ref(), more, i%7)
			if i%50 == 49 {
				fmt.Fprintf(b, "step \"exec\" \"late%d\" {\n  argv = [\"cc\"]\n  output \"o\" { file = \"o\" }\n}\n", i/50)
			}
			if rnd.IntN(200) == 0 {
				fmt.Fprintf(b, "step \"exec\" \"f%d\" {\n  for_each = toset([\"a\", \"b\"])\n  argv = [\"cc\", each.key%s]\n  output \"o\" { file = \"o\" }\n}\n", i, ref())
			}
			if rnd.IntN(200) == 0 {
				fmt.Fprintf(b, "output \"o%d\" { value = step.exec.s%[1]d.outputs.o }\n", i)
			}
		}
		files := fstest.MapFS{"pipelines/x/z.hcl": {Data: []byte(`variable "v" { default = "v" }
toolchain "used" { version = "1" }
profile "p" {
  default = true
  locals { l4 = "of the profile" }
  step "exec" "own" {
    argv = ["cc", step.exec.s7.outputs.o]
    output "o" { file = "o" }
  }
}
locals {
  l0 = "x"
  l1 = var.v
  l2 = upper(local.l1)
  l3 = step.exec.s0.outputs.o
}
output "all" { value = [step.exec.own.outputs.o, local.l3] }
`)}}
		for i := range parts {
			files[fmt.Sprintf("pipelines/x/%d.hcl", i)] = &fstest.MapFile{Data: []byte(parts[i].String())}
		}
		if !asRead(t, files, "x", planner.Options{Kinds: kindsForTest(), Workspace: t.TempDir()}) {
			t.Fatal("it was not planned as it was read")
		}
	}
}

// What is wrong somewhere among the steps has the files read whole.
func TestAsReadWrong(t *testing.T) {
	for name, text := range map[string]string{
		"syntax":             "step \"exec\" \"x\" {\n  argv = [\"cc\"\n}\n",
		"no such step":       "step \"exec\" \"x\" {\n  argv = [step.exec.nowhere.outputs.o]\n}\n",
		"no such output":     "step \"exec\" \"x\" {\n  argv = [step.exec.zz1.outputs.p]\n}\n",
		"no such argument":   "step \"exec\" \"x\" {\n  argw = [\"cc\"]\n}\n",
		"no such kind":       "step \"exek\" \"x\" {\n  argv = [\"cc\"]\n}\n",
		"twice":              "step \"exec\" \"zz1\" {\n  argv = [\"cc\"]\n}\n",
		"later, twice":       "step \"exec\" \"last\" {\n  argv = [\"cc\"]\n}\n",
		"a circle":           "step \"exec\" \"x\" {\n  argv = [\"cc\", step.exec.last.outputs.o]\n  output \"o\" { file = \"o\" }\n}\n",
		"a wrong value":      "step \"exec\" \"x\" {\n  argv = [\"cc\", tonumber(\"x\")]\n}\n",
		"one label":          "step \"x\" {\n  argv = [\"cc\"]\n}\n",
		"a name":             "step \"exec\" \"x y\" {\n  argv = [\"cc\"]\n}\n",
		"no block":           "x = 1\n",
		"no kind of block":   "stop \"exec\" \"x\" {\n}\n",
		"two outputs":        "step \"exec\" \"x\" {\n  argv = [\"cc\"]\n  output \"o\" { file = \"a\" }\n  output \"o\" { file = \"b\" }\n}\n",
		"not known, planned": "step \"exec\" \"x\" {\n  argv = [\"cc\"]\n  timeout = step.exec.zz1.outputs.o\n}\n",
	} {
		t.Run(name, func(t *testing.T) {
			steps := filler()
			for _, at := range []int{0, len(steps) / 2, len(steps)} {
				for at > 0 && at < len(steps) && !strings.HasPrefix(steps[at:], "step") {
					at++
				}
				all := steps[:at] + text + steps[at:] + "step \"exec\" \"last\" {\n  argv = [\"cc\", step.exec.zz3.outputs.o" + map[bool]string{true: ", step.exec.x.outputs.o"}[name == "a circle"] + "]\n  output \"o\" { file = \"o\" }\n}\n"
				files := fstest.MapFS{"pipelines/x.hcl": {Data: []byte(all)}}
				if asRead(t, files, "x", planner.Options{Kinds: kindsForTest(), Workspace: t.TempDir()}) {
					t.Errorf("at %d: it was planned", at)
				}
			}
		})
	}
	// What is no step, and does not look like it, is right: it is read whole.
	steps := filler()
	at := strings.Index(steps[len(steps)/2:], "\nstep") + len(steps)/2 + 1
	files := fstest.MapFS{"pipelines/x.hcl": {Data: []byte(steps[:at] + "  locals {\n  a = 1\n}\n" + steps[at:])}}
	if asRead(t, files, "x", planner.Options{Kinds: kindsForTest(), Workspace: t.TempDir()}) {
		t.Error("locals were read as a step")
	}
}
