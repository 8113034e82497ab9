//go:build !linux && !darwin

package gc

import (
	"io/fs"
	"time"
)

func identify(fs.FileInfo) fileID { return fileID{} }

// changed is not known here: blobs are as old as the newest result that names them, and others were just used.
func changed(fs.FileInfo) time.Time { return time.Now() }
