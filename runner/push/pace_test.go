//go:build linux

package push

import (
	"slices"
	"testing"
)

// After each break the pauses are what the breaks so far say: of load, or of an amount.
func TestPace(t *testing.T) {
	for name, c := range map[string]struct {
		carried []int64 // bytes up to each break
		rest    []int64
	}{
		"one break says nothing":            {[]int64{20e6}, []int64{0}},
		"longer and longer":                 {[]int64{5e6, 5e6, 8e6, 16e6}, []int64{0, 1, 2, 4}},
		"as long as can be, where it helps": {[]int64{5e6, 5e6, 8e6, 16e6, 40e6, 30e6}, []int64{0, 1, 2, 4, 4, 4}},
		"breaks by amount":                  {[]int64{20e6, 20e6, 20e6, 20e6, 20e6, 20e6, 20e6}, []int64{0, 1, 2, 4, 0, 0, 0}},
	} {
		tr := newTransfer(&Store{}, nil)
		var rest []int64
		for _, n := range c.carried {
			tr.Store.pushed.Sent += n
			tr.dropped()
			rest = append(rest, tr.rest)
		}
		if !slices.Equal(rest, c.rest) || tr.Store.pushed.Paced != (len(rest) > 1) {
			t.Errorf("%s: rests of %v, want %v; %+v", name, rest, c.rest, tr.Store.pushed)
		}
	}
}
