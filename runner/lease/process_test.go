package lease_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hexmage/hexmage/runner/lease"
)

func TestLease(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	release, err := lease.Process(t.Context(), dir, "a:1/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
	defer cancel()
	waited := false
	if _, err := lease.Process(ctx, dir, "a:1/x", func(owner string) { waited = owner == "another part of this process" }); !errors.Is(err, context.DeadlineExceeded) || !waited {
		t.Errorf("a second lease: %v, waited %v", err, waited)
	}
	if other, err := lease.Process(ctx, dir, "b", nil); err != nil {
		t.Errorf("another device: %v", err)
	} else {
		other()
	}
	time.AfterFunc(50*time.Millisecond, release)
	again, err := lease.Process(t.Context(), dir, "a:1/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	again()
}
