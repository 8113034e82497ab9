package adb

import (
	"context"
	"slices"
	"strings"
)

// Names of features, as daemons and servers announce them.
const (
	featureStat = "stat_v2"
	featureList = "ls_v2"
	featureSend = "sendrecv_v2"
	featureZstd = "sendrecv_v2_zstd"
)

// abilities is what can be used of the sync service of a device.
type abilities struct {
	stat bool // STA2, LST2
	list bool // LIS2
	send bool // SND2, RCV2
	zstd bool // and those with zstd
}

// HostFeatures returns what the server itself announces. A server that is too old to be asked has none.
func (c *Client) HostFeatures(ctx context.Context) ([]string, error) {
	s, err := c.ask(ctx, "host:host-features")
	if _, refused := asServerError(err); refused {
		return nil, nil
	}
	return splitFeatures(s), err
}

// Features returns what the device's daemon announces, for example "shell_v2", "stat_v2".
func (d *Device) Features(ctx context.Context) ([]string, error) {
	s, err := d.client.ask(ctx, "host-serial:"+d.serial+":features")
	return splitFeatures(s), err
}

func splitFeatures(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

// abilities asks once, and again after a Reconnect: the device may have been updated.
func (d *Device) abilities(ctx context.Context) (abilities, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.can != nil {
		return *d.can, nil
	}
	device, err := d.Features(ctx)
	if err != nil {
		return abilities{}, err
	}
	can := abilities{stat: slices.Contains(device, featureStat), list: slices.Contains(device, featureList)}
	// A server hands through whatever a device announces. What it does not announce itself was never used with it, so we do not begin.
	if slices.Contains(device, featureSend) {
		host, err := d.client.HostFeatures(ctx)
		if err != nil {
			return abilities{}, err
		}
		can.send = slices.Contains(host, featureSend)
		can.zstd = can.send && slices.Contains(host, featureZstd) && slices.Contains(device, featureZstd)
	}
	d.can = &can
	return can, nil
}

func (d *Device) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.can = nil
}
