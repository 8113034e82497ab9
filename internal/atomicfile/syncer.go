package atomicfile

import (
	"sync"
	"time"
)

const (
	// syncEvery is how long a Syncer lets files gather: what a crash of the machine may cost.
	syncEvery = time.Second
	// syncShare bounds what syncing takes from everything else: it pauses this many times as long as the last one took.
	syncShare = 10
)

// Syncer makes placed files durable some time later, many at once: one sync of a file system costs about what one of a
// file costs.
type Syncer struct {
	dir     string
	syncing sync.Mutex // held while a batch is being made durable, so that Flush waits for batches begun before it

	mu      sync.Mutex
	pending []placed
	running bool          // a goroutine is waiting to sync
	last    time.Duration // of the last sync
}

type placed struct {
	path string
	done func()
}

// NewSyncer returns a Syncer for files of the file system that dir is on.
func NewSyncer(dir string) *Syncer { return &Syncer{dir: dir} }

// Later has the file at path made durable within a second or so, and then calls done (if not nil) from another
// goroutine. A sync that fails is tried again with the next files; done is not called before one succeeded.
func (s *Syncer) Later(path string, done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = append(s.pending, placed{path, done})
	if !s.running {
		s.running = true
		pause := max(syncEvery, syncShare*s.last)
		time.AfterFunc(pause, func() {
			s.mu.Lock()
			s.running = false
			s.mu.Unlock()
			_ = s.Flush() // what failed stays pending, and Flush's next caller hears of it
		})
	}
}

// Flush makes all files given to Later so far durable, and calls their done functions.
func (s *Syncer) Flush() error {
	s.syncing.Lock()
	defer s.syncing.Unlock()
	s.mu.Lock()
	batch := s.pending
	s.pending = nil
	s.mu.Unlock()
	if len(batch) == 0 {
		return nil
	}
	start := time.Now()
	err := syncAll(s.dir, batch)
	s.mu.Lock()
	s.last = time.Since(start)
	if err != nil {
		s.pending = append(batch, s.pending...)
	}
	s.mu.Unlock()
	if err != nil {
		return err
	}
	for _, p := range batch {
		if p.done != nil {
			p.done()
		}
	}
	return nil
}
