//go:build !linux

package sandbox

import "errors"

// Base is the part of the host that every action may use.
type Base struct{}

// Open returns an error, because a strict sandbox needs Linux.
func Open() (*Base, error) { return nil, errors.New("the strict sandbox needs Linux") }

// Allows always returns false, because a strict sandbox needs Linux.
func (*Base) Allows(string) bool { return false }

// Unsupervised always returns nil, because Open never returns a Base.
func (*Base) Unsupervised() error { return nil }

// Mounts always returns an error, because mount namespaces need Linux.
func (*Base) Mounts() error { return errors.ErrUnsupported }

// Scoped always returns false, because Landlock needs Linux.
func (*Base) Scoped() (signals, sockets bool) { return false, false }

// CanMount always returns an error, because mounts need Linux.
func CanMount(string) error { return errors.ErrUnsupported }
