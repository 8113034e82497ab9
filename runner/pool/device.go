package pool

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/runner/devinfo"
	"github.com/hexmage/hexmage/runner/link"
	"github.com/hexmage/hexmage/runner/ssh"
)

// Server says where an adb server listens. The zero Server is the user's own.
type Server struct {
	Network string // "tcp" or "unix"
	Address string // "10.0.0.2:5037", or a socket's path
	Host    string // "ssh://USER@HOST:PORT" of the computer that reaches the address; empty: this one
}

// String returns the server as devices.hcl has it.
func (s Server) String() string {
	if s.Host != "" {
		return s.Host + "/" + strings.TrimPrefix(strings.TrimPrefix(s.Address, "127.0.0.1:"), "/")
	}
	if s.Network == "unix" {
		return "unix:" + s.Address
	}
	return s.Address
}

// Local reports whether the server is one of this machine.
func (s Server) Local() bool {
	host, _, err := net.SplitHostPort(s.Address)
	ip := net.ParseIP(host)
	return s.Host == "" && (s.Network == "unix" || err != nil || host == "localhost" || ip != nil && ip.IsLoopback())
}

// Silent returns the error of a server that does not answer.
func (s Server) Silent(err error) error {
	start := "adb start-server"
	if s.Host == "" && s.Network == "tcp" { // from elsewhere it is reached only if it listens at all addresses
		start = "adb -a nodaemon server"
	}
	return fmt.Errorf("the adb server %s does not answer; run `%s` there (%w)", s, start, err)
}

// Device is a phone or a board of devices.hcl.
type Device struct {
	Name   string // for people, and for --serial
	Serial string // "R5CX123"; "HOST:PORT" is connected to; "ssh://USER@HOST:PORT" is a board
	Server Server
	SoC    string // "SM8750"; empty: the device is asked
}

// Reach says how devices are reached.
type Reach struct {
	Server func(context.Context) (*adb.Client, error) // the user's own adb server, for phones that name none
	SSH    ssh.Options                                // for boards, and adb servers of other hosts
}

// client returns the phone's adb server.
func (d Device) client(ctx context.Context, r Reach) (*adb.Client, error) {
	switch {
	case d.Server.Host != "":
		return adb.NewClientOver(d.Server.String(), func(ctx context.Context) (net.Conn, error) {
			return r.SSH.Connect(ctx, d.Server.Host, d.Server.Address)
		}), nil
	case d.Server != (Server{}):
		return adb.NewClient(d.Server.Network, d.Server.Address), nil
	}
	return r.Server(ctx)
}

const (
	connectWait = 2 * time.Second // for a phone that was just connected to be usable
	connectPoll = 50 * time.Millisecond
)

// Open returns the device once it can be reached: without a serial the only phone that is connected, or the only one
// with the SoC. A phone with an address is connected to.
func (r Reach) Open(ctx context.Context, d Device) (link.Device, error) {
	if ssh.Is(d.Serial) {
		return ssh.Dial(ctx, d.Serial, r.SSH)
	}
	c, err := d.client(ctx, r)
	if err != nil {
		return nil, err
	}
	if d.Serial == "" {
		one, err := devinfo.Pick(ctx, c, d.SoC)
		return c.Device(one.Serial), err
	}
	dev := c.Device(d.Serial)
	state, err := d.state(ctx, c)
	if err != nil && d.Server != (Server{}) {
		return nil, d.Server.Silent(err)
	}
	if err == nil && !state.Usable() && strings.Contains(d.Serial, ":") { // Reconnect also drops a link that is dead
		err = dev.Reconnect(ctx)
		for end := time.Now().Add(connectWait); err == nil && time.Now().Before(end); time.Sleep(connectPoll) {
			if state, err = d.state(ctx, c); state.Usable() {
				break
			}
		}
	}
	if err == nil && !state.Usable() {
		err = errors.New(strings.TrimSuffix("it is "+state.State+": "+state.Remedy(), ": "))
	}
	return dev, err
}

// state returns what the server says of the phone.
func (d Device) state(ctx context.Context, c *adb.Client) (adb.Info, error) {
	all, err := c.Devices(ctx)
	for _, i := range all {
		if i.Serial == d.Serial {
			return i, err
		}
	}
	return adb.Info{State: "not connected to the adb server"}, err
}

// open returns a device that answers.
func (d Device) open(ctx context.Context, r Reach) (link.Device, devinfo.Info, error) {
	dev, err := r.Open(ctx, d)
	if err != nil {
		return nil, devinfo.Info{}, err
	}
	info, err := devinfo.Describe(ctx, dev)
	if link.Retryable(err) { // the server may not know yet that its link is dead
		if err = dev.Reconnect(ctx); err == nil {
			info, err = devinfo.Describe(ctx, dev)
		}
	}
	info.Name = d.Name
	if err == nil && !devinfo.FitsSoC(info.SoC, d.SoC) {
		err = fmt.Errorf("it has the SoC %s, devices.hcl says %s", info.SoC, d.SoC)
	}
	return dev, info, err
}
