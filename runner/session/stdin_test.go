package session

import (
	"errors"
	"os"
	"testing"
)

// used counts calls without a lock, so that the race detector finds concurrent ones.
type used struct{ reads, closed int }

func (u *used) Read(b []byte) (int, error) {
	if u.closed > 0 {
		panic("it is read when it is closed")
	}
	u.reads++
	return len(b), nil
}

func (u *used) Close() error {
	u.closed++
	return nil
}

// A command ends while the link still reads its standard input.
func TestStdinIsClosed(t *testing.T) {
	u := &used{}
	in := &stdin{in: u}
	begun, ended := make(chan struct{}), make(chan error)
	go func() {
		b := make([]byte, 1)
		for n := 0; ; n++ {
			if n == 10 {
				close(begun)
			}
			if _, err := in.Read(b); err != nil {
				ended <- err
				return
			}
		}
	}()
	<-begun
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, os.ErrClosed) || u.reads < 10 || u.closed != 1 {
		t.Errorf("%v, %+v", err, u)
	}
}
