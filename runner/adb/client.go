package adb

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/hexmage/hexmage/runner/layout"
	"github.com/hexmage/hexmage/runner/link"
)

// Client talks to one adb server. It holds no connection: each operation opens its own. Safe for concurrent use.
type Client struct {
	network, address string
	over             func(context.Context) (net.Conn, error) // makes connections; nil: to network and address
}

// NewClient returns a client of the server at address: network is "tcp" ("127.0.0.1:5037" is the usual server) or "unix" (a socket's path).
func NewClient(network, address string) *Client {
	return &Client{network: network, address: address}
}

// NewClientOver returns a client of a server that is not reached directly: over makes each connection, and address is what the server is called. Errors of over
// are passed on as they are; one that is a syscall.ECONNREFUSED says that no server listens.
func NewClientOver(address string, over func(context.Context) (net.Conn, error)) *Client {
	return &Client{address: address, over: over}
}

// Address returns where the server listens.
func (c *Client) Address() string { return c.address }

// Info is one line of the server's list of devices.
type Info struct {
	Serial string
	State  string            // "device" when usable; else "offline", "unauthorized", "no permissions (…)", …
	Props  map[string]string // "product", "model", "device", "transport_id", "usb", … as far as the server says
}

// Usable reports whether commands can be sent to the device.
func (i Info) Usable() bool { return i.State == "device" }

// Remedy says what to do about a device that cannot be used; "" if nothing is known.
func (i Info) Remedy() string {
	state, _, _ := strings.Cut(i.State, " ")
	return map[string]string{
		"unauthorized": "allow USB debugging in the dialog that the device shows",
		"authorizing":  "wait a moment, or confirm the dialog \"Allow USB debugging?\" on the unlocked device",
		"connecting":   "wait a moment; if it stays so, check the network, then hexmage device connect again",
		"offline":      "unplug it and plug it in again, or hexmage device connect again",
		"no":           "this user may not open the USB device: add a udev rule, and the user to group plugdev",
		"recovery":     "start Android: adb reboot",
		"rescue":       "start Android: adb reboot",
		"sideload":     "finish or cancel the update on the device, and start Android: adb reboot",
		"bootloader":   "start Android: fastboot reboot",
	}[state]
}

// Version returns the server's internal version in hexadecimal: "0029" for 1.0.41.
func (c *Client) Version(ctx context.Context) (string, error) { return c.ask(ctx, "host:version") }

// Devices returns every device that the server knows, usable or not.
func (c *Client) Devices(ctx context.Context) ([]Info, error) {
	s, err := c.ask(ctx, "host:devices-l")
	if err != nil {
		return nil, err
	}
	return parseDevices(s), nil
}

// Connect makes the server open a TCP link to the device at address ("host:port"), which then is the device's serial.
// A link that exists already is fine; one to a device that has restarted is stale, so Disconnect first when in doubt.
func (c *Client) Connect(ctx context.Context, address string) error {
	_, err := c.connect(ctx, address)
	return err
}

// connect is Connect, and tells whether there was a link already.
func (c *Client) connect(ctx context.Context, address string) (already bool, err error) {
	s, err := c.ask(ctx, "host:connect:"+address)
	if err != nil {
		return false, err
	}
	// The server says OKAY to the question whatever came of it; only the text tells.
	if already = strings.HasPrefix(s, "already connected to"); already || strings.HasPrefix(s, "connected to") {
		return already, nil
	}
	return false, fmt.Errorf("adb: %w", &ServerError{Request: "host:connect:" + address, Message: "failed to connect: " + s})
}

// Disconnect drops the server's TCP link to the device at address. One that is not connected is fine.
func (c *Client) Disconnect(ctx context.Context, address string) error {
	_, err := c.ask(ctx, "host:disconnect:"+address)
	if refused, ok := asServerError(err); ok && strings.Contains(refused.Message, "no such device") {
		return nil
	}
	return err
}

// Pair makes the server and a device that shows a code for pairing know each other's keys, after which Connect works. The address is
// the one shown with the code, which is not the one to connect to.
func (c *Client) Pair(ctx context.Context, address, code string) error {
	if code == "" || strings.ContainsAny(code, ": ") {
		return fmt.Errorf("adb: %q is no code for pairing: it is the number that the device shows", code)
	}
	s, err := c.askAs(ctx, "host:pair:"+code+":"+address, "host:pair:"+address) // the code is nobody's business
	if err != nil {
		return err
	}
	if strings.HasPrefix(s, "Successfully paired") {
		return nil
	}
	return fmt.Errorf("adb: %w", &ServerError{Request: "host:pair:" + address, Message: "pairing failed: " + s})
}

