package fetch

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// pacedBody is the body of an answer that is given up when too little of it comes: nothing for some time, or over that time fewer bytes
// than the floor. Only the time that is spent waiting for it counts.
type pacedBody struct {
	io.ReadCloser
	client  Client
	cancel  func() // ends a read that waits
	stalled atomic.Bool
	came    int64
	waited  time.Duration
}

// Read implements io.Reader.
func (p *pacedBody) Read(b []byte) (int, error) {
	watch := time.AfterFunc(p.client.Stall, func() {
		p.stalled.Store(true)
		p.cancel()
	})
	begin := time.Now()
	n, err := p.ReadCloser.Read(b)
	watch.Stop()
	p.came += int64(n)
	p.waited += time.Since(begin)
	switch {
	case err == io.EOF:
	case p.stalled.Load():
		err = &transientError{err: fmt.Errorf("no byte came for %v", p.client.Stall)}
	case p.waited >= p.client.Stall:
		if float64(p.came) < float64(p.client.Floor)*p.waited.Seconds() {
			err = &transientError{slow: true, err: fmt.Errorf("%d bytes came in %v: less than %d bytes a second is given up", p.came, p.waited.Round(time.Second/10), p.client.Floor)}
		}
		p.came, p.waited = 0, 0
	}
	return n, err
}
