//go:build linux

package worldtest

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// Rooted is the argument that makes the test binary run a command in another root folder. The next two arguments are
// the kind and the path of this folder.
const Rooted = "-rooted"

// person is the user and group ID of the only user of a machine.
const person = 1000

// runRooted runs a command in a new mount namespace. A "bare" root has only the folder's files. "chroot" adds /proc and
// /dev. "system" has a whole system, and the command runs as a user in an empty folder.
func runRooted(args []string) error {
	if len(args) < 3 {
		return fmt.Errorf("arguments %q: want a mode, a folder and a command", args)
	}
	how, root, args := args[0], args[1], args[2:]
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	show := map[string][]string{"chroot": {"proc", "dev"}, "system": {"proc", "dev", "sys"}}[how]
	if how == "system" {
		if err := unix.Mount(root, root, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("make the root a mount point: %w", err)
		}
	}
	for _, dir := range show {
		at := filepath.Join(root, dir)
		if err := os.MkdirAll(at, 0o755); err != nil {
			return err
		}
		if err := unix.Mount("/"+dir, at, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return fmt.Errorf("show /%s: %w", dir, err)
		}
	}
	if err := os.Chdir(root); err != nil {
		return err
	}
	if how != "system" {
		if err := unix.Chroot("."); err != nil {
			return err
		}
		return syscall.Exec(args[0], args, os.Environ())
	}
	if err := unix.PivotRoot(".", "."); err != nil { // user namespaces do not work in a chroot
		return fmt.Errorf("change the root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("unmount the old root: %w", err)
	}
	if err := os.Chdir(os.Getenv("HOME")); err != nil {
		return err
	}
	if err := syscall.Setgroups(nil); err != nil {
		return err
	}
	if err := syscall.Setgid(person); err != nil {
		return err
	}
	if err := syscall.Setuid(person); err != nil {
		return err
	}
	return syscall.Exec(args[0], args, os.Environ())
}
