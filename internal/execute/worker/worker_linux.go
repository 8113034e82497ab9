package worker

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Worker is a process that runs commands for this one.
type Worker struct {
	pid  int
	conn stream
	enc  *gob.Encoder
	dec  *gob.Decoder
	over bool // it runs no other command
}

// Before each Command the bytes begin and three descriptors go through the socket. The byte terminate asks for SIGTERM.
const begin, terminate = 'b', 't'

// Start starts a worker: self is hexmage's binary, and the commands' folders are below dir. The worker has the file
// open, if it is not nil, until it ends: locks of it outlive this process as long as the commands that they stand for.
func Start(self, dir string, hold *os.File) (*Worker, error) {
	w, err := start(self, dir, hold)
	if errors.Is(err, unix.EAGAIN) {
		err = fmt.Errorf("%w: this user may have no more processes (ulimit -u)", err)
	}
	if err != nil {
		return nil, fmt.Errorf("start a worker: %w", err)
	}
	return w, nil
}

func start(self, dir string, hold *os.File) (*Worker, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	if hold == nil {
		hold = null
	}
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(ends[1])
	pid, err := syscall.ForkExec(self, []string{self, "tool", Tool, dir}, &syscall.ProcAttr{
		Dir: "/", Files: []uintptr{uintptr(ends[1]), hold.Fd(), null.Fd()},
		Env: []string{"GOMAXPROCS=2"},
		Sys: &syscall.SysProcAttr{Setsid: true}, // signals for this process and its group are not for it
	})
	if err != nil {
		unix.Close(ends[0])
		return nil, &os.PathError{Op: "fork/exec", Path: self, Err: err}
	}
	conn := stream(ends[0])
	return &Worker{pid: pid, conn: conn, enc: gob.NewEncoder(conn), dec: gob.NewDecoder(conn)}, nil
}

// Usable tells whether the worker can run another command.
func (w *Worker) Usable() bool {
	if w.over {
		return false
	}
	pid, err := unix.Wait4(w.pid, nil, unix.WNOHANG, nil)
	if w.over = pid != 0 || err != nil; w.over {
		w.pid = 0
	}
	return !w.over
}

