package push

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hexmage/hexmage/internal/bytesize"
	"github.com/hexmage/hexmage/runner/agent"
	"github.com/hexmage/hexmage/runner/layout"
	"github.com/hexmage/hexmage/runner/lease"
	"github.com/hexmage/hexmage/runner/transport"
)

const (
	maxAttempts = 5                // in a row without progress, and for corrupt contents
	maxSend     = 16 << 20         // bytes in one command until the link breaks; afterwards partSize
	sendWait    = 90 * time.Second // for one command: then its link counts as broken, and commands become smaller
	agentFrom   = 64 << 20         // minimum bytes of a push for which hexmage-agent is sent
)

// transfer is a push that may take several attempts.
type transfer struct {
	*Store
	blobs      map[string]blob
	left       []string // sums of blobs to send, small ones first
	known      map[string]place
	total      int64 // bytes to send
	progressed bool  // a content or part arrived since the link broke
	damaged    int   // contents that arrived corrupt
}

// place is a part of a blob on the device.
type place struct {
	blob string
	part int
}

var errDamaged = errors.New("a file on the device differs from the file that was sent")

// most is the maximum number of bytes in one command. A break loses the bytes on their way, so later commands send
// one part.
func (s *Store) most() int64 {
	if s.pushed.Dropped > 0 {
		return partSize
	}
	return maxSend
}

// race sends hexmage-agent, and uses it if it computes SHA-256 faster than the device's sha256sum. A failure leaves
// sha256sum.
func (s *Store) race(ctx context.Context) {
	program, sum := agent.Program()
	open := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(program)), nil }
	blobs := map[string]blob{sum: {sum: sum, size: int64(len(program)), open: open}}
	if (&transfer{Store: s, blobs: blobs, left: []string{sum}}).attempt(ctx) != nil {
		return
	}
	out, err := s.script(ctx, raceScript, strings.NewReader(sum+"\n"))
	if err == nil && strings.TrimSpace(out) == "agent" {
		s.agent = layout.CAS + "/" + sum
	}
}

// repeat attempts the push until the device has all contents.
func (t *transfer) repeat(ctx context.Context) error {
	for failures := 0; ; {
		t.progressed = false
		err := t.attempt(ctx)
		if err == nil || errors.Is(err, lease.ErrLost) || ctx.Err() != nil {
			return err
		}
		switch {
		case transport.Retryable(err):
			t.pushed.Dropped++
		case errors.Is(err, errDamaged) && t.damaged < maxAttempts:
			t.damaged++
		default:
			return err
		}
		if e := t.reconnect(ctx); e != nil {
			return e
		}
		if left, _, e := t.missing(ctx, t.blobs); e == nil { // some of several contents may have arrived
			t.left, t.progressed = left, t.progressed || len(left) < len(t.left)
		}
		if t.progressed {
			failures = 0
		}
		if failures++; failures >= maxAttempts {
			return fmt.Errorf("%d attempts to send files failed; last error: %w", failures, err)
		}
	}
}

// attempt sends the remaining blobs until the first error.
func (t *transfer) attempt(ctx context.Context) error {
	for len(t.left) > 0 {
		n, size := 0, int64(0)
		for n < len(t.left) && size+t.blobs[t.left[n]].size <= partSize {
			size += t.blobs[t.left[n]].size
			n++
		}
		var err error
		if n > 0 {
			err = t.together(ctx, t.left[:n])
		} else {
			n, err = 1, t.inParts(ctx, t.blobs[t.left[0]])
		}
		if err != nil {
			return err
		}
		t.left, t.progressed = t.left[n:], true
		t.report(0)
	}
	return nil
}

// together sends small blobs as a tar archive. The device verifies and renames them.
func (t *transfer) together(ctx context.Context, sums []string) error {
	in := bytes.NewBufferString(strings.Join(sums, "\n") + "\n\n")
	archive := tar.NewWriter(in)
	for _, sum := range sums {
		b := t.blobs[sum]
		data, err := b.read(0, b.size)
		head := &tar.Header{Name: "." + sum + ".part", Size: b.size, Mode: 0o755, ModTime: time.Now()}
		if err = errors.Join(err, archive.WriteHeader(head)); err != nil {
			return err
		}
		_, _ = archive.Write(data) // a buffer takes everything
	}
	if err := archive.Close(); err != nil {
		return err
	}
	out, err := t.timed(ctx, togetherScript, in.Bytes(), t.size(sums))
	if err != nil {
		return err
	}
	if wrong := strings.Fields(out); len(wrong) > 0 {
		return fmt.Errorf("%w: %d of %d files differ; the first has SHA-256 %.64s", errDamaged, len(wrong), len(sums),
			wrong[0])
	}
	return nil
}

// inParts makes the device write a large blob to one file, from front to back. After a break, the file's length is
// the place to continue.
func (t *transfer) inParts(ctx context.Context, b blob) error {
	if t.known == nil {
		out, err := t.output(ctx, partsScript, "")
		if err != nil {
			return fmt.Errorf("cannot list partial files on the device: %w", err)
		}
		t.known = parseParts(out, t.blobs)
	}
	out, err := t.script(ctx, sizeScript, strings.NewReader(b.sum+"\n"))
	if err != nil {
		return err
	}
	for least := int64(0); ; t.progressed = true {
		at, err := b.reached(out)
		if err == nil && at < least {
			err = fmt.Errorf("the device cannot append to its partial file with SHA-256 %s", b.sum)
		}
		if err != nil {
			return err
		}
		t.report(at)
		if at == b.size {
			return t.finish(ctx, b)
		}
		from := t.known[b.part(at)]
		n := t.run(b, at, from)
		if from.blob != "" {
			out, err = t.copy(ctx, b, at, n, from)
		} else {
			least = at + 1
			out, err = t.send(ctx, b, at, min(n, t.most()))
		}
		if err != nil {
			return err
		}
	}
}

