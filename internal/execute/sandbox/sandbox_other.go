//go:build !linux

package sandbox

import "errors"

// Base is the part of the host that every action may use.
type Base struct{}

// Open fails: only Linux has what a strict sandbox needs.
func Open() (*Base, error) { return nil, errors.New("only Linux has what it needs") }

// Allows is false: there is no base.
func (*Base) Allows(string) bool { return false }

// Unsupervised is nil.
func (*Base) Unsupervised() error { return nil }

// Mounts fails.
func (*Base) Mounts() error { return errors.ErrUnsupported }

// Scoped is false.
func (*Base) Scoped() (signals, sockets bool) { return false, false }

// CanMount fails.
func CanMount(string) error { return errors.ErrUnsupported }
