package archive

import (
	"io"
	"io/fs"
)

// Member is a file, folder or link of a zip file, as its directory has it. Nothing of it has been checked but that it is
// within the file.
type Member struct {
	Name string // as it is there: with slashes, and folders with one at the end
	Size int64  // bytes, unpacked
	Mode fs.FileMode

	entry zipEntry
}

// ListZip reads the directory of the zip file of size bytes behind r. It is an error when it has more than max members.
func ListZip(r io.ReaderAt, size int64, max int) ([]Member, error) {
	entries, err := readZipDir(r, size, max)
	if err != nil {
		return nil, err
	}
	members := make([]Member, len(entries))
	for i, e := range entries {
		members[i] = Member{Name: e.name, Size: e.size, Mode: e.mode, entry: e}
	}
	return members, nil
}

// Read returns the member's content, its size and checksum checked. r is what the member was listed from. A member of more
// than limit bytes is an error.
func (m Member) Read(r io.ReaderAt, limit int64) ([]byte, error) { return m.entry.content(r, limit) }
