package gc_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/gc"
)

// bulk is content of a size that no other has.
func bulk(name string, bytes int) string { return name + strings.Repeat("x", bytes-len(name)) }

// Forty minutes are not dropped to keep two seconds, though nobody used them for longer.
func TestCollectKeepsTheDearest(t *testing.T) {
	for name, c := range map[string]struct {
		dear int // its size; a cheap one has 40 kB
		want int // how many bytes are to be freed
		may  int // how many cheap ones may go
	}{
		"as large as the cheap ones":              {dear: 40_000, want: 1_000_000, may: 15},
		"dearer for each byte, though it is more": {dear: 90_000, want: 1_000_000, may: 15},
		"much larger": {dear: 2_000_000, want: 1_000_000, may: 15},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, t.TempDir())
			now := time.Now()
			dear, _ := w.run(t, now.Add(-72*time.Hour), "dear="+bulk("dear", c.dear), "took=40m")
			var cheap []*action.Action
			for i := range 40 { // each is twice its bytes: the content is in the Command, too
				a, _ := w.run(t, now.Add(-time.Duration(24+i)*time.Hour),
					fmt.Sprintf("cheap=%s", bulk(fmt.Sprint(i), 40_000)), "took=2s")
				cheap = append(cheap, a)
			}
			all := collect(t, w, gc.CollectOptions{DryRun: true})
			sum := collect(t, w, gc.CollectOptions{MaxSize: all.Before - int64(c.want), Now: now})
			if !w.known(t, dear) {
				t.Error("forty minutes went")
			}
			gone := 0
			for i, a := range cheap {
				if known := w.known(t, a); !known {
					gone++
				} else if i > 40-c.may/2 {
					t.Errorf("%d, of the oldest of those that cost the same, stays", i)
				}
			}
			if gone == 0 || gone > c.may {
				t.Errorf("%d of the cheap ones went, at most %d should", gone, c.may)
			}
			if want := float64(2 * gone); sum.RemovedSeconds != want || sum.KeptSeconds != 40*60+80-want {
				t.Errorf("%v s went and %v s stay, want %v of %v", sum.RemovedSeconds, sum.KeptSeconds, want, 40*60+80)
			}
		})
	}
}

// Where the dearest alone is large enough to make the room that is wanted, it goes: hours of small things are worth
// more.
func TestCollectDropsTheDearestForMore(t *testing.T) {
	w := open(t, t.TempDir())
	now := time.Now()
	dear, _ := w.run(t, now.Add(-24*time.Hour), "dear="+bulk("dear", 2_000_000), "took=40m")
	for i := range 10 {
		w.run(t, now.Add(-24*time.Hour), fmt.Sprintf("small=%s", bulk(fmt.Sprint(i), 40_000)), "took=10m")
	}
	sum := collect(t, w, gc.CollectOptions{MaxSize: 2_000_000, Now: now})
	if w.known(t, dear) || sum.RemovedSeconds != 40*60 {
		t.Errorf("%+v", sum)
	}
}

// For a little room nothing large goes, though for each byte it is the cheapest.
func TestCollectDropsNoMoreThanIsWanted(t *testing.T) {
	w := open(t, t.TempDir())
	now := time.Now()
	large, _ := w.run(t, now.Add(-24*time.Hour), "large="+bulk("large", 2_000_000), "took=100s")
	for i := range 10 {
		w.run(t, now.Add(-24*time.Hour), fmt.Sprintf("small=%s", bulk(fmt.Sprint(i), 40_000)), "took=10s")
	}
	all := collect(t, w, gc.CollectOptions{DryRun: true})
	sum := collect(t, w, gc.CollectOptions{MaxSize: all.Before - 150_000, Now: now})
	if !w.known(t, large) || sum.RemovedSeconds != 20 {
		t.Errorf("%+v", sum)
	}
}

// A dear result stays although a cheap result shares its bytes. Results that free bytes only together go together, and
// a result that stays has the blobs that it names.
func TestCollectShared(t *testing.T) {
	w := open(t, t.TempDir())
	now := time.Now()
	shared := bulk("shared", 1_000_000)
	dear, _ := w.run(t, now.Add(-24*time.Hour), "dir/a="+shared, "dir/b=dear", "took=40m")
	cheap, _ := w.run(t, now.Add(-24*time.Hour), "dir/a="+shared, "dir/b=cheap", "took=2s") // goes, and frees little
	// that free something only together
	var pair []*action.Action
	for i := range 2 {
		a, _ := w.run(t, now.Add(-24*time.Hour), "dir/a="+bulk("of the pair", 500_000), fmt.Sprintf("dir/b=%d", i),
			"took=30s")
		pair = append(pair, a)
	}
	// The Command has the content of the outputs too. Without it the actions share outputs only.
	for _, a := range append(pair, dear, cheap) {
		w.forgetMessages(t, a)
	}
	all := collect(t, w, gc.CollectOptions{DryRun: true})
	sum := collect(t, w, gc.CollectOptions{MaxSize: all.Before - 400_000, Now: now})
	if !w.known(t, dear) || w.known(t, pair[0]) || w.known(t, pair[1]) || sum.RemovedSeconds != 62 {
		t.Errorf("%+v", sum)
	}
	if s, err := gc.Read(t.Context(), w.root); err != nil || s.Broken != 0 || s.Seconds != 40*60 {
		t.Errorf("%+v, %v", s, err)
	}
}

