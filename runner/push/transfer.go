package push

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hexmage/hexmage/runner/link"
)

const (
	senders       = 4       // connections for small files: each waits for the device after every file
	inFlightBytes = 2 << 20 // of them on their way at once, but for one that is larger by itself: what is lost when the link breaks
	commitEarly   = 4 << 20 // so much is verified while the next files are on their way
)

// transfer is the state of a push that may take several attempts.
type transfer struct {
	*Store
	blobs map[string]blob
	large []string // large ones that the device does not have yet
	now   *largeBlob
	known map[string]recipe // of the large blobs that the device has; nil: not asked for yet
	total int64
	piece int64 // the most that is on its way at once; 0: as much as there is
	sent  int64 // before the link broke last
	rest  int64 // how many times as long as sending a piece took nothing is sent after it
	bare  int64 // bytes that the link carried, before it broke, without such pauses

	mu         sync.Mutex // guards what follows, and store.pushed, while small files are on their way
	changed    *sync.Cond
	left       []string // small ones that were not pushed, in order
	pushed     []string // on the device, not verified
	unverified int64    // bytes of those
	inFlight   int64    // bytes of files on their way
	done       int64    // bytes of files that arrived
	partial    int64    // bytes that were sent of others
	arrived    int64    // grows with all that the device keeps
}

func newTransfer(s *Store, blobs map[string]blob) *transfer {
	t := &transfer{Store: s, blobs: blobs}
	t.changed = sync.NewCond(&t.mu)
	return t
}

// dropped counts a link that broke. What was on its way then is lost, some of it in the buffers of adb's server: from now on only a small
// part of what the link carried before is on its way at once, and no file has to arrive in one go that is larger.
func (t *transfer) dropped() {
	t.Store.pushed.Dropped++
	carried := t.Store.pushed.Sent - t.sent
	t.piece = max(carried/lossPart, minPiece)
	t.sent = t.Store.pushed.Sent
	t.pace(carried)
	t.left = slices.DeleteFunc(t.left, func(sum string) bool {
		if t.blobs[sum].size <= t.piece {
			return false
		}
		t.large = append(t.large, sum)
		return true
	})
}

// pace decides on pauses after a break before which the link carried so many bytes. Some links break under load: those of USB that goes over a network do,
// as into WSL. From the second break on there are pauses, longer with each. A link that with the longest carries no more than without breaks by
// amount, and not by load: then there are none again.
func (t *transfer) pace(carried int64) {
	switch {
	case t.Store.pushed.Dropped == 2:
		t.rest, t.bare, t.Store.pushed.Paced = 1, carried, true
	case t.rest == maxRest && carried < 2*t.bare:
		t.rest = 0
	case t.rest > 0:
		t.rest = min(2*t.rest, maxRest)
	}
}

// pause waits after something was sent that took so long, if the link wants that.
func (t *transfer) pause(ctx context.Context, took time.Duration) error {
	if t.rest == 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(min(took*time.Duration(t.rest), maxPause)):
		return nil
	}
}

// attempt pushes what is left until the end or the first error.
func (t *transfer) attempt(ctx context.Context) error {
	if err := t.small(ctx); err != nil {
		return err
	}
	for len(t.large) > 0 {
		if err := t.pushLarge(ctx, t.blobs[t.large[0]]); err != nil {
			return err
		}
		t.large = t.large[1:]
	}
	return nil
}

// small pushes the small files, several at a time, and has the device verify those that arrived meanwhile.
func (t *transfer) small(ctx context.Context) error {
	if len(t.left)+len(t.pushed) == 0 {
		return nil
	}
	if err := t.held.Check(ctx); err != nil {
		return err
	}
	// The largest first, so that no stream is left with one in the end.
	slices.SortStableFunc(t.left, func(a, b string) int { return int(t.blobs[b].size - t.blobs[a].size) })
	n := min(senders, len(t.left))
	if t.rest > 0 {
		n = min(n, 1) // several would send in each other's pauses
	}
	errs := make([]error, n+1)
	var wg sync.WaitGroup
	failed := false // guarded by mu
	running := n
	for i := range n {
		wg.Go(func() {
			err := t.sender(ctx, &failed)
			t.mu.Lock()
			defer t.mu.Unlock()
			errs[i], failed = err, failed || err != nil
			running--
			t.changed.Broadcast()
		})
	}
	var again []string
	again, errs[n] = t.verify(ctx, &running)
	t.mu.Lock()
	failed = failed || errs[n] != nil
	t.mu.Unlock()
	wg.Wait()
	t.left = append(again, t.left...)
	for _, err := range errs { // a link that broke explains the others
		if link.Retryable(err) {
			return err
		}
	}
	return errors.Join(errs...)
}

