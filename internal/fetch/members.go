package fetch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/hexmage/hexmage/internal/archive"
)

// Members describes the result of FetchMembers.
type Members struct {
	Size    int64 // bytes of the whole archive
	Members int   // number of requested members
	URL     string
}

// ErrNoRanges is wrapped by errors of FetchMembers if no server answers ranges reliably. The caller then has to
// download the whole archive.
var ErrNoRanges = errors.New("the server does not send parts of the file")

// memberGap is the largest gap in bytes between two members that one request covers.
const memberGap = 256 << 10

const (
	maxDirectory = 128 << 20 // bytes at the end of an archive, to find its directory
	maxMembers   = 2_000_000
)

// FetchMembers writes a sparse copy of the source's zip archive to dest. It has the directory and the members that
// keep selects. The digests of the archive do not apply to it: the caller checks each member's CRC and the digest of
// the unpacked tree. A later call, also of another process, resumes an interrupted one.
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

// members downloads from one address. It restarts if the file on the server changes.
func (d *download) members(ctx context.Context, addr string, keep func(string) bool) (*Members, error) {
	addr, err := address(addr)
	if err != nil {
		return nil, err
	}
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
	err := d.persist(ctx, nothing, func() error {
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
			return transient(err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if string(head) != "PK\x03\x04" {
		return nil, fmt.Errorf("%w: not a zip archive but a file that starts with %q", ErrNotFile, head)
	}
	whole := partMeta{URL: addr, Validator: valid, Total: total}
	tail, ms, err := d.directory(ctx, whole)
	if err != nil {
		return nil, err
	}
	low := total - int64(len(tail))
	segs, kept := extents(ms, low, keep, memberGap)
	if kept == 0 {
		return nil, fmt.Errorf("%w: the archive has none of the requested members", ErrNotFile)
	}
	sum := sha256.Sum256(tail)
	whole.Digest = "members " + hex.EncodeToString(sum[:])
	whole.Segments = segs
	p, err := d.sparse(whole, head, tail)
	if err != nil {
		return nil, err
	}
	defer p.close()
	if err := d.persist(ctx, p.bytes, func() error { return d.fill(ctx, addr, p, nil) }); err != nil {
		return nil, err
	}
	return &Members{Size: total, Members: kept, URL: addr}, p.data.Sync()
}

// readerAt is an io.ReaderAt.
type readerAt func(p []byte, off int64) (int, error)

func (f readerAt) ReadAt(p []byte, off int64) (int, error) { return f(p, off) }

// directory reads the end of a zip archive with its whole directory.
func (d *download) directory(ctx context.Context, whole partMeta) (tail []byte, ms []archive.Member, err error) {
	low := max(0, whole.Total-1<<20)
	if tail, err = d.bytes(ctx, whole, low, whole.Total); err != nil {
		return nil, nil, err
	}
	var failed error // a network error
	ms, err = archive.ListZip(readerAt(func(p []byte, off int64) (int, error) {
		if off < low {
			if whole.Total-off > maxDirectory {
				return 0, fmt.Errorf("%w: central directory of more than %d bytes", ErrTooLarge, maxDirectory)
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

// extents returns the ranges of the archive up to end that hold the members that keep selects, in order. It joins
// ranges that are less than gap bytes apart. A member's range ends where the next member begins, so that it includes
// the header and the data descriptor.
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

// sparse opens or creates the part file with the segments of m, and writes the archive's first and last bytes to it: an
// earlier run may have been killed before it did.
func (d *download) sparse(m partMeta, head, tail []byte) (*part, error) {
	p := oldPart(d.path, false)
	if p != nil && (p.meta.Digest != m.Digest || p.meta.Validator != m.Validator || p.meta.Total != m.Total ||
		!slices.Equal(p.meta.Segments, m.Segments)) {
		p.close()
		p = nil
	}
	if p == nil {
		var err error
		if p, err = newPart(d.path, m, false); err != nil {
			return nil, err
		}
	}
	p.meta.URL = m.URL
	_, herr := p.data.WriteAt(head, 0)
	_, terr := p.data.WriteAt(tail, m.Total-int64(len(tail)))
	if err := errors.Join(herr, terr); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// bytes reads a range of the file into memory.
func (d *download) bytes(ctx context.Context, m partMeta, start, end int64) (b []byte, err error) {
	err = d.persist(ctx, func() int64 { return int64(len(b)) }, func() error {
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
		if b = append(b, more...); err == nil && int64(len(b)) < end-start {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return transient(err)
		}
		return nil
	})
	return b, err
}
