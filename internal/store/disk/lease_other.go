//go:build !linux

package disk

import "github.com/hexmage/hexmage/internal/atomicfile"

// lease does nothing: only Linux tells who has a file open.
func (*Blobs) lease(*atomicfile.Regular) (bool, error) { return false, nil }

func leased(*atomicfile.Regular) bool { return true }

func (*Blobs) tryLease() bool { return false }
