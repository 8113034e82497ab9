//go:build !linux && !darwin

package merkle

import "io/fs"

// identify says that files cannot be told apart here, so that each is hashed every time.
func identify(info fs.FileInfo) (fileID, stamp, bool) {
	return fileID{}, stamp{size: info.Size(), mtime: info.ModTime().UnixNano()}, false
}
