package addrs_test

import (
	"testing"

	"github.com/hexmage/hexmage/internal/addrs"
)

func TestNearest(t *testing.T) {
	for _, tt := range []struct {
		name string
		from []string
		want string
	}{
		{"opz", []string{"ops", "llama"}, "ops"},
		{"patc", []string{"fetch", "patch"}, "patch"},
		{"agrv", []string{"args", "argv"}, "argv"},
		{"verion", []string{"version"}, "version"},
		{"step.patch.opz", []string{"step.patch.ops", "step.patch.oz"}, "step.patch.ops"},
		{"zebra", []string{"ops", "llama"}, ""},
		{"x", []string{"y"}, ""},
		{"v75", []string{"v99", "v73"}, "v73"},
		{"", []string{"ops"}, ""},
		{"x", nil, ""},
	} {
		if got := addrs.Nearest(tt.name, tt.from); got != tt.want {
			t.Errorf("Nearest(%q, %q) = %q, want %q", tt.name, tt.from, got, tt.want)
		}
	}
}
