package sandbox

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"
)

// change carries out a call.
func (q *question) change(c change) error {
	dir, path, follow, open := int32(unix.AT_FDCWD), "", !c.link, c.path == none
	if c.dir != none {
		dir = q.int(int(c.dir))
	}
	if c.flags != none {
		flags := q.int(int(c.flags))
		if flags&^(unix.AT_SYMLINK_NOFOLLOW|unix.AT_EMPTY_PATH) != 0 {
			return unix.EINVAL
		}
		follow = flags&unix.AT_SYMLINK_NOFOLLOW == 0
		open = flags&unix.AT_EMPTY_PATH != 0
	}
	if c.path != none {
		switch addr := q.args[c.path]; {
		case addr != 0:
			var err error
			if path, err = q.text(addr); err != nil {
				return err
			}
		case c.dir != none && (c.verb == utimes || c.verb == utimens):
			open = true // the descriptor's file, as of futimens
		default:
			return unix.EFAULT
		}
	}
	if path == "" && !open {
		return unix.ENOENT
	}
	do, err := q.deed(c)
	if err != nil {
		return err
	}
	t, err := q.find(dir, path, follow)
	if err != nil {
		return err
	}
	defer t.close()
	if err := q.allow(t); err != nil {
		return err
	}
	return do(t)
}

// deed reads the verb's arguments and returns a function that changes a target.
func (q *question) deed(c change) (func(*target) error, error) {
	arg := q.args[c.arg]
	switch c.verb {
	case chmod:
		return func(t *target) error {
			if t.is(unix.S_IFLNK) {
				return unix.EOPNOTSUPP
			}
			return unix.Fchmodat(unix.AT_FDCWD, proc(t.fd), uint32(arg)&0o7777, 0)
		}, nil
	case chown:
		user, group := q.int(int(c.arg)), q.int(int(c.arg)+1)
		return func(t *target) error {
			return unix.Fchownat(t.fd, "", int(user), int(group), unix.AT_EMPTY_PATH)
		}, nil
	default:
		times, err := q.times(c.verb, arg)
		return func(t *target) error {
			return utimensat(t.fd, times)
		}, err
	}
}

// times reads the times of access and modification at the address; nil: now.
func (q *question) times(v verb, addr uint64) (*timestamps, error) {
	if addr == 0 {
		return nil, nil
	}
	var buf [4 * 8]byte
	b := buf[:]
	if v == utime {
		b = buf[:2*8]
	}
	if err := q.read(addr, b); err != nil {
		return nil, err
	}
	number := func(i int) int64 { return int64(binary.NativeEndian.Uint64(buf[i*8:])) }
	if v == utime {
		return &timestamps{number(0), 0, number(1), 0}, nil
	}
	ts := timestamps{number(0), number(1), number(2), number(3)}
	if v == utimes {
		for _, fraction := range []*int64{&ts[1], &ts[3]} {
			if *fraction < 0 || *fraction >= 1e6 {
				return nil, unix.EINVAL
			}
			*fraction *= 1000
		}
	}
	return &ts, nil
}

// timestamps are two struct timespec, of access and of modification: seconds, and nanoseconds or a special value of
// utimensat(2).
type timestamps [4]int64

// utimensat sets the times of the open file. The descriptor may be O_PATH.
func utimensat(fd int, times *timestamps) error {
	var empty [1]byte
	_, _, errno := unix.Syscall6(unix.SYS_UTIMENSAT, uintptr(fd), uintptr(unsafe.Pointer(&empty)),
		uintptr(unsafe.Pointer(times)), unix.AT_EMPTY_PATH, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
