package pool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hexmage/hexmage/runner/devinfo"
	"github.com/hexmage/hexmage/runner/link"
)

// asked is a pool whose phones answer what the test says.
type asked struct {
	*Pool
	mu    sync.Mutex
	users map[string]int   // by name: how many have it now
	most  map[string]int   // and had it at once
	count map[string]int   // how often it was lent
	why   map[string]error // why it does not work
	soc   map[string]string
	notes []string
}

func newAsked(names ...string) *asked {
	a := &asked{users: map[string]int{}, most: map[string]int{}, count: map[string]int{}, why: map[string]error{}, soc: map[string]string{}}
	var devices []Device
	for _, n := range names {
		devices = append(devices, Device{Name: n, Serial: "serial-" + n})
	}
	a.Pool = New("", devices)
	a.ask = func(ctx context.Context, d Device, w Want) (*Lease, error) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if err := a.why[d.Name]; err != nil {
			return nil, err
		}
		a.users[d.Name]++
		a.count[d.Name]++
		a.most[d.Name] = max(a.most[d.Name], a.users[d.Name])
		return &Lease{Info: devinfo.Info{Serial: d.Serial, SoC: a.soc[d.Name]}, release: func() {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.users[d.Name]--
		}}, nil
	}
	return a
}

func (a *asked) want(w Want) Want {
	w.Note = func(text string) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.notes = append(a.notes, text)
	}
	return w
}

func (a *asked) fail(name string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.why[name] = err
}

func TestPoolLendsEachPhoneOnce(t *testing.T) {
	t.Parallel()
	a := newAsked("a", "b", "c", "d", "e")
	a.fail("c", errors.New("it is unauthorized"))
	var wg sync.WaitGroup
	for i := range 60 {
		wg.Go(func() {
			l, err := a.Take(t.Context(), a.want(Want{}))
			if err != nil {
				t.Error(err)
				return
			}
			time.Sleep(time.Duration(i%5) * 100 * time.Microsecond)
			l.Return()
		})
	}
	wg.Wait()
	for _, n := range []string{"a", "b", "d", "e"} {
		if a.most[n] != 1 || a.count[n] < 2 || a.users[n] != 0 {
			t.Errorf("%s: at once %d, in all %d, not given back %d", n, a.most[n], a.count[n], a.users[n])
		}
	}
	if want := []string{"phone c (serial-c) is set aside: it is unauthorized"}; a.count["c"] != 0 || !slices.Equal(a.notes, want) {
		t.Errorf("c was lent %d times; notes: %q", a.count["c"], a.notes)
	}
}

func TestPoolChooses(t *testing.T) {
	t.Parallel()
	a := newAsked("a", "b", "c")
	a.soc = map[string]string{"a": "SM8650", "b": "SM8750", "c": "SM8750P"}
	take := func(w Want) (string, error) {
		l, err := a.Take(t.Context(), w)
		if err != nil {
			return "", err
		}
		time.Sleep(time.Millisecond) // so that what came back last is later
		l.Return()
		return l.Info.Name, nil
	}
	for _, c := range []struct {
		w    Want
		want string
	}{
		{Want{}, "a"},
		{Want{}, "b"}, // the one not used for longest
		{Want{Files: "model"}, "c"},
		{Want{Files: "model"}, "c"}, // it has the files
		{Want{}, "a"},
		{Want{SoC: "SM8750"}, "b"},
		{Want{SoC: "sm8750"}, "c"}, // a variant
		{Want{Serial: "serial-a"}, "a"},
		{Want{Serial: "b", SoC: "SM8750"}, "b"},
	} {
		if got, err := take(c.w); err != nil || got != c.want {
			t.Errorf("%+v: %q, %v; want %s", c.w, got, err, c.want)
		}
	}
	for _, c := range []struct {
		w    Want
		want string
	}{
		{Want{SoC: "SM8850"}, "no phone of the pool has the SoC SM8850; its phones are:\n  a  serial-a  SM8650\n  b  serial-b  SM8750\n  c"},
		{Want{Serial: "x"}, "no phone of the pool has the name or serial x"},
	} {
		if _, err := take(c.w); !errors.Is(err, devinfo.ErrNoDevice) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v; want %q", c.w, err, c.want)
		}
	}
	_, err := take(Want{Serial: "a", SoC: "SM8750"})
	if mismatch, ok := errors.AsType[*devinfo.Mismatch](err); !ok || mismatch.What != "device a has the SoC SM8650, the target is SM8750" {
		t.Errorf("a phone that was chosen and does not fit: %v", err)
	}
	// What a phone has is learnt by asking: nobody knew of b and c here.
	a = newAsked("a", "b")
	a.soc = map[string]string{"a": "SM8650", "b": "SM8750"}
	if got, err := take(Want{SoC: "SM8750"}); err != nil || got != "b" || a.users["a"] != 0 {
		t.Errorf("%q, %v; a is kept by %d", got, err, a.users["a"])
	}
}

