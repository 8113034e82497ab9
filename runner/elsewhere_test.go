//go:build linux

package runner_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/runner"
	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/runner/pool"
	"github.com/hexmage/hexmage/runner/ssh"
	"github.com/hexmage/hexmage/runner/ssh/sshtest"
	"github.com/hexmage/hexmage/runner/transport"
	"github.com/hexmage/hexmage/runner/transport/transporttest"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
)

// TestLinkOverSSH runs the tests of package transporttest on a phone whose adb server is reached over ssh.
func TestLinkOverSSH(t *testing.T) {
	t.Parallel()
	e, server, s := phonetest.Start(t, phonetest.Image(t, nil), nil), phonetest.Server(t), sshtest.Start(t, sshtest.Options{})
	if err := server.Connect(t.Context(), e.Addr()); err != nil {
		t.Fatal(err)
	}
	cable := s.Cable(t)
	o := s.Options(t)
	client := adb.NewClientOver(cable.Address(), func(ctx context.Context) (net.Conn, error) {
		return o.Connect(ctx, cable.Address(), server.Address())
	})
	device := client.Device(e.Addr())
	transporttest.Run(t, "adb.Device over ssh", device, cable.Cut)
	if _, err := device.Forward(t.Context(), "tcp:0", "tcp:1"); err == nil || !strings.Contains(err.Error(), "would open the port there") {
		t.Errorf("a forward: %v", err)
	}
	server.Close()
	if _, err := client.Version(t.Context()); !errors.Is(err, transport.ErrDropped) {
		t.Errorf("without the server: %v", err)
	}
}

// TestPhonesElsewhere has a pool of four phones at the adb servers of two hosts. When one host is lost, its actions
// run on the other host's phones.
func TestPhonesElsewhere(t *testing.T) {
	t.Parallel()
	l := newLab(t, phonetest.Image(t, nil), 4)
	var cables [2]*sshtest.Cable
	s := sshtest.Start(t, sshtest.Options{})
	for i := range cables {
		cables[i] = s.Cable(t)
		for n := i; n < len(l.devices); n += 2 {
			l.devices[n].Server.Host = cables[i].Address()
		}
	}
	b := newBench(t, func(o *runner.Options) {
		o.Pool, o.SSH = pool.New(l.devices), s.Options(t)
	})
	program, err := os.ReadFile(phonetest.Compile(t, "aarch64", summing))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	workers, warnings := map[string]int{}, ""
	run := func(n int) {
		a := b.action(t, map[string]string{"push/sum": "x:" + string(program)}, action.Command{
			Args:     []string{"./sum", fmt.Sprint(n)},
			Platform: map[string]string{runner.PropertyImage: "", runner.PropertySoC: "SM8750"},
		})
		r, err := b.device.Execute(t.Context(), &execute.Request{Action: a})
		if err != nil {
			t.Errorf("%d: %v", n, err)
			return
		}
		if want := fmt.Sprintln(n * (n + 1) / 2); string(r.Stdout) != want || r.ExitCode != 0 {
			t.Errorf("%d: %q, exit code %d; want %q", n, r.Stdout, r.ExitCode, want)
		}
		mu.Lock()
		defer mu.Unlock()
		worker, _, _ := strings.Cut(r.Worker, " ")
		workers[worker]++
		warnings += string(r.Stderr)
	}
	for n := range 12 {
		wg.Go(func() { run(n + 1) })
	}
	l.running(t, 1) // at the second host
	cables[1].Sever()
	wg.Wait()
	if workers["phone1"] == 0 || workers["phone3"] == 0 || workers["phone1"]+workers["phone2"]+workers["phone3"]+workers["phone4"] != 12 {
		t.Errorf("%v", workers)
	}
	if !strings.Contains(warnings, "warning: the run on phone2 was interrupted") {
		t.Errorf("the host that was lost is not told of:\n%s", warnings)
	}
	t.Log(workers, warnings)

	// A host with an unknown host key, and a host without an adb server, are not reachable.
	why := func(d pool.Device, o ssh.Options) error {
		return pool.States(t.Context(), []pool.Device{d}, pool.Transports{SSH: o})[0].Err
	}
	if err := why(l.devices[1], s.Options(t)); err == nil || !transport.Retryable(err) || !strings.Contains(err.Error(), "Connection refused") {
		t.Errorf("of a host that is lost: %v", err)
	}
	if err := why(l.devices[0], s.Sharing(t, s.Client(t, ""))); err == nil || transport.Retryable(err) || !strings.Contains(err.Error(), "Host key verification failed") {
		t.Errorf("of an unknown host: %v", err)
	}
	l.servers[0].Close()
	if err := why(l.devices[0], s.Options(t)); err == nil || !strings.Contains(err.Error(), "the adb server "+l.devices[0].Server.String()+" does not answer (") || !strings.Contains(err.Error(), "; run `adb start-server` on the server's computer") {
		t.Errorf("without a server: %v", err)
	}
}
