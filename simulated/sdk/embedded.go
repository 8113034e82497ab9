package sdk

import (
	"archive/zip"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"

	"github.com/hexmage/hexmage/qnn"
)

// Embedded hands the releases to a catalog of toolchains: it is what toolchains.Embedded asks for, which this package
// does not know.
type Embedded struct {
	// World returns what is true of Qualcomm's releases: the shipped facts, since archives are pinned.
	World func() (*qnn.Facts, error)
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

// An entry is one file or symbolic link of an archive. Folders are implied.
type entry struct {
	path string // slash separated, below the archive's root
	data []byte // content, or a link's target
	mode fs.FileMode
}

// Archive writes the archive of a release, a zip file without compression, to w. The bytes depend on the sources of
// this package, and on what is true of Qualcomm's release. version "" means the default release of that name.
func (e Embedded) Archive(w io.Writer, name, version string) error {
	world, err := e.World()
	if err != nil {
		return err
	}
	r, err := Find(name, version)
	if err != nil {
		return err
	}
	entries, err := r.entries(world)
	if err != nil {
		return fmt.Errorf("packing %s %s: %w", r.Name, r.Version, err)
	}
	z := zip.NewWriter(w)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.path, CRC32: crc32.ChecksumIEEE(e.data),
			CompressedSize64: uint64(len(e.data)), UncompressedSize64: uint64(len(e.data))}
		h.SetMode(e.mode)
		f, err := z.CreateRaw(h) // so that no time and no data descriptor is written
		if err == nil {
			_, err = f.Write(e.data)
		}
		if err != nil {
			return fmt.Errorf("packing %s %s: %w", r.Name, r.Version, err)
		}
	}
	return z.Close()
}
