package steps

import (
	"errors"
	"testing"
)

// TestSaid: a sentence begins with a capital letter, but for the name of a toolchain.
func TestSaid(t *testing.T) {
	for text, want := range map[string]string{"qnnruntime 2.48.0.2 is not available": "qnnruntime 2.48.0.2 is not available.", "there is none": "There is none."} {
		if got := said("qnnruntime", errors.New(text)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
