package runlog_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/runlog"
)

const fn = digest.BLAKE3

func key(s string) digest.Digest { return fn.Bytes([]byte(s)) }

// did is the event of an action that ended.
func did(step, name string, o event.Outcome, k string, took time.Duration) event.ActionFinished {
	e := event.ActionFinished{Step: step, Name: name, Outcome: o, Seconds: took.Seconds(), Worker: "local"}
	if k != "" {
		e.Action = key(k)
	}
	return e
}

func info() runlog.Info {
	return runlog.Info{Pipeline: "p", Profile: "simulated", Variables: "v", Version: "1", Jobs: 2,
		Toolchains: map[string]string{"llvm": "22"}, Started: time.Now()}
}

func record(t *testing.T, dir string, events ...event.Event) {
	t.Helper()
	r := runlog.Record(dir, info())
	for _, e := range events {
		r.Send(e)
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
}

// TestCosts: of each action the cost in the newest run of the profile that executed it; a peak that was not measured
// then is not known.
func TestCosts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "h")
	took := func(step string, o event.Outcome, memory int64) event.ActionFinished {
		e := did(step, "n", o, step+fmt.Sprint(memory), time.Second)
		e.Memory = memory
		return e
	}
	end := event.BuildFinished{Executed: 1}
	record(t, dir, took("a", event.Executed, 5<<30), took("b", event.Executed, 1<<40),
		took("c", event.Executed, 1<<20), end)
	record(t, dir, took("a", event.Executed, 3<<30), took("b", event.Cached, 0), took("c", event.Executed, 0),
		took("d", event.Failed, 1<<30), end)
	record(t, dir, event.BuildStarted{Pipeline: "p", Profile: "other"}, took("a", event.Executed, 7<<30), end)
	for profile, want := range map[string]map[string]int64{
		"simulated": {"a": 3 << 30, "b": 1 << 40, "c": 0, "d": 0, "e": 0},
		"other":     {"a": 7 << 30, "b": 0},
	} {
		costs := runlog.Open(dir).Costs()
		for step, n := range want {
			if got, _ := costs.Of(profile, step, "n"); got.Memory != n {
				t.Errorf("%q, %s: %d, want %d", profile, step, got.Memory, n)
			}
		}
	}
	if got, ok := runlog.Open(dir).Costs().Of("simulated", "a", "n"); !ok || got.Duration != time.Second {
		t.Errorf("%v, %v; want 1s", got, ok)
	}
	if got, ok := runlog.Open(dir).Costs().Of("simulated", "d", "n"); ok {
		t.Errorf("a failed action has the cost %v", got)
	}
	for _, a := range runlog.Open(dir).Runs()[2].Actions {
		if a.Duration != time.Second || a.Key.IsZero() || a.Outcome != event.Executed {
			t.Errorf("%+v", a)
		}
	}
}

func sameDigest() cmp.Option { return cmp.Comparer(func(a, b digest.Digest) bool { return a == b }) }

func TestRoundTrip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "h")
		want := []runlog.Action{
			{Step: `exec.obj["a.c"]`, Key: key("a"), Outcome: event.Executed, Start: 0,
				Duration: 1500 * time.Millisecond, Worker: "local"},
			{Step: `exec.obj["b.c"]`, Key: key("b"), Outcome: event.Cached, Start: 1500 * time.Millisecond,
				Worker: "local"},
			{Step: "op.demo", Name: "x/ä.o", Key: key("c"), Outcome: event.Failed, Start: 1500 * time.Millisecond,
				Duration: time.Hour, Worker: "local"},
			{Step: "op.demo", Outcome: event.Failed, Start: 1500*time.Millisecond + time.Hour, Worker: "local"},
		}
		r := runlog.Record(dir, info())
		start := time.Now()
		time.Sleep(1500 * time.Millisecond)
		r.Send(did(want[0].Step, "", event.Executed, "a", want[0].Duration))
		r.Send(did(want[1].Step, "", event.Cached, "b", 0))
		time.Sleep(time.Hour)
		r.Send(did(want[2].Step, want[2].Name, event.Failed, "c", time.Hour))
		r.Send(did("op.demo", "", event.Failed, "", 0))
		r.Send(did("op.rest", "", event.NotRun, "", 0))
		r.Send(event.BuildFinished{Actions: 5, Executed: 1, Cached: 1, Failed: 2, NotRun: 1, Seconds: 3601.5})
		runs := runlog.Open(dir).Runs()
		if len(runs) != 1 {
			t.Fatalf("%d runs", len(runs))
		}
		got := runs[0]
		if d := cmp.Diff(want, got.Actions, sameDigest()); d != "" {
			t.Error(d)
		}
		wantInfo := info()
		wantInfo.Started = start
		if d := cmp.Diff(wantInfo, got.Info); d != "" {
			t.Error(d)
		}
		if want := (runlog.Totals{Executed: 1, Cached: 1, Failed: 2, NotRun: 1,
			Took: 3601500 * time.Millisecond}); got.Totals != want || !got.Ended {
			t.Errorf("got %+v", got.Totals)
		}
	})
}

