package fetch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"

	"github.com/hexmage/hexmage/internal/archive"
)

// Members is what FetchMembers got.
type Members struct {
	Size     int64 // of the whole archive
	Read     int64 // bytes of it that are there now
	Came     int64 // bytes that came in this run
	Members  int   // that were asked for
	URL      string
	Requests int
}

// ErrNoRanges is what FetchMembers returns, wrapped, when no server sends pieces of the archive in a way that can be
// relied on: then all of it has to be downloaded.
var ErrNoRanges = errors.New("the server does not send parts of the file")

// memberGap is how many bytes between two members are read along rather than asked around.
const memberGap = 256 << 10

const (
	maxDirectory = 128 << 20 // bytes at the end of an archive that are read for its directory
	maxMembers   = 2_000_000
)

// FetchMembers makes dest a file that is the zip archive of the source as far as those members go that keep wants:
// the rest of it is a hole. An archive's own digests say nothing of such a file; whoever unpacks it has to check each
// member's CRC, and the result against a digest of its own. What was begun is gone on with, also by another process.
func (c Client) FetchMembers(ctx context.Context, s Source, keep func(name string) bool,
	dest string) (*Members, error) {
	var m *Members
	there := func() (bool, error) {
		info, err := os.Stat(dest)
		if err != nil || !info.Mode().IsRegular() {
			return false, nil
		}
		m = &Members{Size: info.Size()}
		return true, nil
	}
	err := c.withDefaults().each(ctx, s, dest, there, func(d *download, addr string) (err error) {
		m, err = d.members(ctx, addr, keep)
		return err
	})
	if err != nil {
		return nil, err
	}
	return m, nil
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
	tail, ms, err := d.directory(ctx, whole)
	if err != nil {
		return nil, err
	}
	low := total - int64(len(tail))
	segs, kept := extents(ms, low, keep, memberGap)
	if kept == 0 {
		return nil, fmt.Errorf("%w: the archive has none of the members that are asked for", ErrNotFile)
	}
	sum := sha256.Sum256(tail)
	whole.Digest = "members " + hex.EncodeToString(sum[:])
	whole.Segments = segs
	p, err := d.sparse(whole, head, tail)
	if err != nil {
		return nil, err
	}
	defer p.close()
	before := p.bytes()
	if err := d.persist(ctx, p, func() error { return d.fill(ctx, addr, p, nil) }); err != nil {
		return nil, err
	}
	return &Members{Size: total, Read: p.bytes() + int64(len(tail)), Came: p.bytes() - before + int64(len(tail)), Members: kept,
		URL: addr, Requests: int(d.requests.Load())}, p.data.Sync()
}

// readerAt is an io.ReaderAt.
type readerAt func(p []byte, off int64) (int, error)

func (f readerAt) ReadAt(p []byte, off int64) (int, error) { return f(p, off) }

// directory reads the end of a zip archive, as much of it as it takes to know the members.
func (d *download) directory(ctx context.Context, whole partMeta) (tail []byte, ms []archive.Member, err error) {
	low := max(0, whole.Total-1<<20)
	if tail, err = d.bytes(ctx, whole, low, whole.Total); err != nil {
		return nil, nil, err
	}
	var failed error // of the network
	ms, err = archive.ListZip(readerAt(func(p []byte, off int64) (int, error) {
		if off < low {
			if whole.Total-off > maxDirectory {
				return 0, fmt.Errorf("%w: its central directory has more than %d bytes", ErrTooLarge, maxDirectory)
			}
			before, err := d.bytes(ctx, whole, off, low)
			if err != nil {
				failed = err
				return 0, err
			}
			tail, low = append(before, tail...), off
		}
		n := copy(p, tail[min(off-low, int64(len(tail))):])
		if n < len(p) {
			return n, io.EOF
		}
		return n, nil
	}), whole.Total, maxMembers)
	switch {
	case failed != nil:
		return nil, nil, failed
	case err != nil:
		return nil, nil, fmt.Errorf("%w: %w", ErrNotFile, err)
	}
	return tail, ms, nil
}

// extents are the pieces of the archive, up to the byte end, that hold the members that are kept, in order. Pieces
// with less than gap bytes between them are one. A member ends where the next one begins: so its header and what
// follows its data are in it.
func extents(ms []archive.Member, end int64, keep func(name string) bool,
	gap int64) (segs [][2]int64, kept int) {
	ms = slices.SortedFunc(slices.Values(ms), func(a, b archive.Member) int { return cmp.Compare(a.Offset, b.Offset) })
	for _, m := range ms {
		if !keep(m.Name) {
			continue
		}
		if kept++; m.Offset >= end {
			continue
		}
		upto := min(m.End, end)
		if last := len(segs) - 1; last >= 0 && m.Offset-segs[last][1] < gap {
			segs[last][1] = upto
		} else {
			segs = append(segs, [2]int64{m.Offset, upto})
		}
	}
	return segs, kept
}

// sparse opens the part with the segments of m, or makes it, and puts the archive's beginning and end into it.
func (d *download) sparse(m partMeta, head, tail []byte) (*part, error) {
	if p := oldPart(d.path, false); p != nil {
		if p.meta.Digest == m.Digest && p.meta.Validator == m.Validator && p.meta.Total == m.Total &&
			slices.Equal(p.meta.Segments, m.Segments) {
			p.meta.URL = m.URL
			return p, nil
		}
		p.close()
	}
	p, err := newPart(d.path, m, false)
	if err != nil {
		return nil, err
	}
	_, herr := p.data.WriteAt(head, 0)
	_, terr := p.data.WriteAt(tail, m.Total-int64(len(tail)))
	if err := errors.Join(herr, terr); err != nil {
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
			more, err := io.ReadAll(io.LimitReader(a.Body, end-at))
			b = append(b, more...)
			if t := (*transientError)(nil); err != nil && (len(more) == 0 || errors.As(err, &t) && t.slow) &&
				ctx.Err() == nil {
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
		if err := d.bear(ctx, t, &failures, p.bytes() > before); err != nil {
			return err
		}
	}
}
