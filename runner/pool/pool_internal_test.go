package pool

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hexmage/hexmage/runner/devinfo"
	"github.com/hexmage/hexmage/runner/lease"
	"github.com/hexmage/hexmage/runner/transport"
)

// asked is a pool whose devices answer as the test sets them up.
type asked struct {
	*Pool
	mu    sync.Mutex
	users map[string]int    // by name: current users
	most  map[string]int    // maximum of users
	count map[string]int    // number of leases
	why   map[string]error  // why it does not work
	soc   map[string]string // reported by the device
	notes []string
	waits []string
}

func newAsked(names ...string) *asked {
	a := &asked{users: map[string]int{}, most: map[string]int{}, count: map[string]int{}, why: map[string]error{},
		soc: map[string]string{}}
	var devices []Device
	for _, n := range names {
		devices = append(devices, Device{Name: n, Serial: "serial-" + n})
	}
	a.Pool = New(devices)
	a.open = func(d Device, _ context.Context, _ Transports) (transport.Device, devinfo.Info, error) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if err := a.why[d.Name]; err != nil {
			return nil, devinfo.Info{}, err
		}
		a.users[d.Name]++
		a.count[d.Name]++
		a.most[d.Name] = max(a.most[d.Name], a.users[d.Name])
		return nil, devinfo.Info{Name: d.Name, SoC: a.soc[d.Name]}, nil
	}
	a.lease = func(context.Context, transport.Device, func(string)) (*lease.Lease, error) { return nil, nil }
	return a
}

func (a *asked) want(w Selector) Selector {
	note := func(to *[]string) func(string) {
		return func(text string) {
			a.mu.Lock()
			defer a.mu.Unlock()
			*to = append(*to, text)
		}
	}
	w.Note, w.Waiting = note(&a.notes), note(&a.waits)
	return w
}

func (a *asked) fail(name string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.why[name] = err
}

func (a *asked) back(l *Lease) {
	a.mu.Lock()
	a.users[l.Info.Name]--
	a.mu.Unlock()
	l.Return()
}

func TestPoolLendsEachDeviceOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAsked("a", "b", "c", "d", "e")
		a.fail("c", errors.New("it is unauthorized"))
		var wg sync.WaitGroup
		for i := range 60 {
			wg.Go(func() {
				l, err := a.Take(t.Context(), a.want(Selector{}))
				if err != nil {
					t.Error(err)
					return
				}
				time.Sleep(time.Duration(i%5) * time.Second)
				a.back(l)
			})
		}
		wg.Wait()
		for _, n := range []string{"a", "b", "d", "e"} {
			if a.most[n] != 1 || a.count[n] < 2 || a.users[n] != 0 {
				t.Errorf("%s: at once %d, in all %d, not given back %d", n, a.most[n], a.count[n], a.users[n])
			}
		}
		if want := []string{"hexmage cannot use device c (serial-c): it is unauthorized"}; !slices.Equal(a.notes, want) {
			t.Errorf("notes: %q", a.notes)
		}
	})
}

func TestPoolChooses(t *testing.T) {
	t.Parallel()
	a := newAsked("a", "b", "c")
	a.soc = map[string]string{"a": "SM8650", "b": "SM8750", "c": "SM8750P"}
	take := func(w Selector) (string, error) {
		l, err := a.Take(t.Context(), a.want(w))
		if err != nil {
			return "", err
		}
		a.back(l)
		return l.Info.Name, nil
	}
	for _, c := range []struct {
		w    Selector
		want string
	}{
		{Selector{}, "a"},
		{Selector{SoC: "SM8750"}, "b"},
		{Selector{SoC: "sm8750p"}, "c"},
		{Selector{Serial: "serial-a"}, "a"},
		{Selector{Serial: "a", SoC: "SM8750"}, "a"}, // the check before the push refuses it, with a remedy
	} {
		if got, err := take(c.w); err != nil || got != c.want {
			t.Errorf("%+v: %q, %v; want %s", c.w, got, err, c.want)
		}
	}
	a.fail("b", errors.New("it is offline"))
	if got, err := take(Selector{SoC: "SM8750"}); err != nil || got != "c" { // a variant
		t.Errorf("%q, %v", got, err)
	}
	a.fail("b", nil)
	if got, err := take(Selector{SoC: "SM8750"}); err != nil || got != "c" { // it worked at the last check
		t.Errorf("%q, %v", got, err)
	}
	for _, c := range []struct {
		w    Selector
		want string
	}{
		{Selector{SoC: "SM8850"}, "no device with the SoC SM8850. Devices in devices.hcl:\n  a  serial-a    the SoC is SM8650\n  b  serial-b    the SoC is"},
		{Selector{Serial: "x"}, "no device with the name or serial x. Devices in devices.hcl:\n  a  serial-a"},
	} {
		if _, err := take(c.w); !errors.Is(err, devinfo.ErrNoDevice) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v; want %q", c.w, err, c.want)
		}
	}
}

func TestPoolPassesByAndWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAsked("a", "b")
		a.fail("a", errors.New("it is offline"))
		a.fail("b", errors.New("Connection refused"))
		start := time.Now()
		for range 3 {
			_, err := a.Take(t.Context(), a.want(Selector{}))
			if !errors.Is(err, ErrNoneWorks) || !strings.Contains(err.Error(),
				"no usable device. Devices in devices.hcl:\n  a  serial-a    it is offline\n  b  serial-b    Connection refused") {
				t.Fatal(err)
			}
		}
		if len(a.notes) != 2 || time.Since(start) > 0 {
			t.Errorf("after %v: %q", time.Since(start), a.notes)
		}
		a.fail("b", nil)
		l, err := a.Take(t.Context(), a.want(Selector{}))
		if err != nil || l.Info.Name != "b" {
			t.Fatal(l, err)
		}
		// One is broken, the other in use: Take waits for a return, or for the context.
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := a.Take(ctx, a.want(Selector{})); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		time.AfterFunc(3*time.Second, func() { a.back(l) })
		start = time.Now()
		other, err := a.Take(t.Context(), a.want(Selector{}))
		if took := time.Since(start); err != nil || other.Info.Name != "b" || took < 2*time.Second || took > 4*time.Second {
			t.Errorf("after %v: %+v, %v", took, other, err)
		}
		if want := "waiting for a device: b is in use by another action"; len(a.waits) != 2 || a.waits[1] != want {
			t.Errorf("%q", a.waits)
		}
		// A lost device is the last choice.
		a.fail("a", nil)
		other.Lost(errors.New("its link broke"))
		if l, err = a.Take(t.Context(), a.want(Selector{})); err != nil || l.Info.Name != "a" && l.Info.Name != "b" {
			t.Errorf("%+v, %v", l, err)
		}
	})
}

// Take polls a device of another process. It skips a device that does not answer in time.
func TestPoolAsksAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAsked("a", "b")
		answers := a.open
		a.open = func(d Device, ctx context.Context, r Transports) (transport.Device, devinfo.Info, error) {
			if d.Name == "a" {
				<-ctx.Done()
				return nil, devinfo.Info{}, ctx.Err()
			}
			return answers(d, ctx, r)
		}
		start := time.Now()
		a.lease = func(context.Context, transport.Device, func(string)) (*lease.Lease, error) {
			if time.Since(start) < checkWait+3*time.Second {
				return nil, &lease.InUse{Owner: "hexmage on lab, process 7"}
			}
			return nil, nil
		}
		l, err := a.Take(t.Context(), a.want(Selector{}))
		if err != nil || l.Info.Name != "b" || len(a.waits) != 1 ||
			a.waits[0] != "waiting for a device: b is in use by hexmage on lab, process 7" {
			t.Fatal(l, err, a.waits)
		}
		if took := time.Since(start); took < checkWait+3*time.Second || took > checkWait+4*time.Second {
			t.Errorf("it took %v", took)
		}
		if want := []string{"hexmage cannot use device a (serial-a): the device did not answer within 15s"}; !slices.Equal(a.notes, want) {
			t.Errorf("%q", a.notes)
		}
	})
}
