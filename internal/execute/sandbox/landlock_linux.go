package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/hexmage/hexmage/internal/stat"
)

// File access rights of Landlock that a rule may allow. Base.handled has the rights that this machine's kernel knows.
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

// Versions of the Landlock interface that added a feature.
const (
	abiTruncate = 3 // Linux 6.2; earlier, an action can truncate files that it may only read
	abiIoctl    = 5
	abiScope    = 6
)

// errataSignals is the bit of a fixed erratum: a scoped thread may send signals to other threads of its process, as
// Go's runtime does.
const errataSignals = 1 << 1

// Base is the part of the host that every action may use, such as system libraries. It keeps open the files that all
// Landlock rulesets need.
type Base struct {
	handled uint64 // the rights that this kernel knows
	scoped  uint64
	rules   []baseRule
	arch    *arch
	filters sync.Map // filter by policy

	unsupervised error
	cannotMount  error

	shared uint64                    // the device of everybody's folder for shared memory
	idle   atomic.Pointer[namespace] // for the next thread; nil: it makes one
}

type baseRule struct {
	file   *os.File
	access uint64
}

// Open opens the host's base system. If this machine cannot restrict commands, the error is the reason.
func Open() (*Base, error) {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch {
	case errno == unix.ENOSYS || errno == unix.EOPNOTSUPP:
		return nil, errors.New("the kernel lacks Landlock; use Linux 6.2 or later with Landlock enabled")
	case errno != 0:
		return nil, fmt.Errorf("the kernel rejects Landlock: %w", errno)
	case abi < abiTruncate:
		return nil, fmt.Errorf("the kernel has Landlock version %d, but hexmage needs version %d (Linux 6.2)", abi,
			abiTruncate)
	}
	b := &Base{handled: allAccess, arch: archOf(runtime.GOARCH)}
	if b.arch == nil {
		return nil, errors.New("the filter for system calls does not support this processor")
	}
	b.unsupervised = canSupervise()
	b.cannotMount = canMount(b.unsupervised != nil)
	if st, err := stat.Lstat(sharedDir); err == nil {
		b.shared = st.Dev
	}
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
			at, err := filepath.EvalSymlinks(p)
			if err != nil || at != p && b.Allows(at) {
				continue // missing, or a link to another base path, such as /bin to /usr/bin
			}
			if f, err := os.OpenFile(p, unix.O_PATH|unix.O_CLOEXEC, 0); err == nil {
				b.rules = append(b.rules, baseRule{f, b.rights(int(f.Fd()), list.access)})
			}
		}
	}
	return b, nil
}

// Unsupervised returns the reason why this process cannot supervise restricted threads, or nil if it can. Without a
// supervisor, a command can change the mode, owner and times of all files of the user. Then an action must not share
// files with other actions.
func (b *Base) Unsupervised() error { return b.unsupervised }

// Mounts returns the reason why restricted threads cannot have a mount namespace, or nil if they can. With a mount
// namespace, each action has separate shared memory, and a thread without a supervisor can change files only in
// Access.Own.
func (b *Base) Mounts() error { return b.cannotMount }

// Scoped reports whether the kernel can keep restricted threads from sending signals to other processes, and from
// connecting to abstract sockets of other processes.
func (b *Base) Scoped() (signals, sockets bool) {
	return b.scoped&unix.LANDLOCK_SCOPE_SIGNAL != 0, b.scoped&unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET != 0
}

// Allows reports whether the absolute path p is in the base system. It compares paths and does not access the file.
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

// filter returns the filter for threads that may use the network, or not.
func (b *Base) filter(network bool) filter {
	p := policy{meta: allow, other: refuse(unix.EPERM), inet: refuse(unix.EACCES), signals: allow}
	if b.unsupervised == nil {
		p = policy{meta: ask, other: ask, inet: ask, signals: allow}
		if b.scoped&unix.LANDLOCK_SCOPE_SIGNAL == 0 {
			p.signals = ask
		}
	}
	if network {
		p.inet = allow
	}
	f, ok := b.filters.Load(p)
	if !ok {
		f = newFilter(b.arch, p)
		b.filters.Store(p, f)
	}
	return f.(filter)
}

// ruleset is the descriptor of the kernel's rules.
type ruleset int

// ruleset makes the rules for an access. The caller closes them.
func (b *Base) ruleset(a Access) (ruleset, error) {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: b.handled, Scoped: b.scoped}
	// Older kernels accept a longer structure whose unknown fields are zero.
	size := unsafe.Offsetof(attr.Scoped) + unsafe.Sizeof(attr.Scoped)
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return none, fmt.Errorf("create Landlock rules: %w", errno)
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

// rights returns the rights of access that this kernel knows and that a rule for the open file may have.
func (b *Base) rights(fd int, access uint64) uint64 {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err == nil && st.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= fileAccess
	}
	return access & b.handled
}

// add allows access to the open file, or to the open folder and its content.
func (r ruleset) add(fd int, access uint64) error {
	attr := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// restrict restricts the calling thread and the processes that it starts, permanently. The caller has locked its
// goroutine to the thread and ends without unlocking it, which ends the thread. restrict returns the supervisor, or nil
// where a process can have none.
//
// Go's runtime does not start threads from a locked thread: it uses a template thread, made before the first lock. So
// no other goroutine runs restricted.
func (b *Base) restrict(a Access, network bool) (*supervisor, error) {
	rules, err := b.ruleset(a) // with all privileges
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	defer unix.Close(int(rules))
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("sandbox: set no_new_privs: %w", err)
	}
	if err := dropPrivileges(); err != nil {
		return nil, fmt.Errorf("sandbox: drop root privileges: %w", err)
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(rules), 0, 0); errno != 0 {
		return nil, fmt.Errorf("sandbox: restrict a thread: %w", errno)
	}
	supervised := b.unsupervised == nil
	fd, err := b.filter(network).install(supervised)
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
