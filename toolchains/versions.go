package toolchains

import (
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/version"
)

// ToolsArches returns the Hexagon archs that a version of the toolchain's compilers can build for, nil when that is not
// known.
func (t *Toolchain) ToolsArches(version string) []string {
	var best *Tools
	for _, x := range t.Tools {
		if (version == x.Series || strings.HasPrefix(version, x.Series+".")) && (best == nil || len(x.Series) > len(best.Series)) {
			best = x
		}
	}
	if best == nil {
		return nil
	}
	return best.Arches
}

// firstTools returns the oldest series of compilers that knows the arch, "" when none does.
func (t *Toolchain) firstTools(arch string) string {
	best := ""
	for _, x := range t.Tools {
		if slices.Contains(x.Arches, arch) && (best == "" || version.Older(x.Series, best)) {
			best = x.Series
		}
	}
	return best
}

// firstWith returns the oldest release of the toolchain with the arch, "" when none has it.
func (t *Toolchain) firstWith(arch string) string {
	best := ""
	for _, r := range t.Releases {
		if slices.Contains(r.Arches, arch) && (best == "" || version.Older(r.Version, best)) {
			best = r.Version
		}
	}
	return best
}

// firstOpen returns the oldest release with the arch that needs no account of the vendor, "" when all do.
func (t *Toolchain) firstOpen(arch string) string {
	best := ""
	for _, r := range t.Releases {
		if slices.Contains(r.Arches, arch) && r.Source("archive") != nil && (best == "" || version.Older(r.Version, best)) {
			best = r.Version
		}
	}
	return best
}

// firstSince returns the oldest release that is first or newer, "" when none is.
func (t *Toolchain) firstSince(first string) string {
	best := ""
	for _, r := range t.Releases {
		if !version.Older(r.Version, first) && (best == "" || version.Older(r.Version, best)) {
			best = r.Version
		}
	}
	return best
}

// Sorted returns the toolchain's releases, newest first.
func (t *Toolchain) Sorted() []*Release {
	out := slices.Clone(t.Releases)
	slices.SortStableFunc(out, func(a, b *Release) int { return version.Compare(b.Version, a.Version) })
	return out
}
