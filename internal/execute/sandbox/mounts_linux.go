package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/hexmage/hexmage/internal/stat"
)

// mountAll shows files at other places to the calling thread, and to what it starts, and to nobody else. The thread must be
// allowed to (CAP_SYS_ADMIN). What is mounted goes when the thread and its processes have ended.
func mountAll(mounts []Mount) error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("make a mount namespace: %w", err)
	}
	// What the machine mounts and unmounts meanwhile is to be seen here, but not the other way round.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("keep mounts to oneself: %w", err)
	}
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
