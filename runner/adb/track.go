package adb

import (
	"context"
	"iter"
)

// Track yields the server's list of devices, first as it is, then after every change, until ctx ends. A list holds every device, usable or
// not; lists that follow each other quickly may be equal. What ends it otherwise is yielded as an error, once, and is the last.
func (c *Client) Track(ctx context.Context) iter.Seq2[[]Info, error] {
	return func(yield func([]Info, error) bool) {
		err := c.track(ctx, "host:track-devices-l", yield)
		if _, refused := asServerError(err); refused { // it is too old to say more than serials and states
			err = c.track(ctx, "host:track-devices", yield)
		}
		if err != nil && ctx.Err() == nil {
			yield(nil, err)
		}
	}
}

// track returns nil when yield wanted no more.
func (c *Client) track(ctx context.Context, service string, yield func([]Info, error) bool) error {
	cn, err := dial(ctx, c.network, c.address)
	if err != nil {
		return err
	}
	defer cn.Close()
	cn.within(askWait)
	if err := cn.request(service); err != nil {
		return wrap(ctx, err, "%s", service)
	}
	for {
		cn.within(0) // nothing may change for days
		if _, err := cn.r.Peek(1); err != nil {
			return wrap(ctx, err, "%s", service)
		}
		cn.within(askWait)
		s, err := readString(cn.r)
		if err != nil {
			return wrap(ctx, err, "%s", service)
		}
		if !yield(parseDevices(s), nil) {
			return nil
		}
	}
}
