package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
)

// Result returns a result in which every field is set. The result is different for each n.
func Result(fn digest.Function, n int) *action.Result {
	d := func(s string) digest.Digest { return fn.Bytes(fmt.Appendf(nil, "%s %d", s, n)) }
	return &action.Result{
		Files: []action.OutputFile{
			{Path: "out/a.o", Digest: d("a")},
			{Path: "out/prog", Digest: d("prog"), Executable: true},
			{Path: "out/empty", Digest: fn.Bytes(nil)},
		},
		Dirs:     []action.OutputDir{{Path: "out/tree", Tree: d("tree"), Root: d("root")}},
		ExitCode: n % 256,
		Stdout:   fmt.Appendf(nil, "out %d\n\x00\xff", n),
		Stderr:   []byte("err"),
		Worker:   "local",
		Duration: 90*time.Second + time.Duration(n),
	}
}

// Results tests the store that the function open returns. Each call of open must return a new, empty store.
func Results(t *testing.T, name string, open func(t *testing.T) store.Results) {
	is(t, name, open(t))
	for _, fn := range []digest.Function{digest.BLAKE3, digest.SHA256} {
		key := func(n int) digest.Digest { return fn.Bytes(fmt.Appendf(nil, "key %d", n)) }
		t.Run(fn.String()+"/round trip", func(t *testing.T) {
			c := open(t)
			for i, r := range []*action.Result{Result(fn, 0), Result(fn, 1), {}, {ExitCode: -1}, {ExitCode: 255}} {
				if _, err := c.Get(t.Context(), key(i)); !errors.Is(err, store.ErrNotFound) {
					t.Fatalf("before Put: %v, want ErrNotFound", err)
				}
				for range 2 {
					if err := c.Put(t.Context(), key(i), r, nil); err != nil {
						t.Fatal(err)
					}
				}
				Want(t, c, key(i), r)
			}
		})
		t.Run(fn.String()+"/messages", func(t *testing.T) {
			c := open(t)
			messages := map[digest.Digest][]byte{}
			for _, m := range []string{"an action", "", "a folder"} {
				messages[fn.Bytes([]byte(m))] = []byte(m)
			}
			if m, err := c.Messages(t.Context(), key(0)); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("messages of an unknown action: got %v and error %v, want ErrNotFound", m, err)
			}
			// each replaces the previous one
			for i, want := range []map[digest.Digest][]byte{messages, nil, messages} {
				if err := c.Put(t.Context(), key(0), Result(fn, i), want); err != nil {
					t.Fatal(err)
				}
				Want(t, c, key(0), Result(fn, i))
				got, err := c.Messages(t.Context(), key(0))
				if err != nil || !maps.EqualFunc(want, got, bytes.Equal) {
					t.Errorf("messages: got %v and error %v, want %v", got, err, want)
				}
			}
			if m, err := c.Messages(t.Context(), key(1)); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("messages of another key: got %v and error %v, want ErrNotFound", m, err)
			}
		})
		t.Run(fn.String()+"/many at once", func(t *testing.T) {
			c := open(t)
			var wg sync.WaitGroup
			for i := range 32 {
				wg.Go(func() {
					if err := c.Put(t.Context(), key(i%4), Result(fn, i%4), nil); err != nil {
						t.Error(err)
					}
					Want(t, c, key(i%4), Result(fn, i%4))
				})
			}
			wg.Wait()
		})
		t.Run(fn.String()+"/nothing is shared", func(t *testing.T) {
			c := open(t)
			m := []byte("an action")
			d := fn.Bytes(m)
			put := Result(fn, 1)
			if err := c.Put(t.Context(), key(0), put, map[digest.Digest][]byte{d: m}); err != nil {
				t.Fatal(err)
			}
			put.Stdout[0], put.Files[0].Path, m[0] = 'X', "X", 'X'
			for range 2 {
				Want(t, c, key(0), Result(fn, 1))
				got, err := c.Get(t.Context(), key(0))
				messages, merr := c.Messages(t.Context(), key(0))
				if err := errors.Join(err, merr); err != nil || string(messages[d]) != "an action" {
					t.Fatalf("messages %q, %v", messages, err)
				}
				got.Stdout[0], got.Files[0].Path, messages[d][1] = 'Y', "Y", 'Y'
			}
		})
		t.Run(fn.String()+"/canceled", func(t *testing.T) {
			c := open(t)
			over := errors.New("the build is over")
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(over)
			if err := c.Put(ctx, key(0), Result(fn, 0), nil); !errors.Is(err, over) {
				t.Errorf("Put returns %v, want the cause of the context", err)
			}
			if _, err := c.Get(t.Context(), key(0)); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("Get returns %v, want ErrNotFound", err)
			}
			if _, err := c.Get(ctx, key(0)); !errors.Is(err, store.ErrNotFound) && !errors.Is(err, over) {
				t.Errorf("Get after the cancellation returns %v, want ErrNotFound or the cause of the context", err)
			}
		})
	}
}

// Want reports a test error if c lacks the result r under the key.
func Want(t *testing.T, c store.Results, key digest.Digest, r *action.Result) {
	t.Helper()
	got, err := c.Get(t.Context(), key)
	if err != nil {
		t.Errorf("Get: %v", err)
	} else if diff := cmp.Diff(r, got, cmpopts.EquateEmpty(),
		cmp.Comparer(func(a, b digest.Digest) bool { return a == b })); diff != "" {
		t.Errorf("result differs (-put +got):\n%s", diff)
	}
}
