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
	"github.com/hexmage/hexmage/internal/statefile"
)

const fn = digest.BLAKE3

func key(s string) digest.Digest { return fn.Bytes([]byte(s)) }

// did is the event of an action that ended.
func did(step, name string, o event.Outcome, k string, took time.Duration) event.ActionFinished {
	e := event.ActionFinished{Step: step, Name: name, Outcome: o, Duration: took, Worker: "local"}
	if k != "" {
		e.Action = key(k)
	}
	return e
}

func info() runlog.Info {
	return runlog.Info{Pipeline: "p", Profile: "open", Variables: "v", Version: "1", Jobs: 2, Toolchains: map[string]string{"llvm": "22"}, Started: time.Now()}
}

func record(t *testing.T, dir string, events ...event.Event) {
	t.Helper()
	r := runlog.Record(dir, info(), runlog.Limits{})
	for _, e := range events {
		r.Send(e)
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
}

// TestPeaks: of each action the peak of its newest run that executed it, of the profile or of any; what was not measured then is not known.
func TestPeaks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "h")
	took := func(step string, o event.Outcome, memory int64) event.ActionFinished {
		e := did(step, "n", o, step+fmt.Sprint(memory), time.Second)
		e.Memory = memory
		return e
	}
	end := event.BuildFinished{Executed: 1}
	record(t, dir, took("a", event.Executed, 5<<30), took("b", event.Executed, 1<<40), took("c", event.Executed, 1<<20), end)
	record(t, dir, took("a", event.Executed, 3<<30), took("b", event.Cached, 0), took("c", event.Executed, 0), took("d", event.Failed, 1<<30), end)
	record(t, dir, event.BuildStarted{Pipeline: "p", Profile: "other"}, took("a", event.Executed, 7<<30), end)
	for profile, want := range map[string]map[string]int64{
		"":      {"a": 7 << 30, "b": 1 << 40, "c": 0, "d": 0, "e": 0},
		"open":  {"a": 3 << 30, "b": 1 << 40, "c": 0},
		"other": {"a": 7 << 30, "b": 0},
	} {
		peaks := runlog.Open(dir).Peaks(profile)
		for step, n := range want {
			if got := peaks.Of(step, "n"); got != n {
				t.Errorf("%q, %s: %d, want %d", profile, step, got, n)
			}
		}
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
			{Step: `exec.obj["a.c"]`, Key: key("a"), Outcome: event.Executed, Start: 0, Duration: 1500 * time.Millisecond, Worker: "local"},
			{Step: `exec.obj["b.c"]`, Key: key("b"), Outcome: event.Cached, Start: 1500 * time.Millisecond, Worker: "local"},
			{Step: "op.demo", Name: "x/ä.o", Key: key("c"), Outcome: event.Failed, Start: 1500 * time.Millisecond, Duration: time.Hour, Worker: "local"},
			{Step: "op.demo", Outcome: event.Failed, Start: 1500*time.Millisecond + time.Hour, Worker: "local"},
		}
		r := runlog.Record(dir, info(), runlog.Limits{})
		start := time.Now()
		time.Sleep(1500 * time.Millisecond)
		r.Send(did(want[0].Step, "", event.Executed, "a", want[0].Duration))
		r.Send(did(want[1].Step, "", event.Cached, "b", 0))
		time.Sleep(time.Hour)
		r.Send(did(want[2].Step, want[2].Name, event.Failed, "c", time.Hour))
		r.Send(did("op.demo", "", event.Failed, "", 0))
		r.Send(did("op.rest", "", event.Skipped, "", 0))
		r.Send(event.BuildFinished{Actions: 5, Executed: 1, Cached: 1, Failed: 2, Skipped: 1, Seconds: 3601.5})
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
		if want := (runlog.Totals{Executed: 1, Cached: 1, Failed: 2, Skipped: 1, Took: 3601500 * time.Millisecond}); got.Totals != want || !got.Ended {
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
	cached := []event.Event{did("a", "", event.Cached, "1", 0), did("b", "", event.Cached, "2", 0), event.BuildFinished{Cached: 2}}
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
		r := runlog.Record(dir, info(), runlog.Limits{})
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
			did("a", "", event.Executed, "1", 0), did("a", "", event.Cached, "2", 0), did("a", "", event.Failed, "3", 0), did("b", "", event.Executed, "b", 0),
		} {
			time.Sleep(time.Second)
			record(t, dir, e, did("other", fmt.Sprint(i), event.Executed, "o", 0), event.BuildFinished{Executed: 2})
		}
		b := runlog.Open(dir)
		if _, a := b.Last("open", "a", ""); a == nil || a.Key != key("3") {
			t.Errorf("last: %+v", a)
		}
		if _, a := b.LastSuccess("open", "a", ""); a == nil || a.Key != key("2") {
			t.Errorf("last success: %+v", a)
		}
		if _, a := b.Last("open", "a", "x"); a != nil {
			t.Errorf("there is %+v", a)
		}
		if _, a := b.Last("another", "a", ""); a != nil {
			t.Errorf("of another profile there is %+v", a)
		}
	})
}

