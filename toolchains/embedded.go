package toolchains

import (
	"bytes"

	"github.com/hexmage/hexmage/standin/sdk"
)

// embeddedArchive returns the archive of a stand-in release.
func embeddedArchive(name, version string) ([]byte, error) {
	var b bytes.Buffer
	if err := sdk.Archive(&b, name, version); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
