package rename_test

import (
	"strings"
	"testing"

	"github.com/hexmage/hexmage/patches/rename"
)

// TestSourceScansOnce: all rules see the same tokens, and the same error.
func TestSourceScansOnce(t *testing.T) {
	s := &rename.Source{File: "a.cpp", Text: []byte("x.get_interface_scale();")}
	before, err := s.Code()
	if err != nil || len(before) == 0 {
		t.Fatal(err)
	}
	for range 2 {
		if got, err := scaleRule().RewriteSource(s); err != nil || len(got.Changed) != 1 {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if after, _ := s.Code(); &after[0] != &before[0] {
		t.Error("a rule scanned the text again")
	}
	s = &rename.Source{File: "a.cpp", Text: []byte("get_interface_scale /*")}
	for range 2 {
		if _, err := scaleRule().RewriteSource(s); err == nil || !strings.HasPrefix(err.Error(), "a.cpp:1:21: ") {
			t.Errorf("an open comment: %v", err)
		}
	}
}
