//go:build linux

package worldtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Alone is the argument that makes the test binary run the following command without a network.
const Alone = "-alone"

// runAlone runs a command in a new network namespace, which has only the loopback device.
func runAlone(args []string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP) // adb's server is on loopback
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return fmt.Errorf("bring up the loopback interface: %w", err)
	}
	links, err := net.Interfaces()
	if err != nil || len(links) != 1 {
		return fmt.Errorf("network interfaces: got %v and error %w, want only loopback", links, err)
	}
	if c, err := net.DialTimeout("udp", "192.0.2.1:53", time.Second); !errors.Is(err, unix.ENETUNREACH) {
		if err == nil {
			_ = c.Close()
		}
		return fmt.Errorf("the network is still reachable: %w", err)
	}
	return syscall.Exec(args[0], args, os.Environ())
}

// RunAlone runs hexmage without a network.
func (w *World) RunAlone(t *testing.T, args ...string) *Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), RunLimit)
	defer cancel()
	return Ended(t, Apart(w.Command(ctx, args...), syscall.CLONE_NEWNET, Alone))
}

// Apart changes a command so that the test binary starts it in new namespaces. The changed command begins with
// arguments for the test binary, such as Alone.
func Apart(cmd *exec.Cmd, namespaces uintptr, first ...string) *exec.Cmd {
	cmd.Args = append(append([]string{os.Args[0]}, first...), append([]string{cmd.Path}, cmd.Args[1:]...)...)
	cmd.Path = os.Args[0]
	cmd.SysProcAttr.Cloneflags = namespaces
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	return cmd
}
