package toolchains

import (
	"fmt"

	"github.com/hexmage/hexmage/toolchains/sources/maven"
)

// Header is a line of a request with a secret in it. The catalogue names the secret, a variable of the user
// (HEXMAGE_VAR_name); its value is in no file, no key and no log, and goes to the named hosts only.
type Header struct {
	Name     string   `hcl:"name,label"`
	Variable string   `hcl:"variable"`        // name of the variable that holds the secret
	Prefix   string   `hcl:"prefix,optional"` // what comes before it: "Bearer "
	Hosts    []string `hcl:"hosts,optional"`  // none: the host of the first address
}

// Add is a product of the vendor's client that is put below the root of another: a compiler that an SDK does not ship.
type Add struct {
	Product string `hcl:"product,label"`
	Version string `hcl:"version"`
	Path    string `hcl:"path"` // folder of the tree
}

// inheritRemote takes from a toolchain's source what a release's own leaves out of the attributes that getting it needs.
func (s *Source) inheritRemote(from *Source) {
	for _, t := range []struct{ to, from *string }{{&s.Product, &from.Product}, {&s.Activate, &from.Activate}, {&s.Coordinates, &from.Coordinates}} {
		if *t.to == "" {
			*t.to = *t.from
		}
	}
	if len(s.Repositories) == 0 {
		s.Repositories = from.Repositories
	}
	if len(s.Headers) == 0 {
		s.Headers = from.Headers
	}
	if len(s.Adds) == 0 {
		s.Adds = from.Adds
	}
	s.Extract = s.Extract || from.Extract
}

// checkRemote says what a source of kind maven, qpm or qsc lacks, "" when nothing.
func (s *Source) checkRemote() string {
	if s.Kind != "maven" {
		if s.Product == "" {
			return fmt.Sprintf("a source %q needs product: what the vendor's client calls it.", s.Kind)
		}
		return ""
	}
	if len(s.Repositories) == 0 {
		return "a source \"maven\" needs repositories: the address of the repository's root."
	}
	if _, err := maven.Parse(s.Coordinates); err != nil {
		return fmt.Sprintf("a source \"maven\": %v.", err)
	}
	return ""
}
