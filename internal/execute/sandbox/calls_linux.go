package sandbox

import "golang.org/x/sys/unix"

// verb is the attribute of a file that a system call changes. Landlock has no rights for attributes, and modes do not
// keep a file's owner from changing them.
type verb uint8

const (
	chmod   verb = iota + 1 // mode
	chown                   // user, group
	utime                   // struct utimbuf: seconds
	utimes                  // two struct timeval: seconds and microseconds
	utimens                 // two struct timespec: seconds and nanoseconds
)

// change gives the positions of a system call's arguments. none stands for an argument that the call lacks.
type change struct {
	verb  verb
	dir   int8 // the folder that the path starts from, or, without a path, the file itself
	path  int8
	flags int8 // AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH
	link  bool // the call does not follow a symlink at the path
	arg   int8 // the first of the verb's own
}

const none = -1

func byPath(v verb) change { return change{verb: v, dir: none, path: 0, flags: none, arg: 1} }
func byLink(v verb) change {
	return change{verb: v, dir: none, path: 0, flags: none, link: true, arg: 1}
}
func byFile(v verb) change { return change{verb: v, dir: 0, path: none, flags: none, arg: 1} }
func byFolder(v verb, flags int8) change {
	return change{verb: v, dir: 0, path: 1, flags: flags, arg: 2}
}

// process is a system call that changes limits, priority or scheduling of another process, or sends it a signal. The
// number 0 is the caller.
type process struct {
	pid uint32 // the argument that is the number
	// kind tells whether the first argument gives the type of the number: first is a process, first+1 a process
	// group, first+2 a user.
	kind  bool
	first uint32
}

func whose(pid uint32) process       { return process{pid: pid} }
func whoseKind(first uint32) process { return process{pid: 1, kind: true, first: first} }

// arch is a processor's system call interface, by number. Calls of another interface, such as the one of 32-bit
// programs, get ENOSYS.
type arch struct {
	audit      uint32
	socket     uint32 // makes sockets
	ioctl      uint32
	changes    map[uint32]change
	processes  map[uint32]process
	signals    []uint32 // send a signal to the process, thread or group that the first argument names
	tgkill     uint32   // sends one to a thread
	pidfd      uint32   // pidfd_send_signal; gets ENOSYS where the supervisor decides about signals
	fcntl      uint32
	attributes []uint32 // set or remove extended attributes, which inputs and outputs lack: get EOPNOTSUPP
	missing    []uint32 // get ENOSYS
}

// missingEverywhere are calls with the same number on all processors. Programs fall back when the kernel lacks them.
// They change files, and a filter does not see the calls of io_uring.
func missingEverywhere() []uint32 {
	return []uint32{
		425, // io_uring_setup
		463, // setxattrat
		466, // removexattrat
		469, // file_setattr
	}
}

// inodeIoctls are requests by which an owner changes a file through a read-only descriptor: flags such as immutable,
// versions, encryption. Builds do not need the programs that use them, such as chattr.
func inodeIoctls() []uint32 {
	return []uint32{
		0x40086602, 0x40046602, // FS_IOC_SETFLAGS, FS_IOC32_SETFLAGS
		0x401c5820,             // FS_IOC_FSSETXATTR
		0x40087602, 0x40047602, // FS_IOC_SETVERSION, FS_IOC32_SETVERSION
		0x40086604, 0x40046604, // the same of ext4
		0x40806685, // FS_IOC_ENABLE_VERITY
		0x800c6613, // FS_IOC_SET_ENCRYPTION_POLICY
	}
}

// inputIoctls are requests that insert input into the terminal. The user's shell reads that input after hexmage.
func inputIoctls() []uint32 {
	return []uint32{
		unix.TIOCSTI,
		0x541c, // TIOCLINUX
	}
}

// ownerIoctls are requests that set the process to which a descriptor sends signals.
func ownerIoctls() []uint32 {
	return []uint32{
		0x8901, 0x8902, // FIOSETOWN, SIOCSPGRP
	}
}

// archOf returns the interface of the processor with Go's name, or nil for an unknown processor. The numbers are from
// the kernel's tables (arch/x86/entry/syscalls/syscall_64.tbl; include/uapi/asm-generic/unistd.h).
//
// Its missing calls are those that reach beyond the action: the user's keys (add_key, request_key, keyctl), shared
// memory, semaphores and queues of System V (shmget, semget, msgget), and queues of POSIX (mq_open, mq_unlink).
func archOf(name string) *arch {
	switch name {
	case "amd64":
		return &arch{
			audit: unix.AUDIT_ARCH_X86_64, socket: 41, ioctl: 16,
			changes: map[uint32]change{
				90: byPath(chmod), 91: byFile(chmod), 268: byFolder(chmod, none), 452: byFolder(chmod, 3),
				92: byPath(chown), 94: byLink(chown), 93: byFile(chown), 260: byFolder(chown, 4),
				132: byPath(utime), 235: byPath(utimes), 261: byFolder(utimes, none), 280: byFolder(utimens, 3),
			},
			attributes: []uint32{188, 189, 190, 197, 198, 199},
			processes: map[uint32]process{
				302: whose(0),                        // prlimit64
				141: whoseKind(0), 251: whoseKind(1), // setpriority, ioprio_set
				// sched_setaffinity, _setscheduler, _setparam, _setattr
				203: whose(0), 144: whose(0), 142: whose(0), 314: whose(0),
			},
			// kill, tkill, rt_sigqueueinfo, rt_tgsigqueueinfo
			signals: []uint32{62, 200, 129, 297}, tgkill: 234, pidfd: 424, fcntl: 72,
			missing: []uint32{248, 249, 250, 29, 64, 68, 240, 241},
		}
	case "arm64":
		return &arch{
			audit: unix.AUDIT_ARCH_AARCH64, socket: 198, ioctl: 29,
			changes: map[uint32]change{
				52: byFile(chmod), 53: byFolder(chmod, none), 452: byFolder(chmod, 3),
				55: byFile(chown), 54: byFolder(chown, 4), 88: byFolder(utimens, 3),
			},
			attributes: []uint32{5, 6, 7, 14, 15, 16},
			processes: map[uint32]process{
				261: whose(0), 140: whoseKind(0), 30: whoseKind(1),
				122: whose(0), 119: whose(0), 118: whose(0), 274: whose(0),
			},
			signals: []uint32{129, 130, 138, 240}, tgkill: 131, pidfd: 424, fcntl: 25,
			missing: []uint32{217, 218, 219, 194, 190, 186, 180, 181},
		}
	}
	return nil
}