// What did nothing new leaves no file; what found other results does.
func TestNothingToRecord(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "h")
	record(t, dir, event.BuildStarted{}, event.BuildFinished{Actions: 3, Cached: 3})
	if _, err := os.Stat(dir); err == nil {
		t.Error("a run of which nothing is known made the folder")
	}
	cached := []event.Event{did("a", "", event.Cached, "1", 0), did("b", "", event.Cached, "2", 0),
		event.BuildFinished{Cached: 2}}
	count := func(want int) {
		t.Helper()
		if n := len(runlog.Open(dir).Runs()); n != want {
			t.Errorf("%d runs, want %d", n, want)
		}
	}
	record(t, dir, cached...)
	count(1)
	record(t, dir, cached[1], cached[0], cached[2])
	count(1)
	record(t, dir, did("a", "", event.Executed, "1", 0), cached[1], event.BuildFinished{Executed: 1, Cached: 1})
	count(2)
	record(t, dir, cached...)
	count(2)
	record(t, dir, did("a", "", event.Cached, "3", 0), cached[1], cached[2])
	count(3)
}

// A killed run has told what it did up to a second before.
func TestKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		r := runlog.Record(dir, info())
		for i := range 5 {
			time.Sleep(600 * time.Millisecond)
			r.Send(did("a", fmt.Sprint(i), event.Executed, fmt.Sprint(i), time.Millisecond))
		}
		runs := runlog.Open(dir).Runs()
		if len(runs) != 1 || runs[0].Ended || len(runs[0].Actions) < 4 {
			t.Errorf("%+v", runs)
		}
	})
}

func TestFind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		for i, e := range []event.ActionFinished{
			did("a", "", event.Executed, "1", 0), did("a", "", event.Cached, "2", 0),
			did("a", "", event.Failed, "3", 0), did("b", "", event.Executed, "b", 0),
		} {
			time.Sleep(time.Second)
			record(t, dir, e, did("other", fmt.Sprint(i), event.Executed, "o", 0), event.BuildFinished{Executed: 2})
		}
		b := runlog.Open(dir)
		if _, a := b.Last("simulated", "a", ""); a == nil || a.Key != key("3") {
			t.Errorf("last: %+v", a)
		}
		if _, a := b.LastSuccess("simulated", "a", ""); a == nil || a.Key != key("2") {
			t.Errorf("last success: %+v", a)
		}
		if _, a := b.Last("simulated", "a", "x"); a != nil {
			t.Errorf("there is %+v", a)
		}
		if _, a := b.Last("another", "a", ""); a != nil {
			t.Errorf("of another profile there is %+v", a)
		}
	})
}

// theFile returns the file of the only run in the folder.
func theFile(t *testing.T, dir string) string {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if len(files) != 1 {
		t.Fatalf("%q, want one file", files)
	}
	return files[0]
}

