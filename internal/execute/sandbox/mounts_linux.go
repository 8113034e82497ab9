package sandbox

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/hexmage/hexmage/internal/stat"
)

// ownMounts puts the calling thread in a mount namespace of its own. The thread needs CAP_SYS_ADMIN. The mounts end
// with the last process in the namespace.
func ownMounts() error {
	root, err := unix.Open("/", unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(root)
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("create a mount namespace: %w", err)
	}
	if at, err := pathOf(root); err != nil || at != "/" {
		// In the namespace its open files would have other paths than in the rest of the process. The supervisor could
		// not recognize the files of the action.
		return errors.Join(errors.New("hexmage runs in a chroot"), err)
	}
	// The namespace follows the mounts of the machine, and the machine does not see mounts of the namespace.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	return nil
}

// ownShared mounts an empty folder for shared memory in the calling thread's own namespace.
func ownShared() error {
	return unix.Mount("tmpfs", sharedDir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777")
}

// namespace is a mount namespace with an empty folder for shared memory.
type namespace struct {
	file   *os.File
	shared stat.Stamp // of the folder
}

// newNamespace makes a namespace, and puts the calling thread in it.
func newNamespace() (*namespace, error) {
	err := ownMounts()
	if err == nil {
		err = ownShared()
	}
	if err != nil {
		return nil, err
	}
	st, err := stat.Lstat(sharedDir)
	if err != nil {
		return nil, err
	}
	f, err := os.Open("/proc/thread-self/ns/mnt")
	if err != nil {
		return nil, err
	}
	return &namespace{f, st}, nil
}

// enter puts the calling thread in the namespace. If a command has changed its folder for shared memory, enter closes
// the namespace and fails.
func (n *namespace) enter() error {
	err := unix.Unshare(unix.CLONE_FS)
	if err == nil {
		err = unix.Setns(int(n.file.Fd()), unix.CLONE_NEWNS)
	}
	if err == nil {
		var st stat.Stamp
		if st, err = stat.Lstat(sharedDir); st != n.shared {
			err = errors.Join(err, errors.New("a command changed the folder "+sharedDir))
		}
	}
	if err != nil {
		n.file.Close()
	}
	return err
}

// freeze makes the calling thread's own namespace read-only, except for the folder own. Devices stay writable.
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
		_ = unix.MountSetattr(unix.AT_FDCWD, "/dev/pts", 0, &open) // new terminals; a machine may lack the folder
	}
	return err
}

// canMount returns the reason why a thread of this process cannot have mounts of its own, or cannot freeze them, or
// nil.
func canMount(frozen bool) error {
	return onThread(func() error {
		n, err := newNamespace()
		if err != nil {
			return err
		}
		defer n.file.Close()
		if frozen {
			err = freeze(sharedDir)
		}
		return err
	})
}

// CanMount returns the reason why threads of this process cannot use a Mount, or nil if they can. To find out, it
// mounts the given regular file.
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

// mountAll makes the mounts in the calling thread's own namespace.
func mountAll(mounts []Mount) error {
	for _, m := range mounts {
		if err := m.do(); err != nil {
			return fmt.Errorf("mount %s at %s: %w", m.File, m.At, err)
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
		return ErrMoved // since the caller took the stamp
	}
	return nil
}
