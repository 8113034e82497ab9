//go:build linux

package runner_test

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/runner/lease"
	"github.com/hexmage/hexmage/runner/transport"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
)

// First arguments that make the test binary a host of TestLeaseOfTwoHosts, or a process of a host.
const (
	leaseHostArg   = "-lease-host"
	leaseWorkerArg = "-lease-worker"
)

const (
	leaseWorkers = 3 // of a host
	holders      = "/data/local/tmp/holders"
	buried       = 20 * time.Second // until other hosts know that a process is dead
)

// TestLeaseOfTwoHosts has two hosts with their own networks and processes. Three processes of each repeatedly take
// the lease of one phone, and are killed at any moment. A holder writes its name onto the phone and looks for other
// names: no other living process may be there. No link breaks, so a living process never loses a lease.
// HEXMAGE_LEASES is the number of repetitions.
func TestLeaseOfTwoHosts(t *testing.T) {
	t.Parallel()
	want, err := strconv.Atoi(cmp.Or(os.Getenv("HEXMAGE_LEASES"), "150"))
	if err != nil {
		t.Fatal(err)
	}
	e, o := phonetest.Start(t, phonetest.Image(t, nil), nil), phonetest.ServerOptions(t)
	dir := o.Dir // short enough for sockets
	if err := os.Mkdir(filepath.Join(dir, "dead"), 0o755); err != nil {
		t.Fatal(err)
	}
	way, err := net.Listen("unix", filepath.Join(dir, "phone")) // from the hosts' networks into this one
	if err != nil {
		t.Fatal(err)
	}
	defer way.Close()
	go relay(way, "tcp", e.Addr())
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	lines := make(chan string)
	var hosts sync.WaitGroup
	var inputs []io.Closer
	for _, name := range []string{"a", "b"} {
		cmd := exec.Command(self, leaseHostArg, dir, o.Path, o.LibraryPath, name)
		cmd.Stderr = os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		}
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) {
			t.Skipf("not tried: this machine lets nobody have namespaces: %v", err)
		} else if err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, in)
		hosts.Go(func() {
			for s := bufio.NewScanner(out); s.Scan(); {
				lines <- s.Text()
			}
			_ = cmd.Wait() // it has printed its error
		})
	}
	go func() { hosts.Wait(); close(lines) }()
	begin, got, by, stopped := time.Now(), 0, map[string]int{}, false
	limit := time.AfterFunc(time.Duration(want)*time.Second/4+time.Minute, func() { t.Error("nobody gets it any more"); inputs[0].Close(); inputs[1].Close() })
	defer limit.Stop()
	for line := range lines {
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "got":
			got++
			by[rest[:1]]++
		case "killed":
			by["killed"]++
		default:
			t.Error(line)
		}
		if got >= want && !stopped {
			stopped = true
			for _, in := range inputs {
				in.Close()
			}
		}
	}
	if got < want || by["a"] < want/10 || by["b"] < want/10 || by["killed"] < want/50 {
		t.Errorf("%d leases, %v", got, by)
	}
	t.Logf("%d leases in %v: %v", got, time.Since(begin).Round(time.Second), by)
}

// relay forwards connections of a listener to an address.
func relay(l net.Listener, network, address string) {
	for {
		in, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer in.Close()
			out, err := net.Dial(network, address)
			if err != nil {
				return
			}
			defer out.Close()
			go func() { _, _ = io.Copy(out, in); out.Close() }()
			_, _ = io.Copy(in, out)
		}()
	}
}

// leaseHost is a host: an adb server with the phone, and processes that take the lease. It ends with its input.
func leaseHost(args []string) int {
	if err := leaseHostIn(args[0], args[1], args[2], args[3]); err != nil {
		fmt.Println("host:", err)
		return 1
	}
	return 0
}

func leaseHostIn(dir, path, library, name string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go relay(l, "unix", filepath.Join(dir, "phone"))
	own := filepath.Join(dir, name)
	if err := os.Mkdir(own, 0o755); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s, err := adb.Start(ctx, adb.Options{Path: path, LibraryPath: library, Dir: own})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Connect(ctx, l.Addr().String()); err != nil {
		return err
	}
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); cancel() }()
	var workers sync.WaitGroup
	for i := range leaseWorkers {
		workers.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				if err := leaseLife(ctx, dir, s.Address(), l.Addr().String(), name, fmt.Sprintf("%s-%d-%d", name, i, n)); err != nil {
					fmt.Println("host:", err)
					return
				}
			}
		})
	}
	workers.Wait()
	return nil
}

// leaseLife runs a process for a while, and kills it. It records the death where all hosts see it.
func leaseLife(ctx context.Context, dir, server, serial, host, id string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(20+rand.IntN(3000))*time.Millisecond)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, leaseWorkerArg, dir, server, serial, host, id) // CommandContext kills it
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	err = cmd.Run()
	if ctx.Err() == nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	fmt.Println("killed", id)
	return os.WriteFile(filepath.Join(dir, "dead", id), nil, 0o644)
}

// leaseWorker is a process that takes the lease until it is killed.
func leaseWorker(args []string) int {
	dir, dev, id := args[0], adb.NewClient("unix", args[1]).Device(args[2]), args[4]
	ctx := context.Background()
	for n := 0; ; n++ {
		h, err := lease.OnDevice(ctx, dev, func(string) {})
		if err == nil {
			err = useAlone(ctx, dir, dev, h, fmt.Sprintf("%s.%d", id, n))
			h.Release()
		}
		switch {
		case errors.Is(err, errNotAlone):
			fmt.Println("violation:", id, err)
			return 1
		case err != nil && !transport.Retryable(err):
			fmt.Println("process:", id, err)
			return 1
		case err != nil:
			fmt.Println("broke", id, strings.ReplaceAll(err.Error(), "\n", " "))
		default:
			fmt.Println("got", id)
		}
	}
}

var errNotAlone = errors.New("is not alone")

// useAlone uses the phone, and looks for other users twice.
func useAlone(ctx context.Context, dir string, dev transport.Device, h *lease.Lease, id string) error {
	own := holders + "/" + id
	for _, script := range []string{
		"mkdir -p " + holders + " && ls " + holders + " && mkdir " + own,
		"ls " + holders + " && rmdir " + own,
	} {
		out, err := transport.Script(ctx, dev, h.Fence()+script, nil)
		if err != nil {
			return h.Noticed(err)
		}
		for _, other := range strings.Fields(out) {
			if other == id {
				continue
			}
			if process, _, _ := strings.Cut(other, "."); process != id[:strings.Index(id, ".")] && !dead(dir, process) {
				return fmt.Errorf("%w: %s is there, too, and lives", errNotAlone, other)
			}
			if _, err := transport.Output(ctx, dev, "rmdir "+holders+"/"+other, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// dead reports whether a process was killed. It waits, because the record may be on its way.
func dead(dir, id string) bool {
	for end := time.Now().Add(buried); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "dead", id)); err == nil {
			return true
		}
	}
	return false
}
