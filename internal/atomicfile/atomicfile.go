// Package atomicfile writes files so that a crash, of the process or of the machine, leaves either what was there
// before or the whole new content, never a part that is taken for the whole.
//
// There are two ways. Commit syncs, and when it returns the file survives anything; that takes milliseconds. Place
// does not sync: the file is there for all processes at once and survives the death of this one, but after a crash of
// the machine its content may be anything, so its reader must be able to tell, by a checksum, or by knowing which
// files are younger than the last SyncTree.
//
// The package knows files and folders; it does not know what is in them.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Temp creates a new file in dir for Commit to move into place. Its name holds the process's id, so that Sweep can
// tell whether its maker still lives. The file is readable and writable by its owner only.
func Temp(dir, prefix string) (*os.File, error) {
	f, err := os.CreateTemp(dir, TempName(prefix)+"*")
	if err != nil {
		return nil, fmt.Errorf("create a temporary file: %w", err)
	}
	return f, nil
}

// TempName returns the start of a temporary name made by this process: prefix-pid-. What follows is up to the caller.
func TempName(prefix string) string {
	return prefix + "-" + strconv.Itoa(os.Getpid()) + "-"
}

// Commit moves the temporary file f to path, replacing what is there, and closes f. When it returns nil, the content
// and the name survive a crash of the machine; when it fails, f is removed and path is as it was.
//
// The content is synced before the rename, so that the name never points to a part; the folder is synced after, so
// that the name is there.
func Commit(f *os.File, path string, perm fs.FileMode) error {
	if err := f.Sync(); err != nil {
		f.Close()
		os.Remove(f.Name())
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := Place(f, path, perm); err != nil {
		return err
	}
	if err := SyncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// Place is Commit without syncing.
func Place(f *os.File, path string, perm fs.FileMode) error {
	err := f.Chmod(perm)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// Rename moves from to path, making path's folder when it is missing. It does not sync.
func Rename(from, path string) error {
	err := os.Rename(from, path)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.Rename(from, path)
}

// WriteFile replaces path, with Commit, by a file that holds data; temporary files go to tmp, which is on the same
// file system.
func WriteFile(tmp, path string, data []byte, perm fs.FileMode) error {
	f, err := Temp(tmp, "file")
	if err == nil {
		err = write(f, path, data)
	}
	if err != nil {
		return err
	}
	return Commit(f, path, perm)
}

// write fills a temporary file that is to be at path, or removes it.
func write(f *os.File, path string, data []byte) error {
	if _, err := f.Write(data); err != nil {
		f.Close()
		os.Remove(f.Name())
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// PlaceFile is WriteFile without syncing, for a file whose loss does no harm: readers see all of it or none. The
// folder is made when it is missing.
func PlaceFile(path string, data []byte, perm fs.FileMode) error {
	dir := filepath.Dir(path)
	f, err := Temp(dir, ".new")
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		f, err = Temp(dir, ".new")
	}
	if err == nil {
		err = write(f, path, data)
	}
	if err != nil {
		return err
	}
	return Place(f, path, perm)
}

// folderAge is how many times older than a file a folder must be for Sweep to remove it.
const folderAge = 24

// Sweep removes what dead processes left in dir under names from TempName, or of the form name-pid: files and folders
// older than age (folders: 24 times that, as work deep inside one does not show) whose process is gone. Both
// conditions hold because a process id may have been given to another process since, and because a process in another
// namespace cannot be seen. What cannot be removed stays.
func Sweep(dir string, age time.Duration) error { return SweepNamed(dir, "", age) }

// SweepNamed is Sweep for names from TempName(prefix) alone: for folders in which there are other people's files,
// too.
func SweepNamed(dir, prefix string, age time.Duration) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		pid, ok := pidOf(e.Name())
		if !ok || Alive(pid) || prefix != "" && !strings.HasPrefix(e.Name(), prefix+"-") {
			continue
		}
		limit := age
		if e.IsDir() {
			limit *= folderAge
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) >= limit {
			_ = os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
	return nil
}

func pidOf(name string) (int, bool) {
	parts := strings.Split(name, "-")
	at := max(len(parts)-2, 1)
	if at >= len(parts) {
		return 0, false
	}
	pid, err := strconv.Atoi(parts[at])
	return pid, err == nil && pid > 0
}
