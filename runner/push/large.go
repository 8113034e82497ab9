package push

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/bytesize"
	"github.com/hexmage/hexmage/runner/link"
)

// stallWait is how long a transfer may move nothing before its link counts as broken.
const stallWait = 90 * time.Second

// largeBlob is a large file on its way. The device builds it from front to back in one file: it adds what is sent, and copies what it
// has in other blobs. So the length of that file says where to go on after the link broke, to the byte.
type largeBlob struct {
	blob
	spans []span
	reach int64 // how much the device had of it when it was asked last
}

// pushLarge makes the device have a large blob, or goes on with that.
func (t *transfer) pushLarge(ctx context.Context, b blob) error {
	if t.now == nil || t.now.sum != b.sum {
		if err := t.begin(ctx, b); err != nil {
			return err
		}
	}
	l := t.now
	at, err := t.reached(ctx, l)
	if err != nil {
		return err
	}
	var found func() string
	for at < l.size {
		todo := from(l.spans, at)
		// It begins from the start after every break: not before the rest may well arrive without one.
		if found == nil && (t.piece == 0 || toSend(todo) < t.piece*lossPart/2) {
			var stop func()
			found, stop = t.follow(ctx, l)
			defer stop()
		}
		next, began := int64(0), time.Now()
		if todo[0].blob == "" {
			if next, err = t.append(ctx, l, at, todo[0].size); err == nil {
				err = t.pause(ctx, time.Since(began))
			}
		} else {
			next, err = t.copy(ctx, l, todo)
		}
		if err != nil {
			return err
		}
		if next <= at {
			return fmt.Errorf("%w: the device does not add to its part of %s", errCorrupted, l.sum)
		}
		at = next
	}
	return t.finish(ctx, l, found != nil && found() == l.sum)
}

// follow has the device hash the part while it grows. found waits for the SHA-256, which is empty if that did not work; stop has to be called.
func (t *transfer) follow(ctx context.Context, l *largeBlob) (found func() string, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	said := make(chan string, 1)
	go func() {
		out, err := t.script(ctx, sumScript, strings.NewReader(fmt.Sprintf("%s\n%s\n%d\n", t.id, l.sum, l.size)))
		if err != nil {
			out = ""
		}
		sum, _, _ := strings.Cut(out, " ")
		said <- sum
		close(said)
	}()
	return func() string { return <-said }, func() { cancel(); <-said }
}

// begin finds out which chunks of the blob the device has.
func (t *transfer) begin(ctx context.Context, b blob) error {
	if t.known == nil {
		out, err := t.output(ctx, recipesScript, "")
		if err != nil {
			return fmt.Errorf("ask the device for chunks: %w", err)
		}
		t.known = parseRecipes(out)
	}
	l := &largeBlob{blob: b}
	if l.recipe == nil {
		l.recipe = t.sums.recipe(b.sum, b.size)
	}
	if l.recipe == nil {
		r, err := b.open()
		if err != nil {
			return err
		}
		defer r.Close()
		if l.recipe, err = chop(boundedfile.Until(ctx, r)); err != nil {
			return fmt.Errorf("read what is to be pushed: %w", err)
		}
		t.sums.remember(b.sum, l.recipe)
	}
	if n := l.recipe.size(); n != b.size {
		return fmt.Errorf("what is to be pushed has %d bytes, %d were expected: did it change just now?", n, b.size)
	}
	l.spans = l.recipe.spans(t.known)
	t.now = l
	return nil
}

// reached asks how much of the blob the device has.
func (t *transfer) reached(ctx context.Context, l *largeBlob) (int64, error) {
	out, err := t.script(ctx, partScript, strings.NewReader(t.id+"\n"+l.sum+"\n"))
	if err != nil {
		return 0, err
	}
	return t.reach(l, out)
}

// reach reads the size that the device says its part has.
func (t *transfer) reach(l *largeBlob, out string) (int64, error) {
	n, err := parseSize(out)
	if err != nil {
		return 0, err
	}
	if n > l.reach {
		t.arrived += n - l.reach
	}
	l.reach = n
	t.report(min(n, l.size))
	return n, nil
}

func parseSize(out string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(out), 10, 64)
	if err != nil || n < 0 || n > maxSize {
		return 0, fmt.Errorf("the device says %.60q of the size of a file", out)
	}
	return n, nil
}

