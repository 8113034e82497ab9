package sandbox_test

import (
	"testing"

	"github.com/hexmage/hexmage/internal/execute/sandbox"
)

func TestParseLevel(t *testing.T) {
	for _, l := range []sandbox.Level{sandbox.Strict, sandbox.Staged, sandbox.Off} {
		if got, err := sandbox.ParseLevel(l.String()); err != nil || got != l {
			t.Errorf("%s: %v, %v", l, got, err)
		}
	}
	for _, name := range []string{"", "Strict", "on"} {
		if l, err := sandbox.ParseLevel(name); err == nil {
			t.Errorf("%q is %s", name, l)
		}
	}
}
