package toolchains

import (
	"bytes"
	"errors"
	"io"
)

// Embedded is where sources "embedded" are taken from: archives that are part of the program. Whoever starts hexmage hands them to
// the catalogue, which does not know what is in them.
type Embedded interface {
	// Versions are the releases of a toolchain that are there, the default one first.
	Versions(name string) []string

	// Root is the folder of a release's archive that is the SDK's own, and the SDK's build id, "" where it has none.
	Root(name, version string) (prefix, buildID string, err error)

	// Archive writes the archive of a release, a zip file: the same bytes each time.
	Archive(w io.Writer, name, version string) error
}

// takeEmbedded returns where the root of a release is in its archive, its build id, and a function that makes the archive.
func (c *Catalogue) takeEmbedded(name, version string) (prefix, buildID string, archive func() ([]byte, error), err error) {
	if c.Embedded == nil {
		return "", "", nil, errors.New("nothing is embedded in this program")
	}
	prefix, buildID, err = c.Embedded.Root(name, version)
	return prefix, buildID, func() ([]byte, error) {
		var b bytes.Buffer
		err := c.Embedded.Archive(&b, name, version)
		return b.Bytes(), err
	}, err
}
