package steps

import (
	"maps"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
)

// Reproducing are the arguments of kinds that run a command of the user's, about whether two runs leave the same bytes.
type Reproducing struct {
	FixedAddresses bool   `arg:"fixed_addresses"`
	Varies         string `arg:"varies"`
}

func reproducingDocs(docs map[string]string) map[string]string {
	maps.Copy(docs, map[string]string{
		"fixed_addresses": "Whether the command, and what it starts, has its memory at the same addresses in each run, as with `setarch -R`: for programs that put things in order by address. Where a container refuses that it runs all the same, and `--verify` says so.",
		"varies":          "Why two runs may write different bytes, such as \"it writes the time\". Then `--verify` shows what differs, and does not fail. It is in no key.",
	})
	return docs
}

func (r Reproducing) apply(a *step.Action) {
	if r.FixedAddresses {
		a.Set(action.PropertyAddresses, action.AddressesFixed)
	}
	a.Vary(r.Varies)
}
