//go:build linux

package runner_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/runner"
	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/runner/devinfo"
	"github.com/hexmage/hexmage/runner/pool"
	"github.com/hexmage/hexmage/simulated/phone"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
)

// summing is an AArch64 program for phonetest.Compile. It adds up the numbers up to its argument, sleeps for half a
// second, and prints the sum.
const summing = phonetest.Calls + `
void run(long *stack) {
	long pause[2] = { 0, 500000000 }, n = 0, sum = 0;
	char text[24], *p = text + sizeof text;
	for (char *s = (char *)stack[2]; *s; s++) n = n * 10 + *s - '0';
	for (long i = 1; i <= n; i++) sum += i;
	*--p = '\n';
	do *--p = '0' + sum % 10; while (sum /= 10);
	call(101, (long)pause, 0, 0);
	call(64, 1, (long)p, text + sizeof text - p);
	call(93, 0, 0, 0);
}
`

// lab has several simulated phones at two adb servers.
type lab struct {
	phones  []*phone.Device
	disks   []string // folders of this machine
	devices []pool.Device
	servers []*adb.Server
}

func newLab(t *testing.T, image string, n int) *lab {
	t.Helper()
	l := &lab{phones: make([]*phone.Device, n), servers: []*adb.Server{phonetest.Server(t), phonetest.Server(t)}}
	for i := range n {
		l.disks = append(l.disks, t.TempDir())
		l.phones[i] = phonetest.Start(t, image, func(o *phone.Options) { o.Data = l.disks[i] })
		l.devices = append(l.devices, pool.Device{
			Name: fmt.Sprintf("phone%d", i+1), Serial: l.phones[i].Addr(),
			Server: pool.Server{Network: "unix", Address: l.servers[i%2].Address()},
		})
	}
	return l
}

// running waits until a program runs on the phone.
func (l *lab) running(t *testing.T, i int) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if found, _ := filepath.Glob(filepath.Join(l.disks[i], "local/tmp/hexmage/run/*/.hexmage.pid")); len(found) > 0 {
			return
		}
		if time.Now().After(end) {
			t.Error("no program ran on the phone")
			return
		}
	}
}

// TestEightPhones runs 4 sequence lengths × 3 repetitions on eight phones. One phone dies in the middle.
func TestEightPhones(t *testing.T) {
	t.Parallel()
	l := newLab(t, phonetest.Image(t, nil), 8)
	b := newBench(t, func(o *runner.Options) { o.Pool = pool.New(l.devices) })
	program, err := os.ReadFile(phonetest.Compile(t, "aarch64", summing))
	if err != nil {
		t.Fatal(err)
	}
	const dying = 4
	var wg sync.WaitGroup
	var mu sync.Mutex
	workers, warnings := map[string]int{}, ""
	for _, seq := range []int{64, 128, 256, 1024} {
		for rep := range 3 {
			a := b.action(t, map[string]string{"push/sum": "x:" + string(program)}, action.Command{
				Args:     []string{"./sum", fmt.Sprint(seq)},
				Platform: map[string]string{runner.PropertyImage: "", runner.PropertySoC: "SM8750", "repetition": fmt.Sprint(rep)},
			})
			wg.Go(func() {
				r, err := b.device.Execute(t.Context(), &execute.Request{Action: a})
				if err != nil {
					t.Errorf("%d, repetition %d: %v", seq, rep, err)
					return
				}
				if want := fmt.Sprintln(seq * (seq + 1) / 2); string(r.Stdout) != want || r.ExitCode != 0 {
					t.Errorf("%d, repetition %d: %q, exit code %d; want %q", seq, rep, r.Stdout, r.ExitCode, want)
				}
				mu.Lock()
				defer mu.Unlock()
				name, _, _ := strings.Cut(r.Worker, " ")
				workers[name]++
				warnings += string(r.Stderr)
			})
		}
	}
	wg.Go(func() {
		l.running(t, dying)
		if err := l.phones[dying].Close(); err != nil {
			t.Error(err)
		}
	})
	wg.Wait()
	dead := l.devices[dying].Name
	for _, d := range l.devices {
		if (workers[d.Name] > 0) != (d.Name != dead) {
			t.Errorf("%s did %d of the runs", d.Name, workers[d.Name])
		}
	}
	if strings.Count(warnings, "warning: the run on "+dead+" was interrupted") != 1 || strings.Count(warnings, "hexmage cannot use device") > 1 {
		t.Errorf("the dead phone is not named once:\n%s", warnings)
	}
	t.Log(workers, warnings)
}

