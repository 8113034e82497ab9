package steps_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/simulated/sdk/sdktest"
)

// waitsForNothing is a pipeline that is planned whole: plain steps, copies, a value that only an output and a check have.
const waitsForNothing = `
step "exec" "words" {
  for_each = toset(["a", "b/c"])
  argv     = ["sh", "-c", "printf '%s ' \"$1\" \"$WORD\" > word", "sh", each.key]
  env      = { WORD = upper(each.key) }
  output "word" { file = "word" }
}
step "exec" "all" {
  argv = concat(["sh", "-c", "cat \"$@\" > all; mkdir -p dir/deep; cat in/* > dir/deep/in; wc -c < all > n", "sh"], [for w in step.exec.words : w.outputs.word])
  inputs = ["in"]
  output "all" { file = "all" }
  output "dir" { tree = "dir" }
  output "n" { value = "n" }
}
output "all" { value = step.exec.all.outputs.all }
output "in" { value = "${step.exec.all.outputs.dir}/deep/in" }
output "words" { value = { for k, w in step.exec.words : replace(k, "/", "_") => w.outputs.word } }
output "n" { value = step.exec.all.outputs.n }
output "said" { value = upper("known") }
check "known" {
  condition     = 1 > 2
  error_message = "It is not."
}
`

// waitsForMuch has steps whose actions follow from a listing, from a value, and from both, and an output and a check of values.
const waitsForMuch = waitsForNothing + `
step "exec" "copy" {
  argv   = ["sh", "-c", "cp -r pkg copied; printf v66 > hvx"]
  inputs = ["pkg"]
  output "dir" { tree = "copied" }
  output "hvx" { value = "hvx" }
}
step "makefile" "listing" { source = step.exec.copy.outputs.dir }
step "makefile" "both" {
  source = step.exec.copy.outputs.dir
  hvx    = step.exec.copy.outputs.hvx
}
step "exec" "value" {
  argv = ["sh", "-c", "printf '%s' \"$1\" > got", "sh", "it is ${step.exec.copy.outputs.hvx}"]
  output "got" { file = "got" }
}
output "listing" { value = step.makefile.listing.outputs.dir }
output "both" { value = "${step.makefile.both.outputs.dir}/Makefile" }
output "value" { value = step.exec.value.outputs.got }
output "text" { value = "HVX ${step.exec.copy.outputs.hvx}" }
check "value" {
  condition     = step.exec.copy.outputs.hvx == "v68"
  error_message = "It is ${step.exec.copy.outputs.hvx}."
}
`

// planJob is what another process is to build, and done what came of it.
type planJob struct {
	Plan, Workspace, Store string
	Extend                 bool // it may plan the workspace's pipeline, to extend the plan
}

type planDone struct {
	Keys   map[string]string
	Ran    []string
	Failed []*event.Failure
	Checks []event.CheckFinished
	Out    map[string]string // content by path
}

