package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What a rule may allow. Rights that the kernel does not know are taken away from all of them.
const (
	readAccess  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	writeAccess = readAccess | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_REFER |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO
	deviceAccess = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	// what a rule for something else than a folder may have
	fileAccess = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | deviceAccess
	allAccess  = writeAccess | deviceAccess | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
)

// Versions of Landlock's interface that brought something.
const (
	abiTruncate = 3 // before it a file that may only be read could be truncated: too little for us (Linux 6.2)
	abiIoctl    = 5
	abiScope    = 6
)

// errataSignals is set among the errata that the kernel has fixed if a scoped thread may send signals to others of
// its own process, as Go's runtime does.
const errataSignals = 1 << 1

// Base is the part of the host that every action may use. It keeps files open, once for all rulesets.
type Base struct {
	handled uint64 // the rights that this kernel knows
	scoped  uint64
	rules   []baseRule
	arch    *arch

	unsupervised error
}

type baseRule struct {
	file   *os.File
	access uint64
}

// Open returns the host's base system as rules, or an error that says why this machine can have no strict sandbox.
func Open() (*Base, error) {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch {
	case errno == unix.ENOSYS || errno == unix.EOPNOTSUPP:
		return nil, errors.New("the kernel has no Landlock (it came with Linux 5.13, and may be switched off)")
	case errno != 0:
		return nil, fmt.Errorf("the kernel refuses Landlock: %w", errno)
	case abi < abiTruncate:
		return nil, fmt.Errorf("the kernel has version %d of Landlock, and %d is needed (Linux 6.2)", abi, abiTruncate)
	}
	b := &Base{handled: allAccess, arch: archOf(runtime.GOARCH)}
	if b.arch == nil {
		return nil, errors.New("there is no filter of system calls for this processor")
	}
	b.unsupervised = canSupervise()
	if abi < abiIoctl {
		b.handled &^= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if abi >= abiScope {
		b.scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
		if fixed, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0,
			unix.LANDLOCK_CREATE_RULESET_ERRATA); errno == 0 && fixed&errataSignals != 0 {
			b.scoped |= unix.LANDLOCK_SCOPE_SIGNAL
		}
	}
	for _, list := range []struct {
		paths  []string
		access uint64
	}{{basePaths, readAccess}, {baseDevices, deviceAccess}} {
		for _, p := range list.paths {
			if f, err := os.OpenFile(p, unix.O_PATH|unix.O_CLOEXEC, 0); err == nil { // else not on this machine
				b.rules = append(b.rules, baseRule{f, b.rights(int(f.Fd()), list.access)})
			}
		}
	}
	return b, nil
}

// Unsupervised returns why restricted threads of this process have no supervisor; nil if they have. Without one they,
// and what they start, may change mode, owner and times of each file that is their user's, wherever it is: nothing may
// be shared with them that counts for others.
func (b *Base) Unsupervised() error { return b.unsupervised }

// Mounts returns why restricted threads of this process have no mounts of their own; nil if they have. With them
// shared memory is an action's own, and a thread without a supervisor changes nothing outside of Access.Own.
func (b *Base) Mounts() error { return canMount(b.unsupervised != nil) }

// Scoped tells whether the kernel itself keeps restricted threads from sending signals to others, and from their
// abstract sockets.
func (b *Base) Scoped() (signals, sockets bool) {
	return b.scoped&unix.LANDLOCK_SCOPE_SIGNAL != 0, b.scoped&unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET != 0
}

// Allows tells whether an absolute path is part of the base system, by its name.
func (b *Base) Allows(p string) bool {
	for _, list := range [][]string{basePaths, baseDevices, {sharedDir}} {
		for _, base := range list {
			if p == base || strings.HasPrefix(p, base+"/") {
				return true
			}
		}
	}
	return false
}

// ruleset is the descriptor of the kernel's rules.
type ruleset int

// ruleset makes the rules for an access. The caller closes them.
func (b *Base) ruleset(a Access) (ruleset, error) {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: b.handled, Scoped: b.scoped}
	// Older kernels take a longer structure as long as what they do not know is zero.
	size := unsafe.Offsetof(attr.Scoped) + unsafe.Sizeof(attr.Scoped)
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return none, fmt.Errorf("make rules: %w", errno)
	}
	r := ruleset(fd)
	if err := b.fill(r, a); err != nil {
		unix.Close(int(r))
		return none, err
	}
	return r, nil
}

func (b *Base) fill(r ruleset, a Access) error {
	for _, rule := range b.rules {
		if err := r.add(int(rule.file.Fd()), rule.access); err != nil {
			return err
		}
	}
	for _, p := range a.Read {
		if err := b.path(r, p, readAccess); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	for _, p := range a.Write {
		if err := b.path(r, p, writeAccess); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	if err := b.path(r, sharedDir, writeAccess); err != nil { // as the calling thread sees it
		return fmt.Errorf("%s: %w", sharedDir, err)
	}
	return nil
}

func (b *Base) path(r ruleset, p string, access uint64) error {
	fd, err := unix.Open(p, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return r.add(fd, b.rights(fd, access))
}

// rights are those of access that this kernel knows, and that a rule for what fd is may have.
func (b *Base) rights(fd int, access uint64) uint64 {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err == nil && st.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= fileAccess
	}
	return access & b.handled
}

// add allows access to what fd is, and to what is in it.
func (r ruleset) add(fd int, access uint64) error {
	attr := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// restrict restricts the calling thread, for good, and everything that it starts from then on. The caller has locked
// its goroutine to the thread and ends without unlocking it, which ends the thread.
//
// Go's runtime starts no thread from a locked one, which might have been changed like this: it has a template thread
// for that, made before the first lock. So no other goroutine ever runs restricted.
//
// It returns the thread's supervisor, nil where there can be none.
func (b *Base) restrict(a Access, network bool) (*supervisor, error) {
	rules, err := b.ruleset(a) // with all privileges
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	defer unix.Close(int(rules))
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("sandbox: give up new privileges: %w", err)
	}
	if err := dropPrivileges(); err != nil {
		return nil, fmt.Errorf("sandbox: give up root's privileges: %w", err)
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(rules), 0, 0); errno != 0 {
		return nil, fmt.Errorf("sandbox: restrict a thread: %w", errno)
	}
	supervised := b.unsupervised == nil
	p := policy{meta: allow, other: refuse(unix.EPERM), inet: refuse(unix.EACCES), signals: allow}
	if supervised {
		p = policy{meta: ask, other: ask, inet: ask, signals: allow}
		if b.scoped&unix.LANDLOCK_SCOPE_SIGNAL == 0 {
			p.signals = ask
		}
	}
	if network {
		p.inet = allow
	}
	fd, err := newFilter(b.arch, p).install(supervised)
	if err != nil {
		return nil, fmt.Errorf("sandbox: filter a thread's system calls: %w", err)
	}
	if !supervised {
		return nil, nil
	}
	s, err := newSupervisor(fd, a, b.arch)
	if err != nil {
		return nil, fmt.Errorf("sandbox: supervise a thread: %w", err)
	}
	return s, nil
}
