package atomicfile

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

const (
	directWindow = 4 << 20 // bytes of the source that are mapped at a time
	directUnit   = 4 << 10 // what a disk takes directly is a multiple of it
)

// CopyDirect copies what it can of the first size bytes of src to the empty file dst, straight from memory that the kernel has of src to the disk,
// and leaves both at the end of that. It returns how many bytes those are: 0 where the two are not on one file system, or it cannot do so. An ordinary copy
// is in memory a second time before it is written; finding that memory takes longer than the disk does. So it is for who waits for the disk
// anyway, and the copy is not in memory when it is read the first time.
func CopyDirect(ctx context.Context, dst, src *os.File, size int64) (n int64, err error) {
	if size -= size % directUnit; size == 0 || !together(dst, src) || !direct(dst, true) {
		return 0, nil
	}
	defer func() { // for the rest, which takes the ordinary way
		if !direct(dst, false) && err == nil {
			err = errors.New("it takes no ordinary writes any more")
		}
	}()
	for n < size && err == nil {
		var k int64
		if k, err = copyWindow(int(dst.Fd()), int(src.Fd()), n, min(directWindow, size-n)); k == 0 {
			break // it is not for this file system, or this disk's units are larger
		}
		n += k
		if err == nil {
			err = context.Cause(ctx)
		}
	}
	if err != nil {
		return n, &os.PathError{Op: "copy", Path: dst.Name(), Err: err}
	}
	_, serr := src.Seek(n, io.SeekStart)
	_, derr := dst.Seek(n, io.SeekStart)
	return n, errors.Join(serr, derr)
}

// copyWindow copies a part of src to the same place of dst. It returns 0 and no error where that cannot be done directly. The memory is only handed to the
// kernel: where src has become shorter, that is an error, and no fault of this process.
func copyWindow(dst, src int, at, size int64) (n int64, err error) {
	b, err := unix.Mmap(src, at, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return 0, nil
	}
	defer unix.Munmap(b)
	for n < size {
		var k int
		err := again(func() (err error) { k, err = unix.Pwrite(dst, b[n:], at+n); return err })
		switch {
		case errors.Is(err, unix.EINVAL), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.EFAULT), err == nil && (k == 0 || k%directUnit != 0):
			return n, nil
		case err != nil:
			return n, err
		}
		n += int64(k)
	}
	return n, nil
}

// together tells whether the two files are on one file system.
func together(a, b *os.File) bool {
	var x, y unix.Stat_t
	return unix.Fstat(int(a.Fd()), &x) == nil && unix.Fstat(int(b.Fd()), &y) == nil && x.Dev == y.Dev
}

// direct has writes to the file go straight to the disk, or not.
func direct(f *os.File, on bool) bool {
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	if err != nil {
		return false
	}
	flags &^= unix.O_DIRECT
	if on {
		flags |= unix.O_DIRECT
	}
	_, err = unix.FcntlInt(f.Fd(), unix.F_SETFL, flags)
	return err == nil
}

// Unnamed makes a file in the folder that has no name yet, and goes away with the process, or when it is closed, unless it was given one. The error is
// errors.ErrUnsupported where there are no such files.
func Unnamed(dir string) (*os.File, error) {
	var fd int
	err := again(func() (err error) {
		fd, err = unix.Open(dir, unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
		return err
	})
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EISDIR) || errors.Is(err, unix.EINVAL) {
		err = errors.ErrUnsupported
	}
	if err != nil {
		return nil, pathError("create a file in", dir, err)
	}
	return os.NewFile(uintptr(fd), "/proc/self/fd/"+strconv.Itoa(fd)), nil
}

// GiveName gives an Unnamed file a name on the same file system, where nothing may be.
func GiveName(f *os.File, path string) error {
	err := again(func() error { return unix.Linkat(unix.AT_FDCWD, f.Name(), unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW) })
	return pathError("link", path, err)
}

// StartWrite has the kernel begin to write to the disk what it has in memory of the file, and does not wait until that is done: who syncs later
// waits for less. It changes nothing of what is safe, and when; so errors mean nothing. It may take as long as the disk is busy.
func StartWrite(f *os.File) {
	_ = unix.SyncFileRange(int(f.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE)
}

// Free returns how many bytes the file system that the file is on has for this user.
func Free(f *os.File) (int64, error) {
	var st unix.Statfs_t
	err := again(func() error { return unix.Fstatfs(int(f.Fd()), &st) })
	return int64(st.Bavail) * int64(st.Bsize), os.NewSyscallError("fstatfs", err)
}

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
