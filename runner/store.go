package runner

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hexmage/hexmage/runner/adb"
)

const (
	commitBytes = 256 << 20 // pushed blobs are verified and named at least so often, to lose no more when all ends
	maxAttempts = 5         // in a row without progress, before a device that drops is given up
	largeFile   = 16 << 20  // larger ones travel in chunks
	lossPart    = 24        // the part of what a link carries that may be lost when it breaks again
	minPiece    = 64 << 10
	defaultWait = 30 * time.Second
)

// blobTime is when every blob was modified, in seconds since 1970, so that one that a program wrote to can be told: a run's files are
// links to blobs, and on devices where everything runs as root their mode keeps nobody from writing.
const blobTime = 1_000_000_000

// blobStat is what a device says of a blob that is as it was pushed.
func blobStat(size int64) string { return fmt.Sprintf("%d,%d", size, blobTime) }

// blob is a file's content on its way to the device.
type blob struct {
	sum  string // SHA-256, 64 hexadecimal digits
	size int64
	open func() (io.ReadCloser, error)
}

// Pushed says what a push took. Sizes are in bytes.
type Pushed struct {
	Blobs   int   `json:"blobs"`             // distinct contents
	Missing int   `json:"missing"`           // of those, the ones that the device lacked
	Size    int64 `json:"size"`              // of all contents
	Sent    int64 `json:"sent"`              // given to the link: what was lost with it counts again
	Reused  int64 `json:"reused,omitempty"`  // of missing contents, found on the device in others
	Dropped int   `json:"dropped,omitempty"` // times that the link broke
	Evicted int   `json:"evicted,omitempty"` // contents of earlier pushes that were removed to make room
}

// store is the content-addressed store of a device. One session at a time uses it: see Lease.
type store struct {
	dev      *adb.Device
	id       string        // of this session, in the names of what is not verified yet
	wait     time.Duration // for a device that went away
	progress func(done, total int64)
	pushed   Pushed
}

