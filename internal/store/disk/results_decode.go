package disk

import (
	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
)

// Decode reads what a result's file holds. It fails where the checksum is not that of key and content. Looking after the
// cache takes it; Get is what everyone else wants.
func Decode(key digest.Digest, b []byte) (*action.Result, error) { return decode(key, b) }

// Messages returns the messages that a result's file holds beside the result, unchecked.
func Messages(b []byte) [][]byte { return messages(b) }

// KeyOf returns the whole key of the result in a file whose name tells the hash of it, if the file holds the Action.
func KeyOf(fn digest.Function, hash string, b []byte) (digest.Digest, bool) {
	m := messages(b)
	if len(m) == 0 {
		return digest.Digest{}, false
	}
	key := fn.Bytes(m[0])
	return key, key.Hex() == hash
}
