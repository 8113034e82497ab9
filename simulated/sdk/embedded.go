package sdk

import (
	"io"

	"github.com/hexmage/hexmage/qnn"
)

// Embedded hands the releases to a catalogue of toolchains: it is what toolchains.Embedded asks for, which this package does not know.
type Embedded struct {
	World func() (*qnn.Facts, error) // what is true of the vendor's releases: the shipped facts, since archives are pinned
}

// Versions are those of the releases of that name, the default one first.
func (Embedded) Versions(name string) []string {
	var all []string
	for _, r := range Releases() {
		if r.Name == name {
			all = append(all, r.Version)
		}
	}
	return all
}

// Root is Prefix and BuildID of a release.
func (Embedded) Root(name, version string) (prefix, buildID string, err error) {
	r, err := Find(name, version)
	return r.Prefix, r.BuildID, err
}

// Archive is the function Archive.
func (e Embedded) Archive(w io.Writer, name, version string) error {
	world, err := e.World()
	if err != nil {
		return err
	}
	return Archive(w, world, name, version)
}
