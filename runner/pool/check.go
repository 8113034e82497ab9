package pool

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/runner/devinfo"
	"github.com/hexmage/hexmage/runner/layout"
	"github.com/hexmage/hexmage/runner/lease"
	"github.com/hexmage/hexmage/runner/link"
	"github.com/hexmage/hexmage/runner/ssh"
)

const (
	checkWait   = 15 * time.Second // for a phone to show that it works
	connectWait = 2 * time.Second  // for one that was just connected to be usable
	connectPoll = 50 * time.Millisecond
	leastStore  = 1 << 20 // bytes: less of ours on a full disk is not worth being removed
)

// StateRemedy says what to do about a device in a state in which it cannot be used; empty: nothing is known.
func StateRemedy(state string) string {
	switch {
	case state == "unauthorized":
		return "allow USB debugging in the dialog that the device shows"
	case state == "offline":
		return "unplug it and plug it in again, or device connect again"
	case strings.HasPrefix(state, "no permissions"):
		return "this user may not open the USB device: add a udev rule"
	}
	return ""
}

// lease makes this the phone's only user, if it works and nobody else has it.
func (p *Pool) lease(ctx context.Context, d Device, w Want) (*Lease, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, checkWait, fmt.Errorf("it does not answer within %v", checkWait))
	defer cancel()
	here, err := atOnce(ctx, func(ctx context.Context, busy func(string)) (func(), error) {
		return lease.Process(ctx, filepath.Join(p.state, "leases"), d.key(), busy)
	})
	if err != nil {
		return nil, err
	}
	l, err := p.check(ctx, d, w.Reach)
	if err != nil {
		here()
		return nil, err
	}
	_, err = atOnce(ctx, func(ctx context.Context, busy func(string)) (func(), error) {
		var err error
		l.Held, err = lease.OfHost(ctx, p.state, l.Device, d.key(), busy)
		return l.Held.Release, err
	})
	if err != nil {
		link.Close(l.Device)
		here()
		return nil, err
	}
	l.release = func() { l.Held.Release(); link.Close(l.Device); here() }
	return l, nil
}

// atOnce gets a lease without waiting: when get says that somebody else has it, that is the error.
func atOnce(ctx context.Context, get func(ctx context.Context, busy func(owner string)) (func(), error)) (release func(), err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	release, err = get(ctx, func(owner string) { cancel(&inUseError{owner}) })
	var elsewhere *inUseError
	if err != nil && errors.As(context.Cause(ctx), &elsewhere) {
		return nil, elsewhere
	}
	return release, err
}

// Local tells whether the server is one of this machine.
func (s Server) Local() bool {
	host, _, err := net.SplitHostPort(s.Address)
	ip := net.ParseIP(host)
	return s.Host == "" && (s.Network == "unix" || err != nil || host == "localhost" || ip != nil && ip.IsLoopback())
}

// Silent is the error of a server that does not answer.
func (s Server) Silent(err error) error {
	switch {
	case s.Host != "" && errors.Is(err, adb.ErrServer):
		return fmt.Errorf("no adb server answers at %s; start it there with: adb start-server", s)
	case s.Host != "":
		return fmt.Errorf("the adb server %s is out of reach: %w", s, err)
	}
	return fmt.Errorf("the adb server %s does not answer; start it there with: adb -a nodaemon server (%w)", s, Short(err))
}

// key names the phone among the leases. Two servers may have phones of one serial, such as emulators.
func (d Device) key() string {
	if d.Server == (Server{}) {
		return d.Serial
	}
	return d.Serial + "@" + d.Server.String()
}

// check returns a phone that works, which nobody has yet, or says why it does not work.
func (p *Pool) check(ctx context.Context, d Device, r Reach) (*Lease, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, checkWait, fmt.Errorf("it does not answer within %v", checkWait))
	defer cancel()
	l, err := d.ready(ctx, r)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return l, err
}

// ready is check without a limit of time.
func (d Device) ready(ctx context.Context, r Reach) (*Lease, error) {
	dev, err := d.reach(ctx, r)
	if err != nil {
		return nil, err
	}
	l, err := d.works(ctx, dev)
	if err != nil {
		link.Close(dev)
		return nil, err
	}
	return l, nil
}

