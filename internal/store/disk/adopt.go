package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// Adopt implements store.Local: the file becomes the blob by a rename, without copying. It is copied instead when it has
// several names (one of them may be written to later) or is on another file system, and left alone when the blob is there.
// No process may have it open for writing: the executor has ended all processes of an action before it takes the outputs.
func (s *Blobs) Adopt(ctx context.Context, fn digest.Function, path string) (digest.Digest, error) {
	d, err := s.adopt(ctx, fn, path)
	if err != nil {
		return digest.Digest{}, fmt.Errorf("take %s into the store: %w", path, err)
	}
	return d, nil
}

func (s *Blobs) adopt(ctx context.Context, fn digest.Function, path string) (digest.Digest, error) {
	f, err := atomicfile.OpenRegular(path)
	if err != nil {
		return digest.Digest{}, err
	}
	defer f.Close()
	if f.Stamp.Size >= store.MinRef {
		s.startWrite(path)
	}
	d, err := s.hash(ctx, fn, f)
	if err != nil {
		return digest.Digest{}, err
	}
	if f.Links == 1 {
		ok, err := s.moveIn(ctx, d, f)
		if ok || err != nil {
			return d, err
		}
	}
	if err := s.check(ctx, d); !errors.Is(err, store.ErrNotFound) {
		return d, err
	}
	r, err := os.Open(path)
	if err != nil {
		return digest.Digest{}, err
	}
	defer r.Close()
	return d, s.write(ctx, d, r, layout.Blobs)
}

// maxStarted is how many large files the disk is told to begin with at once. Each takes a thread until the disk has room for it.
const maxStarted = 4

// startWrite has the disk begin with a large file while the processor hashes it: so the flush at the end of the build finds less to do. The file is
// opened again, as what the caller holds of it with a lease ends when it closes it. Where the disk is busy with others, it is left to the flush.
func (s *Blobs) startWrite(path string) {
	select {
	case s.started <- struct{}{}:
	default:
		return
	}
	f, err := atomicfile.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		<-s.started
		return
	}
	go func() {
		defer func() { <-s.started }()
		defer f.Close()
		atomicfile.StartWrite(f)
	}()
}

// Ref implements store.Local: what the store has is in it.
func (s *Blobs) Ref(digest.Digest) (store.Ref, bool) { return store.Ref{}, false }

// hash reads the file once.
func (s *Blobs) hash(ctx context.Context, fn digest.Function, f *atomicfile.Regular) (digest.Digest, error) {
	if f.Stamp.Size > smallSize {
		return fn.Reader(boundedfile.Until(ctx, f))
	}
	buf := s.buffers.Get().(*[]byte)
	defer s.buffers.Put(buf)
	n := 0
	for n < len(*buf) {
		k, err := f.Read((*buf)[n:])
		n += k
		if err == io.EOF {
			return fn.Bytes((*buf)[:n]), context.Cause(ctx)
		}
		if err != nil {
			return digest.Digest{}, err
		}
		if int64(n) == f.Stamp.Size { // a file that grows now breaks the caller's promise, and is noticed by its size
			return fn.Bytes((*buf)[:n]), context.Cause(ctx)
		}
	}
	return digest.Digest{}, errors.New("it grows while it is read: something still writes to it")
}

// moveIn makes the open file f the blob d by renaming it, unless the blob is there. It returns false when a copy must be made.
func (s *Blobs) moveIn(ctx context.Context, d digest.Digest, f *atomicfile.Regular) (bool, error) {
	// Its mode and time are right before it is seen.
	if f.Set(permOf(layout.Blobs), store.LinkTime()) != nil {
		return false, nil // somebody else's
	}
	to := layout.Name(layout.Blobs, d)
	err := s.dir.RenameNew(f.Name(), to)
	if errors.Is(err, fs.ErrExist) {
		if err := s.check(ctx, d); !errors.Is(err, store.ErrNotFound) {
			return err == nil, err
		}
		err = s.dir.Rename(f.Name(), to) // over what is damaged
	}
	return err == nil, nil
}
