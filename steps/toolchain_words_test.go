package steps

import (
	"maps"
	"slices"
	"testing"

	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/toolchains"
)

// ToolchainAttributes names what the language knows of a toolchain, no more and no less.
func TestToolchainAttributes(t *testing.T) {
	ch := &toolchains.Choice{Toolchain: &toolchains.Toolchain{SDK: &qnn.SDK{Name: "x"}, Pushes: []*toolchains.PushSet{{Name: "runtime"}}}, Release: &toolchains.Release{Release: &qnn.Release{Version: "1"}}, Source: &toolchains.Source{}}
	attrs := toolchainAttrs(ch)
	pushSets(attrs, &toolchains.Catalog{}, ch.Toolchain, ch.Release)
	want := append(slices.Sorted(maps.Keys(attrs)), "dir")
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(ToolchainAttributes(ch.Toolchain))); !slices.Equal(got, want) {
		t.Errorf("said is %q, there are %q", got, want)
	}
}
