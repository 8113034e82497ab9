// Package stat asks the file system what it says of many files: one Lstat each, on a few goroutines.
//
// A Stamp tells whether a file is the one that it was when the Stamp was taken. The package does not read files, and
// does not know what they are for or what is remembered of them.
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

// Stamp is what the file system says of a file. Two equal Stamps of one path that are not racy (see Racy) mean that
// nothing wrote to it, replaced it, or changed its mode between the two, unless somebody set the system's clock back
// for it. The zero Stamp stands for a file that is not there.
type Stamp struct {
	Dev, Inode uint64 // 0 where the system has none
	Size       int64  // bytes
	// of the last change of the content, and of anything: nanoseconds since 1970; CTime is 0 where the system has
	// none
	MTime, CTime int64
	Mode         uint32 // type and permissions as in Unix's st_mode, on every system; never 0 for what is there
}

// The types of files in Stamp.Mode, as in Unix.
const (
	typeMask    = 0o170000
	typeRegular = 0o100000
	typeDir     = 0o040000
	typeSymlink = 0o120000
	typeOther   = 0o010000
)

// Exists tells whether something was there.
func (s Stamp) Exists() bool { return s.Mode != 0 }

// IsRegular tells whether it is a regular file.
func (s Stamp) IsRegular() bool { return s.Mode&typeMask == typeRegular }

// IsDir tells whether it is a folder.
func (s Stamp) IsDir() bool { return s.Mode&typeMask == typeDir }

// IsSymlink tells whether it is a symlink. Stamps are of the link itself.
func (s Stamp) IsSymlink() bool { return s.Mode&typeMask == typeSymlink }

// Executable tells whether somebody may execute it.
func (s Stamp) Executable() bool { return s.Mode&0o111 != 0 }

// RacyWindow is how old a file's last change must be for its Stamp to show the next one: a change within the same
// tick of the file system's clock would leave the times as they are. Two seconds is FAT's tick.
const RacyWindow = 2 * time.Second

// Racy tells whether the file changed so shortly before the moment at (or after it, by a clock that went back) that a
// further change might leave the Stamp as it is. What was found out about the content at that moment must not be
// remembered under the Stamp.
func (s Stamp) Racy(at time.Time) bool { return at.Add(-RacyWindow).UnixNano() < max(s.MTime, s.CTime) }

// Of returns the Stamp that an os.FileInfo from Stat or Lstat holds.
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

// Lstat returns the Stamp of what is at path; of nothing, the zero Stamp and an error that is fs.ErrNotExist.
func Lstat(path string) (Stamp, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return Stamp{}, err
	}
	return Of(info), nil
}

const (
	// batch is how many files a goroutine of Lstats takes at a time.
	batch = 256
	// alone is the number of files below which starting a goroutine costs more than it brings.
	alone = 64
)

// Lstats returns the Stamps of many files, in the order of paths, asked for by up to parallel goroutines (0: one for
// each processor). Paths are absolute, or relative to the folder root; "" is root itself. For a path where nothing
// is, or that is below something that is no folder, there is the zero Stamp and no error; where the system would not
// say, there is the zero Stamp too, and the first such error is returned beside all Stamps.
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
					first = fmt.Errorf("look at %s: %w", paths[i], err)
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
