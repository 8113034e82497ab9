package phone

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const startWait = 20 * time.Second

// Start starts a device, and returns when the device's adb daemon listens.
func Start(ctx context.Context, o Options) (*Device, error) {
	s, err := o.setup()
	if err != nil {
		return nil, err
	}
	l, err := listen(o.Port)
	if err != nil {
		return nil, err
	}
	defer l.Close() // the child has its own copy
	if s.Serialno == "" {
		s.Serialno = fmt.Sprintf("EMU%05d", l.Addr().(*net.TCPAddr).Port)
	}
	f, err := l.File()
	if err != nil {
		return nil, fmt.Errorf("simulated phone: %w", err)
	}
	defer f.Close()
	e := &Device{addr: l.Addr().String(), serialno: s.Serialno, done: make(chan struct{})}
	if err := e.start(ctx, o, s, f); err != nil {
		return nil, err
	}
	return e, nil
}

// listen listens for adb's server on 127.0.0.1.
func listen(port int) (*net.TCPListener, error) {
	addr := net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}
	for {
		l, err := net.ListenTCP("tcp4", &addr)
		switch {
		case err == nil && addr.Port != 0:
			return l, nil
		case err == nil: // only an explicitly bound socket keeps its port while it does not listen
			addr.Port = l.Addr().(*net.TCPAddr).Port
			l.Close()
		case port == 0 && errors.Is(err, syscall.EADDRINUSE): // another process was faster
			addr.Port = 0
		default:
			return nil, fmt.Errorf("simulated phone: listen for adb: %w", err)
		}
	}
}

func (o Options) setup() (setup, error) {
	s := setup{Faults: o.Faults, Serialno: o.Serialno}
	if _, err := ReadSoC(o.Image); err != nil {
		return s, fmt.Errorf("simulated phone: %w", err)
	}
	if strings.ContainsAny(o.Serialno, "\n=") {
		return s, fmt.Errorf("simulated phone: invalid serial number %q: remove line ends and '='", o.Serialno)
	}
	for to, from := range map[*string]string{&s.Image: o.Image, &s.Root: o.Dir, &s.Data: o.Data} {
		if from == "" {
			continue
		}
		var err error
		if *to, err = filepath.Abs(from); err != nil {
			return s, fmt.Errorf("simulated phone: %w", err)
		}
	}
	return s, nil
}

func (e *Device) start(ctx context.Context, o Options, s setup, listener *os.File) error {
	log := o.Log
	if log == nil {
		log = io.Discard
	}
	e.cmd = exec.Command(o.Self[0], o.Self[1:]...)
	e.cmd.Env = []string{} // a phone inherits no variables
	e.cmd.Stderr = log
	e.cmd.ExtraFiles = []*os.File{listener}
	e.cmd.WaitDelay = 2 * time.Second
	e.cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC,
		// Without privileges, a user may map one id only: the device's root.
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
		Setsid:      true, // this process handles a terminal's Ctrl-C
	}
	stdin, err := e.cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("simulated phone: %w", err)
	}
	stdout, err := e.cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("simulated phone: %w", err)
	}
	e.lifeline = stdin
	if err := e.cmd.Start(); err != nil {
		return explainClone(o.Self[0], err)
	}
	ready := make(chan error, 1)
	go func() { ready <- handshake(stdin, stdout, s) }()
	select {
	case err = <-ready:
	case <-ctx.Done():
		err = fmt.Errorf("simulated phone: start: %w", context.Cause(ctx))
	case <-time.After(startWait):
		err = fmt.Errorf("simulated phone: the device did not start within %v", startWait)
	}
	go func() {
		defer close(e.done)
		_ = e.cmd.Wait() // it was killed, or has reported the reason
	}()
	if err != nil {
		e.Close()
	}
	return err
}

// handshake sends the setup to the child and returns the error in its answer.
func handshake(stdin io.Writer, stdout io.Reader, s setup) error {
	err := json.NewEncoder(stdin).Encode(s)
	var line []byte
	if err == nil {
		line, err = bufio.NewReader(io.LimitReader(stdout, 64<<10)).ReadBytes('\n')
	}
	if err != nil {
		return fmt.Errorf("simulated phone: the device ended before it was ready (%w): does Options.Self call phone.Init?", err)
	}
	var a answer
	if err := json.Unmarshal(line, &a); err != nil {
		return fmt.Errorf("simulated phone: the device answered %q: %w", line, err)
	}
	switch {
	case a.Remedy != "":
		return &UnsupportedError{What: a.Error, Remedy: a.Remedy}
	case a.Error != "":
		return errors.New("simulated phone: " + a.Error)
	}
	return nil
}

// explainClone explains why the kernel refused namespaces, if the reason can be found.
func explainClone(self string, err error) error {
	read := func(name string) string {
		b, _ := os.ReadFile("/proc/sys/" + name)
		return strings.TrimSpace(string(b))
	}
	what := fmt.Sprintf("start %s in namespaces of its own: %v", self, err)
	if errors.Is(err, syscall.ENOSPC) { // not about disks
		what = "start a process in namespaces of its own: the limit user.max_user_namespaces is reached"
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("simulated phone: %s", what)
	case read("kernel/unprivileged_userns_clone") == "0":
		return &UnsupportedError{what, "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1"}
	case read("user/max_user_namespaces") == "0":
		return &UnsupportedError{what, "allow user namespaces: sysctl user.max_user_namespaces=10000"}
	case read("kernel/apparmor_restrict_unprivileged_userns") == "1":
		return &UnsupportedError{what, "allow user namespaces: sysctl kernel.apparmor_restrict_unprivileged_userns=0"}
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.EACCES):
		return &UnsupportedError{what, "run where user, mount, pid, net, uts and ipc namespaces are allowed: in a container that takes a seccomp profile without the ban on unshare and clone"}
	}
	return fmt.Errorf("simulated phone: %s", what)
}
