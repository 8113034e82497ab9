// Package atomicfile replaces files atomically: after a crash of the process, a file has either the old or the new
// content.
//
// Commit syncs the file, which takes milliseconds, so that the file also survives a crash of the machine. Place does
// not sync. After a crash of the machine the file's content may be corrupt. So readers must verify a checksum, or
// compare the file's time with the last SyncTree.
//
// The package does not know the content of files.
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

// Temp creates a temporary file in dir. Commit later renames the file. The file name contains the process ID, so that
// Sweep can check whether the process still runs. Only the owner can read and write the file.
func Temp(dir, prefix string) (*os.File, error) {
	f, err := os.CreateTemp(dir, TempName(prefix)+"*")
	if err != nil {
		return nil, fmt.Errorf("create a temporary file: %w", err)
	}
	return f, nil
}

// TempName returns "PREFIX-PID-", the start of a name for a temporary file of this process. The caller appends the rest
// of the name.
func TempName(prefix string) string {
	return prefix + "-" + strconv.Itoa(os.Getpid()) + "-"
}

// Commit closes the temporary file f and renames it to path. If Commit succeeds, the file at path survives a crash of
// the machine. If Commit fails, it removes the temporary file. The file at path is never partial, even after a crash.
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

// Place is like Commit, but does not sync.
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

// Rename renames a file to path, and creates the folder of path if it is missing. Rename does not sync.
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

// WriteFile writes data to a temporary file, and then calls Commit to replace the file at path. The folder tmp for the
// temporary file must be on the same file system as path.
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

// PlaceFile is like WriteFile, but does not sync, so a crash of the machine may lose the file. Readers never see a
// partial file. If the folder of path is missing, PlaceFile creates it.
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

// Sweep removes temporary files and folders of dead processes from dir. It recognizes names from TempName, and names of
// the form NAME-PID. Files must be older than age, and folders older than 24 times age. This limit protects running
// processes that Sweep cannot see, such as processes in another container. Sweep skips files and folders that it cannot
// remove.
func Sweep(dir string, age time.Duration) error { return SweepNamed(dir, "", age) }

// SweepNamed is like Sweep, but removes only files and folders with names from TempName(prefix). Use it for folders
// that also contain files of other programs.
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
			_ = RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
	return nil
}

// RemoveAll removes a file, or a folder with its content. Unlike os.RemoveAll, it also removes folders without write
// permission.
func RemoveAll(path string) error {
	if os.RemoveAll(path) == nil {
		return nil
	}
	_ = filepath.WalkDir(path, func(p string, d os.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(p, 0o755)
		}
		return nil
	})
	return os.RemoveAll(path)
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

// Boot returns the machine's boot ID, or "" if the system has no boot ID. If the boot ID has changed, data written
// without a sync may be lost.
func Boot() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b))
}
