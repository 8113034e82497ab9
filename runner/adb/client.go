package adb

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/hexmage/hexmage/runner/layout"
	"github.com/hexmage/hexmage/runner/transport"
)

// Client talks to one adb server. Each operation opens its own connection. A Client is safe for concurrent use.
type Client struct {
	network, address string
	over             func(context.Context) (net.Conn, error) // opens connections; nil: to network and address
}

// NewClient returns a client for the server at an address. The network is "tcp", with an address such as
// "127.0.0.1:5037", or "unix", with the path of a socket.
func NewClient(network, address string) *Client {
	return &Client{network: network, address: address}
}

// NewClientOver returns a client that connects with the function over, for example through ssh. Errors name the server
// by address. The function over must return syscall.ECONNREFUSED if no server listens.
func NewClientOver(address string, over func(context.Context) (net.Conn, error)) *Client {
	return &Client{address: address, over: over}
}

// Address returns the address of the server.
func (c *Client) Address() string { return c.address }

// Info is one line in the server's list of devices.
type Info struct {
	Serial string
	State  string            // "device" when usable; else "offline", "unauthorized", "no permissions (…)", …
	Props  map[string]string // "product", "model", "device", "transport_id", "usb", …, if the server knows them
}

// Usable reports whether the device accepts commands.
func (i Info) Usable() bool { return i.State == "device" }

// Remedy returns the next step for an unusable device, or "" if hexmage knows none.
func (i Info) Remedy() string {
	state, _, _ := strings.Cut(i.State, " ")
	return map[string]string{
		"unauthorized": "allow USB debugging in the dialog on the device",
		"authorizing":  "wait a moment, or confirm the dialog \"Allow USB debugging?\" on the unlocked device",
		"connecting":   "wait a moment, or check the network and run `hexmage device connect` again",
		"offline":      "unplug the device and plug it in again, or run `hexmage device connect` again",
		"no":           "your user may not open the USB device; add a udev rule, and add your user to group plugdev",
		"recovery":     "run `adb reboot` to start Android",
		"rescue":       "run `adb reboot` to start Android",
		"sideload":     "finish or cancel the update on the device, and run `adb reboot` to start Android",
		"bootloader":   "run `fastboot reboot` to start Android",
	}[state]
}

// Version returns the server's internal version in hexadecimal: "0029" for 1.0.41.
func (c *Client) Version(ctx context.Context) (string, error) { return c.ask(ctx, "host:version") }

// Devices returns every device of the server, usable or not.
func (c *Client) Devices(ctx context.Context) ([]Info, error) {
	s, err := c.ask(ctx, "host:devices-l")
	if err != nil {
		return nil, err
	}
	return parseDevices(s), nil
}

// Connect makes the server open a TCP link to the device at address ("host:port"). The address becomes the device's
// serial. An existing link is not an error. After a restart of the device, the existing link may be stale, so call
// Disconnect first.
func (c *Client) Connect(ctx context.Context, address string) error {
	_, err := c.connect(ctx, address)
	return err
}

// connect is Connect, and reports whether the link existed already.
func (c *Client) connect(ctx context.Context, address string) (already bool, err error) {
	s, err := c.ask(ctx, "host:connect:"+address)
	if err != nil {
		return false, err
	}
	// The server answers OKAY even if it failed. Only the text tells.
	if already = strings.HasPrefix(s, "already connected to"); already || strings.HasPrefix(s, "connected to") {
		return already, nil
	}
	return false, fmt.Errorf("adb: %w", &ServerError{Request: "host:connect:" + address, Message: "failed to connect: " + s})
}

// Disconnect drops the server's TCP link to the device at address. A missing link is not an error.
func (c *Client) Disconnect(ctx context.Context, address string) error {
	_, err := c.ask(ctx, "host:disconnect:"+address)
	if refused, ok := asServerError(err); ok && strings.Contains(refused.Message, "no such device") {
		return nil
	}
	return err
}

// Pair makes the server exchange keys with a device, using the pairing address and the code that the device shows.
// Connect then needs another address of the device.
func (c *Client) Pair(ctx context.Context, address, code string) error {
	if code == "" || strings.ContainsAny(code, ": ") {
		return fmt.Errorf("adb: invalid pairing code %q; enter the number that the device shows", code)
	}
	s, err := c.askAs(ctx, "host:pair:"+code+":"+address, "host:pair:"+address) // keep the code out of errors
	if err != nil {
		return err
	}
	if strings.HasPrefix(s, "Successfully paired") {
		return nil
	}
	return fmt.Errorf("adb: %w", &ServerError{Request: "host:pair:" + address, Message: "pairing failed: " + s})
}

// Device returns a handle for the device with the given serial. It does not contact the device.
func (c *Client) Device(serial string) *Device {
	return &Device{client: c, serial: serial}
}

// ask sends a request and returns the text of the answer.
func (c *Client) ask(ctx context.Context, service string) (string, error) {
	return c.askAs(ctx, service, service)
}

// askAs is ask, with another name of the service in errors.
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

// Device is one device of a server. It is safe for concurrent use.
type Device struct {
	client *Client
	serial string
}

// Place implements transport.Device. The serial of a TCP device is "host:port".
func (d *Device) Place() transport.Place {
	return transport.Place{Serial: d.serial, Folder: layout.Android}
}

// Reconnect makes a TCP device usable again after its link breaks. For a USB device, it only checks that the device
// answers.
func (d *Device) Reconnect(ctx context.Context) error {
	if !strings.Contains(d.serial, ":") {
		ctx, cancel := context.WithTimeoutCause(ctx, askWait,
			fmt.Errorf("%w: no answer within %v", transport.ErrDropped, askWait))
		defer cancel()
		_, err := transport.Output(ctx, d, "true", nil)
		return err
	}
	// For about ten seconds the server answers "already connected" for a dead link. For a moment it does so for a
	// link that it is dropping. A request on such a link would fail.
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
	maxDrops = 50 // attempts to drop a dead link
	dropWait = 20 * time.Millisecond
)

// open returns a connection on which the device speaks the protocol of service.
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

// serviceName shortens a request for a message, because a command line can be long.
func serviceName(request string) string {
	const most = 120
	if len(request) > most {
		return request[:most] + "…"
	}
	return request
}

// states are the first words of a device's state in the server's list.
var states = []string{"device", "offline", "unauthorized", "authorizing", "connecting", "no", "recovery", "sideload",
	"rescue", "bootloader", "host", "detached", "unknown"}

// parseDevices reads "SERIAL STATE key:value…" lines. A serial may have blanks: adb appends " (2)" to the name of a
// phone that it finds a second time in the network. A state may have several words.
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
