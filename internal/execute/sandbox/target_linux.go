package sandbox

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/stat"
)

// target is the file that a call names.
type target struct {
	fd   int // O_PATH, opened by the supervisor
	path string
	st   unix.Stat_t
	open bool // the caller named it by a descriptor
}

func (t *target) close() { unix.Close(t.fd) }

func (t *target) is(kind uint32) bool { return t.st.Mode&unix.S_IFMT == kind }

// find returns the file that the caller's path leads to from the folder dir. Without a path it returns dir itself.
func (q *question) find(dir int32, path string, follow bool) (*target, error) {
	t, err := q.lookUp(dir, path, follow)
	if err != nil {
		return nil, err
	}
	err = q.still()
	if err == nil {
		err = unix.Fstat(t.fd, &t.st)
	}
	if err == nil {
		t.path, err = pathOf(t.fd)
	}
	if err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

func (q *question) lookUp(dir int32, path string, follow bool) (*target, error) {
	of := "/proc/" + strconv.Itoa(int(q.pid))
	if path == "" {
		return openAs(of, dir)
	}
	// These names lead to the files of the process that resolves them.
	for _, self := range []string{"/proc/self", "/proc/thread-self", of, "/dev"} {
		if rest, ok := strings.CutPrefix(path, self+"/fd/"); ok && follow {
			if n, err := strconv.Atoi(rest); err == nil {
				return openAs(of, int32(n))
			}
		}
	}
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_MAGICLINKS}
	if !follow {
		how.Flags |= unix.O_NOFOLLOW
	}
	if filepath.IsAbs(path) {
		of, how.Resolve = of+"/root", unix.RESOLVE_IN_ROOT
	} else {
		of = at(of, dir)
	}
	from, err := unix.Open(of, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, badDescriptor(err)
	}
	defer unix.Close(from)
	fd, err := unix.Openat2(from, path, &how)
	return &target{fd: fd}, err
}

func at(of string, dir int32) string {
	if dir == unix.AT_FDCWD {
		return of + "/cwd"
	}
	return of + "/fd/" + strconv.Itoa(int(dir))
}

// openAs opens the file of the caller's descriptor.
func openAs(of string, n int32) (*target, error) {
	fd, err := unix.Open(at(of, n), unix.O_PATH|unix.O_CLOEXEC, 0)
	return &target{fd: fd, open: true}, badDescriptor(err)
}

func badDescriptor(err error) error {
	if errors.Is(err, unix.ENOENT) {
		return unix.EBADF
	}
	return err
}

// allow returns an error unless the file belongs to the action. It replaces a file that the action shares with others
// by a copy.
func (q *question) allow(t *target) error {
	switch {
	case t.st.Nlink == 0: // a removed file is reachable only through open descriptors
		return nil
	case !strings.HasPrefix(t.path, "/"): // pipe:[…]
		return nil
	case strings.HasPrefix(t.path, sharedDir+"/") && t.st.Uid == uint32(os.Geteuid()):
		return nil
	case !q.s.owns(t.path):
		return unix.EPERM
	case t.is(unix.S_IFREG) && t.st.Nlink > 1 && q.s.shared(stat.FromUnix(&t.st)):
		if t.open {
			return unix.EPERM // the caller's descriptor would still lead to the shared file
		}
		return q.copyUp(t)
	}
	return nil
}

func (s *supervisor) owns(path string) bool { return strings.HasPrefix(path, s.own+"/") }

// copyUp replaces the file by a copy, and makes the copy the target.
func (q *question) copyUp(t *target) error {
	dir, err := unix.Open(filepath.Dir(t.path), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	// The caller may have replaced the folder or its content meanwhile.
	if in, err := pathOf(dir); err != nil || in != q.s.own && !q.s.owns(in) {
		return unix.ENOENT
	}
	name := filepath.Base(t.path)
	var now unix.Stat_t
	if err := unix.Fstatat(dir, name, &now, unix.AT_SYMLINK_NOFOLLOW); err != nil || now.Ino != t.st.Ino ||
		now.Dev != t.st.Dev {
		return unix.ENOENT
	}
	var path string
	var fd int
	err = atomicfile.WriteProgram(func() (err error) {
		path, fd, err = q.copy(t)
		return err
	})
	if err != nil {
		return err
	}
	if err := unix.Renameat(unix.AT_FDCWD, path, dir, name); err != nil {
		unix.Close(fd)
		os.Remove(path)
		return err
	}
	t.close()
	t.fd = fd // the name may lead to another shared file by now
	return nil
}

// copyStep is the number of bytes that copy writes between two checks that the caller still waits.
const copyStep = 64 << 20

// copy makes a file with the target's content, owner, mode and times where the action cannot reach it. It returns the
// copy's path and an open descriptor.
func (q *question) copy(t *target) (path string, fd int, err error) {
	from, err := os.Open(proc(t.fd))
	if err != nil {
		return "", none, err
	}
	defer from.Close()
	to, err := os.CreateTemp(q.s.own, "copy-*")
	if err != nil {
		return "", none, err
	}
	defer func() {
		if err = errors.Join(err, to.Close()); err != nil {
			unix.Close(fd) // or none
			os.Remove(to.Name())
		}
	}()
	if unix.IoctlFileClone(int(to.Fd()), int(from.Fd())) != nil {
		for n := int64(copyStep); n == copyStep; {
			if n, err = io.CopyN(to, from, copyStep); err != nil && !errors.Is(err, io.EOF) {
				return "", none, err
			}
			if err := q.still(); err != nil {
				return "", none, err
			}
		}
	}
	if err := to.Chown(int(t.st.Uid), int(t.st.Gid)); err != nil && !errors.Is(err, fs.ErrPermission) {
		return "", none, err
	}
	if err := unix.Fchmod(int(to.Fd()), t.st.Mode&0o7777); err != nil {
		return "", none, err
	}
	if err := utimensat(int(to.Fd()),
		&timestamps{int64(t.st.Atim.Sec), int64(t.st.Atim.Nsec), int64(t.st.Mtim.Sec),
			int64(t.st.Mtim.Nsec)}); err != nil {
		return "", none, err
	}
	fd, err = unix.Open(proc(int(to.Fd())), unix.O_PATH|unix.O_CLOEXEC, 0)
	return to.Name(), fd, err
}
