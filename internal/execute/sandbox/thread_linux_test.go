package sandbox

import (
	"errors"
	"testing"
)

// TestNoFallback: where this machine can mount, a command whose mounts fail does not run without them.
func TestNoFallback(t *testing.T) {
	base, err := Open()
	if err == nil {
		err = base.Mounts()
	}
	if err != nil {
		t.Skip(err)
	}
	base.unsupervised = errors.New("so that the thread freezes its mounts")
	_, err = Start(base, Access{Own: t.TempDir() + "/missing"}, false, nil, func() { t.Error("it runs") })
	if err == nil {
		t.Error("the thread started")
	}
}
