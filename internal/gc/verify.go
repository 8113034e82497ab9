package gc

import (
	"context"
	"errors"
	"fmt"
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
	"github.com/hexmage/hexmage/internal/store/layout"
)

// VerifyOptions are the options of Verify.
type VerifyOptions struct {
	Repair   bool                    // quarantine or remove corrupt items
	Progress func(done, total int64) // gets the hashed and total bytes; may be nil; calls do not overlap
}

// Problem is a corrupt item in the cache.
type Problem struct {
	Kind     layout.Kind `json:"kind"`
	Path     string      `json:"path"`
	Text     string      `json:"text"`               // description of the damage
	Repaired string      `json:"repaired,omitempty"` // description of the repair
}

// Verified is the report of Verify.
type Verified struct {
	Files    int       `json:"files"` // number of hashed files; a file with two hard links counts once
	Bytes    int64     `json:"bytes"`
	Results  int       `json:"results"`
	Trees    int       `json:"trees"`
	Problems []Problem `json:"problems"`
}

// Verify checks all items with a digest in the cache folder root. It hashes blobs, executable copies of blobs, and the
// files in unpacked trees, without regard to file times. It also decodes each result, verifies the checksum, and checks
// that the cache has the result's blobs.
//
// Verify may run during a build. A repair fails with ErrInUse if another process is using the cache. It moves corrupt
// blobs, copies and results to <root>/damaged, and deletes corrupt trees and results with missing blobs. The next build
// creates the removed items again.
//
// If some items are unreadable, Verify returns an error, and Verified describes all other items.
func Verify(ctx context.Context, root string, o VerifyOptions) (Verified, error) {
	lock := func() (func(), error) { return LockShared(ctx, root, nil) }
	if o.Repair {
		lock = func() (func(), error) { return LockExclusive(ctx, root) }
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
	v := &verifier{s: s, o: o, hashed: map[fileID]digest.Digest{}}
	l := newLedger()
	s.items(func(it *item) {
		if it.kind == layout.Blobs || it.kind == layout.Executables || it.kind == layout.Trees {
			l.add(it)
		}
	})
	v.total = l.total
	err = errors.Join(v.blobs(ctx), v.results(), v.trees(ctx))
	err = errors.Join(append(v.errs, err)...)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	slices.SortFunc(v.found.Problems, func(a, b Problem) int { return strings.Compare(a.Path, b.Path) })
	return v.found, err
}

type verifier struct {
	s     *survey
	o     VerifyOptions
	total int64
	done  atomic.Int64

	mu     sync.Mutex
	hashed map[fileID]digest.Digest // digest function: that of the file's name
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
	return v.s.each(ctx, len(all), func(i int) error {
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
		prefix := ""
		if it.kind == layout.Executables {
			prefix = "exec-"
		}
		p := Problem{Kind: it.kind, Path: it.path, Text: fmt.Sprintf("the content has the digest %s", is)}
		return v.add(p, func() (string, error) { return v.away(it, prefix) })
	})
}

// hash returns the digest of the file. It reads hard links to one file once.
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

// counted is a file that reports the progress of the verification.
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

// results reports unusable results.
func (v *verifier) results() error {
	v.found.Results = len(v.s.results)
	for _, r := range v.s.results {
		if r.bad == nil {
			continue
		}
		text, repair := "corrupt result", func() (string, error) { return v.away(r.item, "ac-") }
		if !r.corrupt {
			text = "the result names a missing blob: " + r.bad.Error()
			repair = func() (string, error) { return "removed", removeUnused(r.item) }
		}
		if err := v.add(Problem{Kind: layout.Results, Path: r.path, Text: text}, repair); err != nil {
			return err
		}
	}
	return nil
}

// trees hashes the files of complete trees.
func (v *verifier) trees(ctx context.Context) error {
	for _, u := range v.s.trees {
		if !u.complete {
			continue // an incomplete tree is replaced before its use
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
	return nil
}

// tree returns the damage of the tree, or "".
func (v *verifier) tree(ctx context.Context, u *unpacked) (string, error) {
	hash := func(path string, st stat.Stamp) (digest.Digest, error) {
		return v.hash(ctx, path, st, u.name.Function())
	}
	is, err := merkle.Scan(ctx, hash, u.path, merkle.ScanOptions{})
	if err != nil {
		if unreadable(err) || ctx.Err() != nil || errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		return err.Error(), nil // such as a pipe, or a symlink that leads outside
	}
	root, _ := is.Encode(u.name.Function())
	if root.Unsized() == u.name {
		return "", nil
	}
	return "the content does not match the digest in the name", nil
}

// add reports a problem, and repairs it if the options ask for it.
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

// away quarantines a file.
func (v *verifier) away(it *item, prefix string) (string, error) {
	if err := atomicfile.Rename(it.path, v.s.root.Quarantine(prefix, it.name)); err != nil {
		return "", err
	}
	return "moved to damaged/", nil
}

// cannot records an unreadable item, so that Verify continues. It ignores items that were removed meanwhile.
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
