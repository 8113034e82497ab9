package runlog

import "github.com/hexmage/hexmage/internal/statefile"

// Kind is what the tests seal damaged blocks with.
func Kind() statefile.Kind { return kind() }

// Decode reads what a run's file holds.
func Decode(b []byte) (*Run, error) { return decode(statefile.Parse(b, kind())) }
