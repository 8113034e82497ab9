package doctor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	wantFree    = 10 << 30 // bytes: the open profile needs 2 GB, one vendor SDK unpacks to 4
	wantFreeMin = 2 << 30
)

// disk looks at the room on the store's file system, or on that of the nearest folder that is there.
func disk(store string) Finding {
	f := Finding{Name: "disk", Status: OK}
	if store == "" {
		store = os.TempDir()
	}
	dir := store
	var st unix.Statfs_t
	for unix.Statfs(dir, &st) != nil {
		parent := filepath.Dir(dir)
		if parent == dir {
			return Finding{Name: "disk", Status: Optional, Detail: "can't tell the room at " + store}
		}
		dir = parent
	}
	free := int64(st.Bavail) * st.Bsize
	f.Detail = bytes(free) + " free for " + store
	switch {
	case free < wantFreeMin:
		f.Status, f.Remedy = Missing, "The open profile needs 2 GB. Free some, or set HEXMAGE_CACHE to a folder on a larger disk."
	case free < wantFree:
		f.Status, f.Remedy = Optional, "Enough for the open profile; an SDK of a vendor unpacks to 4 GB."
	}
	return f
}

// kernel looks at what the sandbox and the emulated phone need.
func kernel(o Options) []Finding {
	return []Finding{landlock(), userNamespaces(), binfmt(o)}
}

func landlock() Finding {
	f := Finding{Name: "landlock", Status: OK}
	const createVersion = 1
	abi, _, errno := syscall.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, createVersion)
	if errno != 0 {
		f.Status, f.Detail = Optional, "the kernel has none: "+errno.Error()
		f.Remedy = "Actions run without being confined to their inputs. Linux 5.13 and newer have Landlock; it may have to be named in the kernel's lsm= parameter."
		return f
	}
	f.Detail = fmt.Sprintf("ABI %d", abi)
	return f
}

// userNamespaces tries one: what is allowed depends on more settings than can be read.
func userNamespaces() Finding {
	f := Finding{Name: "user namespaces", Status: OK, Detail: "allowed"}
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}}
	p, err := os.StartProcess("/bin/true", []string{"true"}, &os.ProcAttr{Sys: attr})
	if err == nil {
		_, err = p.Wait()
	}
	if err == nil {
		return f
	}
	f.Status, f.Detail = Missing, "not allowed: "+err.Error()
	if errors.Is(err, syscall.ENOSPC) { // which is not about disks here
		f.Detail = "not allowed: the limit user.max_user_namespaces is reached"
	}
	f.Remedy = "The emulated phone of the open profile needs them. " + namespaceRemedy()
	return f
}

func namespaceRemedy() string {
	for _, s := range []struct{ file, value, remedy string }{
		{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", "Allow them with `sysctl kernel.apparmor_restrict_unprivileged_userns=0`."},
		{"/proc/sys/kernel/unprivileged_userns_clone", "0", "Allow them with `sysctl kernel.unprivileged_userns_clone=1`."},
		{"/proc/sys/user/max_user_namespaces", "0", "Allow them with `sysctl user.max_user_namespaces=15000`."},
	} {
		if b, err := os.ReadFile(s.file); err == nil && strings.TrimSpace(string(b)) == s.value {
			return s.remedy
		}
	}
	return "In a container, allow the unshare and mount calls (for docker: --security-opt seccomp=unconfined)."
}

// binfmt looks whether a user namespace can have its own binfmt_misc: Linux 6.7 and newer.
func binfmt(Options) Finding {
	f := Finding{Name: "binfmt_misc", Status: OK}
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return Finding{Name: f.Name, Status: Optional, Detail: err.Error()}
	}
	release := unix.ByteSliceToString(u.Release[:])
	major, minor := kernelVersion(release)
	if major > 6 || major == 6 && minor >= 7 {
		f.Detail = "in user namespaces, kernel " + release
		return f
	}
	f.Status, f.Detail = Missing, "kernel "+release+" has it for the whole machine only"
	f.Remedy = "The emulated phone runs AArch64 programs through it. Use Linux 6.7 or newer, or a real phone."
	return f
}

func kernelVersion(s string) (major, minor int) {
	parts := strings.FieldsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	if len(parts) > 0 {
		major, _ = strconv.Atoi(parts[0])
	}
	if len(parts) > 1 {
		minor, _ = strconv.Atoi(parts[1])
	}
	return major, minor
}
