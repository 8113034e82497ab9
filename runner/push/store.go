package push

import (
	"bufio"
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
	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/runner/lease"
	"github.com/hexmage/hexmage/runner/link"
)

const (
	maxAttempts = 5        // in a row without progress, before a device that drops is given up
	largeFile   = 16 << 20 // larger ones travel in chunks
	lossPart    = 24       // the part of what a link carries that may be lost when it breaks again
	minPiece    = 64 << 10
	maxRest     = 4               // of a push with pauses, times as long as sending took: a fifth of the speed
	maxPause    = 2 * time.Second // less than whoever follows the push waits for more
	defaultWait = 30 * time.Second
	serverWait  = 3 * time.Second // for an adb server that has ended; one of ours is started again at once
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
	Paced   bool  `json:"paced,omitempty"`   // after the link broke twice, pieces were sent with pauses between them
	Evicted int   `json:"evicted,omitempty"` // contents of earlier pushes that were removed to make room
}

// Notice says in a line what people should know of the push, "" where that is nothing.
func (p Pushed) Notice() string {
	if !p.Paced {
		return ""
	}
	return fmt.Sprintf("the link broke %d times while files were pushed: they went on in small pieces, with pauses; a phone on USB may have a better link over Wi-Fi", p.Dropped)
}

// Store is the content-addressed store of a device. One session at a time uses it: see package lease.
type Store struct {
	dev      link.Device
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
		err := t.attempt(ctx)
		switch {
		case err == nil:
		case errors.Is(err, lease.ErrLost) || ctx.Err() != nil:
			return err
		case isFull(err) && !evicted: // somebody else filled it meanwhile
			evicted = true
			if err := s.evict(ctx, t.blobs, t.total); err != nil {
				return fmt.Errorf("make room on the device: %w", err)
			}
		case !link.Retryable(err) && !errors.Is(err, errCorrupted):
			return err
		default:
			if t.arrived > before {
				failures = 0
			}
			if failures++; failures >= maxAttempts {
				return fmt.Errorf("given up after %d attempts: %w", failures, err)
			}
			if link.Retryable(err) {
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
	out, err := link.Script(ctx, s.dev, s.held.Fence()+"agent="+s.agent+"\n"+script, in)
	return out, s.held.Noticed(err)
}

// output runs a script that may run twice, and does so if the link breaks.
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

// quit ends what may still run on the device for a push that is given up, and removes its half files but for those that can be gone on
// with. It is in vain on a device that is gone: then a later session does it.
func (s *Store) quit(ctx context.Context) {
	if s.held.Lost() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), quitWait)
	defer cancel()
	_, _ = link.Script(ctx, s.dev, quitScript, strings.NewReader(s.id+"\n"))
}

// reconnect sets up the link again: it asks, less and less often, until the device is back, or for as long as s.wait.
func (s *Store) reconnect(ctx context.Context) error {
	wait := s.wait
	if wait <= 0 {
		wait = defaultWait
	}
	pause := 50 * time.Millisecond
	began := time.Now()
	for end := began.Add(wait); ; {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
		err := s.dev.Reconnect(ctx)
		if err == nil {
			err = s.held.Check(ctx)
		}
		if err == nil || !link.Retryable(err) || errors.Is(err, lease.ErrLost) {
			return err
		}
		if errors.Is(err, adb.ErrServer) && time.Since(began) > serverWait {
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

// maxSize is more than any file of a device has, and so little that sums of sizes are numbers.
const maxSize = 1 << 50

// spare is what a push leaves free, for the run and for the rest of the device.
const spare = 1 << 20

// stored is a file of the device's store.
type stored struct {
	name string
	size int64
}

// room sees to it that size bytes fit. Negative free is unknown: then the device says when it is full.
func (s *Store) room(ctx context.Context, keep map[string]blob, size, free int64) error {
	if free < 0 || free >= size+spare {
		return nil
	}
	return s.evict(ctx, keep, size+spare-free)
}

// errFull says that a device has too little space for a push.
var errFull = errors.New("no space left on device")

// evict frees at least so many bytes by removing blobs, those that were used longest ago first, except for those to keep.
func (s *Store) evict(ctx context.Context, keep map[string]blob, bytes int64) error {
	all, err := s.list(ctx)
	if err != nil {
		return err
	}
	victims, freed := choose(all, keep, bytes)
	if freed < bytes {
		return fmt.Errorf("%w: the push needs %s more than is free, and contents of earlier pushes, which would be removed, take up %s only: remove files from the device's disk (%s), or push less",
			errFull, bytesize.Decimal(bytes), bytesize.Decimal(freed), path.Dir(string(s.dev.Place().Folder)))
	}
	s.pushed.Evicted += len(victims)
	_, err = s.output(ctx, removeScript, strings.Join(victims, "\n")+"\n")
	return err
}

// choose picks files, in order, until they are at least so many bytes.
func choose(all []stored, keep map[string]blob, bytes int64) (victims []string, freed int64) {
	for _, f := range all {
		if freed >= bytes {
			break
		}
		sum := strings.TrimPrefix(f.name, ".") // of one that is being pushed the part keeps its name
		if _, ok := keep[sum[:min(len(sum), 64)]]; ok {
			continue
		}
		victims, freed = append(victims, f.name), freed+f.size
	}
	return victims, freed
}

// list returns the files of the device's store, those that were used longest ago first.
func (s *Store) list(ctx context.Context) ([]stored, error) {
	out, err := s.output(ctx, listScript, "")
	if err != nil {
		return nil, fmt.Errorf("list what the device has: %w", err)
	}
	return parseStored(out), nil
}

// parseStored reads "SIZE NAME" lines.
func parseStored(out string) (all []stored) {
	for line := range strings.Lines(out) {
		size, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		n, err := strconv.ParseInt(size, 10, 64)
		if err != nil || n < 0 || n > maxSize || name == "" || strings.Contains(name, "/") {
			continue // no file of ours
		}
		all = append(all, stored{name, n})
	}
	return all
}

func isFull(err error) bool {
	var denied *link.FileError
	return errors.Is(err, errFull) || errors.As(err, &denied) && strings.Contains(strings.ToLower(denied.Message), errFull.Error())
}

// Clear removes all that was pushed to a device, and what runs left there. It returns how many bytes that were, as far as the device says.
// Nothing outside hexmage's own folder is touched.
func Clear(ctx context.Context, dev link.Device) (int64, error) {
	out, err := link.Script(ctx, dev, clearScript, nil)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(strings.TrimSpace(out), 10, 42)
	if err != nil || n < 0 {
		return 0, nil // it is gone; how much it was is not worth a failure
	}
	return n << 10, nil
}
