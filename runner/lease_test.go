//go:build linux

package runner_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/runner/devinfo"
	"github.com/hexmage/hexmage/runner/lease"
	"github.com/hexmage/hexmage/runner/push"
	"github.com/hexmage/hexmage/runner/session"
	"github.com/hexmage/hexmage/runner/transport"
	"github.com/hexmage/hexmage/simulated/phone"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
)

// cable is a link to a phone that can be cut.
type cable struct {
	net.Listener
	phone string

	mu     sync.Mutex
	pulled bool
	conns  map[net.Conn]bool
}

func newCable(t *testing.T, phone string) *cable {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	c := &cable{Listener: l, phone: phone, conns: map[net.Conn]bool{}}
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go c.serve(in)
		}
	}()
	return c
}

func (c *cable) serve(in net.Conn) {
	defer in.Close()
	out, err := net.Dial("tcp", c.phone)
	if err != nil {
		return
	}
	defer out.Close()
	c.mu.Lock()
	if c.pulled {
		c.mu.Unlock()
		return
	}
	c.conns[in], c.conns[out] = true, true
	c.mu.Unlock()
	go func() { _, _ = io.Copy(out, in); out.Close() }()
	_, _ = io.Copy(in, out)
}

// pull cuts all connections and refuses new ones until plug.
func (c *cable) pull() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pulled = true
	for nc := range c.conns {
		nc.Close()
	}
	clear(c.conns)
}

func (c *cable) plug() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pulled = false
}

// twoHosts are two adb servers for one phone. The first one connects through a cable.
func twoHosts(t *testing.T, change func(*phone.Options)) (c *cable, servers [2]*adb.Server, one, two *adb.Device) {
	t.Helper()
	e := phonetest.Start(t, phonetest.Image(t, nil), change)
	c = newCable(t, e.Addr())
	for i, at := range []string{c.Addr().String(), e.Addr()} {
		servers[i] = phonetest.Server(t)
		if err := servers[i].Connect(t.Context(), at); err != nil {
			t.Fatal(err)
		}
	}
	return c, servers, servers[0].Device(c.Addr().String()), servers[1].Device(e.Addr())
}

