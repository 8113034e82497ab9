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
	"github.com/hexmage/hexmage/runner/transport"
)

const (
	defaultWait = 30 * time.Second
	maxSize     = 1 << 50 // larger than any file of a device
	spare       = 1 << 20 // that a push leaves free for the run
)

// blobTime is the modification time of every blob, in seconds since 1970. Another time shows that a program wrote to
// the blob: a run's files are links to blobs, and file modes do not stop root.
const blobTime = 1_000_000_000

// blobStat returns the line of missingScript for an unchanged blob.
func blobStat(size int64) string { return fmt.Sprintf("%d,%d", size, blobTime) }

// Pushed is a summary of a push. Sizes are in bytes.
type Pushed struct {
	Blobs   int   `json:"blobs"`             // number of distinct contents
	Missing int   `json:"missing"`           // number of contents that the device lacked
	Size    int64 `json:"size"`              // size of all contents
	Sent    int64 `json:"sent"`              // bytes sent over the link, including repetitions
	Reused  int64 `json:"reused,omitempty"`  // bytes of missing contents that the device copied from stored contents
	Dropped int   `json:"dropped,omitempty"` // number of times that the link broke
	Evicted int   `json:"evicted,omitempty"` // number of earlier contents removed to free space
}

// Notice returns a hint about an unreliable link, or "".
func (p Pushed) Notice() string {
	if p.Dropped < 2 {
		return ""
	}
	const text = "the connection broke %d times during the push; if the phone is on USB, try Wi-Fi"
	return fmt.Sprintf(text, p.Dropped)
}

// Store is the content-addressed store of a device. Only one session at a time may use it: see package lease.
type Store struct {
	dev      transport.Device
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
		return nil, 0, fmt.Errorf("cannot list files on the device: %w", err)
	}
	have, free := parseMissing(out, blobs)
	sums = slices.DeleteFunc(sums, func(sum string) bool { return have[sum] })
	slices.SortStableFunc(sums, func(a, b string) int { return cmp.Compare(blobs[a].size, blobs[b].size) })
	return sums, free, nil
}

// parseMissing reads "free KILOBYTES" and "SIZE,TIME SUM" lines. free is negative if it is unknown.
func parseMissing(out string, blobs map[string]blob) (have map[string]bool, free int64) {
	have, free = map[string]bool{}, -1
	for line := range strings.Lines(out) {
		said, sum, _ := strings.Cut(strings.TrimSpace(line), " ")
		b, ok := blobs[sum]
		switch kb, err := strconv.ParseInt(sum, 10, 64); {
		case said == "free" && err == nil && kb >= 0 && kb < maxSize>>10:
			free = kb << 10
		case ok && said == blobStat(b.size): // another size: the device lost power while it wrote
			have[sum] = true
		}
	}
	return have, free
}

// script runs a script if this session still has the lease.
func (s *Store) script(ctx context.Context, script string, in io.Reader) (string, error) {
	if err := s.held.Check(ctx); err != nil {
		return "", err
	}
	out, err := transport.Script(ctx, s.dev, s.held.Fence()+"agent="+s.agent+"\n"+script, in)
	return out, s.held.Noticed(err)
}

// output runs a script that may run twice. It repeats the script once if the link breaks.
func (s *Store) output(ctx context.Context, script, input string) (string, error) {
	out, err := s.script(ctx, script, strings.NewReader(input))
	if transport.Retryable(err) && ctx.Err() == nil && !errors.Is(err, lease.ErrLost) {
		if e := s.reconnect(ctx); e != nil {
			return "", e
		}
		out, err = s.script(ctx, script, strings.NewReader(input))
	}
	return out, err
}

// reconnect sets up the link again and waits until the device is back.
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
		case err == nil || !transport.Retryable(err) || errors.Is(err, lease.ErrLost):
			return err
		case time.Since(began) > wait:
			return fmt.Errorf("the device did not reconnect within %v: %w", wait, err)
		}
	}
}

// Place puts the files in p into the folder dir.
func (s *Store) Place(ctx context.Context, dir string, p *Placement) error {
	out, err := s.output(ctx, placeScript, dir+"\n"+p.String())
	if err != nil {
		return fmt.Errorf("cannot place the files on the device: %w", err)
	}
	if out = strings.TrimSpace(out); out != "" {
		return fmt.Errorf("cannot place the files on the device: %s", out)
	}
	return nil
}

// evict frees space. It removes the least recently used contents, except those in keep. If that is not enough, it
// removes nothing.
func (s *Store) evict(ctx context.Context, keep map[string]blob, bytes int64) error {
	out, err := s.output(ctx, listScript, "")
	if err != nil {
		return fmt.Errorf("cannot list files on the device: %w", err)
	}
	victims, freed := choose(out, keep, bytes)
	if freed < bytes {
		return fmt.Errorf("no space left on device: the push needs %s more, and removing files of earlier pushes "+
			"would free only %s. Remove other files from %s, or push less",
			bytesize.Decimal(bytes), bytesize.Decimal(freed), path.Dir(string(s.dev.Place().Folder)))
	}
	s.pushed.Evicted += len(victims)
	_, err = s.output(ctx, removeScript, strings.Join(victims, "\n")+"\n")
	return err
}

// choose returns files from "SIZE NAME" lines, in their order, until they have enough bytes.
func choose(out string, keep map[string]blob, bytes int64) (victims []string, freed int64) {
	for line := range strings.Lines(out) {
		size, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		n, err := strconv.ParseInt(size, 10, 64)
		if err != nil || n < 0 || n > maxSize || name == "" || strings.Contains(name, "/") {
			continue // not a file of the store
		}
		sum, half := strings.CutPrefix(name, ".") // .SUM.part
		switch _, ok := keep[sum[:min(len(sum), 64)]]; {
		case ok && half: // the push continues the file, so it needs less
			freed += n
		case !ok && freed < bytes:
			victims, freed = append(victims, name), freed+n
		}
	}
	return victims, freed
}

// Clear removes all of hexmage's files from a device. It returns their size in bytes if the device reports it.
func Clear(ctx context.Context, dev transport.Device) (int64, error) {
	out, err := transport.Script(ctx, dev, clearScript, nil)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(strings.TrimSpace(out), 10, 42)
	if err != nil || n < 0 {
		return 0, nil // everything is removed: a missing size is not a failure
	}
	return n << 10, nil
}
