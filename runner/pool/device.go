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
	"github.com/hexmage/hexmage/runner/ssh"
	"github.com/hexmage/hexmage/runner/transport"
)

// Server is the address of an adb server. The zero Server is the user's own server.
type Server struct {
	Network string // "tcp" or "unix"
	Address string // "10.0.0.2:5037", or a socket's path
	Host    string // "ssh://USER@HOST:PORT" of the server's computer; empty: this machine
}

// String returns the server in the syntax of devices.hcl.
func (s Server) String() string {
	if s.Host != "" {
		return s.Host + "/" + strings.TrimPrefix(strings.TrimPrefix(s.Address, "127.0.0.1:"), "/")
	}
	if s.Network == "unix" {
		return "unix:" + s.Address
	}
	return s.Address
}

// Local reports whether the server runs on this machine.
func (s Server) Local() bool {
	host, _, err := net.SplitHostPort(s.Address)
	ip := net.ParseIP(host)
	return s.Host == "" && (s.Network == "unix" || err != nil || host == "localhost" || ip != nil && ip.IsLoopback())
}

// Silent wraps err in an error for a server that does not answer.
func (s Server) Silent(err error) error {
	start := "adb start-server"
	if s.Host == "" && s.Network == "tcp" { // other machines reach the server only if it listens at all addresses
		start = "adb -a nodaemon server"
	}
	return fmt.Errorf("the adb server %s does not answer (%w); run `%s` on the server's computer", s, err, start)
}

// Device is a phone or a board in devices.hcl.
type Device struct {
	Name   string // for messages and --serial
	Serial string // "R5CX123"; a TCP address is "HOST:PORT", a board is "ssh://USER@HOST:PORT"
	Server Server
	SoC    string // "SM8750"; empty: hexmage asks the device
}

// Transports holds the settings for connections to devices.
type Transports struct {
	Server func(context.Context) (*adb.Client, error) // user's adb server, for phones without a server of their own
	SSH    ssh.Options                                // client options for boards and for adb servers on other hosts
}

// client returns the phone's adb server.
func (d Device) client(ctx context.Context, r Transports) (*adb.Client, error) {
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
	connectWait = 2 * time.Second // for a newly connected phone to become usable
	connectPoll = 50 * time.Millisecond
)

// Open connects to a device. Without a serial, it chooses the only connected phone, or the only phone with the SoC. If
// the serial is a TCP address, Open also connects the adb server to the phone.
func (r Transports) Open(ctx context.Context, d Device) (transport.Device, error) {
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
	if err == nil && !state.Usable() && strings.Contains(d.Serial, ":") { // Reconnect also drops a dead link
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

// state returns the phone's entry in the server's list.
func (d Device) state(ctx context.Context, c *adb.Client) (adb.Info, error) {
	all, err := c.Devices(ctx)
	for _, i := range all {
		if i.Serial == d.Serial {
			return i, err
		}
	}
	return adb.Info{State: "not connected to the adb server"}, err
}

// open returns a device that answers, and its properties.
func (d Device) open(ctx context.Context, r Transports) (transport.Device, devinfo.Info, error) {
	dev, err := r.Open(ctx, d)
	if err != nil {
		return nil, devinfo.Info{}, err
	}
	info, err := devinfo.Describe(ctx, dev)
	if transport.Retryable(err) { // the server may not know yet that its link is dead
		if err = dev.Reconnect(ctx); err == nil {
			info, err = devinfo.Describe(ctx, dev)
		}
	}
	info.Name = d.Name
	if err == nil && !devinfo.FitsSoC(info.SoC, d.SoC) {
		err = fmt.Errorf("the SoC is %s, but devices.hcl says %s", info.SoC, d.SoC)
	}
	return dev, info, err
}
