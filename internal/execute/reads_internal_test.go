package execute

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store/memory"
)

// Whatever is under the key of a broad action is read sets or nothing; what was written comes back.
func FuzzReadSets(f *testing.F) {
	f.Add(encodeReads([][]string{{"include/a.h", "b.h"}, {}}))
	f.Add([]byte{0x0a, 0x02, 0x0a, 0x00})
	f.Add([]byte("hello"))
	f.Fuzz(func(t *testing.T, b []byte) {
		sets, err := decodeReads(b)
		if err != nil {
			return
		}
		if len(sets) > maxReadSets {
			t.Fatalf("%d sets", len(sets))
		}
		again, err := decodeReads(encodeReads(sets))
		if err != nil || !slices.EqualFunc(sets, again, slices.Equal[[]string]) {
			t.Fatalf("%q became %q, %v", sets, again, err)
		}
	})
}

// fewReads is an action.Reads with one path, the whole depfile.
type fewReads struct{ broad, narrow *action.Action }

func (r *fewReads) Broad() *action.Action { return r.broad }

func (r *fewReads) Narrow(context.Context, []string) (*action.Action, error) { return r.narrow, nil }

func (r *fewReads) Read(_ context.Context, depfile []byte, _ string) ([]string, error) {
	return []string{string(depfile)}, nil
}

// TestReadSetsStayReadable: an action with many long depfiles keeps the newest sets, as far as they can be read back.
func TestReadSetsStayReadable(t *testing.T) {
	ctx, blobs, fn := t.Context(), memory.NewBlobs(), digest.BLAKE3
	c := &cached{CacheOptions: CacheOptions{Results: memory.NewResults(), Blobs: blobs, Fn: fn}}
	broad := &action.Action{Command: action.Command{Args: []string{"broad"}}}
	a := &action.Action{Command: action.Command{Outputs: []string{"d"}}, Depfile: "d",
		Reads: &fewReads{broad, &action.Action{Command: action.Command{Args: []string{"narrow"}}}}}
	var last string
	for i := range maxReadSets {
		last = strings.Repeat(strconv.Itoa(i), 12<<20)
		d := fn.Bytes([]byte(last))
		if err := blobs.Put(ctx, d, strings.NewReader(last)); err != nil {
			t.Fatal(err)
		}
		r := &action.Result{Files: []action.OutputFile{{Path: "d", Digest: d}}}
		if _, err := c.rememberReads(ctx, a, r); err != nil {
			t.Fatalf("run %d: %v", i, err)
		}
	}
	sets, err := c.readSets(ctx, c.Results, broad)
	if err != nil || len(sets) != 5 || sets[0][0] != last {
		t.Errorf("%d sets, %v", len(sets), err)
	}
	lie := &action.Result{Files: []action.OutputFile{{Path: readsOutput, Digest: mustSize(t, fn, maxReadBlob+1)}}}
	if err := c.remember(ctx, c.Results, broad, lie); err != nil {
		t.Fatal(err)
	}
	if sets, err := c.readSets(ctx, c.Results, broad); err != nil || sets != nil {
		t.Errorf("of a blob that is too large: %d sets, %v", len(sets), err)
	}
}

func mustSize(t *testing.T, fn digest.Function, size int64) digest.Digest {
	t.Helper()
	d, err := digest.New(fn, fn.Bytes(nil).Hex(), size)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
