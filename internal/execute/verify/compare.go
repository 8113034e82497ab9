package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
)

// Limits for the report about one action.
const (
	maxDifferences = 20       // files that are described; the others are counted
	maxText        = 64 << 20 // bytes of a file whose lines are compared
	maxLine        = 160      // bytes of a line that is shown
)

// comparer compares the outputs of two runs of an action.
type comparer struct {
	blobs store.Blobs
	found []event.Difference
	more  int

	varies map[string]string // why outputs may differ, by path
	all    string            // why all of them may
	wrong  int               // how many differ although they may not
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

// may returns why the output at the path may differ, "" if it may not. The exit code, without a path, may not.
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
		detail := fmt.Sprintf("first %d, then %d", first.ExitCode, second.ExitCode)
		c.add(event.Difference{Kind: "exit code", Offset: -1, Detail: detail, Lines: lastLines(second.Stderr)})
		return nil
	}
	return c.dirs(ctx, "", top(first), top(second))
}

// top returns a folder of a result's outputs, under their whole paths.
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
			c.add(event.Difference{Path: p, Kind: "missing", Offset: -1,
				Detail: "only the first run wrote this " + noun(a)})
		case a:
			c.add(event.Difference{Path: p, Kind: "extra", Offset: -1,
				Detail: "only the second run wrote this " + noun(b)})
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
		c.add(event.Difference{Path: p, Kind: "type", Offset: -1,
			Detail: fmt.Sprintf("first a %s, then a %s", noun(a), noun(b))})
	case a.Dir != nil:
		return c.folders(ctx, p, a.Dir, b.Dir)
	case a.File == nil:
		if a.Symlink != b.Symlink {
			c.add(event.Difference{Path: p, Kind: "content", Offset: -1,
				Detail: fmt.Sprintf("first a symlink to %q, then to %q", a.Symlink, b.Symlink)})
		}
	case a.File.Digest != b.File.Digest:
		return c.files(ctx, p, *a.File, *b.File)
	case a.File.Executable != b.File.Executable:
		c.add(event.Difference{Path: p, Kind: "mode", Offset: -1,
			Detail: fmt.Sprintf("first %s, then %s", mode(a.File), mode(b.File))})
	}
	return nil
}

func mode(f *merkle.File) string {
	if f.Executable {
		return "executable"
	}
	return "not executable"
}

// folders opens the folders only if their digests differ.
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
	first, differing, err := compare(ra, rb)
	if err != nil {
		return err
	}
	d.Offset = first
	sizeA, sizeB := a.Digest.Size(), b.Digest.Size()
	d.Detail = fmt.Sprintf("%d of %d bytes differ; the first difference is at offset 0x%x", differing, sizeA, first)
	if sizeA != sizeB {
		d.Kind = "size"
		d.Detail = fmt.Sprintf("%d bytes, then %d bytes; the first difference is at offset 0x%x", sizeA, sizeB, first)
	}
	if a.Executable != b.Executable {
		d.Detail += fmt.Sprintf("; first %s, then %s", mode(&a), mode(&b))
	}
	if max(sizeA, sizeB) <= maxText {
		wholeA, errA := store.ReadBlob(ctx, c.blobs, a.Digest, maxText)
		wholeB, errB := store.ReadBlob(ctx, c.blobs, b.Digest, maxText)
		if err := errors.Join(errA, errB); err != nil {
			return err
		}
		if isText(wholeA) && isText(wholeB) {
			d.Lines = differingLines(wholeA, wholeB)
		}
	}
	c.add(d)
	return nil
}

// compare reads both to the end, which verifies their digests. It returns the offset of the first byte that differs, -1
// if none does, and the number of bytes that differ.
func compare(a, b io.Reader) (first, differing int64, err error) {
	first = -1
	x, y := make([]byte, 64<<10), make([]byte, 64<<10)
	for at := int64(0); ; {
		n, errA := io.ReadFull(a, x)
		m, errB := io.ReadFull(b, y)
		for _, err := range []error{errA, errB} {
			if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
				return first, differing, err
			}
		}
		if n+m == 0 {
			return first, differing, nil
		}
		if !bytes.Equal(x[:n], y[:m]) {
			for i := range max(n, m) {
				if i < n && i < m && x[i] == y[i] {
					continue
				}
				if differing++; first < 0 {
					first = at + int64(i)
				}
			}
		}
		at += int64(max(n, m))
	}
}

// isText reports whether the start of b is UTF-8 text without control characters.
func isText(b []byte) bool {
	head := b[:min(len(b), 64<<10)]
	for len(head) > 0 {
		r, n := utf8.DecodeRune(head)
		cut := r == utf8.RuneError && n == 1 && len(head) < utf8.UTFMax // the head ends within a character
		if r == utf8.RuneError && n == 1 && !cut || r < ' ' && !strings.ContainsRune("\n\t\r\x1b", r) {
			return false
		}
		head = head[n:]
	}
	return true
}

// differingLines returns the first line that differs, of both texts, with its number.
func differingLines(a, b []byte) []string {
	for n := 1; ; n++ {
		x, restA, moreA := bytes.Cut(a, []byte("\n"))
		y, restB, moreB := bytes.Cut(b, []byte("\n"))
		if !bytes.Equal(x, y) || !moreA || !moreB {
			return []string{fmt.Sprintf("%d: %s", n, shorten(x, y)), fmt.Sprintf("%d: %s", n, shorten(y, x))}
		}
		a, b = restA, restB
	}
}

// shorten returns the part of a line that has its first difference to another line.
func shorten(x, y []byte) string {
	i := 0
	for i < min(len(x), len(y)) && x[i] == y[i] {
		i++
	}
	if i > maxLine/2 {
		return "…" + cut(x[i-maxLine/4:])
	}
	return cut(x)
}

func cut(line []byte) string {
	s := string(line)
	if len(s) > maxLine {
		s = s[:maxLine] + "…"
	}
	return strings.ToValidUTF8(s, "�")
}

// lastLines returns the last three lines of a command's output.
func lastLines(b []byte) (lines []string) {
	all := bytes.Split(bytes.TrimSpace(b), []byte("\n"))
	for _, line := range all[max(0, len(all)-3):] {
		if len(line) > 0 {
			lines = append(lines, cut(line))
		}
	}
	return lines
}
