package suggest_test

import (
	"testing"

	"github.com/hexmage/hexmage/internal/suggest"
)

func TestName(t *testing.T) {
	for _, tt := range []struct {
		name string
		from []string
		want string
	}{
		{"opz", []string{"ops", "llvm"}, "ops"},
		{"patc", []string{"fetch", "patch"}, "patch"},
		{"agrv", []string{"args", "argv"}, "argv"},
		{"verion", []string{"version"}, "version"},
		{"step.patch.opz", []string{"step.patch.ops", "step.patch.oz"}, "step.patch.ops"},
		{"zebra", []string{"ops", "llvm"}, ""},
		{"x", []string{"y"}, ""},
		{"v12", []string{"v99", "v11"}, "v11"},
		{"OPZ", []string{"llvm", "ops"}, "ops"},
		{"gti", []string{"make", "git"}, "git"},
		{"", []string{"ops"}, ""},
		{"x", nil, ""},
	} {
		if got := suggest.Name(tt.name, tt.from); got != tt.want {
			t.Errorf("Name(%q, %q) = %q, want %q", tt.name, tt.from, got, tt.want)
		}
	}
}
