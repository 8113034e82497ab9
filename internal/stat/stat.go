// Package stat reads the metadata of files. A Stamp shows whether a file has changed after hexmage took the Stamp. The
// package does not read the content of files.
package stat

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Stamp is the metadata of a file. If two Stamps of a path are equal and not racy (see Racy), the file did not change
// between them. The exception is a system clock that was set back. The zero Stamp stands for a missing file.
type Stamp struct {
	Dev, Inode uint64 // 0 on systems without them
	Size       int64  // bytes
	// nanoseconds since 1970: MTime is when the content last changed, CTime is when content or metadata last changed;
	// CTime is 0 on systems without it
	MTime, CTime int64
	Mode         uint32 // type and permissions as in Unix's st_mode, on every system; 0 only in the zero Stamp
}

// File types in Stamp.Mode, with the values of Unix.
const (
	typeMask    = 0o170000
	typeRegular = 0o100000
	typeDir     = 0o040000
	typeSymlink = 0o120000
	typeOther   = 0o010000
)

// Exists reports whether the file existed.
func (s Stamp) Exists() bool { return s.Mode != 0 }

// IsRegular reports whether the file is a regular file.
func (s Stamp) IsRegular() bool { return s.Mode&typeMask == typeRegular }

// IsDir reports whether the file is a folder.
func (s Stamp) IsDir() bool { return s.Mode&typeMask == typeDir }

// IsSymlink reports whether the file is a symlink. Lstat returns the Stamp of the symlink, not of the target.
func (s Stamp) IsSymlink() bool { return s.Mode&typeMask == typeSymlink }

// Executable reports whether anyone has permission to execute the file.
func (s Stamp) Executable() bool { return s.Mode&0o111 != 0 }

// RacyWindow is the minimum time between the last change of a file and a reliable Stamp. Within this time, another
// change may leave the Stamp unchanged, because file times are inexact. FAT rounds them to two seconds.
const RacyWindow = 2 * time.Second

// Racy reports whether the file last changed less than RacyWindow before the given time, or after that time. If so, do
// not store a digest under the Stamp, because the next change might not change the Stamp.
func (s Stamp) Racy(at time.Time) bool { return at.Add(-RacyWindow).UnixNano() < max(s.MTime, s.CTime) }

// Of converts the result of os.Stat or os.Lstat to a Stamp.
func Of(info fs.FileInfo) Stamp {
	if s, ok := fromSys(info.Sys()); ok {
		return s
	}
	s := Stamp{Size: info.Size(), MTime: info.ModTime().UnixNano(), Mode: uint32(info.Mode().Perm())}
	switch {
	case info.Mode().IsRegular():
		s.Mode |= typeRegular
	case info.IsDir():
		s.Mode |= typeDir
	case info.Mode()&fs.ModeSymlink != 0:
		s.Mode |= typeSymlink
	default:
		s.Mode |= typeOther
	}
	return s
}

// Lstat returns the Stamp of the file at path. If the file is missing, the error is fs.ErrNotExist.
func Lstat(path string) (Stamp, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return Stamp{}, err
	}
	return Of(info), nil
}

const (
	// batch is the number of files that a goroutine of Lstats takes at a time.
	batch = 256
	// alone is the number of files below which goroutines do not pay.
	alone = 64
)

// Lstats returns the Stamps of many files, in the order of paths. It uses at most parallel goroutines; 0 means one per
// processor. Paths are absolute, or relative to the folder root; "" is root itself. The Stamp of a missing or
// unreadable file is zero. A missing file is not an error. For other failures, Lstats returns all Stamps and the first
// error.
func Lstats(root string, paths []string, parallel int) ([]Stamp, error) {
	stamps := make([]Stamp, len(paths))
	if parallel <= 0 {
		parallel = runtime.GOMAXPROCS(0)
	}
	parallel = min(parallel, (len(paths)+batch-1)/batch)
	if len(paths) < alone {
		parallel = 1
	}
	var next atomic.Int64
	var mu sync.Mutex
	var first error
	work := func() {
		for {
			end := int(next.Add(batch))
			start := end - batch
			if start >= len(paths) {
				return
			}
			for i := start; i < min(end, len(paths)); i++ {
				path := paths[i]
				if !filepath.IsAbs(path) {
					path = filepath.Join(root, path)
				}
				st, err := Lstat(path)
				stamps[i] = st
				if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
					continue
				}
				mu.Lock()
				if first == nil {
					first = fmt.Errorf("read the status of %s: %w", paths[i], err)
				}
				mu.Unlock()
			}
		}
	}
	var wg sync.WaitGroup
	for range parallel - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	return stamps, first
}
