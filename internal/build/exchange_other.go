//go:build !linux

package build

import "errors"

// exchange swaps two paths in one step; this system cannot.
func exchange(a, b string) error { return errors.ErrUnsupported }
