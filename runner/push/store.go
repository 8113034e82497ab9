package push

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/bytesize"
	"github.com/hexmage/hexmage/runner/lease"
	"github.com/hexmage/hexmage/runner/link"
)

const (
	defaultWait = 30 * time.Second
	maxSize     = 1 << 50 // larger than any file of a device
	spare       = 1 << 20 // that a push leaves free for the run
)

// blobTime is the modification time of every blob, in seconds since 1970. It tells blobs that a program wrote to: a
// run's files are links to blobs, and file modes do not stop root.
const blobTime = 1_000_000_000

// blobStat is how the device describes an unchanged blob.
func blobStat(size int64) string { return fmt.Sprintf("%d,%d", size, blobTime) }

// Pushed is a summary of a push. Sizes are in bytes.
type Pushed struct {
	Blobs   int   `json:"blobs"`             // distinct contents
	Missing int   `json:"missing"`           // contents that the device lacked
	Size    int64 `json:"size"`              // of all contents
	Sent    int64 `json:"sent"`              // of contents, as far as the link took them; again if they were sent again
	Reused  int64 `json:"reused,omitempty"`  // of missing contents, found on the device in others
	Dropped int   `json:"dropped,omitempty"` // times that the link broke
	Evicted int   `json:"evicted,omitempty"` // contents of earlier pushes that were removed to make room
}

// Notice returns a hint for people about a link that breaks, or "".
func (p Pushed) Notice() string {
	if p.Dropped < 2 {
		return ""
	}
	const text = "the link broke %d times during the push; a phone on USB may have a better link over Wi-Fi"
	return fmt.Sprintf(text, p.Dropped)
}

// Store is the content-addressed store of a device. One session at a time uses it: see package lease.
type Store struct {
	dev      link.Device
	held     *lease.Lease
	sums     Sums
	wait     time.Duration // for a device that went away
	progress func(done, total int64)
	agent    string // path on the device of the program that computes SHA-256; empty: sha256sum
	pushed   Pushed
}

// have sends the blobs that the device lacks.
func (s *Store) have(ctx context.Context, blobs map[string]blob) error {
	left, free, err := s.missing(ctx, blobs)
	if err != nil {
		return err
	}
	t := &transfer{Store: s, blobs: blobs, left: left}
	t.total = t.size(left)
	s.pushed.Blobs, s.pushed.Missing = len(blobs), len(left)
	s.pushed.Size = t.size(slices.Collect(maps.Keys(blobs)))
	if len(left) == 0 {
		return nil
	}
	if free >= 0 && free < t.total+spare {
		if err := s.evict(ctx, blobs, t.total+spare-free); err != nil {
			return err
		}
	}
	if t.total >= agentFrom {
		s.race(ctx)
	}
	return t.repeat(ctx)
}

// missing returns the sums of blobs that the device lacks, small ones first, and its free space.
func (s *Store) missing(ctx context.Context, blobs map[string]blob) (sums []string, free int64, err error) {
	sums = slices.Sorted(maps.Keys(blobs))
	out, err := s.output(ctx, missingScript, strings.Join(sums, "\n")+"\n")
	if err != nil {
		return nil, 0, fmt.Errorf("list contents of the device: %w", err)
	}
	have, free := parseMissing(out, blobs)
	sums = slices.DeleteFunc(sums, func(sum string) bool { return have[sum] })
	slices.SortStableFunc(sums, func(a, b string) int { return cmp.Compare(blobs[a].size, blobs[b].size) })
	return sums, free, nil
}

