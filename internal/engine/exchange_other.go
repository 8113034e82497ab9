//go:build !linux

package engine

import "errors"

// exchange swaps two paths in one step; this system cannot.
func exchange(a, b string) error { return errors.ErrUnsupported }
