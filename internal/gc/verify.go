package gc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// VerifyOptions say how to verify.
type VerifyOptions struct {
	Repair   bool                    // move away what is damaged
	Progress func(done, total int64) // bytes hashed, and to hash; may be nil; called by one goroutine at a time
}

// Problem is something in the cache that is not as it should be.
type Problem struct {
	Kind     layout.Kind `json:"kind"`
	Path     string      `json:"path"`
	Text     string      `json:"text"`               // what is wrong
	Repaired string      `json:"repaired,omitempty"` // what was done about it
}

// Verified is what came of a verification.
type Verified struct {
	Files    int       `json:"files"` // that were hashed, files with several names once
	Bytes    int64     `json:"bytes"`
	Results  int       `json:"results"`
	Trees    int       `json:"trees"`
	Problems []Problem `json:"problems"`
}

// Verify reads everything in the cache folder that has a digest: blobs, their executable copies and the files of
// unpacked trees are hashed, whatever their times say; results are decoded, their checksums computed, and what they
// name must be there.
//
// It may run beside builds. To repair, it must be alone (else ErrInUse): it moves corrupt blobs, copies and results
// to <root>/damaged, and removes unpacked trees, and results that name a missing blob. The next build that wants them
// makes them again.
//
// The error is about what could not be read; Verified then has what was found anyway.
func Verify(ctx context.Context, root string, o VerifyOptions) (Verified, error) {
	lock := func() (func(), error) { return Use(ctx, root, nil) }
	if o.Repair {
		lock = func() (func(), error) { return UseAlone(ctx, root) }
	}
	done, err := lock()
	if err != nil {
		return Verified{}, err
	}
	defer done()
	s, err := readSurvey(ctx, root)
	if err != nil {
		return Verified{}, err
	}
	v := newVerifier(s, o)
	if o.Repair {
		if v.repair, err = disk.NewBlobs(root); err != nil {
			return Verified{}, err
		}
	}
	l := newLedger()
	s.items(func(it *item) {
		if it.kind == layout.Blobs || it.kind == layout.Executables || it.kind == layout.Trees {
			l.add(it)
		}
	})
	v.total = l.total
	err = errors.Join(v.blobs(ctx), v.results(ctx), v.trees(ctx))
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	slices.SortFunc(v.found.Problems, func(a, b Problem) int { return strings.Compare(a.Path, b.Path) })
	return v.found, err
}

func newVerifier(s *survey, o VerifyOptions) *verifier {
	return &verifier{s: s, o: o, hashed: map[fileID]digest.Digest{}}
}

type verifier struct {
	s      *survey
	o      VerifyOptions
	repair *disk.Blobs // nil: nothing is repaired
	total  int64
	done   atomic.Int64

	mu     sync.Mutex
	hashed map[fileID]digest.Digest // by BLAKE3 or SHA-256, whichever the file has its name from
	errs   []error
	found  Verified
}

// blobs hashes all blobs and their copies.
func (v *verifier) blobs(ctx context.Context) error {
	all := slices.Clone(v.s.copies)
	for _, b := range v.s.blobs {
		all = append(all, b.item)
		if b.exec != nil {
			all = append(all, b.exec)
		}
	}
	err := v.s.each(ctx, len(all), func(i int) error {
		it := all[i]
		info, err := os.Lstat(it.path)
		if err != nil {
			return v.cannot(err)
		}
		is, err := v.hash(ctx, it.path, stat.Of(info), it.name.Function())
		if err != nil {
			return v.cannot(err)
		}
		if is.Unsized() == it.name {
			return nil
		}
		p := Problem{Kind: it.kind, Path: it.path, Text: fmt.Sprintf("its content is %s", is)}
		if it.kind == layout.Blobs {
			return v.add(p, func() (string, error) { return v.blobAway(ctx, it) })
		}
		return v.add(p, func() (string, error) { return v.away(it, "exec-") })
	})
	return errors.Join(err, errors.Join(v.take()...))
}

