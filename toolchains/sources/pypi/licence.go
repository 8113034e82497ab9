package pypi

import (
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// MaxLicences is how many texts are named of a wheel, at most.
const MaxLicences = 50

// licenceRE: where PEP 639 has them, where older tools put them, and where vendors do: in the package's own folder.
var licenceRE = lazyregexp.New(`(?i)^([^/]+\.dist-info/licen[sc]es/.+|([^/]+/)?([a-z0-9]+_)?(licen[sc]e|copying|notice|eula|thirdpartynotices)([-._][^/]*)?)$`)

// IsLicence tells whether a file of a wheel, by its path, is a text that says under which licence it is.
func IsLicence(path string) bool {
	return licenceRE.MatchString(path) && !strings.HasSuffix(path, ".py")
}
