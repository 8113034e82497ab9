package store_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/memory"
	"github.com/hexmage/hexmage/internal/store/storetest"
)

func TestHostFilesIsAStore(t *testing.T) {
	storetest.Blobs(t, "*store.HostFiles",
		func(t *testing.T) store.Blobs { return store.WithHostFiles(stores(t)["disk"]) })
	for name := range stores(t) {
		t.Run(name, func(t *testing.T) {
			storetest.Reads(t, "*store.HostFiles",
				func(t *testing.T, fn digest.Function, content [][]byte) store.Blobs {
					s, dir := store.WithHostFiles(stores(t)[name]), t.TempDir()
					for i, b := range content {
						path := filepath.Join(dir, fmt.Sprint(i))
						if err := os.WriteFile(path, b, 0o600); err != nil {
							t.Fatal(err)
						}
						s.Add(fn.Bytes(b), path)
					}
					return s
				})
		})
	}
	storetest.BlobsDamage(t, func(t *testing.T) (store.Blobs, func(digest.Digest, []byte)) {
		next := memory.NewBlobs()
		return store.WithHostFiles(next), next.Damage
	})
	storetest.Decorator(t, "*store.HostFiles", func(next store.Blobs) store.Blobs { return store.WithHostFiles(next) })
}

// An Overlay is used over the host's files over a store on disk.
func TestOverlayIsAStore(t *testing.T) {
	storetest.Blobs(t, "*store.overlay", func(t *testing.T) store.Blobs {
		return store.Overlay(store.WithHostFiles(stores(t)["disk"]), nil)
	})
	storetest.Reads(t, "*store.overlay", func(t *testing.T, fn digest.Function, content [][]byte) store.Blobs {
		next, messages := memory.NewBlobs(), map[digest.Digest][]byte{}
		for i, b := range content {
			if d := fn.Bytes(b); i%2 == 0 {
				messages[d] = b
			} else if err := next.Put(t.Context(), d, bytes.NewReader(b)); err != nil {
				t.Fatal(err)
			}
		}
		return store.Overlay(next, messages)
	})
}
