package patches

import (
	"strings"

	"github.com/hexmage/hexmage/internal/version"
	"github.com/hexmage/hexmage/patches/rename"
)

// Newer are the rename rules of a shipped series for an SDK that came after the sources were written: those of the folders FROM-TO whose TO
// is at most the SDK's version.
func Newer(series, sdk string) ([]rename.Rule, error) {
	fsys, err := Shipped(series)
	if err != nil {
		return nil, err
	}
	ranges, err := Load(fsys)
	if err != nil {
		return nil, err
	}
	var out []rename.Rule
	for _, rg := range ranges {
		from, to, ok := strings.Cut(rg.Name, "-")
		from, to = strings.TrimPrefix(from, "qairt"), strings.TrimPrefix(to, "qairt")
		if ok && version.Older(from, to) && !version.Older(sdk, to) {
			out = append(out, rg.Renames...)
		}
	}
	return out, nil
}