func TestPoolErrors(t *testing.T) {
	t.Parallel()
	l := newLab(t, phonetest.Image(t, nil), 1)
	gone := phonetest.Start(t, phonetest.Image(t, nil), nil)
	gone.Close()
	user := pool.Server{Network: "unix", Address: l.servers[0].Address()}
	devices := []pool.Device{
		{Name: "gone", Serial: gone.Addr(), Server: user},
		{Name: "unplugged", Serial: "R5CX123"},
		{Name: "lonely", Serial: "R5CX124", Server: pool.Server{Network: "unix", Address: filepath.Join(t.TempDir(), "adb.sock")}},
		{Name: "other", Serial: l.phones[0].Addr(), SoC: "SM8650"},
	}
	b := newBench(t, func(o *runner.Options) { o.Server, o.Pool = user, pool.New(devices) })
	any := map[string]string{runner.PropertyImage: ""}
	_, err := b.device.Execute(t.Context(), &execute.Request{Action: b.action(t, nil, action.Command{Args: []string{"true"}, Platform: any})})
	failed, ok := errors.AsType[*execute.Error](err)
	if !ok || !failed.Retryable || !errors.Is(err, pool.ErrNoneWorks) {
		t.Fatalf("%v", err)
	}
	for _, want := range []string{
		"no usable device. Devices in devices.hcl:", "gone  " + gone.Addr() + "  ", "Connection refused",
		"unplugged  R5CX123    it is not connected to the adb server",
		"lonely  R5CX124    the adb server unix:", "run `adb start-server` on the server's computer",
		"other  " + l.phones[0].Addr() + "  SM8650  the SoC is SM8750, but devices.hcl says SM8650",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q:\n%v", want, err)
		}
	}
	_, err = b.device.Execute(t.Context(), &execute.Request{Action: b.action(t, nil, action.Command{Args: []string{"true"}, Platform: map[string]string{runner.PropertyImage: "", runner.PropertySelect: "SM8850"}})})
	if failed, ok := errors.AsType[*execute.Error](err); !ok || failed.Retryable == errors.Is(err, devinfo.ErrNoDevice) {
		t.Errorf("a SoC that nobody has: %v", err)
	}
}