// works asks a device that can be reached whether it can be used.
func (d Device) works(ctx context.Context, dev link.Device) (*Lease, error) {
	info, err := devinfo.Describe(ctx, dev)
	if link.Retryable(err) && strings.Contains(d.Serial, ":") { // the server may not know yet that its link is dead
		if err = dev.Reconnect(ctx); err == nil {
			info, err = devinfo.Describe(ctx, dev)
		}
	}
	if err != nil {
		return nil, Short(err)
	}
	if !devinfo.FitsSoC(info.SoC, d.SoC) {
		return nil, fmt.Errorf("it has the SoC %s, the pool says %s", info.SoC, d.SoC)
	}
	boot, err := probe(ctx, dev)
	return &Lease{Device: dev, Info: info, boot: boot}, err
}

// Reach says how devices are reached.
type Reach struct {
	Server func(context.Context) (*adb.Client, error) // the user's own adb server, for phones that name none
	SSH    ssh.Options                                // for boards
	Hosts  *ssh.Hosts                                 // for adb servers that only their own computers reach
}

// reach returns the device once it can be reached: a phone by its adb server, a board over ssh.
func (d Device) reach(ctx context.Context, r Reach) (link.Device, error) {
	if ssh.Is(d.Serial) {
		o := r.SSH
		if d.Key != "" {
			o.Keys = []string{d.Key}
		}
		return ssh.Dial(ctx, d.Serial, o)
	}
	client, err := d.client(ctx, r)
	if err != nil {
		return nil, err
	}
	return client.attach(ctx, d.Serial)
}

// Attach returns the device once it can be reached. A phone with an address is connected to.
func (d Device) Attach(ctx context.Context, r Reach) (link.Device, error) {
	dev, err := d.reach(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("device %s (%s): %w", d.Name, d.Serial, err)
	}
	return dev, nil
}

// State is how a phone of a pool is.
type State struct {
	Device
	Info  devinfo.Info // empty when it cannot be asked
	InUse bool         // by another process of this machine
	Aside error        // why it would be set aside; nil: it works
}

// States asks all phones at the same time whether they work. It lends none.
func (p *Pool) States(ctx context.Context, r Reach) []State {
	all := make([]State, len(p.phones))
	now, cancel := context.WithCancel(ctx)
	cancel() // no waiting
	var wg sync.WaitGroup
	for i, ph := range p.phones {
		wg.Go(func() {
			s := State{Device: ph.Device}
			l, err := p.check(ctx, ph.Device, r)
			if s.Aside = err; err == nil {
				s.Info = l.Info
				link.Close(l.Device)
			}
			if release, err := lease.Process(now, filepath.Join(p.state, "leases"), ph.key(), func(string) { s.InUse = true }); err == nil {
				release()
			}
			all[i] = s
		})
	}
	wg.Wait()
	return all
}

const (
	listEvery = 2 * time.Second // how old a server's list may be
	listWait  = time.Second     // for a server that should be near
)

// relist notes which of the phones are there, as far as servers that answer at once list them.
func (p *Pool) relist(ctx context.Context, phones []*poolPhone, w Want) {
	p.mu.Lock()
	late := time.Since(p.listed) > listEvery
	if late {
		p.listed = time.Now()
	}
	p.mu.Unlock()
	if !late || len(phones) < 2 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, listWait)
	defer cancel()
	at := map[Server][]*poolPhone{}
	for _, ph := range phones {
		if ssh.Is(ph.Serial) { // no server lists it
			continue
		}
		at[ph.Server] = append(at[ph.Server], ph)
	}
	var wg sync.WaitGroup
	for _, some := range at {
		wg.Go(func() {
			c, err := some[0].client(ctx, w.Reach)
			if err != nil { // nothing is known
				return
			}
			usable := map[string]bool{}
			all, _ := c.Devices(ctx) // of one that does not answer none can be used
			for _, i := range all {
				usable[i.Serial] = i.Usable()
			}
			p.change(func() {
				for _, ph := range some {
					ph.away = !usable[ph.Serial]
				}
			})
		})
	}
	wg.Wait()
}

