package disk_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/internal/store/storetest"
)

// What the pack has under a key may be anything, as whoever made the key wrote it: no bytes crash who reads them, and what is read as a result is
// the same when it is put and read again.
func FuzzDecode(f *testing.F) {
	key := digest.BLAKE3.Bytes([]byte("k"))
	f.Add(storetest.Result(digest.BLAKE3, 1).Encode())
	f.Add([]byte{})
	f.Add([]byte{0xba, 0xdf, 0x1f, 1, 'x'})
	c := openResults(f, f.TempDir())
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := disk.Decode(key, b)
		if err != nil {
			return
		}
		messages := disk.Messages(key.Function(), b)
		if err := c.Put(t.Context(), key, r, messages); err != nil {
			t.Fatal(err)
		}
		got, err := c.Messages(t.Context(), key)
		if diff := cmp.Diff(messages, got, cmpopts.EquateEmpty(), cmp.Comparer(func(a, b digest.Digest) bool { return a == b })); err != nil || diff != "" {
			t.Errorf("messages: %v\n%s", err, diff)
		}
		storetest.Want(t, c, key, r)
	})
}