// What phones had, and when, is known to the next process.
func TestPoolRemembers(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	pool := func() *asked {
		a := newAsked("a", "b", "c")
		ask := a.ask
		a.Pool = New(state, []Device{a.phones[0].Device, a.phones[1].Device, a.phones[2].Device})
		a.ask = ask
		return a
	}
	for _, c := range []struct{ files, want string }{{"x", "a"}, {"y", "b"}, {"x", "a"}, {"z", "c"}, {"y", "b"}, {"", "a"}} {
		l, err := pool().Take(t.Context(), Want{Files: c.files})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond) // dates of files are as fine as the kernel's clock ticks
		l.Return()
		if l.Info.Name != c.want {
			t.Errorf("%s: %s, want %s", c.files, l.Info.Name, c.want)
		}
	}
	ph := &poolPhone{}
	for i := range 2 * maxHad {
		ph.has(fmt.Sprint(i))
	}
	ph.has(fmt.Sprint(2*maxHad - 2))
	if len(ph.had) != maxHad || ph.had[maxHad-1] != fmt.Sprint(2*maxHad-2) {
		t.Errorf("%q", ph.had)
	}
}

func TestPoolSetsAside(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAsked("a", "b")
		w := a.want(Want{})
		a.fail("a", errors.New("it is offline"))
		a.fail("b", errors.New("Connection refused"))
		start := time.Now()
		for range 3 {
			_, err := a.Take(t.Context(), w)
			if !errors.Is(err, ErrSetAside) || !strings.Contains(err.Error(), "all 2 that fit are set aside:\n  a  serial-a  it is offline\n  b  serial-b  Connection refused") {
				t.Fatal(err)
			}
		}
		if len(a.notes) != 2 || time.Since(start) > 0 {
			t.Errorf("after %v: %q", time.Since(start), a.notes)
		}
		// One comes back and is in use: who comes next waits, and meanwhile asks the other one again.
		a.fail("b", nil)
		l, err := a.Take(t.Context(), w)
		if err != nil || l.Info.Name != "b" || a.notes[2] != "phone b can be used again" {
			t.Fatal(l, err, a.notes)
		}
		a.fail("a", nil)
		said := ""
		w.Waiting = func(text string) { said = text }
		other, err := a.Take(t.Context(), w)
		if err != nil || other.Info.Name != "a" || time.Since(start) > 2*pauseMost || said != "waiting for a phone: b is in use" {
			t.Errorf("after %v: %v, %v, %q", time.Since(start), other, err, said)
		}
		// Both are in use: the wait ends with a return, or with the context.
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := a.Take(ctx, w); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		time.AfterFunc(time.Second, l.Return)
		if l, err = a.Take(t.Context(), w); err != nil || l.Info.Name != "b" {
			t.Error(l, err)
		}
		l.Return()
	})
}

