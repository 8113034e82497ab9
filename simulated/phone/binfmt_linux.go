package phone

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/hexmage/hexmage/toolchains/binfmt"
)

// Programs that qemu runs on the device.
var (
	aarch64Programs = binfmt.Program{Class: 2, Machine: 183}
	hexagonPrograms = binfmt.Program{Class: 1, Machine: 164}
)

// machines is the folder of this machine's binfmt_misc.
const machines = "/proc/sys/fs/binfmt_misc"

// registerInterpreters registers qemu for AArch64 and Hexagon programs in this user namespace only. If the kernel has
// one register for all namespaces, that register must have them.
func registerInterpreters(s setup) error {
	dir := filepath.Join(s.Root, "proc/sys/fs/binfmt_misc")
	if err := mount("binfmt_misc", dir, "binfmt_misc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		switch {
		case aarch64Programs.Interpreter(machines) != "" && hexagonPrograms.Interpreter(machines) != "":
			return nil
		case errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENODEV):
			return &UnsupportedError{err.Error(), "load the kernel's module for it: modprobe binfmt_misc"}
		}
		return &UnsupportedError{err.Error(), "binfmt_misc in a user namespace needs Linux 6.7 or newer; this is " + kernelRelease() + ". Before, the machine must have qemu for AArch64 and Hexagon programs: apt-get install qemu-user-static"}
	}
	// The interpreters are named relative to their folder. A path may hold ':', which would end the field, or be too
	// long for the line.
	if err := os.Chdir(filepath.Join(s.Image, hiddenDir)); err != nil {
		return err
	}
	for _, i := range []struct {
		name string
		of   binfmt.Program
		qemu string
	}{{"hexmage-aarch64", aarch64Programs, qemuAArch64}, {"hexmage-hexagon", hexagonPrograms, qemuHexagon}} {
		if err := os.WriteFile(filepath.Join(dir, "register"), []byte(i.of.Line(i.name, i.qemu)), 0); err != nil {
			return &UnsupportedError{fmt.Sprintf("register %s with binfmt_misc: %v", i.qemu, err), "binfmt_misc in a user namespace needs Linux 6.7 or newer; this is " + kernelRelease()}
		}
	}
	return nil
}

func kernelRelease() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return "an unknown kernel"
	}
	return unix.ByteSliceToString(u.Release[:])
}
