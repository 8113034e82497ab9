package runner

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hexmage/hexmage/runner/adb"
)

// Folders of a device. Blobs are named by their SHA-256, which every phone can compute.
const (
	deviceRoot = "/data/local/tmp/hexmage"
	deviceCAS  = deviceRoot + "/cas"
	deviceRuns = deviceRoot + "/run"
)

const (
	commitBytes = 256 << 20 // pushed blobs are verified and named at least so often, to lose no more when all ends
	maxAttempts = 5         // in a row without progress, before a device that drops is given up
)

// blobTime is when every blob was modified, in seconds since 1970, so that one that a program wrote to can be told: a run's files are
// links to blobs, and on devices where everything runs as root their mode keeps nobody from writing.
const blobTime = 1_000_000_000

// blob is a file's content on its way to the device.
type blob struct {
	sum  string // SHA-256, 64 hexadecimal digits
	size int64
	open func() (io.ReadCloser, error)
}

// store is the content-addressed store of a device. One session at a time uses it: see Lease.
type store struct {
	dev      *adb.Device
	id       string // of this session, in the names of what is not verified yet
	progress func(done, total int64)
}

// ensure makes the device have all blobs: it asks which are missing, pushes those, has the device verify them and gives them their names.
// A link that breaks is set up again, and what had arrived is not pushed twice.
func (s *store) ensure(ctx context.Context, blobs map[string]blob) error {
	missing, err := s.missing(ctx, blobs)
	if err != nil {
		return err
	}
	t := transfer{store: s, blobs: blobs, left: missing}
	for _, sum := range missing {
		t.total += blobs[sum].size
	}
	evicted := false
	for failures := 0; len(t.left)+len(t.pushed) > 0; {
		before := len(t.left) + len(t.pushed)
		err := t.once(ctx)
		switch {
		case err == nil:
		case isFull(err) && !evicted:
			evicted = true
			if err := s.evict(ctx, blobs); err != nil {
				return fmt.Errorf("make room on the device: %w", err)
			}
		case !adb.Retryable(err) && !errors.Is(err, errCorrupted):
			return err
		default:
			if len(t.left)+len(t.pushed) < before {
				failures = 0
			}
			if failures++; failures >= maxAttempts {
				return fmt.Errorf("given up after %d attempts: %w", failures, err)
			}
			if err := reconnect(ctx, s.dev, failures); err != nil {
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
	left        []string // not pushed, in order
	pushed      []string // on the device, not verified
	unverified  int64    // bytes of those
	done, total int64
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
		}
	}
	return t.commit(ctx)
}

func (t *transfer) push(ctx context.Context, sync *adb.Sync, b blob) error {
	r, err := b.open()
	if err != nil {
		return err
	}
	defer r.Close()
	return sync.Push(ctx, deviceCAS+"/"+t.partName(b.sum), 0o755, time.Unix(blobTime, 0), r, func(sent int64) {
		if t.progress != nil {
			t.progress(t.done+sent, t.total)
		}
	})
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
		}
	}
	t.pushed, t.unverified = nil, 0
	t.left = append(wrong, t.left...)
	if len(wrong) > 0 {
		return fmt.Errorf("%w: %d of %d files, the first with SHA-256 %s", errCorrupted, len(wrong), len(wrong)+len(verified), wrong[0])
	}
	return nil
}

func (s *store) partName(sum string) string { return "." + sum + "." + s.id }

// missing returns the sums of the blobs that the device lacks, sorted; it costs one command.
func (s *store) missing(ctx context.Context, blobs map[string]blob) ([]string, error) {
	sums := slices.Sorted(maps.Keys(blobs))
	out, err := s.dev.Output(ctx, missingScript, strings.NewReader(strings.Join(sums, "\n")+"\n"))
	if err != nil {
		return nil, fmt.Errorf("ask the device for what it has: %w", err)
	}
	have := map[string]bool{}
	lines := bufio.NewScanner(strings.NewReader(out))
	for lines.Scan() {
		said, sum, _ := strings.Cut(lines.Text(), " ")
		b, ok := blobs[sum]
		// One of another size was cut short when the device lost power.
		have[sum] = ok && said == fmt.Sprintf("%d,%d", b.size, blobTime)
	}
	return slices.DeleteFunc(sums, func(sum string) bool { return have[sum] }), nil
}

// evict removes from the device every blob but those that are to be kept.
func (s *store) evict(ctx context.Context, keep map[string]blob) error {
	_, err := s.dev.Output(ctx, evictScript, strings.NewReader(strings.Join(slices.Sorted(maps.Keys(keep)), "\n")+"\n"))
	return err
}

func isFull(err error) bool {
	var denied *adb.DeviceError
	return errors.As(err, &denied) && strings.Contains(strings.ToLower(denied.Message), "no space left")
}

// reconnect waits a little, longer with each failure, and sets up the link again.
func reconnect(ctx context.Context, dev *adb.Device, failures int) error {
	var err error
	for ; failures <= maxAttempts; failures++ {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(50 * time.Millisecond << failures):
		}
		if err = dev.Reconnect(ctx); err == nil || !adb.Retryable(err) {
			return err
		}
	}
	return fmt.Errorf("the device did not come back: %w", err)
}

// The scripts run in the device's own shell (mksh and toybox on phones, ash and busybox in the emulator); they read lists from
// standard input since command lines are short.
const (
	// Input: sums. Output: "SIZE,TIME SUM" of those that are there. What crashed sessions left is removed:
	// folders of runs when they are a day old, half pushed files (which are dated long ago) at once.
	missingScript = `mkdir -p ` + deviceCAS + ` ` + deviceRuns + ` && cd ` + deviceCAS + ` || exit 1
find ` + deviceRuns + ` -mindepth 1 -maxdepth 1 -mtime +0 -exec rm -rf {} \; 2>/dev/null
find . -maxdepth 1 -type f -name '.*' -mtime +0 -exec rm -f {} \; 2>/dev/null
show() { [ $# -eq 0 ] || stat -c '%s,%Y %n' "$@"; }
set --
while read -r h; do
	[ -f "$h" ] && set -- "$@" "$h"
	if [ $# -ge 100 ]; then show "$@"; set --; fi
done
show "$@"
exit 0`

	// Input: the session, then sums. Output: "ok SUM" or "bad SUM".
	commitScript = `cd ` + deviceCAS + ` && read -r id || exit 1
while read -r h; do
	[ -n "$h" ] || continue
	s=$(sha256sum ".$h.$id")
	if [ "${s%% *}" = "$h" ] && chmod 555 ".$h.$id" && mv -f ".$h.$id" "$h"; then echo "ok $h"; else rm -f ".$h.$id"; echo "bad $h"; fi
done 2>/dev/null
exit 0`

	// Input: sums to keep. What is half pushed goes, too.
	evictScript = `cd ` + deviceCAS + ` || exit 1
keep=" "
while read -r h; do keep="$keep$h "; done
for f in * .[0-9a-f]*; do
	case "$keep" in *" $f "*) ;; *) rm -f "$f" ;; esac
done
exit 0`
)
