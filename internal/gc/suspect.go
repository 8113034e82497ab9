package gc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	actiondisk "github.com/hexmage/hexmage/internal/actioncache/disk"
	"github.com/hexmage/hexmage/internal/cas"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
)

// repairedMark ends the names of files in damaged/ whose results were looked for.
const repairedMark = ".repaired"

// A command that read a damaged file made outputs that are whole and wrong. So a result is suspect if its inputs hold a blob
// or a tree that was found damaged, now or since the last repair; and if nobody knows its inputs any more. Results made from
// wrong outputs are right: their keys are of these outputs, which nothing asks for once the suspect one is gone.
type suspects struct {
	v       *verifier
	damaged map[digest.Digest]bool // by nameOf: contents of files, and Directories of trees
	dirs    map[digest.Digest]bool // whether there is one of these in a Directory or below
}

// suspects reports results that may be wrong.
func (v *verifier) suspects(ctx context.Context) error {
	earlier, err := v.moved()
	if err != nil {
		return err
	}
	for d := range earlier {
		v.damaged[d] = true
	}
	if len(v.damaged) == 0 {
		return nil
	}
	s := &suspects{v: v, damaged: v.damaged, dirs: map[digest.Digest]bool{}}
	for _, r := range v.s.results {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if r.bad != nil {
			continue
		}
		why := s.why(ctx, r)
		if why == "" {
			continue
		}
		v.found.Suspect++
		if err := v.add(Problem{Kind: Results, Path: r.path, Text: why}, func() (string, error) { return v.away(r.path, "ac-"+r.fn.String()) }); err != nil {
			return err
		}
	}
	if !v.o.Repair {
		return nil
	}
	// A memo would have the next run believe that nothing is to be done, and what was moved away would stay away.
	if err := os.RemoveAll(filepath.Join(v.s.root, "state", "memo")); err != nil {
		return fmt.Errorf("forget what the last runs found out: %w", err)
	}
	return v.mark()
}

// moved returns what builds have found damaged and moved away since the last repair.
func (v *verifier) moved() (map[digest.Digest]bool, error) {
	entries, err := readDir(filepath.Join(v.s.root, "damaged"))
	if err != nil {
		return nil, err
	}
	found := map[digest.Digest]bool{}
	for _, e := range entries {
		if d, ok := movedBlob(e.Name()); ok {
			found[d] = true
		}
	}
	return found, nil
}

// movedBlob returns of which blob, without its size, a file in damaged/ is.
func movedBlob(file string) (digest.Digest, bool) {
	name, hex, _ := strings.Cut(strings.TrimPrefix(file, "exec-"), "-")
	fn, err := digest.ParseFunction(name)
	if err != nil {
		return digest.Digest{}, false
	}
	d, err := digest.New(fn, hex, 0)
	return d, err == nil
}

// mark notes that what was moved away needs no further repair.
func (v *verifier) mark() error {
	dir := filepath.Join(v.s.root, "damaged")
	entries, err := readDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if _, ok := movedBlob(e.Name()); !ok {
			continue
		}
		at := filepath.Join(dir, e.Name())
		if err := os.Rename(at, at+repairedMark); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("note that %s was repaired: %w", at, err)
		}
	}
	return nil
}

// why says why the result may be wrong, "" if it is not.
func (s *suspects) why(ctx context.Context, r *result) string {
	const unknown = "something in the cache was damaged, and nobody knows whether this was made from it"
	b, err := os.ReadFile(r.path)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		return unknown
	}
	from := &messageReader{reader: reader{s.v.s}, messages: map[digest.Digest][]byte{}}
	for _, m := range actiondisk.Messages(b) {
		from.messages[r.fn.Bytes(m)] = m
	}
	if r.key.IsZero() {
		return unknown
	}
	m, ok := from.messages[r.key]
	if !ok {
		if m, err = cas.ReadBlob(context.Background(), from, r.key, 1<<20); err != nil {
			return unknown
		}
	}
	a, _, err := action.DecodeAction(m, r.fn)
	if err != nil {
		return unknown
	}
	hit, err := s.below(ctx, from, a.InputRoot, 0)
	switch {
	case hit:
		return "it was made from something that was found damaged, and may be wrong"
	case err != nil:
		return unknown
	}
	return ""
}

// below tells whether there is something damaged in the folder.
func (s *suspects) below(ctx context.Context, from *messageReader, dir digest.Digest, depth int) (bool, error) {
	if s.damaged[nameOf(dir)] {
		return true, nil
	}
	if hit, ok := s.dirs[dir]; ok || dir.Size() == 0 { // an empty folder's message has no bytes
		return hit, nil
	}
	if depth > 256 {
		return false, errors.New("folders are too deep")
	}
	d, err := merkle.Ref(dir).Open(ctx, from)
	if err != nil {
		return false, err
	}
	hit, lacks := false, error(nil)
	for _, f := range d.Files {
		hit = hit || s.damaged[nameOf(f.Digest)]
	}
	for _, sub := range d.Dirs {
		ref, ok := sub.Ref()
		if !ok || hit {
			continue
		}
		var err error
		if hit, err = s.below(ctx, from, ref, depth+1); err != nil {
			lacks = err
		}
	}
	if hit || lacks == nil {
		s.dirs[dir] = hit
	}
	return hit, lacks
}

// messageReader is a reader that knows messages beside the blobs.
type messageReader struct {
	reader
	messages map[digest.Digest][]byte
}

func (r *messageReader) Open(ctx context.Context, d digest.Digest) (io.ReadCloser, error) {
	if b, ok := r.messages[d]; ok {
		return io.NopCloser(bytes.NewReader(b)), nil
	}
	return r.reader.Open(ctx, d)
}