// hash returns the digest of the file. One that has several names is read once.
func (v *verifier) hash(ctx context.Context, path string, st stat.Stamp, fn digest.Function) (digest.Digest, error) {
	id := identify(st)
	v.mu.Lock()
	d, ok := v.hashed[id]
	v.mu.Unlock()
	if ok && id.known() && d.Function() == fn {
		return d, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return digest.Digest{}, err
	}
	defer f.Close()
	d, err = fn.Reader(boundedfile.Until(ctx, &counted{f, v}))
	if err != nil {
		return digest.Digest{}, fmt.Errorf("%s: %w", path, err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.hashed[id] = d
	v.found.Files++
	v.found.Bytes += d.Size()
	return d, nil
}

// counted is a file that reports how much was read of all.
type counted struct {
	f *os.File
	v *verifier
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.f.Read(b)
	done := c.v.done.Add(int64(n))
	if c.v.o.Progress != nil && n > 0 {
		c.v.mu.Lock()
		c.v.o.Progress(done, max(done, c.v.total))
		c.v.mu.Unlock()
	}
	return n, err
}

// results reports those that cannot be used.
func (v *verifier) results(context.Context) error {
	v.found.Results = len(v.s.results)
	for _, r := range v.s.results {
		if r.bad == nil {
			continue
		}
		text, repair := "corrupt result", func() (string, error) { return v.away(r.item, "ac-") }
		if !r.corrupt {
			text, repair = "it names a blob that is missing: "+r.bad.Error(), drop(r)
		}
		if err := v.add(Problem{Kind: layout.Results, Path: r.path, Text: text}, repair); err != nil {
			return err
		}
	}
	return errors.Join(v.take()...)
}

// drop returns a function that removes the result.
func drop(r *result) func() (string, error) {
	return func() (string, error) { return "removed", removeUnused(r.item) }
}

// trees hashes all files of trees that are complete.
func (v *verifier) trees(ctx context.Context) error {
	for _, u := range v.s.trees {
		if !u.complete {
			continue // does not count, and is replaced when it is wanted
		}
		v.found.Trees++
		text, err := v.tree(ctx, u)
		if err != nil {
			if err := v.cannot(err); err != nil {
				return err
			}
			continue
		}
		if text == "" {
			continue
		}
		err = v.add(Problem{Kind: layout.Trees, Path: u.path, Text: text}, func() (string, error) {
			return "removed", merkle.NewTrees(string(v.s.root)).Remove(ctx, u.name)
		})
		if err != nil {
			return err
		}
	}
	return errors.Join(v.take()...)
}

// tree says what is wrong with the tree, "" for nothing.
func (v *verifier) tree(ctx context.Context, u *unpacked) (string, error) {
	hash := func(path string, st stat.Stamp) (digest.Digest, error) {
		return v.hash(ctx, path, st, u.name.Function())
	}
	is, err := merkle.Scan(ctx, hash, u.path, merkle.ScanOptions{})
	if err != nil {
		if unreadable(err) || ctx.Err() != nil || errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		return err.Error(), nil // a symlink that leads out, a pipe
	}
	root, _ := is.Encode(u.name.Function())
	if root.Unsized() == u.name {
		return "", nil
	}
	return "its content is not what its name says", nil
}

// add reports a problem, and repairs it if that is wanted.
func (v *verifier) add(p Problem, repair func() (string, error)) error {
	var err error
	if v.o.Repair {
		p.Repaired, err = repair()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.found.Problems = append(v.found.Problems, p)
	return err
}

// blobAway reads a blob through the store, which quarantines a corrupt blob together with its executable copy. The
// caller holds the cache alone.
func (v *verifier) blobAway(ctx context.Context, it *item) (string, error) {
	st, err := os.Lstat(it.path)
	if err != nil {
		return "", err
	}
	err = readAll(ctx, v.repair, it.name.Sized(st.Size()))
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrCorrupt) {
		return "moved to damaged/", nil
	}
	return "", err
}

// readAll reads a blob to its end.
func readAll(ctx context.Context, blobs store.Blobs, d digest.Digest) error {
	rc, err := blobs.Open(ctx, d)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, rc)
	return errors.Join(err, rc.Close())
}

// away quarantines a file.
func (v *verifier) away(it *item, prefix string) (string, error) {
	if err := atomicfile.Rename(it.path, v.s.root.Quarantine(prefix, it.name)); err != nil {
		return "", err
	}
	return "moved to damaged/", nil
}

// cannot notes what could not be read, so that the rest is looked at, too. What went away meanwhile does not matter.
func (v *verifier) cannot(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if !unreadable(err) {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.errs = append(v.errs, err)
	return nil
}

// take returns what was noted, once.
func (v *verifier) take() []error {
	v.mu.Lock()
	defer v.mu.Unlock()
	errs := v.errs
	v.errs = nil
	return errs
}