// Device returns a handle on the device with the given serial. Nothing is sent.
func (c *Client) Device(serial string) *Device {
	return &Device{client: c, serial: serial}
}

// ask sends a request whose answer is one text.
func (c *Client) ask(ctx context.Context, service string) (string, error) {
	return c.askAs(ctx, service, service)
}

// askAs is ask with another name of the service in errors.
func (c *Client) askAs(ctx context.Context, service, name string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	cn, err := c.dial(ctx)
	if err != nil {
		return "", err
	}
	defer cn.Close()
	err = cn.request(service)
	if refused, ok := asServerError(err); ok {
		refused.Request = name
	}
	if err != nil {
		return "", wrap(ctx, err, "%s", name)
	}
	s, err := readString(cn.r)
	return s, wrap(ctx, err, "%s", name)
}

// Device is one device of a server. Safe for concurrent use.
type Device struct {
	client *Client
	serial string
}

// Place implements link.Device. The serial is the device's own for USB, "host:port" for TCP.
func (d *Device) Place() link.Place { return link.Place{Serial: d.serial, Folder: layout.Android} }

// Reconnect makes a TCP device usable again after its link broke. For a device on USB it only checks that it is there.
func (d *Device) Reconnect(ctx context.Context) error {
	if !strings.Contains(d.serial, ":") {
		ctx, cancel := context.WithTimeoutCause(ctx, askWait,
			fmt.Errorf("%w: it does not answer within %v", link.ErrDropped, askWait))
		defer cancel()
		_, err := link.Output(ctx, d, "true", nil)
		return err
	}
	// The server says "already connected" about a dead link for about ten seconds, and for a moment about one that it has been told to
	// drop: what is asked of the device then is asked of a link that is about to go.
	for try := 0; ; try++ {
		if err := d.client.Disconnect(ctx, d.serial); err != nil {
			return err
		}
		already, err := d.client.connect(ctx, d.serial)
		if err != nil || !already || try == maxDrops {
			return err
		}
		select {
		case <-time.After(dropWait):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

const (
	maxDrops = 50 // tries to have a dead link dropped
	dropWait = 20 * time.Millisecond
)

// open returns a connection on which the device itself now speaks service's protocol.
func (d *Device) open(ctx context.Context, service string) (*conn, error) {
	cn, err := d.client.dial(ctx)
	if err != nil {
		return nil, err
	}
	cn.within(askWait)
	for _, request := range []string{"host:transport:" + d.serial, service} {
		if err := cn.request(request); err != nil {
			cn.Close()
			return nil, wrap(ctx, err, "device %s: open %s", d.serial, serviceName(request))
		}
	}
	cn.within(0)
	return cn, nil
}

// serviceName shortens a request for a message: a command line can be long.
func serviceName(request string) string {
	const most = 120
	if len(request) > most {
		return request[:most] + "…"
	}
	return request
}

// states are the first words of what a server says of a device, after its serial.
var states = []string{"device", "offline", "unauthorized", "authorizing", "connecting", "no", "recovery", "sideload",
	"rescue", "bootloader", "host", "detached", "unknown"}

// parseDevices reads "SERIAL   STATE key:value…" lines. A serial may have blanks: adb appends " (2)" to the name of a
// phone that it finds a second time in the network. A state may be several words.
func parseDevices(s string) []Info {
	var all []Info
	for line := range strings.Lines(s) {
		words := strings.Fields(line)
		if len(words) < 2 {
			continue
		}
		at := 1 + max(0, slices.IndexFunc(words[1:], func(w string) bool { return slices.Contains(states, w) }))
		info := Info{Serial: strings.Join(words[:at], " "), Props: map[string]string{}}
		var state []string
		for _, w := range words[at:] {
			if key, value, ok := strings.Cut(w, ":"); ok && isPropKey(key) {
				info.Props[key] = value
			} else if len(info.Props) == 0 {
				state = append(state, w)
			}
		}
		info.State = strings.Join(state, " ")
		all = append(all, info)
	}
	return all
}

func isPropKey(key string) bool {
	switch key {
	case "product", "model", "device", "transport_id", "usb", "devpath", "features":
		return true
	}
	return false
}
