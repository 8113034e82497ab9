package fetch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/hexmage/hexmage/internal/archive"
)

// ErrNoRanges is wrapped by errors of FetchMembers if no server answers ranges reliably. The caller then has to
// download the whole archive.
var ErrNoRanges = errors.New("the server does not send parts of the file")

// memberGap is the largest gap in bytes between two members that one request covers.
const memberGap = 256 << 10

const (
	maxDirectory = 128 << 20 // bytes at the end of an archive, to find its directory
	maxMembers   = 2_000_000
)

// FetchMembers writes a sparse copy of the source's zip archive to dest, unless there is one. It has the directory and
// the members that keep selects. The digests of the archive do not apply to it: the caller checks each member's CRC and
// the digest of the unpacked tree. It returns the address that served it, "" if the file existed already.
func (c Client) FetchMembers(ctx context.Context, s Source, keep func(name string) bool, dest string) (url string,
	err error) {
	there := func() (bool, error) {
		info, err := os.Stat(dest)
		return err == nil && info.Mode().IsRegular(), nil
	}
	err = c.withDefaults().each(ctx, s, dest, there, func(d *download, addr string) error {
		url = addr
		return d.members(ctx, addr, keep)
	})
	return url, err
}

// members downloads from one address. It restarts if the file on the server changes.
func (d *download) members(ctx context.Context, addr string, keep func(string) bool) error {
	addr, err := address(addr)
	if err != nil {
		return err
	}
	for changes := 0; ; changes++ {
		err = d.membersOnce(ctx, addr, keep)
		if !errors.Is(err, errChanged) || changes >= maxChanges {
			break
		}
	}
	if err != nil {
		removePart(d.path)
	}
	if errors.Is(err, errNoRanges) {
		err = fmt.Errorf("%w: %w", ErrNoRanges, err)
	}
	return err
}

func (d *download) membersOnce(ctx context.Context, addr string, keep func(string) bool) error {
	var head []byte
	whole := partMeta{URL: addr}
	err := d.persist(ctx, nothing, func() error {
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
	low := whole.Total - int64(len(tail))
	segs, kept := extents(ms, low, keep, memberGap)
	if kept == 0 {
		return fmt.Errorf("%w: the archive has none of the requested members", ErrNotFile)
	}
	out, err := os.Create(d.path)
	if err != nil {
		return err
	}
	defer out.Close()
	_, herr := out.WriteAt(head, 0)
	_, terr := out.WriteAt(tail, low)
	if err := errors.Join(herr, terr); err != nil {
		return err
	}
	var done, total int64
	for _, s := range segs {
		total += s[1] - s[0]
	}
	told := written(func(n int) {
		done += int64(n)
		d.client.Progress(done, total)
	})
	for _, s := range segs {
		to := io.MultiWriter(io.NewOffsetWriter(out, s[0]), told)
		if err := d.piece(ctx, whole, s[0], s[1], to); err != nil {
			return err
		}
	}
	return out.Close()
}

// written is a Writer that is told how much is written.
type written func(n int)

func (f written) Write(b []byte) (int, error) {
	f(len(b))
	return len(b), nil
}

// readerAt is an io.ReaderAt.
type readerAt func(p []byte, off int64) (int, error)

func (f readerAt) ReadAt(p []byte, off int64) (int, error) { return f(p, off) }

// directory reads the end of a zip archive with its whole directory.
func (d *download) directory(ctx context.Context, whole partMeta) (tail []byte, ms []archive.Member, err error) {
	low := max(0, whole.Total-1<<20)
	var b bytes.Buffer
	if err = d.piece(ctx, whole, low, whole.Total, &b); err != nil {
		return nil, nil, err
	}
	tail = b.Bytes()
	var failed error // a network error
	ms, err = archive.ListZip(readerAt(func(p []byte, off int64) (int, error) {
		if off < low {
			if whole.Total-off > maxDirectory {
				return 0, fmt.Errorf("%w: central directory of more than %d bytes", ErrTooLarge, maxDirectory)
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
		if err != nil && !errors.As(err, new(*fs.PathError)) { // of the disk, else
			return transient(err)
		}
		return err
	})
}
