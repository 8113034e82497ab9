// Package phone is a phone for machines without one: an adb daemon in a sandbox of Linux namespaces, with a root file system of its own.
//
// AArch64 and Hexagon programs run through qemu's user emulation, which the kernel starts by their ELF headers (binfmt_misc, registered in
// the device's own user namespace, so nothing of the host changes and no privilege is needed). The DSP is a Unix socket on the device:
// each connection starts one protection domain. No file of the host shows in the device beyond what its image holds.
//
// What it tells of itself (properties, SoC, sensors) and what goes wrong with it (Faults) is chosen when it starts. It reboots as phones do.
//
// It does not know adb's server, models or what is pushed; it emulates no Android: there is no linker64, no bionic, no services. Its speed
// says nothing about any phone.
package phone
