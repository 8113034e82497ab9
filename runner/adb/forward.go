package adb

import (
	"context"
	"fmt"
	"io"
	"strconv"
)

// Forward makes the server listen at the socket local and forward connections to the socket remote on the device. It
// returns the local address, with the actual port in place of port 0. An existing listener is an error. Forwarding ends
// when you call KillForward, the server ends or the device disconnects.
func (d *Device) Forward(ctx context.Context, local, remote string) (string, error) {
	if d.client.over != nil {
		return "", fmt.Errorf("adb: %w: the adb server %s runs on another computer and would open the port there; "+
			"run hexmage on that computer", errLocal, d.client.address)
	}
	port, err := d.host(ctx, "forward:norebind:"+local+";"+remote)
	if err != nil || port == "" {
		return local, err
	}
	n, err := strconv.ParseUint(port, 10, 16)
	at := "tcp:" + strconv.FormatUint(n, 10)
	if err != nil || local != "tcp:0" && local != at { // the server also names a port that hexmage chose
		return "", fmt.Errorf("adb: forward: %w: invalid port %q", ErrProtocol, port)
	}
	return at, nil
}

// KillForward stops the forwarding that listens at the socket local.
func (d *Device) KillForward(ctx context.Context, local string) error {
	_, err := d.host(ctx, "killforward:"+local)
	return err
}

// host asks the server about this device. The server answers OKAY twice, when it received and when it did the
// request. A text may follow.
func (d *Device) host(ctx context.Context, service string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	cn, err := d.client.dial(ctx)
	if err != nil {
		return "", err
	}
	defer cn.Close()
	service = "host-serial:" + d.serial + ":" + service
	err = cn.request(service)
	if err == nil {
		err = readStatus(cn.r, service)
	}
	if err != nil {
		return "", wrap(ctx, err, "%s", serviceName(service))
	}
	if _, err := cn.r.Peek(1); err == io.EOF { // the answer ends without a text
		return "", nil
	}
	s, err := readString(cn.r)
	return s, wrap(ctx, err, "%s", serviceName(service))
}