// TestPrune: the newest runs stay, whether they can be read or not; their number and size are bounded.
func TestPrune(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		damaged := filepath.Join(dir, "0000000000000000-00000000.jsonl")
		if err := os.WriteFile(damaged, []byte("damage"), 0o644); err != nil {
			t.Fatal(err)
		}
		run := func(n int) {
			time.Sleep(time.Second)
			r := runlog.Record(dir, info())
			r.Send(did("often", "", event.Executed, fmt.Sprint(n), 0))
			r.Send(event.BuildFinished{Executed: 1})
			if err := r.Err(); err != nil {
				t.Fatal(err)
			}
		}
		newest := func(want int) {
			t.Helper()
			runs := runlog.Open(dir).Runs()
			if len(runs) != want || runs[0].Actions[0].Key != key("9") {
				t.Errorf("%d runs are left, want %d: %+v", len(runs), want, runs)
			}
		}
		run(0)
		if _, err := os.Stat(damaged); err != nil {
			t.Error(err)
		}
		for i := range 39 {
			run(i%10 + 1)
		}
		if _, err := os.Stat(damaged); err == nil {
			t.Error("a damaged file stays for ever")
		}
		newest(30)
		files, _ := filepath.Glob(filepath.Join(dir, "*"))
		if err := os.Truncate(files[len(files)-1], 16<<20); err != nil {
			t.Fatal(err)
		}
		run(9)
		newest(1)
	})
}

func TestFolder(t *testing.T) {
	a, b := runlog.Folder("/s", "/w", "p"), runlog.Folder("/s", "/x", "p")
	if a == b {
		t.Error("two workspaces share a folder")
	}
	if c := runlog.Folder("/s", "/w", "../p/\x00"); filepath.Dir(c) != filepath.Dir(a) {
		t.Errorf("a pipeline's name leads to %s", c)
	}
}

// TestTorn: whatever was written last, the lines before it count, and what was torn off does not.
func TestTorn(t *testing.T) {
	dir := t.TempDir()
	var es []event.Event
	for i := range 20 {
		es = append(es, did(fmt.Sprintf("exec.obj[%q]", fmt.Sprint(i)), "", event.Executed, fmt.Sprint(i),
			time.Millisecond))
	}
	record(t, dir, append(es, event.BuildFinished{Actions: 20, Executed: 20})...)
	good := runlog.Open(dir).Runs()[0]
	if len(good.Actions) != 20 || !good.Ended {
		t.Fatalf("%+v", good)
	}
	file := theFile(t, dir)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if err := os.WriteFile(file, whole[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		lines := bytes.Count(whole[:n+1], []byte("\n")) // the last one may lack its end
		runs := runlog.Open(dir).Runs()
		if lines == 0 {
			if len(runs) != 0 {
				t.Fatalf("%d bytes: %+v", n, runs)
			}
			continue
		}
		if len(runs) != 1 || len(runs[0].Actions) != min(20, lines-1) || runs[0].Ended != (lines == 23) {
			t.Fatalf("%d bytes, %d lines: %+v", n, lines, runs)
		}
		for j, a := range runs[0].Actions {
			if a != good.Actions[j] {
				t.Fatalf("%d bytes: action %d is %+v", n, j, a)
			}
		}
	}
}

// FuzzRead: whatever a file holds gives a run whose steps refer to each other, or none.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"run":{"pipeline":"p"}}{"action":{"step":"a","outcome":"executed","key":"x"}}`))
	f.Add([]byte(`{"run":{}} {"summary":{"steps":[{"step":"a","needs":[7]}]}} {"end":{"took_ns":-1}}`))
	f.Add([]byte(`{"end":{}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "0000000000000001-00000000.jsonl"), b, 0o644); err != nil {
			t.Fatal(err)
		}
		for _, r := range runlog.Open(dir).Runs() {
			for _, s := range r.Summary.Steps {
				for _, n := range s.Needs {
					_ = r.Summary.Steps[n]
				}
			}
			for _, a := range r.Actions {
				if a.Outcome == "" {
					t.Errorf("%+v", a)
				}
			}
		}
	})
}

func BenchmarkRecord10000(b *testing.B) {
	var es []event.Event
	for i := range 10000 {
		es = append(es, did(fmt.Sprintf("exec.obj[\"src/s%05d\"]", i), "", event.Executed, fmt.Sprint(i),
			time.Millisecond))
	}
	es = append(es, event.BuildFinished{Executed: 10000})
	dir := b.TempDir()
	for b.Loop() {
		r := runlog.Record(dir, runlog.Info{Pipeline: "p", Started: time.Now()})
		for _, e := range es {
			r.Send(e)
		}
		if err := r.Err(); err != nil {
			b.Fatal(err)
		}
	}
	runs := runlog.Open(dir).Runs()
	b.ReportMetric(float64(len(runs)), "runs")
}
