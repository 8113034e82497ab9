package patches_test

import (
	"testing"

	"github.com/hexmage/hexmage/patches"
)

func TestNewer(t *testing.T) {
	names := func(sdk string) map[string]bool {
		t.Helper()
		rules, err := patches.Newer("mllm", sdk)
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]bool{}
		for _, r := range rules {
			all[r.From] = true
		}
		return all
	}
	if old := names("2.5.0"); len(old) != 0 {
		t.Errorf("for an SDK before all changes: %v", old)
	}
	if n := names("2.41.0.251128"); !n["get_interface_scale"] || len(n) < len(names("2.31.0")) {
		t.Errorf("for a new SDK: %v", n)
	}
	if _, err := patches.Newer("none", "2.41"); err == nil {
		t.Error("there is a series none")
	}
}
