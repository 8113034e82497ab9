package store

import (
	"path/filepath"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/stat"
)

// MinRef is the size in bytes from which on a file of the host is read where it is rather than copied. Copying as much takes
// longer than all that it takes to show a file at another place, and to look afterwards whether it is as it was.
const MinRef = 8 << 20

// Ref is a file of the host that has the content of a blob for as long as it has the Stamp.
type Ref struct {
	Path   string // absolute, without symlinks
	Digest digest.Digest
	Stamp  stat.Stamp // of when the digest was taken
}

// Check returns a *ChangedError unless the file is as it was when its digest was taken.
func (r *Ref) Check() error {
	now, err := stat.Lstat(r.Path)
	if err != nil || now != r.Stamp {
		return &ChangedError{Path: r.Path, Digest: r.Digest, Err: err}
	}
	return nil
}

// resolved is the Ref without symlinks in its path. One that leads nowhere stays: Check says that it is gone.
func (r Ref) resolved() Ref {
	if real, err := filepath.EvalSymlinks(r.Path); err == nil {
		r.Path = real
	}
	return r
}
