package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

// Members is what FetchMembers got.
type Members struct {
	Size      int64  // of the whole archive
	Read      int64  // bytes of it that are there now
	Came      int64  // bytes that came in this run
	Directory string // SHA-256 of the central directory and what follows it
	Members   int    // that were asked for
	URL       string
	Requests  int
}

// ErrNoRanges is what FetchMembers returns, wrapped, when no server sends pieces of the archive in a way that can be relied
// on: then all of it has to be downloaded.
var ErrNoRanges = errors.New("the server does not send parts of the file")

// memberGap is how many bytes between two members are read along rather than asked around.
const memberGap = 256 << 10

// FetchMembers makes dest a file that is the zip archive of the source as far as those members go that keep wants: the
// rest of it is a hole. An archive's own digests say nothing of such a file; whoever unpacks it has to check each member's
// CRC, and the result against a digest of its own. What was begun is gone on with, also by another process.
func (c Client) FetchMembers(ctx context.Context, s Source, keep func(name string) bool, dest string) (*Members, error) {
	c = c.withDefaults()
	if len(s.URLs) == 0 {
		return nil, errors.New("fetch: no address")
	}
	if err := os.MkdirAll(filepath.Dir(dest), 0o755); err != nil {
		return nil, err
	}
	unlock, err := c.lock(ctx, dest)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", redact(s.URLs[0]), err)
	}
	defer unlock()
	if info, err := os.Stat(dest); err == nil && info.Mode().IsRegular() {
		return &Members{Size: info.Size()}, nil
	}
	if c.Offline {
		return nil, fmt.Errorf("fetch %s: %w", redact(s.URLs[0]), ErrOffline)
	}
	d := &download{client: c, source: s, path: dest + ".part"}
	var errs []error
	for _, addr := range s.URLs {
		m, err := d.members(ctx, addr, keep)
		if err == nil {
			return m, d.finish(dest)
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		errs = append(errs, fmt.Errorf("fetch %s: %w", redact(addr), err))
	}
	return nil, errors.Join(errs...)
}

// members gets them from one address. Of a file that changes meanwhile nothing is kept.
func (d *download) members(ctx context.Context, addr string, keep func(string) bool) (*Members, error) {
	u, err := url.Parse(addr)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, fmt.Errorf("%w: the address is none of http and https", ErrNoRanges)
	}
	d.http1 = d.source.HTTP1
	d.http = d.connect()
	defer func() { d.http.CloseIdleConnections() }()
	var m *Members
	for changes := 0; ; changes++ {
		m, err = d.membersOnce(ctx, addr, keep)
		if !errors.Is(err, errChanged) || changes >= maxChanges {
			break
		}
		removePart(d.path)
	}
	if errors.Is(err, errNoRanges) {
		err = fmt.Errorf("%w: %w", ErrNoRanges, err)
	}
	return m, err
}

func (d *download) membersOnce(ctx context.Context, addr string, keep func(string) bool) (*Members, error) {
	var head []byte
	var total int64
	var valid string
	err := d.persist(ctx, nil, func() error {
		a, err := d.get(ctx, addr, 0, 4, "")
		if err != nil {
			return err
		}
		defer a.close()
		total, valid = a.total, validator(a.Header)
		if !a.partial() || total < 0 || valid == "" {
			return errNoRanges
		}
		watch := time.AfterFunc(d.client.Stall, a.cancel)
		defer watch.Stop()
		head, err = io.ReadAll(io.LimitReader(a.Body, 4))
		if err != nil {
			return d.transient(err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if string(head) != "PK\x03\x04" {
		return nil, fmt.Errorf("%w: it is no zip archive, it starts with %q", ErrNotFile, head)
	}
	whole := partMeta{URL: addr, Validator: valid, Total: total}
	tail, err := d.bytes(ctx, whole, max(0, total-1<<20), total)
	if err != nil {
		return nil, err
	}
	dir, err := parseEnd(tail, total)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotFile, err)
	}
	if dir.end-dir.start > maxDirectory {
		return nil, fmt.Errorf("%w: its central directory has %d bytes", ErrTooLarge, dir.end-dir.start)
	}
	if missing := total - int64(len(tail)) - dir.start; missing > 0 {
		before, err := d.bytes(ctx, whole, dir.start, dir.start+missing)
		if err != nil {
			return nil, err
		}
		tail = append(before, tail...)
	} else {
		tail = tail[-missing:]
	}
	ms, err := parseDirectory(tail[:dir.end-dir.start], dir)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotFile, err)
	}
	segs, kept := extents(ms, dir, func(m zipMember) bool { return keep(m.name) }, memberGap, d.client.Chunk)
	if kept == 0 {
		return nil, fmt.Errorf("%w: the archive has none of the members that are asked for", ErrNotFile)
	}
	sum := sha256.Sum256(tail)
	whole.Digest = "members " + hex.EncodeToString(sum[:])
	if segs[0][1]-segs[0][0] < int64(len(head)) {
		return nil, fmt.Errorf("%w: %w", ErrNotFile, zipError("its first member has no header"))
	}
	if segs[0][0] >= int64(len(head)) { // it starts as a zip does
		segs = append([][2]int64{{0, int64(len(head))}}, segs...)
	}
	whole.Segments = append(segs, [2]int64{dir.start, total})
	p, err := d.sparse(whole, head, tail)
	if err != nil {
		return nil, err
	}
	defer p.close()
	before := p.bytes()
	if err := d.persist(ctx, p, func() error { return d.fill(ctx, addr, p, nil) }); err != nil {
		return nil, err
	}
	return &Members{Size: total, Read: p.bytes(), Came: p.bytes() - before + int64(len(tail)), Directory: hex.EncodeToString(sum[:]), Members: kept, URL: addr,
		Requests: int(d.requests.Load())}, p.data.Sync()
}

