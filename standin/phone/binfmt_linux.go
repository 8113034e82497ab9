package phone

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// interpreter makes the kernel start qemu for ELF files of a machine.
type interpreter struct {
	name    string
	class   byte // 1: 32 bits, 2: 64 bits
	machine byte // low byte of e_machine; the high byte is 0 for both
	qemu    string
}

// elfHeader is how many bytes of a file decide: up to e_machine.
const elfHeader = 20

// registration is the line that binfmt_misc takes. Flag F opens the interpreter now, so that it need not be visible in the device.
func (i interpreter) registration() string {
	magic := make([]byte, elfHeader)
	mask := make([]byte, elfHeader)
	copy(magic, "\x7fELF")
	magic[4], magic[5], magic[6] = i.class, 1, 1 // little-endian, version 1
	for n := range 7 {
		mask[n] = 0xff
	}
	// e_type: ET_EXEC is 2 and ET_DYN is 3; the lowest bit does not matter.
	magic[16], mask[16], mask[17] = 2, 0xfe, 0xff
	magic[18], mask[18], mask[19] = i.machine, 0xff, 0xff
	return fmt.Sprintf(":%s:M::%s:%s:%s:F", i.name, escape(magic), escape(mask), i.qemu)
}

func escape(b []byte) string {
	var s strings.Builder
	for _, c := range b {
		fmt.Fprintf(&s, `\x%02x`, c)
	}
	return s.String()
}

// registerInterpreters makes AArch64 and Hexagon programs run by their names in this user namespace, and only in it.
func registerInterpreters(s setup) error {
	dir := filepath.Join(s.Root, "proc/sys/fs/binfmt_misc")
	if err := mount("binfmt_misc", dir, "binfmt_misc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENODEV) {
			return &UnsupportedError{err.Error(), "load the kernel's module for it: modprobe binfmt_misc"}
		}
		return &UnsupportedError{err.Error(), "binfmt_misc in a user namespace needs Linux 6.7 or newer; this is " + kernelRelease()}
	}
	// The interpreters are named relative to their folder: a path may hold ':', which would end the field, or be too long for the line.
	if err := os.Chdir(filepath.Join(s.Image, hiddenDir)); err != nil {
		return err
	}
	for _, i := range []interpreter{
		{name: "hexmage-aarch64", class: 2, machine: 183, qemu: qemuAArch64},
		{name: "hexmage-hexagon", class: 1, machine: 164, qemu: qemuHexagon},
	} {
		if err := os.WriteFile(filepath.Join(dir, "register"), []byte(i.registration()), 0); err != nil {
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