// part returns the digest of the part at the offset.
func (b blob) part(at int64) string {
	if i := at / partSize; i < int64(len(b.parts)) {
		return b.parts[i]
	}
	return ""
}

// reached parses the size of a blob's file on the device, and returns the offset to continue at.
func (b blob) reached(out string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(out), 10, 64)
	if err != nil || n < 0 || n > maxSize {
		return 0, fmt.Errorf("invalid file size from the device: %.60q", out)
	}
	if n >= b.size {
		return b.size, nil
	}
	return n - n%partSize, nil
}

// run returns the length of the sequence of parts from at that are together on the device, or that are all missing.
func (t *transfer) run(b blob, at int64, from place) int64 {
	end := at
	for next := from; end < b.size && next == from; next = t.known[b.part(end)] {
		end = min(end+partSize, b.size)
		if from.blob != "" {
			from.part++
		}
	}
	return end - at
}

// send appends bytes to a blob's file, and returns the output of the device: the size of the file.
func (t *transfer) send(ctx context.Context, b blob, at, n int64) (string, error) {
	data, err := b.read(at, n)
	if err != nil {
		return "", err
	}
	script := strings.NewReplacer("SUM", b.sum, "AT", strconv.FormatInt(at/partSize, 10)).Replace(sendScript)
	return t.timed(ctx, script, data, n)
}

// timed runs a script with data as its input. It adds the bytes that the link took to Sent, at most size: the rest is
// not content.
func (t *transfer) timed(ctx context.Context, script string, data []byte, size int64) (string, error) {
	slow := fmt.Errorf("%w: sending %s took more than %v", transport.ErrDropped, bytesize.Decimal(int64(len(data))), sendWait)
	ctx, cancel := context.WithTimeoutCause(ctx, sendWait, slow)
	defer cancel()
	in := &counted{data: data}
	out, err := t.script(ctx, script, in)
	t.pushed.Sent += min(in.n.Load(), size)
	if err != nil && context.Cause(ctx) == slow {
		err = slow
	}
	return out, err
}

// counted is a reader that counts. Its count is atomic because the link may still read after its command.
type counted struct {
	data []byte
	n    atomic.Int64
}

// Read implements io.Reader.
func (c *counted) Read(p []byte) (int, error) {
	n := copy(p, c.data[c.n.Load():])
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	c.n.Add(int64(n))
	return n, nil
}

// copy makes the device copy bytes from another blob, and returns the size of the file. If the device cannot copy,
// the transfer sends all other parts.
func (t *transfer) copy(ctx context.Context, b blob, at, n int64, from place) (string, error) {
	count := (n + partSize - 1) / partSize
	in := fmt.Sprintf("%s %s %d %d %d\n", b.sum, from.blob, from.part, at/partSize, count)
	out, err := t.script(ctx, copyScript, strings.NewReader(in))
	if next, e := b.reached(out); err == nil && e == nil && next == at+n {
		t.pushed.Reused += n
		return out, nil
	}
	if transport.Retryable(err) || ctx.Err() != nil {
		return "", err
	}
	t.known = map[string]place{}
	return t.script(ctx, sizeScript, strings.NewReader(b.sum+"\n"))
}

// finish makes the device verify the blob and rename it.
func (t *transfer) finish(ctx context.Context, b blob) error {
	out, err := t.script(ctx, finishScript, strings.NewReader(b.sum+"\n"+strings.Join(b.parts, "\n")+"\n"))
	if err != nil {
		return err
	}
	if strings.TrimSpace(out) == "ok" {
		for i, part := range b.parts {
			t.known[part] = place{b.sum, i}
		}
		return nil
	}
	if err := b.same(ctx); err != nil {
		return err
	}
	t.known = map[string]place{} // the source of a copy may be corrupt
	return fmt.Errorf("%w: SHA-256 %s, size %s", errDamaged, b.sum, bytesize.Decimal(b.size))
}

// parseParts reads "blob SUM" lines, each followed by digests of parts. It skips blobs of this push, because their
// stored copies are missing or corrupt.
func parseParts(out string, pushed map[string]blob) map[string]place {
	known, in, part := map[string]place{}, "", 0
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if sum, ok := strings.CutPrefix(line, "blob "); ok {
			if in, part = sum, 0; !isSum(sum) || pushed[sum].open != nil {
				in = ""
			}
			continue
		}
		if in != "" && line != "" {
			known[line] = place{in, part}
		}
		part++
	}
	return known
}

// report reports the progress, with sent bytes of the current blob.
func (t *transfer) report(sent int64) {
	if t.progress != nil && t.total > 0 {
		t.progress(t.total-t.size(t.left)+sent, t.total)
	}
}

// size returns the total size of blobs.
func (t *transfer) size(sums []string) (n int64) {
	for _, sum := range sums {
		n += t.blobs[sum].size
	}
	return n
}
