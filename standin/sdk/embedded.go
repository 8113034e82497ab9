package sdk

import "io"

// Embedded hands the releases to a catalogue of toolchains: it is what toolchains.Embedded asks for, which this package does not know.
type Embedded struct{}

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
func (Embedded) Archive(w io.Writer, name, version string) error { return Archive(w, name, version) }
