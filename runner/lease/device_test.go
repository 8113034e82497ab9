//go:build linux

package lease

import (
	"errors"
	"testing"
	"time"

	"github.com/hexmage/hexmage/runner/ssh"
	"github.com/hexmage/hexmage/runner/ssh/sshtest"
)

// TestHolderThatVanished has a holder lose its link without an end, as where a cable is pulled or a laptop sleeps: the board sees a connection on which nothing
// comes. Whoever comes next has the board after a while, and the holder hears of it when its link is back.
func TestHolderThatVanished(t *testing.T) {
	t.Parallel()
	s := sshtest.Start(t, sshtest.Options{})
	c := s.Cable(t)
	dial := func(address string, o ssh.Options) *ssh.Board {
		b, err := ssh.Dial(t.Context(), address, o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		return b
	}
	short := Options{Grace: time.Second, beatEvery: 500 * time.Millisecond, beatWait: 4 * time.Second}
	first, second := short, short
	first.Who, first.Host = "the first", "one"
	second.Who, second.Host = "the second", "two"
	busy := make(chan string, 1)
	second.Waiting = func(owner string) { busy <- owner }
	h, err := OnDevice(t.Context(), dial(c.Address(), s.Options(t, c.At())), first)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Release()
	had := make(chan *Lease, 1)
	go func() {
		other, err := OnDevice(t.Context(), dial(s.Address(), s.Options(t)), second)
		if err != nil {
			t.Error(err)
		}
		had <- other
	}()
	select { // longer than a holder may say nothing: it says that it is there
	case other := <-had:
		other.Release()
		t.Fatal("it was taken from one who was there")
	case <-time.After(2 * short.beatWait):
	}
	if owner := <-busy; owner != "the first" {
		t.Errorf("%q has it", owner)
	}
	c.Freeze()
	select {
	case other := <-had:
		defer other.Release()
	case <-time.After(30 * time.Second):
		t.Fatal("one whose link is dead keeps the board")
	}
	for end := time.Now().Add(60 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		if err := h.dev.Reconnect(t.Context()); err == nil {
			if err = h.Check(t.Context()); errors.Is(err, ErrLost) {
				break
			}
		}
		if time.Now().After(end) {
			t.Fatal("the first never hears that another has it")
		}
	}
}
