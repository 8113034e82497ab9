package sdk

import (
	"archive/zip"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"

	"github.com/hexmage/hexmage/qnn"
)

// Embedded implements toolchains.Embedded with the simulated SDKs.
type Embedded struct {
	// World returns the facts about Qualcomm's releases. These must be the shipped facts, because archives are pinned.
	World func() (*qnn.Facts, error)
}

// Versions returns the versions of a simulated SDK, the default version first.
func (Embedded) Versions(name string) []string {
	var all []string
	for _, r := range Releases() {
		if r.Name == name {
			all = append(all, r.Version)
		}
	}
	return all
}

// Root returns the fields Prefix and BuildID of a release.
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

// Archive writes the archive of a release to w: a zip file without compression. The bytes depend only on this package's
// sources and on the facts about Qualcomm's release. The version "" means the default.
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
		return fmt.Errorf("pack the simulated SDK %s %s: %w", r.Name, r.Version, err)
	}
	z := zip.NewWriter(w)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.path, CRC32: crc32.ChecksumIEEE(e.data),
			CompressedSize64: uint64(len(e.data)), UncompressedSize64: uint64(len(e.data))}
		h.SetMode(e.mode)
		f, err := z.CreateRaw(h) // writes neither a time nor a data descriptor
		if err == nil {
			_, err = f.Write(e.data)
		}
		if err != nil {
			return fmt.Errorf("pack the simulated SDK %s %s: %w", r.Name, r.Version, err)
		}
	}
	return z.Close()
}
