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

// Ruleset is what a thread may do once it is restricted.
type Ruleset struct{}

// Ruleset fails.
func (*Base) Ruleset(Access) (*Ruleset, error) { return nil, errors.ErrUnsupported }

// Close does nothing.
func (*Ruleset) Close() {}

// Worker is a restricted thread.
type Worker struct{}

// NewWorker fails.
func NewWorker(*Ruleset, bool, []Mount) (*Worker, error) { return nil, errors.ErrUnsupported }

// Do calls f.
func (*Worker) Do(f func()) { f() }

// NetworkRefused does not know.
func (*Worker) NetworkRefused() (refused, known bool) { return false, false }

// Number is the number.
func (*Worker) Number(n int) int { return n }

// End does nothing.
func (*Worker) End(int) (bool, error) { return false, nil }

// Settle does nothing.
func (*Worker) Settle(bool) {}

// Close does nothing.
func (*Worker) Close() {}