// append sends at most size bytes of the blob, which follow those that the device has. It returns how much the device has then.
func (t *transfer) append(ctx context.Context, l *largeBlob, at, size int64) (int64, error) {
	if t.piece > 0 {
		size = min(size, t.piece)
	}
	r, err := l.open()
	if err != nil {
		return 0, err
	}
	in := &portion{r: r, left: size}
	defer in.close()
	if err := Skip(r, at); err != nil {
		return 0, fmt.Errorf("read what is to be pushed: %w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := time.AfterFunc(stallWait, func() { cancel(errStalled) })
	defer stalled.Stop()
	in.onRead = func(sent int64) {
		stalled.Reset(stallWait)
		t.report(at + sent)
	}
	out, err := t.script(ctx, strings.NewReplacer("ID", t.id, "SUM", l.sum).Replace(appendScript), in)
	t.Store.pushed.Sent += in.close()
	if errors.Is(err, errStalled) {
		return 0, fmt.Errorf("%w: nothing moved for %v", link.ErrDropped, stallWait)
	}
	if err != nil {
		return 0, full(err)
	}
	return t.reach(l, out)
}

var errStalled = errors.New("the transfer stalled")

// portion is some bytes of a file on their way. It may still be read, by adb's side, when the command that wanted them is over.
type portion struct {
	onRead func(sent int64) // called with the lock held

	mu         sync.Mutex
	r          io.ReadCloser // nil: closed
	sent, left int64
}

func (p *portion) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left == 0 || p.r == nil {
		return 0, io.EOF
	}
	n, err := p.r.Read(b[:min(int64(len(b)), p.left)])
	p.sent += int64(n)
	p.left -= int64(n)
	if err == io.EOF {
		if err = nil; p.left > 0 {
			err = io.ErrUnexpectedEOF
		}
	}
	p.onRead(p.sent)
	return n, err
}

// close ends it and returns how many bytes were read. It may be called again.
func (p *portion) close() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.r != nil {
		p.r.Close()
		p.r = nil
	}
	return p.sent
}

// Skip moves a reader forward, without reading if it can be told to.
func Skip(r io.Reader, n int64) error {
	if n == 0 {
		return nil
	}
	if s, ok := r.(io.Seeker); ok {
		if _, err := s.Seek(n, io.SeekStart); err == nil {
			return nil
		}
	}
	_, err := io.CopyN(io.Discard, r, n)
	return err
}

// copy has the device copy what it has elsewhere, up to what must be sent, and returns how much it has then. If it cannot do that, all is
// sent.
func (t *transfer) copy(ctx context.Context, l *largeBlob, todo []span) (int64, error) {
	var list strings.Builder
	sum := int64(0)
	for _, s := range todo {
		if s.blob == "" {
			break
		}
		fmt.Fprintf(&list, "%s %d %d\n", s.blob, s.at, s.size)
		sum += s.size
	}
	out, err := t.script(ctx, copyScript, strings.NewReader(t.id+"\n"+l.sum+"\n"+list.String()))
	if err == nil {
		t.Store.pushed.Reused += sum
		return t.reach(l, out)
	}
	if err = full(err); link.Retryable(err) || ctx.Err() != nil || errors.Is(err, errFull) {
		return 0, err
	}
	// A dd that knows no bytes, or a blob that is gone. What it added so far is right, or the digest tells.
	l.spans = []span{{size: l.size}}
	return t.reached(ctx, l)
}

// finish has the device verify the blob and give it its name.
func (t *transfer) finish(ctx context.Context, l *largeBlob, right bool) error {
	said := "unknown"
	if right {
		said = "right"
	}
	out, err := t.script(ctx, finishScript, strings.NewReader(t.id+"\n"+l.sum+"\n"+said+"\n"+string(l.recipe.text())))
	if err != nil {
		return full(err)
	}
	if strings.TrimSpace(out) == "ok" {
		t.known[l.sum] = l.recipe
		t.done += l.size
		t.arrived++
		t.now = nil
		return nil
	}
	if err := l.same(ctx); err != nil {
		return err
	}
	// A blob that the copies came from may be damaged: now all is sent.
	l.spans, l.reach = []span{{size: l.size}}, 0
	t.arrived = 0
	return fmt.Errorf("%w: SHA-256 %s, %s", errCorrupted, l.sum, bytesize.Decimal(l.size))
}

// same makes sure that what is here is still what was to be pushed.
func (l *largeBlob) same(ctx context.Context) error {
	r, err := l.open()
	if err != nil {
		return err
	}
	defer r.Close()
	h := sha256.New()
	if _, err := io.Copy(h, boundedfile.Until(ctx, r)); err != nil {
		return fmt.Errorf("read what is to be pushed: %w", err)
	}
	if sum := hex.EncodeToString(h.Sum(nil)); sum != l.sum {
		return fmt.Errorf("what is to be pushed has the SHA-256 %s, %s was expected: did it change just now?", sum, l.sum)
	}
	return nil
}

// full marks the failure of a script that ran out of space.
func full(err error) error {
	if err != nil && strings.Contains(strings.ToLower(err.Error()), errFull.Error()) {
		return fmt.Errorf("%w: %w", errFull, err)
	}
	return err
}
