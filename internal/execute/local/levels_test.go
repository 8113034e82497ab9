package local_test

import (
	"testing"

	"github.com/hexmage/hexmage/internal/execute/sandbox"
)

type level struct {
	name string
	base *sandbox.Base
}

// levels are those that this machine can do: strict is not among them where the kernel has no Landlock.
func levels(t testing.TB) []level {
	all := []level{{"staged", nil}}
	base, err := sandbox.Open()
	if err != nil {
		t.Logf("strict is not tested: %v", err)
		return all
	}
	return append(all, level{"strict", base})
}