// What is known of no cost goes by age, as ever, and a result whose command nobody timed counts as a second at least.
func TestCollectUnknownCost(t *testing.T) {
	w := open(t, t.TempDir())
	now := time.Now()
	young, _ := w.run(t, now.Add(-2*24*time.Hour), "f="+bulk("young", 40_000))
	old, _ := w.run(t, now.Add(-20*24*time.Hour), "f="+bulk("old", 40_000))
	timed, _ := w.run(t, now.Add(-20*24*time.Hour), "f="+bulk("timed", 40_000), "took=1m")
	all := collect(t, w, gc.CollectOptions{DryRun: true})
	collect(t, w, gc.CollectOptions{MaxSize: all.Before - 50_000, Now: now})
	for name, c := range map[string]struct {
		a    *action.Action
		want bool
	}{"young": {young, true}, "old": {old, false}, "timed": {timed, true}} {
		if w.known(t, c.a) != c.want {
			t.Errorf("the %s one is known: %v", name, !c.want)
		}
	}
}

// Of what is no result, the oldest goes, and of what is as old what is on this machine a second time.
func TestCollectUnknownCostOfOthers(t *testing.T) {
	w := open(t, t.TempDir())
	later := time.Now().Add(48 * time.Hour)
	unnamed := bulk("an input", 300_000) // used when it was put: now
	w.put(t, unnamed)
	for name, age := range map[string]time.Duration{"young.zip": 48 * time.Hour, "old.zip": 2000 * time.Hour} {
		at := filepath.Join(w.root, "downloads", name)
		write(t, at, later)
		used := later.Add(-age)
		if err := errors.Join(os.WriteFile(at, []byte(bulk(name, 300_000)), 0o644),
			os.Chtimes(at, used, used)); err != nil {
			t.Fatal(err)
		}
	}
	there := func() (all string) {
		for _, name := range []string{"young.zip", "old.zip"} {
			if _, err := os.Lstat(filepath.Join(w.root, "downloads", name)); err == nil {
				all += name + " "
			}
		}
		if w.has(t, unnamed) {
			all += "input"
		}
		return all
	}
	all := collect(t, w, gc.CollectOptions{DryRun: true})
	for i, want := range []string{"young.zip old.zip input", "young.zip input", "young.zip ", ""} {
		collect(t, w, gc.CollectOptions{MaxSize: max(1, all.Before-int64(i)*300_000), Now: later})
		if got := there(); got != want {
			t.Errorf("with room for %d there is %q, want %q", 3-i, got, want)
		}
	}
}

// Stats say how long the commands of the results took.
func TestStatsOfTime(t *testing.T) {
	w := open(t, t.TempDir())
	now := time.Now()
	w.run(t, now.Add(-24*time.Hour), "dear="+bulk("dear", 40_000), "took=40m")
	for i := range 20 {
		w.run(t, now.Add(-24*time.Hour), fmt.Sprintf("cheap=%s", bulk(fmt.Sprint(i), 40_000)), "took=2s")
	}
	s, err := gc.Read(t.Context(), w.root)
	if err != nil {
		t.Fatal(err)
	}
	if s.Seconds != 40*60+40 {
		t.Errorf("%+v", s)
	}
}

// forgetMessages removes what tells what the action's key was made of.
func (c *cache) forgetMessages(t *testing.T, a *action.Action) {
	t.Helper()
	e := a.Encode(c.fn)
	if err := errors.Join(os.Remove(c.blobs.Path(e.Key)), os.Remove(c.blobs.Path(c.fn.Bytes(e.Command)))); err != nil {
		t.Fatal(err)
	}
}

// What a run that has just ended used stays, whatever it is worth: what is dear and was not used goes before it.
func TestCollectSince(t *testing.T) {
	w := open(t, t.TempDir())
	now := time.Now()
	dear, _ := w.run(t, now.Add(-72*time.Hour), "dear="+bulk("dear", 40_000), "took=40m")
	cheap, _ := w.run(t, now, "cheap="+bulk("cheap", 2_000_000), "took=1s")
	collect(t, w, gc.CollectOptions{MaxSize: 1_000_000, Since: now.Add(-time.Minute), Now: now})
	if w.known(t, dear) || !w.known(t, cheap) {
		t.Errorf("dear: %v, used just now: %v", w.known(t, dear), w.known(t, cheap))
	}
	collect(t, w, gc.CollectOptions{MaxSize: 1_000_000, Since: now.Add(3 * time.Hour), Now: now.Add(3 * time.Hour)})
	if w.known(t, cheap) {
		t.Error("what was used before stays")
	}
}
