package disk

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// Adopt implements store.Local. It renames the file into the store. If the file is on another file system, Adopt copies
// it. Adopt also copies a file with several hard links, because a process may later write through another link. If the
// blob exists, Adopt leaves the file unchanged. No process may have the file open for writing. So the executor ends all
// processes of an action before it takes the outputs.
func (s *Blobs) Adopt(ctx context.Context, fn digest.Function, path string) (digest.Digest, error) {
	d, err := s.adopt(ctx, fn, path)
	if err != nil {
		return digest.Digest{}, fmt.Errorf("store %s: %w", path, err)
	}
	return d, nil
}

func (s *Blobs) adopt(ctx context.Context, fn digest.Function, path string) (digest.Digest, error) {
	f, info, err := atomicfile.OpenRegular(path)
	if err != nil {
		return digest.Digest{}, err
	}
	defer f.Close()
	d, err := fn.Reader(boundedfile.Until(ctx, f))
	if err != nil {
		return digest.Digest{}, err
	}
	if d.Size() != info.Size() {
		return digest.Digest{}, errors.New("another process changed the size of the file while hexmage read it")
	}
	if err := s.check(ctx, d); !errors.Is(err, store.ErrNotFound) {
		return d, err
	}
	// Set mode and time before the blob becomes visible. Both fail for a file of another user or on another file
	// system.
	if atomicfile.Links(info) == 1 {
		err := atomicfile.SetFile(f, permOf(layout.Blobs), store.LinkTime())
		if err == nil && atomicfile.Rename(path, s.Path(d)) == nil {
			return d, nil
		}
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return digest.Digest{}, err
	}
	return d, s.write(ctx, d, f, layout.Blobs)
}

// Ref implements store.Local. It always returns false, because all content is inside the store.
func (s *Blobs) Ref(digest.Digest) (store.Ref, bool) { return store.Ref{}, false }
