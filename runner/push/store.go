package push

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
	"github.com/hexmage/hexmage/runner/lease"
)

const (
	maxAttempts = 5        // in a row without progress, before a device that drops is given up
	largeFile   = 16 << 20 // larger ones travel in chunks
	lossPart    = 24       // the part of what a link carries that may be lost when it breaks again
	minPiece    = 64 << 10
	defaultWait = 30 * time.Second
	quitWait    = 5 * time.Second
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

	recipe recipe // nil: not known yet
}

// Pushed says what a push took. Sizes are in bytes.
type Pushed struct {
	Blobs   int   `json:"blobs"`             // distinct contents
	Missing int   `json:"missing"`           // of those, the ones that the device lacked
	Size    int64 `json:"size"`              // of all contents
	Sent    int64 `json:"sent"`              // of contents, given to the link: what was lost with it counts again, compressed is what it was compressed to
	Reused  int64 `json:"reused,omitempty"`  // of missing contents, found on the device in others
	Dropped int   `json:"dropped,omitempty"` // times that the link broke
	Evicted int   `json:"evicted,omitempty"` // contents of earlier pushes that were removed to make room
}

// Store is the content-addressed store of a device. One session at a time uses it: see package lease.
type Store struct {
	dev      *adb.Device
	held     *lease.Lease
	sums     Sums
	id       string        // of this session, in the names of what is not verified yet
	wait     time.Duration // for a device that went away
	progress func(done, total int64)
	agent    string // path of the program that computes SHA-256 there; empty: sha256sum
	pushed   Pushed
}

// have makes the device have all blobs: it asks which are missing, pushes those, has the device verify them and gives them their names.
// A link that breaks is set up again, and what had arrived is not pushed twice.
func (s *Store) have(ctx context.Context, blobs map[string]blob) error {
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
	t := newTransfer(s, blobs)
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
	if t.total >= raceFrom {
		s.choose(ctx)
	}
	if err := s.repeat(ctx, t); err != nil {
		s.quit(ctx)
		return err
	}
	return nil
}

// repeat tries until the device has all, or there is no sense in it.
func (s *Store) repeat(ctx context.Context, t *transfer) error {
	evicted := false
	for failures := 0; len(t.left)+len(t.pushed)+len(t.large) > 0; {
		before := t.arrived
		err := t.once(ctx)
		switch {
		case err == nil:
		case errors.Is(err, lease.ErrLost) || ctx.Err() != nil:
			return err
		case isFull(err) && !evicted: // somebody else filled it meanwhile
			evicted = true
			if err := s.evict(ctx, t.blobs, t.total); err != nil {
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

func partName(sum, id string) string { return "." + sum + "." + id }

// missing returns the sums of the blobs that the device lacks, sorted, and its free space in bytes, negative if it does not say that; it
// costs one command.
func (s *Store) missing(ctx context.Context, blobs map[string]blob) (lacking []string, free int64, err error) {
	sums := slices.Sorted(maps.Keys(blobs))
	out, err := s.output(ctx, missingScript, strings.Join(sums, "\n")+"\n")
	if err != nil {
		return nil, 0, fmt.Errorf("ask the device for what it has: %w", err)
	}
	have, free := parseMissing(out, blobs)
	return slices.DeleteFunc(sums, func(sum string) bool { return have[sum] }), free, nil
}

// parseMissing reads "free KILOBYTES" and "SIZE,TIME SUM" lines.
func parseMissing(out string, blobs map[string]blob) (have map[string]bool, free int64) {
	have, free = map[string]bool{}, -1
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
	return have, free
}

// script runs one of the scripts while the device is held.
func (s *Store) script(ctx context.Context, script string, in io.Reader) (string, error) {
	if err := s.held.Check(ctx); err != nil {
		return "", err
	}
	out, err := s.dev.Output(ctx, s.held.Fence()+"agent="+s.agent+"\n"+script, in)
	return out, s.held.Noticed(err)
}

// output runs a script that may run twice, and does so if the link breaks.
func (s *Store) output(ctx context.Context, script, input string) (string, error) {
	out, err := s.script(ctx, script, strings.NewReader(input))
	if adb.Retryable(err) && ctx.Err() == nil && !errors.Is(err, lease.ErrLost) {
		if e := s.reconnect(ctx); e != nil {
			return "", e
		}
		out, err = s.script(ctx, script, strings.NewReader(input))
	}
	return out, err
}

// quit ends what may still run on the device for a push that is given up, and removes its half files but for those that can be gone on
// with. It is in vain on a device that is gone: then a later session does it.
func (s *Store) quit(ctx context.Context) {
	if s.held.Lost() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), quitWait)
	defer cancel()
	_, _ = s.dev.Output(ctx, quitScript, strings.NewReader(s.id+"\n"))
}

// reconnect sets up the link again: it asks, less and less often, until the device is back, or for as long as s.wait.
func (s *Store) reconnect(ctx context.Context) error {
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
		if err == nil {
			err = s.held.Check(ctx)
		}
		if err == nil || !adb.Retryable(err) || errors.Is(err, lease.ErrLost) {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("the device did not come back within %v: %w", wait, err)
		}
		pause = min(2*pause, time.Second)
	}
}

// Place makes the files that are listed in a folder, by one command.
func (s *Store) Place(ctx context.Context, dir string, p *Placement) error {
	out, err := s.output(ctx, placeScript, dir+"\n"+p.String())
	if err != nil {
		return fmt.Errorf("place the files: %w", err)
	}
	if out = strings.TrimSpace(out); out != "" {
		return fmt.Errorf("place the files on the device: %s", out)
	}
	return nil
}
