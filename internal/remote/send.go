package remote

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
)

// send uploads the action and its inputs. It skips blobs that the server has or that another action is sending, so that
// a toolchain is sent once.
func (x *Executor) send(ctx context.Context, t *translated, from store.Blobs) error {
	for {
		want := wanted{}
		for d := range t.messages {
			want[d] = false
		}
		if err := x.collect(ctx, from, t.inputs, want, 0); err != nil {
			return err
		}
		others, mine, done := x.claim(want)
		err := x.c.send(ctx, from, mine)
		x.mu.Lock()
		for _, d := range mine {
			delete(x.sends, d)
		}
		if err == nil && len(others) == 0 {
			for d, isFolder := range want {
				x.there[d], x.whole[d] = true, x.whole[d] || isFolder
			}
		}
		x.mu.Unlock()
		close(done)
		if err != nil || len(others) == 0 {
			return err
		}
		for _, other := range others { // the other upload may have failed: look again
			select {
			case <-other:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
}

// send uploads the blobs that the server lacks.
func (c *Client) send(ctx context.Context, from store.Blobs, ds []digest.Digest) error {
	if len(ds) == 0 {
		return nil
	}
	lacks, err := c.missing(ctx, ds)
	if err != nil {
		return err
	}
	return c.write(ctx, from, slices.Collect(maps.Keys(lacks)))
}

// wanted maps the digests that a server needs for an action to true for folders of the inputs. The server needs all
// content of these folders.
type wanted map[digest.Digest]bool

// claim reserves blobs that no other goroutine is sending. The channels of others are closed when their uploads end,
// also after a failure.
func (x *Executor) claim(want wanted) (others []chan struct{}, mine []digest.Digest, done chan struct{}) {
	done = make(chan struct{})
	x.mu.Lock()
	defer x.mu.Unlock()
	for d := range want {
		if x.there[d] {
			continue
		}
		switch other := x.sends[d]; {
		case other == nil:
			x.sends[d] = done
			mine = append(mine, d)
		case !slices.Contains(others, other):
			others = append(others, other)
		}
	}
	return others, mine, done
}

// forget clears the knowledge about the server's blobs, since a server may lose them.
func (x *Executor) forget() {
	x.mu.Lock()
	clear(x.there)
	clear(x.whole)
	x.mu.Unlock()
}

// maxDepth is the largest nesting depth of folders.
const maxDepth = 256

// collect adds the digests of a folder and of its content, except for blobs that the server has.
func (x *Executor) collect(ctx context.Context, from store.Blobs, folder digest.Digest, want wanted, depth int) error {
	x.mu.Lock()
	there := x.whole[folder]
	x.mu.Unlock()
	if there || want[folder] {
		return nil
	}
	if depth > maxDepth {
		return &ownError{fmt.Errorf("folders are nested more than %d levels deep", maxDepth)}
	}
	dir, err := merkle.Ref(folder).Open(ctx, from)
	if err != nil {
		return &ownError{fmt.Errorf("read a folder of the inputs: %w", err)}
	}
	want[folder] = true
	for d := range dir.Contents {
		x.mu.Lock()
		there := x.there[d]
		x.mu.Unlock()
		if _, ok := want[d]; !there && !ok {
			want[d] = false
		}
	}
	for _, sub := range dir.Dirs {
		ref, _ := sub.Ref()
		if err := x.collect(ctx, from, ref, want, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// program returns the digest of hexmage's own program. The first call reads the program and adds it to the inputs.
func (x *Executor) program(fn digest.Function) (digest.Digest, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.self.IsZero() {
		return x.self, nil
	}
	f, err := os.Open(x.o.Self)
	if err != nil {
		return digest.Digest{}, err
	}
	defer f.Close()
	if x.self, err = fn.Reader(f); err == nil {
		x.o.Inputs.Add(x.self, x.o.Self)
	}
	return x.self, err
}