// sender pushes files until there are none, or one fails.
func (t *transfer) sender(ctx context.Context, failed *bool) error {
	var files *link.Files
	for {
		b, ok := t.take(failed)
		if !ok {
			break
		}
		var err error
		if files == nil {
			var f link.Files
			if f, err = link.OpenFiles(ctx, t.dev); err == nil {
				files = &f
				defer f.Close()
			}
		}
		began := time.Now()
		if err == nil {
			err = t.push(ctx, files, b)
		}
		t.landed(b, err)
		if err == nil {
			err = t.pause(ctx, time.Since(began))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// take waits until one more file may be on its way.
func (t *transfer) take(failed *bool) (blob, bool) {
	most := int64(inFlightBytes)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.piece > 0 {
		most = min(most, t.piece)
	}
	for {
		if *failed || len(t.left) == 0 {
			return blob{}, false
		}
		if b := t.blobs[t.left[0]]; t.inFlight == 0 || t.inFlight+b.size <= most {
			t.left = t.left[1:]
			t.inFlight += b.size
			return b, true
		}
		t.changed.Wait()
	}
}

// landed notes what became of a file.
func (t *transfer) landed(b blob, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.inFlight -= b.size
	if err != nil {
		t.left = append([]string{b.sum}, t.left...)
	} else {
		t.pushed = append(t.pushed, b.sum)
		t.unverified += b.size
		t.done += b.size
		t.arrived += 1 + b.size
	}
	t.changed.Broadcast()
}

func (t *transfer) push(ctx context.Context, files *link.Files, b blob) error {
	r, err := b.open()
	if err != nil {
		return err
	}
	defer r.Close()
	last := int64(0)
	carried, err := files.Push(ctx, t.dev.Place().Folder.CAS()+"/"+partName(b.sum, t.id), 0o755, time.Unix(blobTime, 0), r, func(sent int64) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.partial += sent - last
		last = sent
		t.notify()
	})
	t.mu.Lock()
	defer t.mu.Unlock()
	t.partial -= last
	t.Store.pushed.Sent += carried
	return err
}

// report tells how far it is, with sent bytes of what is under way.
func (t *transfer) report(sent int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.partial = sent
	t.notify()
}

// notify needs the lock: whoever is told is told by one goroutine at a time.
func (t *transfer) notify() {
	if t.progress != nil {
		t.progress(t.done+t.partial, t.total)
	}
}

// errCorrupted says that a blob did not arrive as it was sent.
var errCorrupted = errors.New("what arrived on the device is not what was sent")

// verify has the device verify and name what was pushed, while senders run and until nothing is left. It returns what is to be pushed again.
func (t *transfer) verify(ctx context.Context, running *int) (again []string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := 0
	for err == nil {
		for *running > 0 && t.unverified < commitEarly {
			t.changed.Wait()
		}
		if len(t.pushed) == 0 {
			break
		}
		batch := t.pushed
		t.pushed, t.unverified = nil, 0
		all += len(batch)
		var wrong []string
		t.mu.Unlock()
		wrong, err = t.commit(ctx, batch)
		t.mu.Lock()
		if err != nil { // nobody knows what became of them
			t.pushed = append(batch, t.pushed...)
			break
		}
		for _, sum := range wrong {
			t.done -= t.blobs[sum].size
			t.arrived -= 1 + t.blobs[sum].size
		}
		again = append(again, wrong...)
	}
	if err == nil && len(again) > 0 {
		err = fmt.Errorf("%w: %d of %d files, the first with SHA-256 %s", errCorrupted, len(again), all, again[0])
	}
	return again, err
}

// commit has the device verify files and name what is right, in one command. It returns what is wrong.
func (t *transfer) commit(ctx context.Context, batch []string) (wrong []string, err error) {
	out, err := t.script(ctx, commitScript, strings.NewReader(t.id+"\n"+strings.Join(batch, "\n")+"\n"))
	if err != nil {
		return nil, full(err)
	}
	right := parseVerdicts(out)
	for _, sum := range batch {
		if !right[sum] {
			wrong = append(wrong, sum)
		}
	}
	return wrong, nil
}

// parseVerdicts reads "ok SUM" and "bad SUM" lines.
func parseVerdicts(out string) map[string]bool {
	right := map[string]bool{}
	for line := range strings.Lines(out) {
		if sum, ok := strings.CutPrefix(strings.TrimSpace(line), "ok "); ok {
			right[sum] = true
		}
	}
	return right
}