// parseMissing reads "free KILOBYTES" and "SIZE,TIME SUM" lines. free is negative if the device does not tell
// it.
func parseMissing(out string, blobs map[string]blob) (have map[string]bool, free int64) {
	have, free = map[string]bool{}, -1
	for line := range strings.Lines(out) {
		said, sum, _ := strings.Cut(strings.TrimSpace(line), " ")
		b, ok := blobs[sum]
		switch kb, err := strconv.ParseInt(sum, 10, 64); {
		case said == "free" && err == nil && kb >= 0 && kb < maxSize>>10:
			free = kb << 10
		case ok && said == blobStat(b.size): // another size: it was cut short when the device lost power
			have[sum] = true
		}
	}
	return have, free
}

// script runs a script if this session still has the device.
func (s *Store) script(ctx context.Context, script string, in io.Reader) (string, error) {
	if err := s.held.Check(ctx); err != nil {
		return "", err
	}
	out, err := link.Script(ctx, s.dev, s.held.Fence()+"agent="+s.agent+"\n"+script, in)
	return out, s.held.Noticed(err)
}

// output runs a script that may run twice, and repeats it if the link breaks.
func (s *Store) output(ctx context.Context, script, input string) (string, error) {
	out, err := s.script(ctx, script, strings.NewReader(input))
	if link.Retryable(err) && ctx.Err() == nil && !errors.Is(err, lease.ErrLost) {
		if e := s.reconnect(ctx); e != nil {
			return "", e
		}
		out, err = s.script(ctx, script, strings.NewReader(input))
	}
	return out, err
}

// reconnect sets up the link again, and waits until the device is back.
func (s *Store) reconnect(ctx context.Context) error {
	wait := s.wait
	if wait <= 0 {
		wait = defaultWait
	}
	began := time.Now()
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
		err := s.dev.Reconnect(ctx)
		if err == nil {
			err = s.held.Check(ctx)
		}
		switch {
		case err == nil || !link.Retryable(err) || errors.Is(err, lease.ErrLost):
			return err
		case time.Since(began) > wait:
			return fmt.Errorf("the device did not come back within %v: %w", wait, err)
		}
	}
}

// Place makes the listed files in a folder.
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

// evict frees space: it removes the least recently used contents, except for those to keep. If they are too small, it
// removes nothing.
func (s *Store) evict(ctx context.Context, keep map[string]blob, bytes int64) error {
	out, err := s.output(ctx, listScript, "")
	if err != nil {
		return fmt.Errorf("list contents of the device: %w", err)
	}
	victims, freed := choose(out, keep, bytes)
	if freed < bytes {
		return fmt.Errorf("no space left on device: the push needs %s more than is free, "+
			"and contents of earlier pushes take up only %s: "+
			"remove files from the device's disk (%s), or push less",
			bytesize.Decimal(bytes), bytesize.Decimal(freed), path.Dir(string(s.dev.Place().Folder)))
	}
	s.pushed.Evicted += len(victims)
	_, err = s.output(ctx, removeScript, strings.Join(victims, "\n")+"\n")
	return err
}

// choose picks files from "SIZE NAME" lines, in their order, until it has enough bytes.
func choose(out string, keep map[string]blob, bytes int64) (victims []string, freed int64) {
	for line := range strings.Lines(out) {
		size, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		n, err := strconv.ParseInt(size, 10, 64)
		if err != nil || n < 0 || n > maxSize || name == "" || strings.Contains(name, "/") {
			continue // not a file of the store
		}
		sum, half := strings.CutPrefix(name, ".") // .SUM.part
		switch _, ok := keep[sum[:min(len(sum), 64)]]; {
		case ok && half: // the push continues it, so it needs less
			freed += n
		case !ok && freed < bytes:
			victims, freed = append(victims, name), freed+n
		}
	}
	return victims, freed
}

// Clear removes everything that hexmage put on a device, and returns its size in bytes as far as the device tells it.
func Clear(ctx context.Context, dev link.Device) (int64, error) {
	out, err := link.Script(ctx, dev, clearScript, nil)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(strings.TrimSpace(out), 10, 42)
	if err != nil || n < 0 {
		return 0, nil // everything is removed: a missing size is not a failure
	}
	return n << 10, nil
}