// client is the phone's adb server.
func (d Device) client(ctx context.Context, r Reach) (poolClient, error) {
	if d.Server.Host != "" {
		if r.Hosts == nil {
			return poolClient{}, errors.New("its adb server is reached over ssh, which is not to be had here")
		}
		return poolClient{adb.NewClientOver(d.Server.String(), func(ctx context.Context) (net.Conn, error) {
			return r.Hosts.Dial(ctx, d.Server.Host, d.Key, d.Server.Network, d.Server.Address)
		}), d.Server}, nil
	}
	if d.Server != (Server{}) {
		return poolClient{adb.NewClient(d.Server.Network, d.Server.Address), d.Server}, nil
	}
	if r.Server == nil {
		return poolClient{}, errors.New("it names no adb server, and the user has none")
	}
	c, err := r.Server(ctx)
	return poolClient{Client: c}, err
}

// poolClient is a client that knows how its server is called.
type poolClient struct {
	*adb.Client
	at Server
}

// attach returns the device once the server can reach it. One with an address is connected to.
func (c poolClient) attach(ctx context.Context, serial string) (link.Device, error) {
	dev := c.Device(serial)
	connected := !strings.Contains(serial, ":")
	for end := time.Now().Add(connectWait); ; {
		all, err := c.Devices(ctx)
		if err != nil && c.at == (Server{}) {
			return nil, fmt.Errorf("the adb server does not answer: %w", Short(err))
		}
		if err != nil {
			return nil, c.at.Silent(err)
		}
		state := "not connected to the adb server"
		for _, i := range all {
			if i.Serial != serial {
				continue
			}
			if i.Usable() {
				return dev, nil
			}
			state = i.State
		}
		switch {
		case !connected: // Reconnect also drops a link that is dead
			connected = true
			if err := dev.Reconnect(ctx); err != nil {
				return nil, Short(err)
			}
			end = time.Now().Add(connectWait)
			continue
		case !strings.Contains(serial, ":") || state == "unauthorized" || time.Now().After(end):
			if remedy := StateRemedy(state); remedy != "" {
				state += ": " + remedy
			}
			return nil, errors.New("it is " + state)
		}
		select {
		case <-time.After(connectPoll):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// probe tells whether a phone takes any files, and what names the time since it was booted. One whose disk is full of what is ours takes some: the
// push removes what was not used for long.
func probe(ctx context.Context, dev link.Device) (boot string, err error) {
	out, err := link.Script(ctx, dev, probeScript, nil)
	if err != nil {
		return "", Short(err)
	}
	said := map[string]string{}
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		said[key] = value
	}
	if said["probe"] == "ok" || devinfo.Kilobytes(said["store"]) >= leastStore {
		return said["boot"], nil
	}
	return "", fmt.Errorf("nothing can be written to its %s: %s", path.Dir(string(dev.Place().Folder)), said["probe"])
}

// Output: "probe=ok", or what a write said; the size of our folder in KB; the kernel's boot id, and when init started.
const probeScript = `f=${hexmage%/*}/.hexmage-probe.$$
if m=$( { echo probe >$f; } 2>&1 ) && [ -s $f ]; then echo probe=ok; else echo "probe=${m##*: }"; fi
rm -f $f
du -sk ` + layout.Root + ` 2>/dev/null | { read -r n _; echo "store=$n"; }
b=
read -r b </proc/sys/kernel/random/boot_id
read -r s </proc/1/stat && set -- ${s##*)} && shift 19 && b="$b $1"
echo "boot=$b"
exit 0`

// Short leaves out where in the protocol something failed, which helps nobody with a phone.
func Short(err error) error {
	var refused *adb.ServerError
	var unreachable *net.OpError // the server, not the device
	switch {
	case errors.As(err, &unreachable):
		return &shortError{unreachable.Error(), err}
	case errors.As(err, &refused):
		return &shortError{strings.TrimPrefix(refused.Message, "failed to connect: "), err}
	case errors.Is(err, lease.ErrLost):
		return &shortError{lease.ErrLost.Error(), err}
	case errors.Is(err, errSilent):
		return &shortError{errSilent.Error(), err}
	case errors.Is(err, link.ErrDropped):
		return &shortError{link.ErrDropped.Error(), err}
	}
	return err
}

// shortError has a shorter text than its cause.
type shortError struct {
	text string
	err  error
}

func (e *shortError) Error() string { return e.text }
func (e *shortError) Unwrap() error { return e.err }
