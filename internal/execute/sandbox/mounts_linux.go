package sandbox

import (
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/hexmage/hexmage/internal/stat"
)

// errChroot says that this process has changed its root. A thread with mounts of its own has other ones there, too,
// and what it has open has another path for the rest of the process: the supervisor could not tell what is the
// action's own.
var errChroot = errors.New("this process is in a chroot")

// ownMounts lets the calling thread, and what it starts, have mounts that nobody else has. The thread must be allowed
// to (CAP_SYS_ADMIN). What is mounted goes when the thread and its processes have ended.
func ownMounts() error {
	root, err := unix.Open("/", unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(root)
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("make a mount namespace: %w", err)
	}
	if at, err := pathOf(root); err != nil || at != "/" {
		return errors.Join(errChroot, err)
	}
	// What the machine mounts and unmounts meanwhile is to be seen here, but not the other way round.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("keep mounts to oneself: %w", err)
	}
	return nil
}

// ownShared gives the calling thread, and what it starts, an empty folder for shared memory. The thread has mounts of
// its own.
func ownShared() error {
	return unix.Mount("tmpfs", sharedDir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777")
}

// freeze lets the calling thread, which has mounts of its own, and what it starts, change nothing of any file outside
// of the folder own, but the content of devices.
func freeze(own string) error {
	frozen, open := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}, unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}
	err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &frozen)
	if err == nil {
		err = unix.Mount(own, own, "", unix.MS_BIND, "")
	}
	if err == nil {
		err = unix.MountSetattr(unix.AT_FDCWD, own, 0, &open)
	}
	if err == nil {
		_ = unix.MountSetattr(unix.AT_FDCWD, "/dev/pts", 0, &open) // terminals are made there; if there are any
	}
	return err
}

// canMount returns why a thread of this process can have no mounts of its own, or, if it is to, not freeze the
// others; nil if it can.
func canMount(frozen bool) error {
	return onThread(func() error {
		err := ownMounts()
		if err == nil {
			err = ownShared()
		}
		if err == nil && frozen {
			err = freeze(sharedDir)
		}
		return err
	})
}

// CanMount returns why threads of this process can see no files at other places, as a Mount has it; nil if they can.
// It tries with a regular file.
func CanMount(file string) error {
	return onThread(func() error {
		st, err := stat.Lstat(file)
		if err == nil {
			err = ownMounts()
		}
		if err == nil {
			err = (&Mount{File: file, At: file, Stamp: st}).do()
		}
		return err
	})
}

// onThread calls f on a thread that then ends.
func onThread(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked
		done <- f()
	}()
	return <-done
}

// mountAll shows files at other places to the calling thread, which has mounts of its own, and to what it starts.
func mountAll(mounts []Mount) error {
	for _, m := range mounts {
		if err := m.do(); err != nil {
			return fmt.Errorf("show %s at %s: %w", m.File, m.At, err)
		}
	}
	return nil
}

func (m *Mount) do() error {
	if err := unix.Mount(m.File, m.At, "", unix.MS_BIND, ""); err != nil {
		return err
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}
	if err := unix.MountSetattr(unix.AT_FDCWD, m.At, 0, &attr); err != nil {
		return err
	}
	if now, err := stat.Lstat(m.At); err != nil || now != m.Stamp {
		return ErrMoved // between a look at it and now
	}
	return nil
}
