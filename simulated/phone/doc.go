// Package phone is a simulated phone: an adb daemon in a sandbox of Linux namespaces, with its own root file system.
//
// The kernel recognizes AArch64 and Hexagon programs by their ELF headers, and runs them with qemu's user emulation.
// The device registers binfmt_misc in its own user namespace, so the host does not change and no privilege is needed.
// The DSP is a Unix socket on the device; each connection starts one protection domain. The device sees only the files
// of its image.
//
// The package does not emulate Android: linker64, bionic and services are missing. The device's speed differs from any
// phone's. The package does not know adb's server, models or pushed files.
package phone
