package memory_test

import (
	"testing"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/memory"
	"github.com/hexmage/hexmage/internal/store/storetest"
)

func TestBlobs(t *testing.T) {
	storetest.Blobs(t, "*memory.Blobs", func(*testing.T) store.Blobs { return memory.NewBlobs() })
}

func TestBlobsDamage(t *testing.T) {
	storetest.BlobsDamage(t, func(*testing.T) (store.Blobs, func(digest.Digest, []byte)) {
		s := memory.NewBlobs()
		return s, s.Damage
	})
}