// Close ends the worker, and returns when it has.
func (w *Worker) Close() {
	unix.Close(int(w.conn))
	for w.pid != 0 {
		if _, err := unix.Wait4(w.pid, nil, 0, nil); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// Run runs the command and returns when all its processes have ended. stdout and stderr get what it prints, in the order
// it comes; the bytes are valid until they return. When the context ends, the command gets SIGTERM, and is killed after
// a moment, or when the channel kill is closed.
func (w *Worker) Run(ctx context.Context, kill <-chan struct{}, c *Command, stdin *os.File, stdout, stderr func([]byte),
) (*Ended, error) {
	p, err := openPipes()
	if err != nil {
		return nil, err
	}
	defer p.closeRead()
	err = w.begin(c, stdin, p)
	p.closeWrite()
	if err != nil {
		w.over = true
		return nil, fmt.Errorf("reach the worker: %w", err)
	}
	var stopping sync.WaitGroup
	ended := make(chan struct{})
	stopping.Go(func() { w.stop(ctx, kill, ended) })
	err = p.pass(int(w.conn), stdout, stderr)
	e := &Ended{}
	if err == nil {
		err = w.dec.Decode(e)
	} else {
		w.over = true
	}
	close(ended)
	stopping.Wait()
	if errors.Is(err, io.EOF) || errors.Is(err, unix.ECONNRESET) {
		w.over = true
		e, err = &Ended{Code: 128 + int(unix.SIGKILL), Lost: true}, nil
	}
	if err != nil {
		return nil, err
	}
	w.over = w.over || e.Left != ""
	return e, errors.Join(p.drain(0, stdout), p.drain(1, stderr)) // what came before the answer did
}

// stop ends the command, if it has not ended, when the context ends or kill is closed.
func (w *Worker) stop(ctx context.Context, kill, ended <-chan struct{}) {
	select {
	case <-ended:
		return
	case <-kill:
	case <-ctx.Done():
		_, _ = w.conn.Write([]byte{terminate})
		select {
		case <-ended:
			return
		case <-kill:
		case <-time.After(grace):
		}
	}
	w.over = true
	_ = unix.Shutdown(int(w.conn), unix.SHUT_WR) // as if this process had ended
}

func (w *Worker) begin(c *Command, stdin *os.File, p *pipes) error {
	rights := unix.UnixRights(int(stdin.Fd()), p.write[0], p.write[1])
	if err := unix.Sendmsg(int(w.conn), []byte{begin}, rights, nil, unix.MSG_NOSIGNAL); err != nil {
		return err
	}
	return w.enc.Encode(c)
}

// stream is one end of a socket.
type stream int

// Read reads what is there.
func (s stream) Read(b []byte) (int, error) {
	for {
		n, err := unix.Read(int(s), b)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, err
		case n == 0 && len(b) > 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// ReadByte keeps package gob from reading more than a message.
func (s stream) ReadByte() (byte, error) {
	var b [1]byte
	_, err := s.Read(b[:])
	return b[0], err
}

// Write writes all.
func (s stream) Write(b []byte) (int, error) {
	for done := 0; done < len(b); {
		n, err := unix.SendmsgN(int(s), b[done:], nil, nil, unix.MSG_NOSIGNAL)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return done, err
		}
		done += max(n, 0)
	}
	return len(b), nil
}

// pipes carry the output of a command.
type pipes struct {
	read, write [2]int // 0: standard output, 1: standard error
	buf         []byte
}

const pipeBuffer = 64 << 10 // what a pipe holds

func openPipes() (*pipes, error) {
	p := &pipes{read: [2]int{-1, -1}, write: [2]int{-1, -1}, buf: make([]byte, pipeBuffer)}
	for i := range p.read {
		var fds [2]int
		err := unix.Pipe2(fds[:], unix.O_CLOEXEC)
		if err == nil {
			p.read[i], p.write[i] = fds[0], fds[1]
			// Only our end: programs are not made for standard output that does not wait.
			err = unix.SetNonblock(fds[0], true)
		}
		if err != nil {
			p.closeRead()
			p.closeWrite()
			return nil, fmt.Errorf("make a pipe: %w", err)
		}
	}
	return p, nil
}

func (p *pipes) closeRead() { closeAll(p.read[:]) }

func (p *pipes) closeWrite() { closeAll(p.write[:]) }

func closeAll(fds []int) {
	for _, fd := range fds {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}

// pass passes output on until there is something to read from the socket. It costs no goroutine: the thread sleeps in
// poll.
func (p *pipes) pass(conn int, stdout, stderr func([]byte)) error {
	fds := [3]unix.PollFd{{Fd: int32(conn), Events: unix.POLLIN}, {Fd: int32(p.read[0]), Events: unix.POLLIN},
		{Fd: int32(p.read[1]), Events: unix.POLLIN}}
	for fds[0].Revents == 0 {
		if _, err := unix.Poll(fds[:], -1); err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("wait for a command: %w", err)
		}
		for i, to := range []func([]byte){stdout, stderr} {
			if fds[1+i].Revents == 0 {
				continue
			}
			if err := p.drain(i, to); err != nil {
				return err
			}
			if fds[1+i].Revents&unix.POLLIN == 0 {
				fds[1+i].Fd = -1 // nothing has it open any more
			}
		}
	}
	return nil
}

// drain reads what is in pipe i.
func (p *pipes) drain(i int, to func([]byte)) error {
	for {
		n, err := unix.Read(p.read[i], p.buf)
		switch {
		case n > 0:
			to(p.buf[:n])
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN), err == nil:
			return nil
		default:
			return fmt.Errorf("read a command's output: %w", err)
		}
	}
}
