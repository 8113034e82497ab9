package push

import (
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
	"github.com/hexmage/hexmage/runner/link"
)

const (
	maxAttempts = 5                // in a row without progress, and for contents that arrive damaged
	maxSend     = 16 << 20         // that one command sends until the link breaks; afterwards it sends a part
	sendWait    = 90 * time.Second // for one command: then its link counts as broken, and commands become smaller
	agentFrom   = 64 << 20         // bytes of a push that is worth sending hexmage-agent
)

// transfer is a push that may take several attempts.
type transfer struct {
	*Store
	blobs       map[string]blob
	left        []string // sums of blobs to send
	arrived     []string // sums of blobs to verify
	size        int64    // of those
	known       map[string]place
	total, done int64
	progressed  bool // something arrived since the link broke
	damaged     int  // times that a content arrived damaged
}

// place is a part of a blob on the device.
type place struct {
	blob string
	part int
}

var errDamaged = errors.New("the content that arrived on the device differs from the content that was sent")

// most is the number of bytes that one command sends. A link that breaks loses the bytes on their way, so a command
// then sends one part.
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
		case link.Retryable(err):
			t.Store.pushed.Dropped++
		case errors.Is(err, errDamaged) && t.damaged < maxAttempts:
		default:
			return err
		}
		if t.progressed {
			failures = 0
		}
		if failures++; failures >= maxAttempts {
			return fmt.Errorf("given up after %d attempts: %w", failures, err)
		}
		if err := t.reconnect(ctx); err != nil {
			return err
		}
	}
}

// attempt sends the blobs that are left until the first error.
func (t *transfer) attempt(ctx context.Context) error {
	if err := t.held.Check(ctx); err != nil {
		return err
	}
	files, err := link.OpenFiles(ctx, t.dev)
	if err != nil {
		return err
	}
	defer files.Close()
	for len(t.left) > 0 {
		b := t.blobs[t.left[0]]
		large := b.size > t.most()
		if large || t.size >= maxSend {
			if err := t.verify(ctx); err != nil {
				return err
			}
		}
		if large {
			err = t.inParts(ctx, b)
		} else {
			err = t.whole(ctx, files, b)
		}
		if err != nil {
			return err
		}
		t.left, t.done, t.progressed = t.left[1:], t.done+b.size, true
	}
	return t.verify(ctx)
}

// whole sends a small blob.
func (t *transfer) whole(ctx context.Context, files link.Files, b blob) error {
	r, err := b.open()
	if err != nil {
		return err
	}
	defer r.Close()
	to := t.dev.Place().Folder.CAS() + "/." + b.sum + ".part"
	sent, err := files.Push(ctx, to, 0o755, time.Unix(blobTime, 0), r, t.report)
	t.Store.pushed.Sent += sent
	if err == nil {
		t.arrived, t.size = append(t.arrived, b.sum), t.size+b.size
	}
	return err
}

// verify lets the device verify and name the small blobs that arrived.
func (t *transfer) verify(ctx context.Context) error {
	if len(t.arrived) == 0 {
		return nil
	}
	out, err := t.script(ctx, commitScript, strings.NewReader(strings.Join(t.arrived, "\n")+"\n"))
	if err != nil {
		return err
	}
	right := parseVerdicts(out)
	var wrong []string
	for _, sum := range t.arrived {
		if !right[sum] {
			wrong, t.done = append(wrong, sum), t.done-t.blobs[sum].size
		}
	}
	all := len(t.arrived)
	t.arrived, t.size, t.left = nil, 0, append(wrong, t.left...)
	if len(wrong) > 0 {
		t.damaged++
		return fmt.Errorf("%w: %d of %d files, the first with SHA-256 %s", errDamaged, len(wrong), all, wrong[0])
	}
	return nil
}

// parseVerdicts reads "ok SUM" lines.
func parseVerdicts(out string) map[string]bool {
	right := map[string]bool{}
	for line := range strings.Lines(out) {
		if sum, ok := strings.CutPrefix(strings.TrimSpace(line), "ok "); ok {
			right[sum] = true
		}
	}
	return right
}

// inParts makes the device build a large blob in one file, from front to back. The length of that file tells where to
// continue after a break.
func (t *transfer) inParts(ctx context.Context, b blob) error {
	if t.known == nil {
		out, err := t.output(ctx, partsScript, "")
		if err != nil {
			return fmt.Errorf("list parts of the device: %w", err)
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
			err = fmt.Errorf("the device does not add to its file of %s", b.sum)
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

// reached reads the size of a blob's file on the device, and returns where to continue.
func (b blob) reached(out string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(out), 10, 64)
	if err != nil || n < 0 || n > maxSize {
		return 0, fmt.Errorf("the device answers %.60q for the size of a file", out)
	}
	if n >= b.size {
		return b.size, nil
	}
	return n - n%partSize, nil
}

// run returns how many bytes from the offset are on the device in one piece, or are not.
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

// send adds bytes to a blob's file, and returns the size of the file.
func (t *transfer) send(ctx context.Context, b blob, at, n int64) (string, error) {
	data, err := b.read(at, n)
	if err != nil {
		return "", err
	}
	slow := fmt.Errorf("%w: sending %s took more than %v", link.ErrDropped, bytesize.Decimal(n), sendWait)
	ctx, cancel := context.WithTimeoutCause(ctx, sendWait, slow)
	defer cancel()
	in := &counted{data: data}
	script := strings.NewReplacer("SUM", b.sum, "AT", strconv.FormatInt(at/partSize, 10)).Replace(sendScript)
	out, err := t.script(ctx, script, in)
	t.Store.pushed.Sent += in.n.Load()
	if err != nil && context.Cause(ctx) == slow {
		err = slow
	}
	return out, err
}

// counted reads data, and counts it. The link may still read when its command is over.
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

// copy makes the device copy bytes from another blob, and returns the size of the file. If the device cannot do that,
// all other parts are sent.
func (t *transfer) copy(ctx context.Context, b blob, at, n int64, from place) (string, error) {
	count := (n + partSize - 1) / partSize
	in := fmt.Sprintf("%s %s %d %d %d\n", b.sum, from.blob, from.part, at/partSize, count)
	out, err := t.script(ctx, copyScript, strings.NewReader(in))
	if next, e := b.reached(out); err == nil && e == nil && next == at+n {
		t.Store.pushed.Reused += n
		return out, nil
	}
	if link.Retryable(err) || ctx.Err() != nil {
		return "", err
	}
	t.known = map[string]place{}
	return t.script(ctx, sizeScript, strings.NewReader(b.sum+"\n"))
}

// finish lets the device verify the blob and name it.
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
	t.damaged++
	t.known = map[string]place{} // a blob that was copied from may be damaged
	return fmt.Errorf("%w: SHA-256 %s, %s", errDamaged, b.sum, bytesize.Decimal(b.size))
}

// parseParts reads the digests of each blob's parts, after a line "blob SUM". Blobs that are pushed now do not count:
// they are not what they were.
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

// report tells how far the push is, with sent bytes of the blob under way.
func (t *transfer) report(sent int64) {
	if t.progress != nil && t.total > 0 {
		t.progress(t.done+sent, t.total)
	}
}