func (w *workspace) done(e *events) planDone {
	w.t.Helper()
	d := planDone{Keys: e.keys, Ran: e.ran, Failed: e.failures, Checks: e.checks, Out: map[string]string{}}
	out := os.DirFS(filepath.Join(w.at, "out"))
	err := fs.WalkDir(out, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		b, err := fs.ReadFile(out, name)
		d.Out[name] = string(b)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

const planJobVar = "HEXMAGE_TEST_PLAN_JOB"

// TestBuildAPlanOfAFile is the other process of TestPlanOfAFile.
func TestBuildAPlanOfAFile(t *testing.T) {
	text := os.Getenv(planJobVar)
	if text == "" {
		t.Skip("no plan to build: TestPlanOfAFile runs it again with one")
	}
	var job planJob
	if err := json.Unmarshal([]byte(text), &job); err != nil {
		t.Fatal(err)
	}
	p := readPlan(t, job.Plan)
	w := &workspace{t: t, dir: job.Workspace, sdks: "/nowhere", at: job.Store}
	var x plan.Resolver
	if job.Extend {
		_, more, diags := w.plan()
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		x = more
	}
	b, err := json.Marshal(w.done(w.run(p, x, nil)))
	if err == nil {
		err = os.WriteFile(filepath.Join(job.Store, "done.json"), b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func writePlan(t *testing.T, path string, p *plan.Plan) {
	t.Helper()
	var file bytes.Buffer
	if err := gob.NewEncoder(&file).Encode(p); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, file.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readPlan(t *testing.T, path string) *plan.Plan {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var p plan.Plan
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&p); err != nil {
		t.Fatal(err)
	}
	return &p
}

// elsewhere has another process build the plan of a file.
func elsewhere(t *testing.T, job planJob) planDone {
	t.Helper()
	text, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestBuildAPlanOfAFile$")
	cmd.Env = append(os.Environ(), planJobVar+"="+string(text))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b, err := os.ReadFile(filepath.Join(job.Store, "done.json"))
	if err != nil {
		t.Fatal(err)
	}
	var d planDone
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// A plan that was written to a file is built by another process as by the one that made it: with the same keys, so
// that nothing runs again, and from an empty store with the same bytes.
func TestPlanOfAFile(t *testing.T) {
	for name, c := range map[string]struct {
		pipeline string
		extend   bool
		actions  int
		waits    map[plan.DeferReason]int
	}{
		"waits for nothing": {waitsForNothing, false, 3, map[plan.DeferReason]int{plan.ForNothing: 3}},
		"waits for much":    {waitsForMuch, true, 7, map[plan.DeferReason]int{plan.ForNothing: 4, plan.ForListing: 1, plan.ForValues: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			w := &workspace{t: t, dir: t.TempDir(), sdks: "/nowhere", at: t.TempDir()}
			w.pipeline(c.pipeline)
			sdktest.Write(t, w.dir, map[string]string{"in/one": "1\n", "in/two": "2\n"})
			sdktest.Write(t, filepath.Join(w.dir, "pkg"), sdktest.Package())
			p, x, diags := w.plan()
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			waits := map[plan.DeferReason]int{}
			for _, n := range p.Instances {
				waits[n.Waits]++
			}
			if d := cmp.Diff(c.waits, waits); d != "" {
				t.Fatalf("what instances wait for: %s", d)
			}
			path := filepath.Join(t.TempDir(), "plan")
			writePlan(t, path, p)
			again := readPlan(t, path)
			if d := cmp.Diff(p, again, cmpopts.EquateEmpty()); d != "" {
				t.Fatalf("another plan is read back: %s", d)
			}
			here := w.done(w.run(p, x, x.Explain))
			if len(here.Failed) > 0 || len(here.Ran) != c.actions || len(here.Keys) != c.actions || len(here.Out) == 0 {
				t.Fatalf("built here: %+v", here)
			}
			for _, check := range here.Checks {
				if check.Result != event.CheckFailed {
					t.Errorf("%+v", check)
				}
			}
			cold := elsewhere(t, planJob{Plan: path, Workspace: w.dir, Store: t.TempDir(), Extend: c.extend})
			if d := cmp.Diff(here, cold); d != "" {
				t.Errorf("from an empty store (-here +elsewhere): %s", d)
			}
			if err := os.RemoveAll(filepath.Join(w.at, "out")); err != nil {
				t.Fatal(err)
			}
			writePlan(t, path, p)
			warm := elsewhere(t, planJob{Plan: path, Workspace: w.dir, Store: w.at, Extend: c.extend})
			if len(warm.Ran) > 0 {
				t.Errorf("from the store of who has built it, %q ran again", warm.Ran)
			}
			warm.Ran = here.Ran
			if d := cmp.Diff(here, warm); d != "" {
				t.Errorf("from the store of who has built it (-here +elsewhere): %s", d)
			}
			if d := cmp.Diff(again, p, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("building changed the plan: %s", d)
			}
		})
	}
}
