package merkle

import (
	"context"
	"errors"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
)

// Search looks for files and folders in trees of which only the roots are known. It looks through no folder twice. The zero Search is
// ready to use; it is not safe for use by several goroutines.
type Search struct {
	done map[digest.Digest]bool // folders, and whether what is looked for is there or below
}

// In tells whether the tree has a file, or a folder, for which found is true. What could not be read counts as an error unless
// something was found elsewhere. found must answer the same each time.
func (s *Search) In(ctx context.Context, blobs store.Blobs, root digest.Digest, found func(digest.Digest) bool) (bool, error) {
	if s.done == nil {
		s.done = map[digest.Digest]bool{}
	}
	return s.in(ctx, blobs, root, found, 0)
}

func (s *Search) in(ctx context.Context, blobs store.Blobs, root digest.Digest, found func(digest.Digest) bool, depth int) (bool, error) {
	if hit, ok := s.done[root]; ok {
		return hit, nil
	}
	if depth > maxDepth {
		return false, errors.New("folders are too deep")
	}
	hit := found(root)
	if root.Size() > 0 && !hit { // an empty folder's message has no bytes
		d, err := Ref(root).Open(ctx, blobs)
		if err != nil {
			return false, err
		}
		if hit, err = s.inside(ctx, blobs, d, found, depth); err != nil {
			return hit, err
		}
	}
	s.done[root] = hit
	return hit, nil
}

func (s *Search) inside(ctx context.Context, blobs store.Blobs, d *Dir, found func(digest.Digest) bool, depth int) (hit bool, lacks error) {
	for _, f := range d.Files {
		hit = hit || found(f.Digest)
	}
	for _, sub := range d.Dirs {
		if hit {
			return true, nil
		}
		var err error
		if root, ok := sub.Ref(); ok {
			hit, err = s.in(ctx, blobs, root, found, depth+1)
		} else {
			hit, err = s.inside(ctx, blobs, sub, found, depth+1)
		}
		if err != nil {
			lacks = err
		}
	}
	if hit {
		return true, nil
	}
	return false, lacks
}
