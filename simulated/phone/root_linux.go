package phone

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// enterRoot makes the image the root of this mount namespace and detaches the host's file system.
func (d *device) enterRoot(s setup) (*state, error) {
	// Later mounts must not show outside.
	if err := mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return nil, err
	}
	if err := mount("tmpfs", s.Root, "tmpfs", unix.MS_NOSUID, "mode=0755,size=16m"); err != nil {
		return nil, err
	}
	if err := bindImage(s.Image, s.Root); err != nil {
		return nil, err
	}
	if err := mountData(s); err != nil {
		return nil, err
	}
	if err := mountProc(s.Root); err != nil {
		return nil, err
	}
	if err := registerInterpreters(s); err != nil {
		return nil, err
	}
	if err := makeDev(s.Root); err != nil {
		return nil, err
	}
	st, err := newState(s.Root)
	if err != nil {
		return nil, err
	}
	if err := st.fill(s.Root, s, d.soc); err != nil {
		return nil, err
	}
	if err := pivot(s.Root); err != nil {
		return nil, err
	}
	return st, st.hide()
}

// bindImage binds the image's folders read-only below root.
func bindImage(image, root string) error {
	entries, err := os.ReadDir(image)
	if err != nil {
		return err
	}
	for _, e := range entries {
		from, to := filepath.Join(image, e.Name()), filepath.Join(root, e.Name())
		switch {
		case e.Name() == hiddenDir:
		case e.Type()&os.ModeSymlink != 0:
			target, err := os.Readlink(from)
			if err != nil {
				return err
			}
			if err := os.Symlink(target, to); err != nil {
				return err
			}
		case e.IsDir():
			if err := os.Mkdir(to, 0o755); err != nil {
				return err
			}
			if err := bindReadOnly(from, to); err != nil {
				return err
			}
		default:
			return fmt.Errorf("image %s: %s is neither a folder nor a link", image, e.Name())
		}
	}
	return nil
}

// bindReadOnly binds a folder. The second mount must repeat the flags of the file system below it, because a user
// namespace locks them.
func bindReadOnly(from, to string) error {
	if err := mount(from, to, "", unix.MS_BIND, ""); err != nil {
		return err
	}
	var st unix.Statfs_t
	if err := unix.Statfs(to, &st); err != nil {
		return fmt.Errorf("statfs %s: %w", to, err)
	}
	if st.Flags&unix.ST_NOEXEC != 0 {
		return &UnsupportedError{from + " is on a file system mounted with noexec, so the device's programs cannot run", "put the cache folder on a file system without noexec"}
	}
	keep := uintptr(st.Flags) & (unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOATIME | unix.MS_NODIRATIME | unix.MS_RELATIME)
	return mount("none", to, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|keep, "")
}

// mountData makes /data, the only folder that programs on the device may write.
func mountData(s setup) error {
	data := filepath.Join(s.Root, "data")
	if err := os.Mkdir(data, 0o755); err != nil {
		return err
	}
	if s.Data != "" {
		if err := mount(s.Data, data, "", unix.MS_BIND, ""); err != nil {
			return err
		}
	} else {
		options := "mode=0755"
		if s.Faults.DiskBytes > 0 {
			options += fmt.Sprintf(",size=%d", s.Faults.DiskBytes)
		}
		if err := mount("tmpfs", data, "tmpfs", unix.MS_NOSUID, options); err != nil {
			return err
		}
	}
	return os.MkdirAll(filepath.Join(data, "local/tmp"), 0o775)
}

func mountProc(root string) error {
	proc := filepath.Join(root, "proc")
	if err := os.Mkdir(proc, 0o755); err != nil {
		return err
	}
	err := mount("proc", proc, "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	if errors.Is(err, unix.EPERM) {
		return &UnsupportedError{err.Error(), "the kernel allows this only where the whole of /proc is visible: in a container, run it without masked paths (docker: --security-opt systempaths=unconfined)"}
	}
	return err
}

// makeDev makes a /dev with the necessary nodes. A user namespace cannot make new nodes, so the host's are bound.
func makeDev(root string) error {
	dev := filepath.Join(root, "dev")
	if err := os.Mkdir(dev, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"null", "zero", "full", "random", "urandom"} {
		node := filepath.Join(dev, name)
		f, err := os.Create(node)
		if err != nil {
			return err
		}
		f.Close()
		if err := mount("/dev/"+name, node, "", unix.MS_BIND, ""); err != nil {
			return err
		}
	}
	for name, target := range map[string]string{"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"} {
		if err := os.Symlink(target, filepath.Join(dev, name)); err != nil {
			return err
		}
	}
	return nil
}

// pivot makes root "/" and detaches the old root.
func pivot(root string) error {
	if err := os.Chdir(root); err != nil {
		return err
	}
	// With equal arguments, the kernel stacks the old root on the new one. Then it can be unmounted without a folder
	// to hold it.
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot_root to %s: %w", root, err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leave the host's root: %w", err)
	}
	return os.Chdir("/")
}

// lockRoot makes "/" read-only, as on a phone. /data stays writable, and sockets in /dev stay usable.
func lockRoot() error {
	return mount("none", "/", "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|unix.MS_NOSUID, "")
}

func mount(from, to, kind string, flags uintptr, options string) error {
	err := unix.Mount(from, to, kind, flags, options)
	if err == nil {
		return nil
	}
	if flags&unix.MS_REMOUNT != 0 {
		from = "remount"
	}
	if kind == "" {
		kind = "bind"
	}
	return fmt.Errorf("mount %s (%s) on %s: %w", from, kind, to, err.(syscall.Errno))
}
