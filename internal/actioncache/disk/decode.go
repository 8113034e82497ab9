package disk

import (
	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
)

// Decode reads what a result's file holds. It fails where the checksum is not that of key and content. Looking after the
// cache takes it; Get is what everyone else wants.
func Decode(key digest.Digest, b []byte) (*action.Result, error) { return decode(key, b) }
