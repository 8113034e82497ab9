package atomicfile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/hexmage/hexmage/internal/stat"
)

// umask returns the process's umask without setting it, which would be felt by others.
func umask() fs.FileMode {
	b, err := os.ReadFile("/proc/self/status")
	if err == nil {
		if _, after, ok := bytes.Cut(b, []byte("\nUmask:\t")); ok {
			line, _, _ := bytes.Cut(after, []byte("\n"))
			if m, err := strconv.ParseUint(string(line), 8, 32); err == nil {
				return fs.FileMode(m)
			}
		}
	}
	return fs.ModePerm
}

func (d *Dir) fd() int { return int(d.f.Fd()) }

// again calls f until it is not interrupted.
func again(f func() error) error {
	for {
		if err := f(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func pathError(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}

// pathError is pathError of a name below d, whose path is made where there is an error.
func (d *Dir) pathError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return pathError(op, d.Path(name), err)
}

// Stat returns the Stamp of what is at name, which is not followed if it is a symlink.
func (d *Dir) Stat(name string) (stat.Stamp, error) {
	defer runtime.KeepAlive(d)
	s, err := stat.LstatAt(d.fd(), name)
	return s, d.pathError("lstat", name, err)
}

// Create makes the new file name with content b, exactly the permissions perm, and the modification time (the zero time:
// now). When it fails, there is no such file, unless there was one before.
func (d *Dir) Create(name string, b []byte, perm fs.FileMode, mtime time.Time) error {
	_, err := d.create(name, "", b, perm, mtime, false)
	return err
}

// CreateStamped is Create under the name tmp, if that is not "", and then moves the file to name, replacing a file that is
// there. It returns the Stamp that the file has in its place.
func (d *Dir) CreateStamped(name, tmp string, b []byte, perm fs.FileMode, mtime time.Time) (stat.Stamp, error) {
	if tmp == "" {
		return d.create(name, "", b, perm, mtime, true)
	}
	return d.create(tmp, name, b, perm, mtime, true)
}

func (d *Dir) create(name, to string, b []byte, perm fs.FileMode, mtime time.Time, stamp bool) (s stat.Stamp, err error) {
	defer runtime.KeepAlive(d)
	fd, err := openat(d.fd(), name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC|unix.O_NOFOLLOW, uint32(perm))
	if err != nil {
		return s, d.pathError("create", name, err)
	}
	for err == nil && len(b) > 0 {
		var n int
		err = again(func() (err error) { n, err = unix.Write(fd, b); return err })
		b = b[max(n, 0):]
	}
	if err == nil && perm&d.mask != 0 {
		err = again(func() error { return unix.Fchmod(fd, uint32(perm)) })
	}
	if err == nil && !mtime.IsZero() {
		err = setTime(fd, mtime)
	}
	if err == nil && to != "" {
		err = again(func() error { return unix.Renameat(d.fd(), name, d.fd(), to) })
	}
	if err == nil && stamp { // after the rename, which sets the change time
		var st unix.Stat_t
		err = again(func() error { return unix.Fstat(fd, &st) })
		s = stat.FromUnix(&st)
	}
	if cerr := unix.Close(fd); err == nil && !errors.Is(cerr, unix.EINTR) {
		err = cerr
	}
	if err != nil {
		_ = unlinkat(d.fd(), name, 0)
		return stat.Stamp{}, d.pathError("write", name, err)
	}
	return s, nil
}

// setTime sets the modification time of an open file, and leaves its access time.
func setTime(fd int, mtime time.Time) error {
	ts := [2]unix.Timespec{{Nsec: unix.UTIME_OMIT}, unix.NsecToTimespec(mtime.UnixNano())}
	if _, _, errno := unix.Syscall6(unix.SYS_UTIMENSAT, uintptr(fd), 0, uintptr(unsafe.Pointer(&ts)), 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// SetTime sets the modification time of what is at name.
func (d *Dir) SetTime(name string, mtime time.Time) error {
	defer runtime.KeepAlive(d)
	ts := []unix.Timespec{{Nsec: unix.UTIME_OMIT}, unix.NsecToTimespec(mtime.UnixNano())}
	return d.pathError("utimensat", name, again(func() error { return unix.UtimesNanoAt(d.fd(), name, ts, unix.AT_SYMLINK_NOFOLLOW) }))
}

// SetFile gives an open file the permissions and the modification time.
func SetFile(f *os.File, perm fs.FileMode, mtime time.Time) error {
	if err := f.Chmod(perm); err != nil {
		return err
	}
	return os.NewSyscallError("utimensat", setTime(int(f.Fd()), mtime))
}

// Rename moves from to the file to, replacing what is there, and makes its folder when that is missing.
func (d *Dir) Rename(from, to string) error { return d.rename(from, to, 0) }

// RenameNew is Rename for a place where nothing is: it fails with fs.ErrExist if something is there.
func (d *Dir) RenameNew(from, to string) error {
	err := d.rename(from, to, unix.RENAME_NOREPLACE)
	if !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOSYS) {
		return err
	}
	// The file system does not know how: a moment lies between looking and renaming.
	if _, err := d.Stat(to); err == nil {
		return d.pathError("rename", to, unix.EEXIST)
	}
	return d.Rename(from, to)
}

func (d *Dir) rename(from, to string, flags uint) error {
	defer runtime.KeepAlive(d)
	rename := func() error { return unix.Renameat2(d.fd(), from, d.fd(), to, flags) }
	if flags == 0 {
		rename = func() error { return unix.Renameat(d.fd(), from, d.fd(), to) }
	}
	err := again(rename)
	if errors.Is(err, unix.ENOENT) {
		if err := d.makeFolder(to); err != nil {
			return err
		}
		err = again(rename)
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: d.Path(from), New: d.Path(to), Err: err}
	}
	return nil
}

// Link gives the file name the further name to, where nothing may be.
func (d *Dir) Link(name, to string) error {
	defer runtime.KeepAlive(d)
	if err := again(func() error { return unix.Linkat(d.fd(), name, d.fd(), to, 0) }); err != nil {
		return &os.LinkError{Op: "link", Old: d.Path(name), New: d.Path(to), Err: err}
	}
	return nil
}

// Read returns the content of the file name and its Stamp, in few system calls when it has at most the expected number
// of bytes, and fails if it has more than limit.
func (d *Dir) Read(name string, expect int, limit int64) (b []byte, s stat.Stamp, err error) {
	defer runtime.KeepAlive(d)
	b, s, err = read(d.fd(), name, expect, limit, nil)
	return b, s, d.pathError("read", name, err)
}

// Read returns the content of a regular file that is no symlink, and the Stamp that it had when it was opened, in four system calls. It fails if
// it has more than limit bytes, or if another process has to give it up first; then a plain open waits for that. The content is put into room if that has a
// byte more.
func Read(path string, limit int64, room []byte) ([]byte, stat.Stamp, error) {
	b, s, err := read(unix.AT_FDCWD, path, 0, limit, room)
	return b, s, pathError("read", path, err)
}

// ReadWhole returns the content of the file name, which must have that many bytes, in three system calls. Whether it is a regular file it does not
// ask: it is for who knows the content by its digest. The content is put into room if that has a byte more.
func (d *Dir) ReadWhole(name string, size int64, room []byte) ([]byte, error) {
	defer runtime.KeepAlive(d)
	b, err := readWhole(d.fd(), name, size, room)
	return b, d.pathError("read", name, err)
}

// ReadWhole is that of a Dir for any path that is no symlink.
func ReadWhole(path string, size int64) ([]byte, error) {
	b, err := readWhole(unix.AT_FDCWD, path, size, nil)
	return b, pathError("read", path, err)
}

func readWhole(dir int, name string, size int64, room []byte) ([]byte, error) {
	fd, err := openRead(dir, name)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	if int64(cap(room)) <= size {
		room = make([]byte, size+1)
	}
	b, n := room[:size+1], 0
	err = again(func() (err error) { n, err = unix.Read(fd, b); return err })
	if err == nil && int64(n) != size { // who reads in pieces may get more, or all
		err = ErrUnfit
	}
	if err != nil {
		return nil, err
	}
	return b[:n], nil
}

// openRead opens what is at name below the open folder. It waits for nobody, and follows no symlink.
func openRead(dir int, name string) (fd int, err error) {
	return openat(dir, name, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
}

func read(dir int, name string, expect int, limit int64, room []byte) (b []byte, s stat.Stamp, err error) {
	fd, err := openRead(dir, name)
	if err != nil {
		return nil, s, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err = again(func() error { return unix.Fstat(fd, &st) }); err == nil {
		if s = stat.FromUnix(&st); !s.IsRegular() || s.Size > limit {
			err = ErrUnfit
		}
	}
	if want := max(expect, int(min(s.Size, limit))) + 1; cap(room) < want && err == nil {
		room = make([]byte, 0, want)
	}
	for b = room[:0]; err == nil; b = append(b, 0)[:len(b)] {
		var n int
		if err = again(func() (err error) { n, err = unix.Read(fd, b[len(b):cap(b)]); return err }); err != nil {
			break
		}
		b = b[:len(b)+n]
		// A regular file gives less than was asked for only at its end.
		if n == 0 || len(b) < cap(b) {
			return b, s, nil
		}
		if int64(len(b)) > limit {
			err = ErrUnfit
		}
	}
	return nil, s, err
}

// Remove removes the file name.
func (d *Dir) Remove(name string) error { return d.unlink(name, 0) }

// RemoveFolder removes the folder name, which must be empty.
func (d *Dir) RemoveFolder(name string) error { return d.unlink(name, unix.AT_REMOVEDIR) }

func (d *Dir) unlink(name string, flags int) error {
	defer runtime.KeepAlive(d)
	return d.pathError("remove", name, unlinkat(d.fd(), name, flags))
}
