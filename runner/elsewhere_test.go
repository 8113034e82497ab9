//go:build linux

package runner_test

import (
	"context"
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
	"github.com/hexmage/hexmage/runner/link"
	"github.com/hexmage/hexmage/runner/link/linktest"
	"github.com/hexmage/hexmage/runner/pool"
	"github.com/hexmage/hexmage/runner/ssh"
	"github.com/hexmage/hexmage/runner/ssh/sshtest"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
)

// TestLinkOverSSH holds a phone whose adb server is reached over ssh to what package link promises of devices.
func TestLinkOverSSH(t *testing.T) {
	t.Parallel()
	e, server, s := phonetest.Start(t, phonetest.Image(t, nil), nil), phonetest.Server(t), sshtest.Start(t, sshtest.Options{})
	if err := server.Connect(t.Context(), e.Addr()); err != nil {
		t.Fatal(err)
	}
	cable := s.Cable(t)
	hosts := ssh.NewHosts(s.Options(t, cable.At()))
	t.Cleanup(func() { hosts.Close() })
	client := adb.NewClientOver(cable.Address(), func(ctx context.Context) (net.Conn, error) {
		return hosts.Dial(ctx, cable.Address(), "", "unix", server.Address())
	})
	device := client.Device(e.Addr())
	linktest.Run(t, "adb.Device over ssh", device, cable.Cut)
	if _, err := device.Forward(t.Context(), "tcp:0", "tcp:1"); err == nil || !strings.Contains(err.Error(), "would listen on its own computer") {
		t.Errorf("a forward: %v", err)
	}
	server.Close()
	if _, err := client.Version(t.Context()); err == nil || !strings.Contains(err.Error(), "no adb server answers at "+cable.Address()) {
		t.Errorf("without the server: %v", err)
	}
}

// TestPhonesElsewhere has a pool of four phones at the adb servers of two hosts. One host is lost in the middle: what ran there is run on the other's phones.
func TestPhonesElsewhere(t *testing.T) {
	t.Parallel()
	l := newLab(t, phonetest.Image(t, nil), 4)
	var cables [2]*sshtest.Cable
	var known []string
	for i := range cables {
		s := sshtest.Start(t, sshtest.Options{})
		cables[i] = s.Cable(t)
		known = append(known, sshtest.Known(s.HostKey(), cables[i].At()))
		for n := i; n < len(l.devices); n += 2 {
			l.devices[n].Server.Host, l.devices[n].Key = cables[i].Address(), s.Key
		}
	}
	name := t.TempDir() + "/known_hosts"
	if err := os.WriteFile(name, []byte(strings.Join(known, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, func(o *runner.Options) {
		o.Pool, o.SSH = pool.New(o.State, l.devices), ssh.Options{Known: []string{name}}
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
	if !strings.Contains(warnings, "warning: the run on phone2 broke off") || !strings.Contains(warnings, "phone phone2 ("+l.devices[1].Serial+") is set aside: the adb server "+l.devices[1].Server.String()+" is out of reach: adb: ssh: "+cables[1].Address()+": it cannot be reached: dial tcp ") {
		t.Errorf("the host that was lost is not told of:\n%s", warnings)
	}
	t.Log(workers, warnings)

	// Nobody else reaches them: whose host key is not known, and whose server does not run.
	states := pool.New(t.TempDir(), l.devices[:1]).States(t.Context(), pool.Reach{Hosts: ssh.NewHosts(ssh.Options{})})
	if err := states[0].Aside; err == nil || link.Retryable(err) || !strings.Contains(err.Error(), "is not known") {
		t.Errorf("of an unknown host: %v", err)
	}
	l.servers[0].Close()
	states = pool.New(t.TempDir(), l.devices[:1]).States(t.Context(), pool.Reach{Hosts: ssh.NewHosts(ssh.Options{Known: []string{name}})})
	if err := states[0].Aside; err == nil || !strings.Contains(err.Error(), "no adb server answers at "+l.devices[0].Server.String()+"; start it there with: adb start-server") {
		t.Errorf("without a server: %v", err)
	}
}
