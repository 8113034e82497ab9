//go:build linux

package runner_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/runner"
	"github.com/hexmage/hexmage/runner/devinfo"
	"github.com/hexmage/hexmage/runner/lease"
	"github.com/hexmage/hexmage/runner/pool"
	"github.com/hexmage/hexmage/runner/push"
	"github.com/hexmage/hexmage/runner/session"
	"github.com/hexmage/hexmage/runner/ssh"
	"github.com/hexmage/hexmage/runner/ssh/sshtest"
	"github.com/hexmage/hexmage/runner/transport"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
)

func dialBoard(t *testing.T, address string, o ssh.Options) *ssh.Board {
	t.Helper()
	b, err := ssh.Dial(t.Context(), address, o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestBoardRuns runs a simple program on a board twice. The second run sends nothing.
func TestBoardRuns(t *testing.T) {
	t.Parallel()
	s := sshtest.Start(t, sshtest.Options{})
	dev := dialBoard(t, s.Address(), s.Options(t))
	held, err := lease.OnDevice(t.Context(), dev, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	run := &session.Session{Device: dev, Lease: held, Sums: push.Sums{Dir: t.TempDir()}}
	for _, first := range []bool{true, false} {
		var out, errOut bytes.Buffer
		pulled := t.TempDir()
		res, err := run.Run(t.Context(), session.Request{
			Files: map[string]push.File{
				"bin/run":     file("#!/bin/sh\necho \"$1 of $WHO in $PWD\"; cat; cat data/words >results/out; echo err >&2; exit 3\n", true),
				"data/words":  file("words\n", false),
				"also/words2": file("words\n", false), // the same content
			},
			Links: map[string]string{"data/link": "words"},
			Args:  []string{"bin/run", "it's"}, Env: map[string]string{"WHO": "$HEXMAGE_ROOT"}, Stdin: stdin("in\n"), Stdout: &out, Stderr: &errOut,
			Pull: []string{"results/out", "data/link"}, PullDir: pulled, Thermal: true, Log: session.LogOfFailure,
		})
		if err != nil {
			t.Fatal(err)
		}
		line, rest, _ := strings.Cut(out.String(), "\n")
		of, in, ok := strings.Cut(strings.TrimPrefix(line, "it's of "), " in ")
		if !ok || of != in || !strings.HasPrefix(in, filepath.Join(s.Home, ".hexmage-device/run")+"/") || rest != "in\n" || errOut.String() != "err\n" || res.ExitCode != 3 {
			t.Errorf("%q, %q, %+v", out.String(), errOut.String(), res)
		}
		for _, name := range []string{"results/out", "data/link"} {
			if b, err := os.ReadFile(filepath.Join(pulled, name)); err != nil || string(b) != "words\n" {
				t.Errorf("%s: %q, %v", name, b, err)
			}
		}
		if first != (res.Pushed.Sent > 0) || first != (res.Pushed.Missing == 2) {
			t.Errorf("the first time is %v: %+v", first, res.Pushed)
		}
	}
	if left, err := filepath.Glob(filepath.Join(s.Home, ".hexmage-device/run/*")); err != nil || len(left) > 0 {
		t.Errorf("left there: %q, %v", left, err)
	}
	i, err := devinfo.Inspect(t.Context(), dev)
	if err != nil || i.Machine == "" || i.Simulated || i.SoC != "" || i.System == "" || i.Memory.Total == 0 || i.Disk.Free == 0 || !strings.Contains(i.User, "hexmage on ") || i.Android != "" {
		t.Errorf("%+v, %v", i, err)
	}
	if n, err := push.Clear(t.Context(), dev); err != nil || n == 0 {
		t.Errorf("%d, %v", n, err)
	}
	if left, err := os.ReadDir(s.Home); err != nil || len(left) > 0 {
		t.Errorf("after clearing: %v, %v", left, err)
	}
}

// TestBoardPush pushes a large file over a link that breaks in the middle, and small files over a link that breaks
// repeatedly.
func TestBoardPush(t *testing.T) {
	t.Parallel()
	s := sshtest.Start(t, sshtest.Options{})
	c := s.Cable(t)
	dev := dialBoard(t, c.Address(), s.Options(t))
	held, err := lease.OnDevice(t.Context(), dev, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	run := &session.Session{Device: dev, Lease: held, Sums: push.Sums{Dir: t.TempDir()}}
	name := randomFile(t, 48<<20)
	to := filepath.Join(s.Home, "model")
	c.CutAfter(24<<20, false)
	begun := time.Now()
	p, err := run.Push(t.Context(), to, map[string]push.File{"model.bin": onDisk(t, name)}, nil)
	if err != nil || p.Dropped != 1 || c.Cuts() != 1 || p.Sent < 48<<20 || p.Sent > 48<<20+inFlight {
		t.Fatalf("%+v, %d cuts, %v", p, c.Cuts(), err)
	}
	t.Logf("48 MB, cut after 24: %.1f MB sent in %.2f s", float64(p.Sent)/(1<<20), time.Since(begun).Seconds())
	if got, want := sumOf(t, filepath.Join(to, "model.bin")), sumOf(t, name); got != want {
		t.Errorf("there is %s, want %s", got, want)
	}
	if p, err = run.Push(t.Context(), to, map[string]push.File{"model.bin": onDisk(t, name)}, nil); err != nil || p.Sent != 0 || p.Missing != 0 {
		t.Errorf("again: %+v, %v", p, err)
	}
	files, total := map[string]push.File{}, int64(0)
	for i := range 14 {
		f := file(strings.Repeat(fmt.Sprintf("%05d\n", i), 40000), i%2 == 0)
		files[fmt.Sprintf("some/f%d", i)] = f
		total += f.Size
	}
	c.CutAfter(1<<20, true)
	if p, err = run.Push(t.Context(), to, files, nil); err != nil || p.Dropped < 2 || p.Sent > 2*total {
		t.Errorf("%+v of %d, %v", p, total, err)
	}
	c.CutAfter(0, false)
	for name := range files {
		b, err := os.ReadFile(filepath.Join(to, name))
		if err != nil || int64(len(b)) != files[name].Size {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
}

// TestBoardFull: the error for a board with a full disk names the missing space. If the board reports its free space,
// nothing is sent.
func TestBoardFull(t *testing.T) {
	t.Parallel()
	s := sshtest.Start(t, sshtest.Options{Disk: 24 << 20})
	dev := dialBoard(t, s.Address(), s.Options(t))
	run := &session.Session{Device: dev, Sums: push.Sums{Dir: t.TempDir()}}
	to := filepath.Join(s.Home, "x")
	p, err := run.Push(t.Context(), to, map[string]push.File{"f": onDisk(t, randomFile(t, 40<<20))}, nil)
	if err == nil || p.Sent != 0 || transport.Retryable(err) || !strings.Contains(err.Error(), "no space left on device: the push needs ") {
		t.Errorf("%+v, %v", p, err)
	}
	small := onDisk(t, randomFile(t, 2<<20))
	if _, err := run.Push(t.Context(), to, map[string]push.File{"f": small}, nil); err != nil {
		t.Error(err)
	}
	out, err := transport.Output(t.Context(), dev, "dd if=/dev/zero of=$HOME/fill bs=65536 2>&1; :", nil)
	if err != nil || !strings.Contains(out, "No space") {
		t.Fatalf("%q, %v", out, err)
	}
	_, err = run.Push(t.Context(), to, map[string]push.File{"g": file(strings.Repeat("x", 1<<20), false)}, nil)
	if err == nil || !strings.Contains(strings.ToLower(err.Error()), "no space left on device") {
		t.Errorf("a push while it is full: %v", err)
	}
}

// boardArg makes the test binary run an endless program on a board: ADDRESS PROGRAM DIR. The binary prints a line
// when the program has begun.
const boardArg = "board"

func boardProcess(args []string) int {
	ctx := context.Background()
	dev, err := ssh.Dial(ctx, args[0], ssh.Options{Program: args[1], Dir: args[2]})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	held, err := lease.OnDevice(ctx, dev, nil)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	s := &session.Session{Device: dev, Lease: held}
	_, err = s.Run(ctx, session.Request{Args: []string{"sh", "-c", "echo begun; exec sleep 4711"}, Stdout: os.Stdout})
	fmt.Println(err)
	return 1
}

// TestBoardKilled kills a process that runs a program on a board. The next process, from another host, gets the
// board, and the program is ended.
func TestBoardKilled(t *testing.T) {
	t.Parallel()
	s := sshtest.Start(t, sshtest.Options{})
	o := s.Options(t)
	dev := dialBoard(t, s.Address(), o)
	cmd := exec.CommandContext(t.Context(), os.Args[0], boardArg, s.Address(), o.Program, o.Dir)
	said := &phonetest.Log{}
	cmd.Stdout, cmd.Stderr = said, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(30 * time.Second); !strings.Contains(said.String(), "begun"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it does not begin: %s", said)
		}
	}
	waiting := make(chan string, 1)
	got := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	go func() {
		held, err := lease.OnDevice(ctx, dev, func(owner string) { waiting <- owner })
		if err == nil {
			held.Release()
		}
		got <- err
	}()
	if owner := <-waiting; !strings.Contains(owner, "hexmage on ") {
		t.Errorf("it waits for %q", owner)
	}
	if !runs("sleep\x004711\x00") {
		t.Error("it does not run")
	}
	killed := time.Now()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	if err := <-got; err != nil {
		t.Fatal(err)
	}
	t.Logf("another host had the board %.1f s after the kill", time.Since(killed).Seconds())
	for end := time.Now().Add(2 * time.Second); runs("sleep\x004711\x00"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Error("what ran goes on")
			break
		}
	}
}

// runs reports whether this machine, which is the board, runs a command.
func runs(command string) bool {
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is valid
	for _, name := range names {
		if b, err := os.ReadFile(name); err == nil && string(b) == command {
			return true
		}
	}
	return false
}

// TestBoardOfPool: a pool lends boards like phones, reports why a board cannot be used, and closes its connections.
func TestBoardOfPool(t *testing.T) {
	t.Parallel()
	s := sshtest.Start(t, sshtest.Options{})
	devices := []pool.Device{
		{Name: "bench", Serial: s.Address()},
		{Name: "stranger", Serial: strings.Replace(s.Address(), "board@", "nobody@", 1)},
	}
	reach := pool.Transports{SSH: s.Options(t)}
	states := pool.States(t.Context(), devices, reach)
	if states[0].Err != nil || states[0].Info.Machine == "" || states[1].Err == nil || !strings.Contains(states[1].Err.Error(), "Permission denied") {
		t.Fatalf("%+v", states)
	}
	p, notes := pool.New(devices), ""
	want := pool.Selector{Transports: reach, Waiting: func(string) {}, Note: func(text string) { notes += text }}
	l, err := p.Take(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := transport.Output(t.Context(), l.Device, "echo $USER", nil); err != nil || out != sshtest.User+"\n" {
		t.Errorf("%q, %v", out, err)
	}
	want.Serial = "bench"
	busy, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := p.Take(busy, want); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("lent twice: %v", err)
	}
	l.Return()
	if l, err = p.Take(t.Context(), want); err != nil || l.Info.Name != "bench" || notes != "" {
		t.Fatalf("%+v, %v, %q", l, err, notes)
	}
	l.Return()
}

// TestBoardExecutes runs an action on a board by its address. Debugging a board is refused.
func TestBoardExecutes(t *testing.T) {
	t.Parallel()
	s := sshtest.Start(t, sshtest.Options{})
	b := newBench(t, func(o *runner.Options) { o.Serial, o.SSH = s.Address(), s.Options(t) })
	a := b.action(t, map[string]string{"push/run": "x:#!/bin/sh\necho $1 >results/out && uname -m\n"}, action.Command{Args: []string{"./run", "words"}, Outputs: []string{"results/out"}})
	r, err := b.device.Execute(t.Context(), &execute.Request{Action: a})
	if err != nil || r.ExitCode != 0 || len(r.Files) != 1 || r.Worker != "board "+s.Address() {
		t.Errorf("%+v, %v", r, err)
	}
	err = b.device.Debug(t.Context(), &execute.Request{Action: a}, runner.Debugging{Server: stub, With: func(context.Context, runner.Stopped) error { return nil }})
	if refused, ok := errors.AsType[*execute.Error](err); !ok || !refused.Refused || !strings.Contains(err.Error(), "only on phones") {
		t.Errorf("debugged: %v", err)
	}
}
