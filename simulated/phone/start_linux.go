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

// Start starts a device and returns when its adb daemon listens.
func Start(ctx context.Context, o Options) (*Device, error) {
	if len(o.Self) == 0 {
		return nil, errors.New("simulated phone: Options.Self is empty: it must name the program that calls phone.Init")
	}
	s, err := o.setup()
	if err != nil {
		return nil, err
	}
	l, err := listen(o.Listen)
	if err != nil {
		return nil, err
	}
	defer l.Close() // the child has its own
	if s.Serialno = o.Serialno; s.Serialno == "" {
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

// listen listens for adb's server at an address of this machine alone.
func listen(at string) (*net.TCPListener, error) {
	if at == "" {
		at = "127.0.0.1:0"
	}
	addr, err := net.ResolveTCPAddr("tcp4", at)
	if err != nil {
		return nil, fmt.Errorf("simulated phone: %q is no address: want for example 127.0.0.1:5555: %w", at, err)
	}
	if !addr.IP.IsLoopback() {
		return nil, fmt.Errorf("simulated phone: the device cannot listen at %s: whoever can reach it is root on it, so it listens at addresses of this machine alone, such as 127.0.0.1:%d", at, addr.Port)
	}
	l, err := net.ListenTCP("tcp4", addr)
	for try := 0; err == nil && addr.Port == 0 && try < 10; try++ {
		// The device may stop to listen for a while, and only who has asked for a port by its number keeps it then.
		free := l.Addr().(*net.TCPAddr)
		l.Close()
		if l, err = net.ListenTCP("tcp4", free); err == nil {
			return l, nil
		}
		l, err = net.ListenTCP("tcp4", addr) // somebody was faster
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("simulated phone: the port of %s is taken, perhaps by another simulated phone: choose another one: %w", at, err)
	}
	if err != nil {
		return nil, fmt.Errorf("simulated phone: listen for adb: %w", err)
	}
	return l, nil
}

func (o Options) setup() (setup, error) {
	if _, err := ReadSoC(o.Image); err != nil {
		return setup{}, fmt.Errorf("simulated phone: %w", err)
	}
	if strings.ContainsAny(o.Serialno, "\n=") {
		return setup{}, fmt.Errorf("simulated phone: serial number %q: it has no line ends or '='", o.Serialno)
	}
	if o.Silicon != nil {
		if err := o.Silicon.check(); err != nil {
			return setup{}, fmt.Errorf("simulated phone: the SoC that it really is: %w", err)
		}
	}
	s := setup{Faults: o.Faults}
	for _, p := range []struct {
		to   *string
		from string
	}{{&s.Image, o.Image}, {&s.Root, o.Dir}, {&s.Data, o.Data}} {
		if p.from == "" && p.to == &s.Data {
			continue
		}
		abs, err := filepath.Abs(p.from)
		if err != nil {
			return setup{}, fmt.Errorf("simulated phone: %w", err)
		}
		if fi, err := os.Stat(abs); err != nil || !fi.IsDir() {
			return setup{}, fmt.Errorf("simulated phone: %q is not a folder", abs)
		}
		*p.to = abs
	}
	if s.Data != "" && o.DiskBytes > 0 {
		return setup{}, errors.New("simulated phone: Data and Faults.DiskBytes exclude each other: only a disk in memory can have a size")
	}
	return s, nil
}

func (e *Device) start(ctx context.Context, o Options, s setup, listener *os.File) error {
	log := o.Log
	if log == nil {
		log = io.Discard
	}
	e.cmd = exec.Command(o.Self[0], o.Self[1:]...)
	e.cmd.Env = []string{} // nothing of ours belongs to a phone
	e.cmd.Stderr = log
	e.cmd.ExtraFiles = []*os.File{listener}
	e.cmd.WaitDelay = 2 * time.Second
	e.cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC,
		// One user, the root of the device, is all that a user without privileges may map.
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
		Setsid:      true, // a terminal's Ctrl-C is for us to handle
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
		_ = e.cmd.Wait() // it ends by a kill, or has told why in its answer or log
	}()
	if err != nil {
		e.Close()
	}
	return err
}

// handshake tells the child what to do and hears what came of it.
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

// explainClone says why the kernel gave us no namespaces, as far as it can be known.
func explainClone(self string, err error) error {
	read := func(name string) string {
		b, _ := os.ReadFile("/proc/sys/" + name)
		return strings.TrimSpace(string(b))
	}
	what := fmt.Sprintf("start %s in namespaces of its own: %v", self, err)
	if errors.Is(err, syscall.ENOSPC) { // which is not about disks here
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