// A phone that gives no sign of life for long is given up, one that is slow now and then is not.
func TestAlive(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		answers []bool // and then none
		after   time.Duration
	}{
		{"silent", nil, lifeTries * (lifeEvery + lifeWait)},
		{"slow", []bool{true, false, false, true}, 4*lifeEvery + 2*lifeWait + lifeTries*(lifeEvery+lifeWait)},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				alive(t.Context(), func(ctx context.Context) error {
					if len(c.answers) > 0 {
						answered := c.answers[0]
						if c.answers = c.answers[1:]; answered {
							return nil
						}
					}
					<-ctx.Done()
					return ctx.Err()
				}, func(ctx context.Context) {
					<-ctx.Done()
					if got := time.Since(start); got != c.after || !errors.Is(context.Cause(ctx), link.ErrDropped) {
						t.Errorf("after %v, want %v: %v", got, c.after, context.Cause(ctx))
					}
				})
				ended := false
				alive(t.Context(), func(context.Context) error { return errors.New("no") }, func(ctx context.Context) { ended = ctx.Err() == nil })
				if !ended {
					t.Error("what ends by itself is not stopped")
				}
			})
		})
	}
}

// What is wrong with a phone until it is booted again is not forgotten before.
func TestPoolBlames(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAsked("a", "b")
		boot, answers := "1", a.ask
		a.ask = func(ctx context.Context, d Device, w Want) (*Lease, error) {
			l, err := answers(ctx, d, w)
			if err == nil {
				l.boot = boot
			}
			return l, err
		}
		l, err := a.Take(t.Context(), a.want(Want{Serial: "a"}))
		if err != nil {
			t.Fatal(err)
		}
		l.Return()
		a.phones[0].blame = &blame{errors.New("its DSP is wedged"), "1"}
		for range 3 {
			time.Sleep(pauseMost)
			if _, err := a.Take(t.Context(), a.want(Want{Serial: "a"})); !errors.Is(err, ErrSetAside) || !strings.Contains(err.Error(), "its DSP is wedged") {
				t.Fatal(err)
			}
		}
		time.Sleep(pauseMost)
		boot = "2"
		if l, err = a.Take(t.Context(), a.want(Want{Serial: "a"})); err != nil {
			t.Fatal(err)
		}
		l.Return()
		if want := []string{"phone a (serial-a) is set aside: its DSP is wedged", "phone a can be used again"}; !slices.Equal(a.notes, want) || a.users["a"] != 0 {
			t.Errorf("%q, %v", a.notes, a.users)
		}
	})
}

// A phone that does not answer keeps nobody from another one.
func TestPoolPassesBySilence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAsked("a", "b")
		answers := a.ask
		a.ask = func(ctx context.Context, d Device, w Want) (*Lease, error) {
			if d.Name == "a" {
				time.Sleep(checkWait)
			}
			return answers(ctx, d, w)
		}
		start := time.Now()
		l, err := a.Take(t.Context(), Want{})
		if err != nil || l.Info.Name != "b" || time.Since(start) != patience {
			t.Fatalf("after %v: %v, %v", time.Since(start), l, err)
		}
		// It does answer in the end, and so is free for the next.
		if l, err = a.Take(t.Context(), Want{}); err != nil || l.Info.Name != "a" {
			t.Errorf("%v, %v", l, err)
		}
		if a.most["a"] != 1 || a.users["a"] != 1 || a.users["b"] != 1 {
			t.Errorf("users: %v, at once: %v", a.users, a.most)
		}
	})
}

func TestPoolWaitsForOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAsked("a", "b")
		a.fail("a", fmt.Errorf("asked: %w", &inUseError{"hexmage on lab, process 7"}))
		a.fail("b", errors.New("it is offline"))
		said := ""
		w := Want{Waiting: func(text string) { said = text }}
		time.AfterFunc(3*time.Second, func() { a.fail("a", nil) })
		start := time.Now()
		l, err := a.Take(t.Context(), w)
		if err != nil || l.Info.Name != "a" || said != "waiting for a phone: a is used by hexmage on lab, process 7" {
			t.Fatal(l, err, said)
		}
		if took := time.Since(start); took < 3*time.Second || took > 3*time.Second+pausePoll {
			t.Errorf("it took %v", took)
		}
	})
}
