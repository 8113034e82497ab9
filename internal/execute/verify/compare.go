package verify

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path"
	"slices"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
)

// maxDifferences is how many differing files of one action are described; the rest is counted.
const maxDifferences = 20

// comparer compares what two runs of an action left.
type comparer struct {
	blobs store.Blobs
	roots string
	found []event.Difference
	more  int

	varies map[string]string // why outputs may differ, by path
	all    string            // why all of them may
	wrong  int               // how many differ that may not
}

func (c *comparer) add(d event.Difference) {
	if d.Varies = c.may(d.Path); d.Varies == "" {
		c.wrong++
	}
	if len(c.found) == maxDifferences {
		c.more++
		return
	}
	c.found = append(c.found, d)
}

// may says why what is at the path may differ, "" if it may not. A difference of no path, the exit code, may not.
func (c *comparer) may(at string) string {
	for p := at; p != "" && p != "."; p = path.Dir(p) {
		if why := c.varies[p]; why != "" {
			return why
		}
	}
	if at == "" {
		return ""
	}
	return c.all
}

func (c *comparer) results(ctx context.Context, first, second *action.Result) error {
	if first.ExitCode != second.ExitCode {
		d := event.Difference{Kind: "exit code", Offset: -1, Detail: fmt.Sprintf("%d, then %d", first.ExitCode, second.ExitCode)}
		if lines := lastLines(second.Stderr, 3); len(lines) > 0 {
			d.Lines = lines
		}
		c.add(d)
		return nil
	}
	return c.dirs(ctx, "", top(first), top(second))
}

// top is the folder that holds a result's outputs, under their whole paths.
func top(r *action.Result) *merkle.Dir {
	all := &merkle.Dir{Files: map[string]*merkle.File{}, Dirs: map[string]*merkle.Dir{}}
	for _, f := range r.Files {
		all.Files[f.Path] = &merkle.File{Digest: f.Digest, Executable: f.Executable}
	}
	for _, d := range r.Dirs {
		all.Dirs[d.Path] = merkle.Ref(d.Root)
	}
	return all
}

func (c *comparer) dirs(ctx context.Context, at string, first, second *merkle.Dir) error {
	return merkle.Zip(first, second, func(name string, a, b merkle.Entry) error {
		p := path.Join(at, name)
		switch (merkle.Entry{}) {
		case b:
			c.add(event.Difference{Path: p, Kind: "missing", Offset: -1, Detail: "only the first run wrote this " + noun(a)})
		case a:
			c.add(event.Difference{Path: p, Kind: "extra", Offset: -1, Detail: "only the second run wrote this " + noun(b)})
		default:
			if err := c.entries(ctx, p, a, b); err != nil {
				return fmt.Errorf("%s: %w", p, err)
			}
		}
		return nil
	})
}

func noun(e merkle.Entry) string {
	switch {
	case e.File != nil:
		return "file"
	case e.Dir != nil:
		return "folder"
	}
	return "symlink"
}

func (c *comparer) entries(ctx context.Context, p string, a, b merkle.Entry) error {
	switch {
	case noun(a) != noun(b):
		c.add(event.Difference{Path: p, Kind: "type", Offset: -1, Detail: fmt.Sprintf("a %s, then a %s", noun(a), noun(b))})
	case a.Dir != nil:
		return c.folders(ctx, p, a.Dir, b.Dir)
	case a.File == nil:
		if a.Symlink != b.Symlink {
			c.add(event.Difference{Path: p, Kind: "content", Offset: -1, Detail: fmt.Sprintf("a symlink to %q, then to %q", a.Symlink, b.Symlink)})
		}
	case a.File.Digest != b.File.Digest:
		return c.files(ctx, p, *a.File, *b.File)
	case a.File.Executable != b.File.Executable:
		c.add(event.Difference{Path: p, Kind: "mode", Offset: -1, Detail: fmt.Sprintf("%s, then %s", mode(a.File), mode(b.File))})
	}
	return nil
}

func mode(f *merkle.File) string {
	if f.Executable {
		return "executable"
	}
	return "not executable"
}

// folders looks into folders only where their digests differ.
func (c *comparer) folders(ctx context.Context, p string, a, b *merkle.Dir) error {
	refA, okA := a.Ref()
	refB, okB := b.Ref()
	if okA && okB && refA == refB {
		return nil
	}
	a, err := a.Open(ctx, c.blobs)
	if err != nil {
		return err
	}
	if b, err = b.Open(ctx, c.blobs); err != nil {
		return err
	}
	return c.dirs(ctx, p, a, b)
}

// Limits of what is looked at closely.
const (
	maxWhole  = 64 << 20 // larger files are compared in a stream, and not taken apart
	maxRanges = 4096     // of differing bytes, of which it is found out what they belong to
	joined    = 8        // differing bytes with fewer equal ones between are one range
)

// span is a range of bytes.
type span struct{ from, to int64 }

// spans is what a comparison of two byte streams finds.
type spans struct {
	first  int64 // offset of the first difference; -1: none
	bytes  int64 // how many differ, of those that both have
	ranges int
	head   []span // the first maxRanges of them
	window [2][]byte
}

// windowed is how much of each file around the first difference is kept, to guess at causes.
const windowed = 512

