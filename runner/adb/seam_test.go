//go:build linux

package adb_test

import (
	"testing"
	"time"

	"github.com/hexmage/hexmage/runner/transport/transporttest"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
)

// TestLink runs the tests of package transporttest on a phone.
func TestLink(t *testing.T) {
	t.Parallel()
	e, s := phonetest.Start(t, phonetest.Image(t, nil), nil), phonetest.Server(t)
	if err := s.Connect(t.Context(), e.Addr()); err != nil {
		t.Fatal(err)
	}
	transporttest.Run(t, "adb.Device", s.Device(e.Addr()), func() {
		if err := e.Unplug(time.Second); err != nil {
			t.Error(err)
		}
	})
}
