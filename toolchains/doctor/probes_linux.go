package doctor

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/hexmage/hexmage/internal/execute/local"
	"github.com/hexmage/hexmage/internal/execute/sandbox"
)

// System returns the probes of this machine, which find no devices.
func System() Probes {
	return Probes{OS: runtime.GOOS, Arch: runtime.GOARCH, Root: "/", Processors: runtime.NumCPU(),
		Ready: local.Ready, Sandbox: sandboxed, Namespaces: namespaces, Free: free}
}

func sandboxed() (Sandbox, error) {
	base, err := sandbox.Open()
	if err != nil {
		return Sandbox{}, err
	}
	s := Sandbox{Supervised: base.Unsupervised(), Mounts: base.Mounts()}
	s.Signals, s.Sockets = base.Scoped()
	return s, nil
}

// namespaces tries to create a user namespace, because more settings decide than hexmage can read.
func namespaces() error {
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}}
	p, err := os.StartProcess("/bin/true", []string{"true"}, &os.ProcAttr{Sys: attr})
	if err == nil {
		_, err = p.Wait()
	}
	return err
}

func free(dir string) (int64, error) {
	var st unix.Statfs_t
	err := unix.Statfs(dir, &st)
	for ; err != nil && dir != filepath.Dir(dir); err = unix.Statfs(dir, &st) {
		dir = filepath.Dir(dir)
	}
	return int64(st.Bavail) * st.Bsize, err
}
