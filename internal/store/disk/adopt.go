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

// Adopt implements store.Local: the file becomes the blob by a rename, without copying. It is copied instead when it
// has several names (one of them may be written to later) or is on another file system, and left alone when the blob
// is there. No process may have it open for writing: the executor has ended all processes of an action before it
// takes the outputs.
func (s *Blobs) Adopt(ctx context.Context, fn digest.Function, path string) (digest.Digest, error) {
	d, err := s.adopt(ctx, fn, path)
	if err != nil {
		return digest.Digest{}, fmt.Errorf("take %s into the store: %w", path, err)
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
		return digest.Digest{}, errors.New("its size changes while it is read: a process still writes to it")
	}
	if err := s.check(ctx, d); !errors.Is(err, store.ErrNotFound) {
		return d, err
	}
	// Its mode and time are right before it is seen. Both steps fail for a file of another user or on another file
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

// Ref implements store.Local: what the store has is in it.
func (s *Blobs) Ref(digest.Digest) (store.Ref, bool) { return store.Ref{}, false }
