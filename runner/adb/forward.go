package adb

import (
	"context"
	"fmt"
	"io"
	"strconv"
)

// Forward makes the server listen at local and connect whoever comes to remote on the device. Port 0 has the server
// choose one. It returns local as it is then. It ends with the server, with the device's link, or by KillForward. One
// that is there already is an error.
func (d *Device) Forward(ctx context.Context, local, remote string) (string, error) {
	if d.client.over != nil {
		return "", fmt.Errorf("adb: %w: the adb server %s would listen on its own computer: run this there, or connect the phone here", errLocal, d.client.address)
	}
	port, err := d.host(ctx, "forward:norebind:"+local+";"+remote)
	if err != nil || port == "" {
		return local, err
	}
	n, err := strconv.ParseUint(port, 10, 16)
	at := "tcp:" + strconv.FormatUint(n, 10)
	if err != nil || local != "tcp:0" && local != at { // which it also tells of a port that it did not choose
		return "", fmt.Errorf("adb: forward: %w: %q is no port", ErrProtocol, port)
	}
	return at, nil
}

// KillForward ends what Forward began, by its local socket.
func (d *Device) KillForward(ctx context.Context, local string) error {
	_, err := d.host(ctx, "killforward:"+local)
	return err
}

// host asks the server for something about this device to which it says OKAY twice: that it heard, and that it did;
// and then, maybe, a text.
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
	if _, err := cn.r.Peek(1); err == io.EOF { // there is no text
		return "", nil
	}
	s, err := readString(cn.r)
	return s, wrap(ctx, err, "%s", serviceName(service))
}