// sparse opens the part with the segments of m, or makes it, and puts the archive's beginning and end into it.
func (d *download) sparse(m partMeta, head, tail []byte) (*part, error) {
	if p := oldPart(d.path, false); p != nil {
		if p.meta.Digest == m.Digest && p.meta.Validator == m.Validator && p.meta.Total == m.Total && len(p.segs) == len(m.Segments) {
			same := true
			for i := range m.Segments {
				same = same && p.meta.Segments[i] == m.Segments[i]
			}
			if same {
				p.meta.URL = m.URL
				return p, nil
			}
		}
		p.close()
	}
	p, err := newPart(d.path, m, false)
	if err != nil {
		return nil, err
	}
	err = p.data.Truncate(m.Total)
	for _, piece := range []struct {
		s *segment
		b []byte
	}{{p.segs[0], head}, {p.segs[len(p.segs)-1], tail}} {
		if err == nil {
			err = p.write(piece.s, piece.b)
		}
		if err == nil {
			err = p.note(piece.s)
		}
	}
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// bytes reads a piece of the file into memory; where a connection breaks it goes on.
func (d *download) bytes(ctx context.Context, m partMeta, start, end int64) (b []byte, err error) {
	for idle := 0; ; {
		before := len(b)
		err = d.persist(ctx, nil, func() error {
			at := start + int64(len(b))
			a, err := d.get(ctx, m.URL, at, end, m.Validator)
			if err != nil {
				return err
			}
			defer a.close()
			switch {
			case a.total != m.Total || validator(a.Header) != m.Validator:
				return errChanged
			case !a.partial() || a.end != end:
				return errNoRanges
			}
			watch := time.AfterFunc(d.client.Stall, a.cancel)
			defer watch.Stop()
			more, err := io.ReadAll(io.LimitReader(a.Body, end-at))
			b = append(b, more...)
			if err != nil && len(more) == 0 && ctx.Err() == nil {
				return d.transient(err)
			}
			return context.Cause(ctx)
		})
		switch {
		case err != nil || int64(len(b)) == end-start:
			return b, err
		case len(b) > before:
			idle = 0
		default:
			if idle++; idle > d.client.Retries {
				return nil, io.ErrUnexpectedEOF
			}
		}
	}
}

// persist calls f until it succeeds or fails for good; p tells of progress, and may be nil.
func (d *download) persist(ctx context.Context, p *part, f func() error) error {
	for failures := 0; ; {
		before := p.bytes()
		err := f()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var t *transientError
		if !errors.As(err, &t) {
			return err
		}
		if d.downgrade() {
			d.http1 = true
			d.http.CloseIdleConnections()
			d.http = d.connect()
		}
		if p.bytes() > before {
			failures = 0
		} else if failures++; failures > d.client.Retries {
			return fmt.Errorf("given up after %d tries without progress: %w", failures, t.err)
		}
		if err := d.pause(ctx, failures, t.after); err != nil {
			return err
		}
	}
}
