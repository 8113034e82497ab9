package cli

import (
	"io/fs"
)

// listedFS notes which names were in the folders that are listed.
type listedFS struct {
	fs.FS
	names map[string]string // by slash path; "" where it was not the same each time
}

// ReadDir lists a folder.
func (l listedFS) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(l.FS, name)
	if err != nil {
		return nil, err
	}
	now := entryNames(entries)
	if was, ok := l.names[name]; ok && was != now {
		now = ""
	}
	l.names[name] = now
	return entries, nil
}

// Stat looks for a name.
func (l listedFS) Stat(name string) (fs.FileInfo, error) { return fs.Stat(l.FS, name) }
