package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/remote"
	"github.com/hexmage/hexmage/internal/remote/latencyproxy"
	"github.com/hexmage/hexmage/internal/store"
)

// roundTrip is how long one takes to a server that is far.
const roundTrip = 50 * time.Millisecond

// behind has the machine reach the server over such a way.
func behind(t *testing.T, s *server) func(*remote.Options) {
	t.Helper()
	link, err := latencyproxy.Listen(strings.TrimPrefix(s.address, "grpc://"), roundTrip/2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { link.Close() })
	return func(o *remote.Options) { o.Address = "grpc://" + link.Addr().String() }
}

// sendsMany makes n results with a small file each, and has them on the server.
func (m *machine) sendsMany(t *testing.T, fn digest.Function, n int) (keys, files []digest.Digest) {
	t.Helper()
	for i := range n {
		b := fmt.Appendf(nil, "file %d", i)
		d := fn.Bytes(b)
		a := &action.Action{Command: action.Command{Args: []string{"make", fmt.Sprint(i)}, Outputs: []string{"f"}},
			InputRoot: fn.Bytes(nil)}
		e := a.Encode(fn)
		err := errors.Join(m.here.Put(t.Context(), d, bytes.NewReader(b)),
			m.results.Put(t.Context(), e.Key, &action.Result{Files: []action.OutputFile{{Path: "f", Digest: d}}},
				map[digest.Digest][]byte{e.Key: e.Action, fn.Bytes(e.Command): e.Command}))
		if err != nil {
			t.Fatal(err)
		}
		keys, files = append(keys, e.Key), append(files, d)
	}
	m.results.Finish(t.Context())
	return keys, files
}

// TestFar: who sends many results, looks up many at once, and fetches many files, waits for a few round trips,
// however many they are.
func TestFar(t *testing.T) {
	const many = 500
	for _, fn := range functions() {
		s := serve(t, functions()...)
		one := newMachine(t, s, true, behind(t, s))
		began := time.Now()
		keys, files := one.sendsMany(t, fn, many)
		sent := time.Since(began)
		if n := s.count("BatchUpdateBlobs") + s.count("FindMissingBlobs"); n > many/5 || sent > 40*roundTrip {
			t.Errorf("%d results were sent in %v, with %d calls beside their own", many, sent, n)
		}
		asked := s.count("FindMissingBlobs")
		two := newMachine(t, s, false, behind(t, s))
		if _, err := two.client.Capabilities(t.Context()); err != nil { // it is connected
			t.Fatal(err)
		}
		began = time.Now()
		var all sync.WaitGroup
		for i, key := range keys {
			all.Go(func() {
				if r, err := two.results.Get(t.Context(), key); err != nil || r.Files[0].Digest != files[i] {
					t.Errorf("result %d: %v, %v", i, r, err)
				}
			})
		}
		all.Wait()
		took := time.Since(began)
		if n := s.count("FindMissingBlobs") - asked; took > 20*roundTrip || n > many/10 {
			t.Errorf("%d lookups took %v, with %d questions for what it has", many, took, n)
		}
		began = time.Now()
		store.Fetch(t.Context(), two.blobs, slices.Values(files))
		fetched := time.Since(began)
		if missing, err := two.here.Missing(t.Context(), files); err != nil || len(missing) > 0 {
			t.Errorf("%d files are not here: %v", len(missing), err)
		}
		if n := s.count("BatchReadBlobs"); fetched > 10*roundTrip || n > many/50 {
			t.Errorf("%d files took %v, with %d calls", many, fetched, n)
		}
		t.Logf("%v: %d results sent in %v, looked up in %v, their files fetched in %v", fn, many, sent, took, fetched)
		two.said.want(t)
	}
}

// TestFetchOfLies: of files that are fetched together, those that are wrong are not taken, and the others are; who
// opens one gets to know what is wrong with it.
func TestFetchOfLies(t *testing.T) {
	fn := digest.BLAKE3
	s := serve(t, fn)
	keys, files := newMachine(t, s, true, nil).sendsMany(t, fn, 50)
	two := newMachine(t, s, false, nil)
	for _, key := range keys {
		if _, err := two.results.Get(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	s.change(func() {
		delete(s.blobs, files[7])
		s.blobs[files[8]] = []byte("file X")
	})
	unasked := fn.Bytes([]byte("nobody said that it is there"))
	store.Fetch(t.Context(), two.blobs, slices.Values(append(slices.Clone(files), unasked, files[0])))
	missing, err := two.here.Missing(t.Context(), files)
	if err != nil || !slices.Equal(missing, files[7:9]) {
		t.Errorf("not here are %v, %v", missing, err)
	}
	for _, d := range files[7:9] {
		if _, err := store.ReadBlob(t.Context(), two.blobs, d, 100); !errors.Is(err, store.ErrNotFound) ||
			!errors.As(err, new(*remote.LostError)) {
			t.Errorf("%s: %v", d, err)
		}
	}
	if m, err := two.blobs.Missing(t.Context(), files); err != nil || !slices.Equal(m, files[7:9]) {
		t.Errorf("missing are %v, %v", m, err)
	}
}

// TestFetchStops: who fetches many files may be stopped, and those who wait for one of them get it all the same.
func TestFetchStops(t *testing.T) {
	fn := digest.BLAKE3
	s := serve(t, fn)
	keys, files := newMachine(t, s, true, nil).sendsMany(t, fn, 300)
	two := newMachine(t, s, false, behind(t, s))
	var all sync.WaitGroup
	for _, key := range keys {
		all.Go(func() {
			if _, err := two.results.Get(t.Context(), key); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	ctx, stop := context.WithTimeout(t.Context(), roundTrip/2)
	defer stop()
	began := make(chan struct{})
	for _, d := range files[:20] {
		all.Go(func() {
			<-began
			if _, err := store.ReadBlob(t.Context(), two.blobs, d, 100); err != nil {
				t.Error(err)
			}
		})
	}
	time.AfterFunc(roundTrip/5, func() { close(began) })
	store.Fetch(ctx, two.blobs, slices.Values(files))
	all.Wait()
	two.said.want(t)
}
