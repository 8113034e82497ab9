//go:build linux

package adb_test

import (
	"testing"
	"time"

	"github.com/hexmage/hexmage/runner/link/linktest"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
)

// TestLink holds phones to what package link promises of devices.
func TestLink(t *testing.T) {
	t.Parallel()
	e, s := phonetest.Start(t, phonetest.Image(t, nil), nil), phonetest.Server(t)
	if err := s.Connect(t.Context(), e.Addr()); err != nil {
		t.Fatal(err)
	}
	linktest.Run(t, "adb.Device", s.Device(e.Addr()), func() {
		if err := e.Unplug(time.Second); err != nil {
			t.Error(err)
		}
	})
}