// compare reads both to the end, which verifies them. It keeps a window of each around the first difference.
func compare(a, b io.Reader) (spans, error) {
	s := spans{first: -1}
	var bufs [2][]byte
	var before [2][]byte
	for i := range bufs {
		bufs[i] = make([]byte, 64<<10)
	}
	for at := int64(0); ; {
		n, errA := io.ReadFull(a, bufs[0])
		m, errB := io.ReadFull(b, bufs[1])
		if err := trouble(errA); err != nil {
			return s, err
		}
		if err := trouble(errB); err != nil {
			return s, err
		}
		both := min(n, m)
		fresh := s.first < 0
		s.chunk(at, bufs[0][:both], bufs[1][:both])
		if s.first < 0 && n != m {
			s.first = at + int64(both)
		}
		if fresh && s.first >= 0 {
			i := int(s.first - at)
			s.window[0] = around(before[0], bufs[0][:n], i)
			s.window[1] = around(before[1], bufs[1][:m], i)
		}
		if n < len(bufs[0]) && m < len(bufs[1]) {
			return s, nil
		}
		if s.first < 0 {
			for i, buf := range [][]byte{bufs[0][:n], bufs[1][:m]} {
				before[i] = append(before[i][:0], buf[max(0, len(buf)-windowed):]...)
			}
		}
		at += int64(both)
		if n != m { // one has ended; the rest of the other is read for its digest's sake
			_, errA = io.Copy(io.Discard, a)
			_, errB = io.Copy(io.Discard, b)
			if err := trouble(errA); err != nil {
				return s, err
			}
			return s, trouble(errB)
		}
	}
}

// trouble is what ReadFull says, unless it says that the end is there.
func trouble(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil
	}
	return err
}

func around(before, buf []byte, i int) []byte {
	var w []byte
	if k := windowed - i; k > 0 {
		w = append(w, before[max(0, len(before)-k):]...)
	}
	return append(w, buf[max(0, i-windowed):min(len(buf), i+windowed)]...)
}

func (s *spans) chunk(at int64, a, b []byte) {
	if bytes.Equal(a, b) {
		return
	}
	for i := range a {
		if a[i] == b[i] {
			continue
		}
		p := at + int64(i)
		if s.first < 0 {
			s.first = p
		}
		s.bytes++
		if k := len(s.head); k > 0 && s.ranges == k && p-s.head[k-1].to < joined {
			s.head[k-1].to = p + 1
			continue
		}
		s.ranges++
		if len(s.head) < maxRanges {
			s.head = append(s.head, span{p, p + 1})
		}
	}
}

// files describes how two files of different content differ.
func (c *comparer) files(ctx context.Context, p string, a, b merkle.File) error {
	d := event.Difference{Path: p, Kind: "content", First: a.Digest.String(), Second: b.Digest.String()}
	if len(c.found) == maxDifferences {
		c.add(d)
		return nil
	}
	ra, err := c.blobs.Open(ctx, a.Digest)
	if err != nil {
		return err
	}
	defer ra.Close()
	rb, err := c.blobs.Open(ctx, b.Digest)
	if err != nil {
		return err
	}
	defer rb.Close()
	s, err := compare(ra, rb)
	if err != nil {
		return err
	}
	d.Offset = s.first
	if a.Digest.Size() != b.Digest.Size() {
		d.Kind = "size"
		d.Detail = fmt.Sprintf("%d bytes, then %d; the first difference is at 0x%x", a.Digest.Size(), b.Digest.Size(), s.first)
	} else {
		d.Detail = fmt.Sprintf("%d of %d bytes differ, in %s, the first at 0x%x", s.bytes, a.Digest.Size(), count(s.ranges, "range"), s.first)
	}
	if a.Executable != b.Executable {
		d.Detail += fmt.Sprintf("; %s, then %s", mode(&a), mode(&b))
	}
	if max(a.Digest.Size(), b.Digest.Size()) <= maxWhole {
		wa, err := c.whole(ctx, a.Digest)
		if err != nil {
			return err
		}
		wb, err := c.whole(ctx, b.Digest)
		if err != nil {
			return err
		}
		locate(&d, s, wa, wb)
		d.Hints = append(d.Hints, orderHint(wa, wb)...)
		d.Hints = append(d.Hints, s.causes(wa, wb, c.roots)...)
	} else {
		d.Hints = append(d.Hints, causes(s.window[0], s.window[1], c.roots)...)
	}
	c.add(d)
	return nil
}

// maxCauses is at how many differing ranges of a file causes are looked for.
const maxCauses = 64

// causes guesses at each of the first differing ranges: the first one of an ELF file is often but the build id. Only
// what no other guess explains is put down to digits.
func (s *spans) causes(a, b []byte, roots string) []string {
	var hints []string
	at := []int64{s.first}
	if len(a) == len(b) {
		for _, k := range s.head[:min(len(s.head), maxCauses)] {
			at = append(at, k.from)
		}
	}
	window := func(b []byte, i int64) []byte {
		return b[min(int64(len(b)), max(0, i-windowed/2)):min(int64(len(b)), i+windowed/2)]
	}
	for _, i := range at {
		for _, h := range causes(window(a, i), window(b, i), roots) {
			if !slices.Contains(hints, h) {
				hints = append(hints, h)
			}
		}
	}
	return hints
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (c *comparer) whole(ctx context.Context, d digest.Digest) ([]byte, error) {
	r, err := c.blobs.Open(ctx, d)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b := make([]byte, d.Size())
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, err
	}
	return b, nil
}