// ensure makes the device have all blobs: it asks which are missing, pushes those, has the device verify them and gives them their names.
// A link that breaks is set up again, and what had arrived is not pushed twice.
func (s *store) ensure(ctx context.Context, blobs map[string]blob) error {
	missing, free, err := s.missing(ctx, blobs)
	if err != nil {
		return err
	}
	s.pushed.Blobs, s.pushed.Missing = len(blobs), len(missing)
	for _, b := range blobs {
		s.pushed.Size += b.size
	}
	if len(missing) == 0 {
		return nil
	}
	t := transfer{store: s, blobs: blobs}
	for _, sum := range missing {
		t.total += blobs[sum].size
		if blobs[sum].size > largeFile {
			t.large = append(t.large, sum)
		} else {
			t.left = append(t.left, sum)
		}
	}
	if err := s.room(ctx, blobs, t.total, free); err != nil {
		return err
	}
	evicted := false
	for failures := 0; len(t.left)+len(t.pushed)+len(t.large) > 0; {
		before := t.arrived
		err := t.once(ctx)
		switch {
		case err == nil:
		case isFull(err) && !evicted: // somebody else filled it meanwhile
			evicted = true
			if err := s.evict(ctx, blobs, t.total); err != nil {
				return fmt.Errorf("make room on the device: %w", err)
			}
		case !adb.Retryable(err) && !errors.Is(err, errCorrupted):
			return err
		default:
			if t.arrived > before {
				failures = 0
			}
			if failures++; failures >= maxAttempts {
				return fmt.Errorf("given up after %d attempts: %w", failures, err)
			}
			if adb.Retryable(err) {
				t.dropped()
			}
			if err := s.reconnect(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// transfer is the state of a push that may take several attempts.
type transfer struct {
	*store
	blobs       map[string]blob
	left        []string // small ones that were not pushed, in order
	pushed      []string // on the device, not verified
	unverified  int64    // bytes of those
	large       []string // large ones that the device does not have yet
	now         *largeBlob
	known       map[string]recipe // of the large blobs that the device has; nil: not asked for yet
	done, total int64
	arrived     int64 // grows with all that the device keeps
	piece       int64 // the most that is on its way at once; 0: as much as there is
	sent        int64 // before the link broke last
}

// dropped counts a link that broke. What was on its way then is lost, some of it in the buffers of adb's server: from now on only a small
// part of what the link carried before is on its way at once, and no file has to arrive in one go that is larger.
func (t *transfer) dropped() {
	t.store.pushed.Dropped++
	t.piece = max((t.store.pushed.Sent-t.sent)/lossPart, minPiece)
	t.sent = t.store.pushed.Sent
	t.left = slices.DeleteFunc(t.left, func(sum string) bool {
		if t.blobs[sum].size <= t.piece {
			return false
		}
		t.large = append(t.large, sum)
		return true
	})
}

// once pushes what is left until the end or the first error.
func (t *transfer) once(ctx context.Context) error {
	if len(t.left) > 0 {
		sync, err := t.dev.Sync(ctx)
		if err != nil {
			return err
		}
		defer sync.Close()
		for len(t.left) > 0 && t.unverified < commitBytes {
			b := t.blobs[t.left[0]]
			if err := t.push(ctx, sync, b); err != nil {
				return err
			}
			t.pushed, t.left = append(t.pushed, b.sum), t.left[1:]
			t.unverified += b.size
			t.done += b.size
			t.arrived += 1 + b.size
		}
	}
	if len(t.pushed) > 0 {
		return t.commit(ctx)
	}
	for len(t.large) > 0 {
		if err := t.pushLarge(ctx, t.blobs[t.large[0]]); err != nil {
			return err
		}
		t.large = t.large[1:]
	}
	return nil
}

func (t *transfer) push(ctx context.Context, sync *adb.Sync, b blob) error {
	r, err := b.open()
	if err != nil {
		return err
	}
	defer r.Close()
	last := int64(0)
	return sync.Push(ctx, deviceCAS+"/"+partName(b.sum, t.id), 0o755, time.Unix(blobTime, 0), r, func(sent int64) {
		t.store.pushed.Sent += sent - last
		last = sent
		t.report(sent)
	})
}

// report tells how far it is, with sent bytes of what is under way.
func (t *transfer) report(sent int64) {
	if t.progress != nil {
		t.progress(t.done+sent, t.total)
	}
}

// errCorrupted says that a blob did not arrive as it was sent.
var errCorrupted = errors.New("what arrived on the device is not what was sent")

// commit has the device verify what was pushed, in one command, and name what is right. What is wrong is pushed again.
func (t *transfer) commit(ctx context.Context) error {
	out, err := t.dev.Output(ctx, commitScript, strings.NewReader(t.id+"\n"+strings.Join(t.pushed, "\n")+"\n"))
	if err != nil {
		return err
	}
	verified := map[string]bool{}
	for line := range strings.Lines(out) {
		if sum, ok := strings.CutPrefix(strings.TrimSpace(line), "ok "); ok {
			verified[sum] = true
		}
	}
	var wrong []string
	for _, sum := range t.pushed {
		if !verified[sum] {
			wrong = append(wrong, sum)
			t.done -= t.blobs[sum].size
			t.arrived -= 1 + t.blobs[sum].size
		}
	}
	t.pushed, t.unverified = nil, 0
	t.left = append(wrong, t.left...)
	if len(wrong) > 0 {
		return fmt.Errorf("%w: %d of %d files, the first with SHA-256 %s", errCorrupted, len(wrong), len(wrong)+len(verified), wrong[0])
	}
	return nil
}

func partName(sum, id string) string { return "." + sum + "." + id }

// missing returns the sums of the blobs that the device lacks, sorted, and its free space in bytes, negative if it does not say that; it
// costs one command.
func (s *store) missing(ctx context.Context, blobs map[string]blob) (lacking []string, free int64, err error) {
	sums := slices.Sorted(maps.Keys(blobs))
	out, err := s.output(ctx, missingScript, strings.Join(sums, "\n")+"\n")
	if err != nil {
		return nil, 0, fmt.Errorf("ask the device for what it has: %w", err)
	}
	have := map[string]bool{}
	free = -1
	lines := bufio.NewScanner(strings.NewReader(out))
	for lines.Scan() {
		said, sum, _ := strings.Cut(lines.Text(), " ")
		if said == "free" {
			if kb, err := strconv.ParseInt(sum, 10, 64); err == nil && kb >= 0 && kb < 1<<52 {
				free = kb << 10
			}
			continue
		}
		b, ok := blobs[sum]
		// One of another size was cut short when the device lost power.
		have[sum] = ok && said == blobStat(b.size)
	}
	return slices.DeleteFunc(sums, func(sum string) bool { return have[sum] }), free, nil
}

// output runs a script that may run twice, and does so if the link breaks.
func (s *store) output(ctx context.Context, script, input string) (string, error) {
	out, err := s.dev.Output(ctx, script, strings.NewReader(input))
	if adb.Retryable(err) && ctx.Err() == nil {
		if e := s.reconnect(ctx); e != nil {
			return "", e
		}
		out, err = s.dev.Output(ctx, script, strings.NewReader(input))
	}
	return out, err
}

// reconnect sets up the link again: it asks, less and less often, until the device is back, or for as long as s.wait.
func (s *store) reconnect(ctx context.Context) error {
	wait := s.wait
	if wait <= 0 {
		wait = defaultWait
	}
	pause := 50 * time.Millisecond
	for end := time.Now().Add(wait); ; {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
		err := s.dev.Reconnect(ctx)
		if err == nil || !adb.Retryable(err) {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("the device did not come back within %v: %w", wait, err)
		}
		pause = min(2*pause, time.Second)
	}
}

// place makes the files that are listed for placeScript in a folder, by one command.
func (s *store) place(ctx context.Context, dir, list string) error {
	out, err := s.output(ctx, placeScript, dir+"\n"+list)
	if err != nil {
		return fmt.Errorf("place the files: %w", err)
	}
	if out = strings.TrimSpace(out); out != "" {
		return fmt.Errorf("place the files on the device: %s", out)
	}
	return nil
}