// TestLease has two hosts that take the lease of one device. They do not know each other.
func TestLease(t *testing.T) {
	t.Parallel()
	_, servers, one, two := twoHosts(t, nil)
	hold := func(d *adb.Device, waiting func(string)) *lease.Lease {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		h, err := lease.OnDevice(ctx, d, waiting)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	user := func() string {
		t.Helper()
		info, err := devinfo.Describe(t.Context(), two)
		if err != nil {
			t.Fatal(err)
		}
		return info.User
	}
	h := hold(one, nil)
	if _, err := lease.OnDevice(t.Context(), two, nil); err == nil || !strings.Contains(err.Error(), ": in use by hexmage on ") {
		t.Errorf("while the first has it: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	said := ""
	waiting := func(owner string) {
		said = owner
		time.AfterFunc(300*time.Millisecond, cancel)
	}
	if _, err := lease.OnDevice(ctx, two, waiting); !errors.Is(err, context.Canceled) || !strings.HasPrefix(said, "hexmage on ") {
		t.Errorf("while the first has it: %v, told %q", err, said)
	}
	if got := user(); got != said {
		t.Errorf("the device says that %q uses it", got)
	}
	h.Release()
	if got := user(); got != "" {
		t.Errorf("the device says that %q uses it, and nobody does", got)
	}
	hold(two, nil).Release()
	// If a host disappears, its lease ends with its link.
	hold(one, nil)
	servers[0].Close()
	hold(two, func(string) {}).Release()
	if got := user(); got != "" {
		t.Errorf("the device says that %q uses it, and nobody does", got)
	}
	left := func(command string) {
		t.Helper()
		if _, err := transport.Output(t.Context(), two, "cd /data/local/tmp/hexmage && mkdir -p lease/x && cd lease/x && "+command, nil); err != nil {
			t.Fatal(err)
		}
	}
	left("echo 1 >pid && echo old >owner")
	hold(two, nil).Release()
	left(": of a device that lost its power")
	hold(two, nil).Release()
	left("mkdir ../.new.y && mv ../x ../.old.z.1")
	hold(two, nil).Release()
	if out, err := transport.Output(t.Context(), two, "ls /data/local/tmp/hexmage", nil); err != nil || out != "" {
		t.Errorf("left: %q, %v", out, err)
	}
}

// TestLeaseOverABrokenLink breaks the link of the only host repeatedly during a push. The host takes its lease again.
func TestLeaseOverABrokenLink(t *testing.T) {
	t.Parallel()
	c, _, one, _ := twoHosts(t, func(o *phone.Options) { o.SlowBytesPerSecond = 20 << 20 })
	held, err := lease.OnDevice(t.Context(), one, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	s := &session.Session{Device: one, Lease: held}
	name, next := randomFile(t, 24<<20), int64(4<<20)
	p, err := s.Push(t.Context(), "/data/local/tmp/x", map[string]push.File{"f": onDisk(t, name)}, func(done, _ int64) {
		if done > next {
			next += 8 << 20
			c.pull()
			time.AfterFunc(200*time.Millisecond, c.plug)
		}
	})
	if err != nil || p.Dropped < 2 || held.Check(t.Context()) != nil {
		t.Errorf("%+v, %v; want a push over a link that broke", p, err)
	}
}

// TestLeaseThatIsLost breaks the link of the first host until the second one takes the device. The first must not use
// the device again.
func TestLeaseThatIsLost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		stays bool // the second still uses the device when the first comes back
	}{{"while the second has it", true}, {"when the second is done", false}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cord, _, one, two := twoHosts(t, func(o *phone.Options) { o.SlowBytesPerSecond = 20 << 20 })
			held, err := lease.OnDevice(t.Context(), one, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer held.Release()
			between := &session.Session{Device: two}
			before, name, pulled := "", randomFile(t, 20<<20), false
			s := &session.Session{Device: one, Lease: held}
			_, err = s.Push(t.Context(), "/data/local/tmp/x", map[string]push.File{"f": onDisk(t, name)}, func(done, _ int64) {
				if done < 4<<20 || pulled {
					return
				}
				pulled = true
				cord.pull()
				h, err := lease.OnDevice(t.Context(), two, func(string) {})
				if err != nil {
					t.Error(err)
					return
				}
				if c.stays {
					t.Cleanup(h.Release)
				} else {
					h.Release()
				}
				before = onDevice(t, between, "cd /data/local/tmp; find . -type f | sort | grep -v lease")
				cord.plug()
			})
			if !errors.Is(err, lease.ErrLost) || !transport.Retryable(err) || c.stays && !strings.Contains(err.Error(), "hexmage on ") {
				t.Errorf("the push of the first: %v", err)
			}
			if _, err := s.Run(t.Context(), session.Request{Args: []string{"touch", "/data/local/tmp/touched"}}); !errors.Is(err, lease.ErrLost) {
				t.Errorf("a run of the first: %v", err)
			}
			if after := onDevice(t, between, "cd /data/local/tmp; find . -type f | sort | grep -v lease"); after != before {
				t.Errorf("the first went on: there is %q, was %q", after, before)
			}
		})
	}
}

// A folder that cannot be made does not mean that the lease is lost.
func TestFolderThatCannotBeMade(t *testing.T) {
	t.Parallel()
	dev := newSession(t, nil).Device
	held, err := lease.OnDevice(t.Context(), dev, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	s := &session.Session{Device: dev, Lease: held}
	_, err = s.Push(t.Context(), "/proc/nothing/x", map[string]push.File{"f": file("content", false)}, nil)
	if err == nil || errors.Is(err, lease.ErrLost) || !strings.Contains(err.Error(), "/proc/nothing") {
		t.Errorf("%v, want that the folder cannot be made", err)
	}
}
