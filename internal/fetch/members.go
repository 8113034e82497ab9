package fetch

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/hexmage/hexmage/internal/archive"
	"github.com/hexmage/hexmage/internal/atomicfile"
)

// ErrNoRanges reports that no server reliably supports range requests, so the caller must download the whole archive.
// FetchMembers returns an error that wraps it.
var ErrNoRanges = errors.New("the server cannot send parts of a file")

// memberGap is the largest gap in bytes between two members that one request covers.
const memberGap = 256 << 10

const (
	firstTail    = 128 << 10 // bytes at the end of an archive that are requested first
	maxDirectory = 128 << 20 // bytes at the end of an archive, to find its directory
	maxMembers   = 2_000_000
)

// Pick selects the members that FetchMembers downloads. If Pick fails, FetchMembers downloads no members and returns
// the error.
type Pick func(ms []archive.Member) ([]archive.Member, error)

// FetchMembers downloads selected members of a zip archive. The file at dest is a sparse copy of the archive: it
// contains only the directory and the members that pick returns. If dest exists, FetchMembers does nothing. It keeps an
// interrupted download as dest.part. The next call resumes the download if the server still reports the same size,
// validator and directory.
//
// The digests in s do not apply to the sparse copy. The caller must verify the CRC of each member and the digest of the
// unpacked tree. FetchMembers returns the URL of the archive, or "" if dest existed.
func (c Client) FetchMembers(ctx context.Context, s Source, pick Pick, dest string) (url string, err error) {
	there := func() (bool, error) {
		info, err := os.Stat(dest)
		return err == nil && info.Mode().IsRegular(), nil
	}
	err = c.withDefaults().each(ctx, s, dest, there, func(d *download, addr string) error {
		url = addr
		return d.members(ctx, addr, pick)
	})
	return url, err
}

// members downloads from one address. It restarts if the file on the server changes.
func (d *download) members(ctx context.Context, addr string, pick Pick) error {
	addr, err := address(addr)
	if err != nil {
		return err
	}
	for changes := 0; ; changes++ {
		err = d.membersOnce(ctx, addr, pick)
		if !errors.Is(err, errChanged) || changes >= maxChanges {
			break
		}
	}
	if errors.Is(err, errNoRanges) {
		removePart(d.path)
		err = fmt.Errorf("%w: %w", ErrNoRanges, err)
	}
	return err
}

func (d *download) membersOnce(ctx context.Context, addr string, pick Pick) error {
	var head []byte
	whole := partMeta{URL: addr, Boot: atomicfile.Boot()}
	err := d.persist(ctx, noProgress, func() error {
		a, err := d.get(ctx, addr, 0, 4, "")
		if err != nil {
			return err
		}
		defer a.close()
		whole.Total, whole.Validator = a.total, validator(a.Header)
		if !a.partial() || whole.Total < 0 || whole.Validator == "" {
			return errNoRanges
		}
		head, err = io.ReadAll(io.LimitReader(a.Body, 4))
		if err != nil {
			return transient(err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if string(head) != "PK\x03\x04" {
		return fmt.Errorf("%w: not a zip archive but a file that starts with %q", ErrNotFile, head)
	}
	tail, ms, err := d.directory(ctx, whole)
	if err != nil {
		return err
	}
	if ms, err = pick(ms); err != nil {
		return err
	}
	if len(ms) == 0 {
		return fmt.Errorf("%w: the archive has none of the requested members", ErrNotFile)
	}
	low := whole.Total - int64(len(tail))
	segs := extents(ms, low, memberGap)
	sum := sha256.New()
	_, _ = sum.Write(tail)
	fmt.Fprint(sum, segs)
	whole.Digest = fmt.Sprintf("members %x", sum.Sum(nil))
	p := oldPart(d.path)
	if p == nil || p.partMeta != whole {
		p.close()
		if p, err = newPart(d.path, whole); err != nil {
			return err
		}
	}
	defer p.close()
	return d.sparse(ctx, p, head, segs, tail)
}

// sparse completes a part with holes between the segments. It writes from the first byte to the last, so that the size
// of the file says which bytes are missing.
func (d *download) sparse(ctx context.Context, p *part, head []byte, segs [][2]int64, tail []byte) error {
	var done, total int64
	for _, s := range segs {
		done += min(max(p.done-s[0], 0), s[1]-s[0])
		total += s[1] - s[0]
	}
	to := writer(func(b []byte) error {
		done += int64(len(b))
		d.client.Progress(done, total)
		return p.write(b)
	})
	if _, err := p.data.WriteAt(head, 0); err != nil {
		return err
	}
	for _, s := range segs {
		if p.done >= s[1] {
			continue
		}
		p.done = max(p.done, s[0])
		if err := d.piece(ctx, p.partMeta, p.done, s[1], to); err != nil {
			return err
		}
	}
	_, err := p.data.WriteAt(tail, p.Total-int64(len(tail)))
	return err
}

// writer is an io.Writer.
type writer func(b []byte) error

func (f writer) Write(b []byte) (int, error) { return len(b), f(b) }

// readerAt is an io.ReaderAt.
type readerAt func(p []byte, off int64) (int, error)

func (f readerAt) ReadAt(p []byte, off int64) (int, error) { return f(p, off) }

// directory reads the end of a zip archive with its whole directory.
func (d *download) directory(ctx context.Context, whole partMeta) (tail []byte, ms []archive.Member, err error) {
	low := max(0, whole.Total-firstTail)
	var b bytes.Buffer
	if err = d.piece(ctx, whole, low, whole.Total, &b); err != nil {
		return nil, nil, err
	}
	tail = b.Bytes()
	var failed error // a network error
	ms, err = archive.ListZip(readerAt(func(p []byte, off int64) (int, error) {
		if off < low {
			if whole.Total-off > maxDirectory {
				return 0, fmt.Errorf("%w: the zip directory has more than %d bytes", ErrTooLarge, maxDirectory)
			}
			var before bytes.Buffer
			if failed = d.piece(ctx, whole, off, low, &before); failed != nil {
				return 0, failed
			}
			tail, low = append(before.Bytes(), tail...), off
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

// maxExtra is the largest number of bytes of a member besides its name and its compressed content.
const maxExtra = 66 << 10

// extents returns the ranges of the archive up to end that hold the members, in order. It joins ranges that are less
// than gap bytes apart. A member's range includes the header and the data descriptor, but no hole behind them.
func extents(ms []archive.Member, end, gap int64) (segs [][2]int64) {
	ms = slices.SortedFunc(slices.Values(ms), func(a, b archive.Member) int { return cmp.Compare(a.Offset, b.Offset) })
	for _, m := range ms {
		if m.Offset >= end {
			break
		}
		upto := min(m.End, m.Offset+int64(len(m.Name))+m.Packed+maxExtra, end)
		if last := len(segs) - 1; last >= 0 && m.Offset-segs[last][1] < gap {
			segs[last][1] = upto
		} else {
			segs = append(segs, [2]int64{m.Offset, upto})
		}
	}
	return segs
}

// piece copies a range of the file to w.
func (d *download) piece(ctx context.Context, m partMeta, start, end int64, w io.Writer) error {
	at := start
	return d.persist(ctx, func() int64 { return at }, func() error {
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
		n, err := io.Copy(w, io.LimitReader(a.Body, end-at))
		if at += n; err == nil && at < end {
			err = io.ErrUnexpectedEOF
		}
		if err != nil && !errors.As(err, new(*fs.PathError)) { // not an error of the disk
			return transient(err)
		}
		return err
	})
}
