//go:build !linux

package sandbox

import "errors"

// Base is the part of the host that every action may use.
type Base struct{}

// Open returns an error, because a strict sandbox needs Linux.
func Open() (*Base, error) { return nil, errors.New("the strict sandbox needs Linux") }

// Allows returns false.
func (*Base) Allows(string) bool { return false }

// Unsupervised returns nil.
func (*Base) Unsupervised() error { return nil }

// Mounts returns an error.
func (*Base) Mounts() error { return errors.ErrUnsupported }

// Scoped returns false.
func (*Base) Scoped() (signals, sockets bool) { return false, false }

// CanMount returns an error.
func CanMount(string) error { return errors.ErrUnsupported }