// TestPoolsOfOneLab: two pools use the same two phones, and do not know each other.
func TestPoolsOfOneLab(t *testing.T) {
	t.Parallel()
	l := newLab(t, phonetest.Image(t, nil), 2)
	one, other := pool.New(l.devices), pool.New(l.devices)
	said := make(chan string, 1)
	w := pool.Selector{Waiting: func(text string) { said <- text }, Note: func(text string) { t.Error(text) }}
	first, err := one.Take(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	second, err := other.Take(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	if first.Info.Name != "phone1" || second.Info.Name != "phone2" {
		t.Errorf("%s and %s", first.Info.Name, second.Info.Name)
	}
	third := make(chan *pool.Lease, 1)
	go func() {
		l, err := one.Take(t.Context(), w)
		if err != nil {
			t.Error(err)
		}
		third <- l
	}()
	if text := <-said; !strings.Contains(text, "phone1 is in use by another action") || !strings.Contains(text, "in use by hexmage on ") {
		t.Errorf("%q", text)
	}
	second.Return()
	if got := <-third; got == nil || got.Info.Name != "phone2" {
		t.Errorf("%+v", got)
	} else {
		got.Return()
	}
	first.Return()
}

// TestDeadlyProgram runs a program that kills each phone.
func TestDeadlyProgram(t *testing.T) {
	t.Parallel()
	l := newLab(t, phonetest.Image(t, nil), 4)
	b := newBench(t, func(o *runner.Options) { o.Pool = pool.New(l.devices) })
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for i := range l.phones {
		wg.Go(func() {
			for {
				if found, _ := filepath.Glob(filepath.Join(l.disks[i], "local/tmp/hexmage/run/*/.hexmage.pid")); len(found) > 0 {
					_ = l.phones[i].Close()
					return
				}
				select {
				case <-stop:
					return
				case <-time.After(5 * time.Millisecond):
				}
			}
		})
	}
	_, err := b.device.Execute(t.Context(), &execute.Request{Action: b.action(t, nil, action.Command{Args: []string{"sleep", "30"}, Platform: map[string]string{runner.PropertyImage: ""}})})
	close(stop)
	wg.Wait()
	failed, ok := errors.AsType[*execute.Error](err)
	if !ok || !strings.Contains(err.Error(), "run on 3 phones in turn: each run was interrupted") || !strings.Contains(failed.Remedy, "--serial") {
		t.Errorf("%v", err)
	}
}

func TestSelectBySoC(t *testing.T) {
	t.Parallel()
	s := phonetest.Server(t)
	user := pool.Server{Network: "unix", Address: s.Address()}
	other := phonetest.SM8750()
	other.Model, other.Arch, other.SoCModel, other.SoCID = "SM8650", "v75", 57, 557
	eight := phonetest.Start(t, phonetest.Image(t, nil), nil)
	six := phonetest.Start(t, phonetest.Image(t, func(m *phone.Image) { m.SoC = other }), nil)
	twin := phonetest.Start(t, phonetest.Image(t, nil), nil)
	for _, e := range []*phone.Device{eight, six} {
		if err := s.Connect(t.Context(), e.Addr()); err != nil {
			t.Fatal(err)
		}
	}
	b := newBench(t, func(o *runner.Options) { o.Server = user })
	run := func(platform map[string]string) (string, error) {
		platform[runner.PropertyImage] = ""
		r, err := b.device.Execute(t.Context(), &execute.Request{Action: b.action(t, nil, action.Command{Args: []string{"getprop", "ro.soc.model"}, Platform: platform})})
		if err != nil {
			return "", err
		}
		return string(r.Stdout), nil
	}
	for _, soc := range []string{"SM8650", "SM8750"} {
		if got, err := run(map[string]string{runner.PropertySelect: soc}); err != nil || got != soc+"\n" {
			t.Errorf("%s: %q, %v", soc, got, err)
		}
	}
	if _, err := run(map[string]string{}); err == nil || !strings.Contains(err.Error(), "2 devices are connected; choose one with --serial") {
		t.Errorf("no choice: %v", err)
	}
	if _, err := run(map[string]string{runner.PropertySelect: "SM8850"}); !errors.Is(err, devinfo.ErrNoDevice) || !strings.Contains(err.Error(), six.Addr()+"  device") || !strings.Contains(err.Error(), "SM8650") {
		t.Errorf("a SoC that nobody has: %v", err)
	}
	if err := s.Connect(t.Context(), twin.Addr()); err != nil {
		t.Fatal(err)
	}
	_, err := run(map[string]string{runner.PropertySelect: "SM8750"})
	if err == nil || !strings.Contains(err.Error(), "2 devices with the SoC SM8750 are connected; choose one with --serial") || !strings.Contains(err.Error(), twin.Addr()) {
		t.Errorf("two: %v", err)
	}
}

// TestEmulatedPhonesSideBySide runs two actions at a time, each on its own phone.
func TestEmulatedPhonesSideBySide(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *runner.Options) { o.Phones = 2 })
	a := b.action(t, nil, action.Command{Args: []string{"sh", "-c", "[ -e /data/mine ] && exit 3; : >/data/mine; sleep 1; rm /data/mine"}})
	var wg sync.WaitGroup
	var mu sync.Mutex
	workers := map[string]int{}
	start := time.Now()
	for range 2 {
		for range 2 {
			wg.Go(func() {
				r, err := b.device.Execute(t.Context(), &execute.Request{Action: a})
				if err != nil || r.ExitCode != 0 {
					t.Errorf("%+v, %v", r, err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				workers[r.Worker]++
			})
		}
		wg.Wait()
	}
	if workers["simulated phone 1 (simulated phone SM8750 v79)"] != 2 || workers["simulated phone 2 (simulated phone SM8750 v79)"] != 2 {
		t.Errorf("after %v: %v", time.Since(start), workers)
	}
}

// TestPhoneIsGivenBackOnCancel cancels an action that waits for a phone, and one that uses it.
func TestPhoneIsGivenBackOnCancel(t *testing.T) {
	t.Parallel()
	l := newLab(t, phonetest.Image(t, nil), 1)
	b := newBench(t, func(o *runner.Options) { o.Pool = pool.New(l.devices) })
	a := b.action(t, nil, action.Command{Args: []string{"sleep", "60"}, Platform: map[string]string{runner.PropertyImage: ""}})
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if _, err := b.device.Execute(ctx, &execute.Request{Action: a}); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
	l.running(t, 0)
	cancel()
	wg.Wait()
	quick := b.action(t, nil, action.Command{Args: []string{"echo", "alive"}, Platform: map[string]string{runner.PropertyImage: ""}})
	if r, err := b.device.Execute(t.Context(), &execute.Request{Action: quick}); err != nil || string(r.Stdout) != "alive\n" {
		t.Errorf("%v, %v", r, err)
	}
}