// Of many runs, the newest are whole; of older ones there is what no newer one tells; the size is bounded.
func TestThinning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		run := func(l runlog.Limits, es ...event.Event) {
			time.Sleep(time.Second)
			r := runlog.Record(dir, info(), l)
			for _, e := range append(es, event.BuildFinished{Executed: 1}) {
				r.Send(e)
			}
			if err := r.Err(); err != nil {
				t.Fatal(err)
			}
		}
		few := runlog.Limits{Runs: 3}
		run(few, did("rare", "", event.Executed, "r", time.Minute), did("often", "", event.Executed, "o", 0))
		if err := os.WriteFile(filepath.Join(dir, "0000000000000000-00000000.run"), []byte("damage"), 0o644); err != nil {
			t.Fatal(err)
		}
		for i := range 100 {
			run(few, did("often", "", event.Executed, fmt.Sprint(i), 0))
		}
		b := runlog.Open(dir)
		if n := len(b.Runs()); n < 4 || n > 35 {
			t.Errorf("%d runs are left", n)
		}
		if _, a := b.Last("open", "rare", ""); a == nil || a.Duration != time.Minute {
			t.Errorf("what ran long ago is forgotten: %+v", a)
		}
		if _, err := os.Stat(filepath.Join(dir, "0000000000000000-00000000.run")); err == nil {
			t.Error("a damaged file stays for ever")
		}
		run(runlog.Limits{Bytes: 1}, did("often", "", event.Executed, "x", 0))
		if n := len(runlog.Open(dir).Runs()); n != 1 {
			t.Errorf("%d runs fit into one byte, want the newest alone", n)
		}
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

// Damage never fails, and never brings forth what was not recorded.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	var es []event.Event
	for i := range 300 {
		es = append(es, did(fmt.Sprintf("exec.obj[%q]", fmt.Sprint(i)), "", event.Executed, fmt.Sprint(i), time.Millisecond))
	}
	record(t, dir, append(es, event.BuildFinished{Executed: 300})...)
	files, _ := filepath.Glob(filepath.Join(dir, "*.run"))
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	good, err := runlog.Decode(whole)
	if err != nil || len(good.Actions) != 300 {
		t.Fatalf("%v, %d actions", err, len(good.Actions))
	}
	for i := 0; i < len(whole); i += 7 {
		bad := bytes.Clone(whole)
		bad[i] ^= 0x10
		for _, b := range [][]byte{bad, whole[:i]} {
			r, err := runlog.Decode(b)
			if err != nil {
				continue
			}
			for j, a := range r.Actions {
				if a != good.Actions[j] {
					t.Fatalf("damage at %d: action %d is %+v", i, j, a)
				}
			}
		}
	}
}

// Blocks that were not written by a Recorder, but have right checksums, give a run with sensible values or none.
func FuzzDecode(f *testing.F) {
	dir := f.TempDir()
	r := runlog.Record(dir, runlog.Info{Pipeline: "p"}, runlog.Limits{})
	r.Send(did("a", "n", event.Executed, "k", time.Second))
	r.Send(did("ab", "n", event.Failed, "", time.Second))
	r.Send(event.BuildFinished{Executed: 1})
	files, _ := filepath.Glob(filepath.Join(dir, "*.run"))
	file, err := statefile.Read(files[0], runlog.Kind())
	if err != nil {
		f.Fatal(err)
	}
	info, whole := file.Blocks[0], file.Blocks[1:]
	f.Add(info, whole[0], whole[len(whole)-1])
	f.Add(info, whole[0][:30], []byte("E"))
	f.Fuzz(func(t *testing.T, head, middle, end []byte) {
		for _, blocks := range [][][]byte{{head, middle, end}, {info, middle, end}, {info, whole[0], middle}} {
			r, err := runlog.Decode(statefile.Encode(runlog.Kind(), blocks...))
			if err != nil {
				continue
			}
			if r.Took < 0 || r.Executed < 0 || r.Skipped < 0 {
				t.Errorf("%+v", r.Totals)
			}
			for _, a := range r.Actions {
				if a.Outcome == "" || a.Start < 0 || a.Duration < 0 {
					t.Errorf("%+v", a)
				}
			}
		}
	})
}

func BenchmarkRecord10000(b *testing.B) {
	var es []event.Event
	for i := range 10000 {
		es = append(es, did(fmt.Sprintf("exec.obj[\"src/s%05d\"]", i), "", event.Executed, fmt.Sprint(i), time.Millisecond))
	}
	es = append(es, event.BuildFinished{Executed: 10000})
	dir := b.TempDir()
	for b.Loop() {
		r := runlog.Record(dir, runlog.Info{Pipeline: "p", Started: time.Now()}, runlog.Limits{})
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
