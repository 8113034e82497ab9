package phone

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"
)

// dspSocket is the socket of the DSP on the device.
const dspSocket = "/dev/fastrpc-cdsp"

// hangUpGrace is the time limit for a protection domain after its client has gone.
const hangUpGrace = 2 * time.Second

// listenDSP listens for clients of the DSP, if the image has a program for it.
func listenDSP() (*net.UnixListener, error) {
	if _, err := os.Stat("/" + shellPath); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: dspSocket, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listen at %s: %w", dspSocket, err)
	}
	return l, nil
}

// serveDSP starts a protection domain for each client.
func (d *device) serveDSP() {
	for {
		c, err := d.dsp.AcceptUnix()
		if err != nil {
			d.log.Printf("cdsp: accept: %v", err)
			return
		}
		go func() {
			if err := d.client(c); err != nil {
				d.log.Printf("cdsp: %v", err)
			}
		}()
	}
}

// client serves a client according to the DSP's state.
func (d *device) client(c *net.UnixConn) error {
	if d.killAtDSP.CompareAndSwap(true, false) {
		defer c.Close()
		d.kill(peer(c))
		return nil
	}
	if d.dspState.Load() != dspWell {
		return d.wedge(c)
	}
	return d.protectionDomain(c)
}

// protectionDomain runs the DSP's program with the connection as its standard input and output.
func (d *device) protectionDomain(c *net.UnixConn) error {
	f, err := c.File()
	c.Close()
	if err != nil {
		return err
	}
	defer f.Close()
	fd := int(f.Fd())
	if err := unix.SetNonblock(fd, false); err != nil { // the program needs blocking reads
		return err
	}
	// The device's file system does not have qemu, so it is run by its open descriptor. Its only CPU is v67. Without
	// -cpu it rejects files that are marked for a newer one.
	qemu := fmt.Sprintf("/proc/self/fd/%d", d.qemu.Fd())
	cmd := exec.Command(qemu, "-cpu", "v67", "/"+shellPath, d.soc.Arch)
	cmd.Dir = "/"
	cmd.Env = d.environ()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = f, f, d.logger("adsprpc")
	cmd.WaitDelay = time.Second
	if err := d.procs.Start(cmd); err != nil {
		return fmt.Errorf("start the protection domain: %w", err)
	}
	pid := cmd.Process.Pid
	over := make(chan struct{})
	go killWhenHungUp(fd, cmd.Process, over)
	err = d.procs.Wait(cmd)
	close(over)
	if err != nil {
		return fmt.Errorf("protection domain %d: %w", pid, err)
	}
	return nil
}

// killWhenHungUp ends a protection domain that runs on after its client has gone.
func killWhenHungUp(fd int, p *os.Process, over <-chan struct{}) {
	for {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		n, err := unix.Poll(fds, 500)
		select {
		case <-over:
			return
		default:
		}
		if err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
		if n > 0 && fds[0].Revents&(unix.POLLHUP|unix.POLLERR) != 0 {
			break
		}
		if n > 0 { // only one direction is closed: the client may still read
			select {
			case <-over:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
	select {
	case <-over:
	case <-time.After(hangUpGrace):
		_ = p.Kill()
	}
}
