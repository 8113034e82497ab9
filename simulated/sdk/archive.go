package sdk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"

	"github.com/hexmage/hexmage/qnn"
)

// Archive writes the archive of a release, a zip file, to w. The bytes depend on the sources of this package, and on what of the world is true
// of the vendor's release. version "" means the default release of that name.
func Archive(w io.Writer, world *qnn.Facts, name, version string) error {
	r, err := Find(name, version)
	if err != nil {
		return err
	}
	entries, err := r.entries(world)
	if err != nil {
		return fmt.Errorf("packing %s %s: %w", r.Name, r.Version, err)
	}
	if err := writeZip(w, entries); err != nil {
		return fmt.Errorf("packing %s %s: %w", r.Name, r.Version, err)
	}
	return nil
}

type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

// An entry is one file or symbolic link of an archive. Folders are implied.
type entry struct {
	path string // slash separated, below the archive's root
	data []byte // content, or a link's target
	mode fs.FileMode
}

const (
	plainFile  = fs.FileMode(0o644)
	executable = fs.FileMode(0o755)
	symlink    = fs.ModeSymlink | 0o777
)

// dosTime and dosDate are 1980-01-01 00:00:00, the earliest a zip file can say.
const (
	dosTime = 0
	dosDate = 1<<5 | 1
)

// writeZip writes entries, which are sorted and few, without compression. archive/zip would do, but promises nothing
// about its bytes from one Go version to the next, and these bytes have digests in catalogues.
func writeZip(w io.Writer, entries []entry) error {
	if len(entries) > math.MaxUint16-1 {
		return errors.New("too many files for a zip archive")
	}
	le := binary.LittleEndian
	out := &counter{}
	mw := io.MultiWriter(w, out)
	var directory []byte
	for _, e := range entries {
		if len(e.data) > math.MaxInt32 || len(e.path) > math.MaxUint16 || out.n > math.MaxInt32 {
			return fmt.Errorf("%s: too large for a zip archive", e.path)
		}
		// The part that the local header and the central directory share: version needed 2.0, UTF-8 names, stored.
		var shared []byte
		for _, v := range []uint16{20, 1 << 11, 0, dosTime, dosDate} {
			shared = le.AppendUint16(shared, v)
		}
		size := uint32(len(e.data))
		for _, v := range []uint32{crc32.ChecksumIEEE(e.data), size, size} {
			shared = le.AppendUint32(shared, v)
		}
		shared = le.AppendUint16(shared, uint16(len(e.path)))
		shared = le.AppendUint16(shared, 0)

		directory = append(directory, "PK\x01\x02"...)
		directory = le.AppendUint16(directory, 3<<8|20) // made by Unix: the high half of the attributes is st_mode
		directory = append(directory, shared...)
		directory = append(directory, 0, 0, 0, 0, 0, 0) // comment, disk, internal attributes
		directory = le.AppendUint32(directory, unixMode(e.mode)<<16)
		directory = le.AppendUint32(directory, uint32(out.n))
		directory = append(directory, e.path...)

		header := append([]byte("PK\x03\x04"), shared...)
		for _, b := range [][]byte{header, []byte(e.path), e.data} {
			if _, err := mw.Write(b); err != nil {
				return err
			}
		}
	}
	at := uint32(out.n)
	if out.n > math.MaxInt32 {
		return errors.New("too large for a zip archive")
	}
	end := append(directory, "PK\x05\x06\x00\x00\x00\x00"...)
	end = le.AppendUint16(end, uint16(len(entries)))
	end = le.AppendUint16(end, uint16(len(entries)))
	end = le.AppendUint32(end, uint32(len(directory)))
	end = le.AppendUint32(end, at)
	end = le.AppendUint16(end, 0)
	_, err := w.Write(end)
	return err
}

func unixMode(m fs.FileMode) uint32 {
	const regular, link = 0o100000, 0o120000
	if m&fs.ModeSymlink != 0 {
		return link | uint32(m.Perm())
	}
	return regular | uint32(m.Perm())
}
