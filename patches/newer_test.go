package patches_test

import (
	"testing"

	"github.com/hexmage/hexmage/patches"
	"github.com/hexmage/hexmage/patches/rename"
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

func TestFirstLine(t *testing.T) {
	const src = "// old()\nconst char *s = \"t.old()\";\nold();\nint x = t /* here */ . old();\nt.old();"
	for r, want := range map[string]int{"": 3, "Tensor": 4} {
		if got := patches.FirstLine([]byte(src), rename.Rule{From: "old", Receiver: r}); got != want {
			t.Errorf("receiver %q: line %d, want %d", r, got, want)
		}
	}
	if got := patches.FirstLine([]byte(src), rename.Rule{From: "older"}); got != 0 {
		t.Errorf("line %d", got)
	}
}
