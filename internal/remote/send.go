package remote

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/proto"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
)

// send has the server have the action and all its inputs, which from has. What it has, or is being sent for another
// action, is not sent again: a toolchain goes once.
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
		for _, other := range others { // who sends it may fail: what is not there then is sent now
			select {
			case <-other:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
}

// send has the server have the blobs.
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

// wanted are the digests of what a server has to have for an action, and whether it is a folder of the inputs, of
// which it has to have all.
type wanted map[digest.Digest]bool

// claim takes what nobody is sending. others are closed when what somebody else sends is there, or is not.
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

// forget has all be asked for again: a server may lose what it had.
func (x *Executor) forget() {
	x.mu.Lock()
	clear(x.there)
	clear(x.whole)
	x.mu.Unlock()
}

// maxDepth is how many folders may be inside each other.
const maxDepth = 256

// collect adds the digests of a folder and of all that is in it, but for what is known to be there.
func (x *Executor) collect(ctx context.Context, from store.Blobs, folder digest.Digest, want wanted, depth int) error {
	x.mu.Lock()
	there := x.whole[folder]
	x.mu.Unlock()
	if there || want[folder] {
		return nil
	}
	if depth > maxDepth {
		return &ownError{fmt.Errorf("folders are more than %d deep", maxDepth)}
	}
	b, err := store.ReadBlob(ctx, from, folder, maxMessage)
	if err != nil {
		return &ownError{fmt.Errorf("read a folder of the inputs: %w", err)}
	}
	m := new(repb.Directory)
	if err := proto.Unmarshal(b, m); err != nil {
		return &ownError{fmt.Errorf("a folder of the inputs: %w", err)}
	}
	want[folder] = true
	fn := folder.Function()
	for _, f := range m.GetFiles() {
		d, err := parse(f.GetDigest(), fn)
		if err != nil {
			return &ownError{err}
		}
		x.mu.Lock()
		there := x.there[d]
		x.mu.Unlock()
		if _, ok := want[d]; !there && !ok {
			want[d] = false
		}
	}
	for _, f := range m.GetDirectories() {
		d, err := parse(f.GetDigest(), fn)
		if err != nil {
			return &ownError{err}
		}
		if err := x.collect(ctx, from, d, want, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// program returns the digest of hexmage's own program, which is read once and is among the inputs from then on.
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
