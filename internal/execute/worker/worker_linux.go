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
	conn conn
	enc  *gob.Encoder
	dec  *gob.Decoder
	over bool // it runs no other command
}

// conn is one end of a socket.
type conn struct{ *os.File }

// ReadByte keeps package gob from reading more than a message.
func (c conn) ReadByte() (byte, error) {
	var b [1]byte
	_, err := c.Read(b[:])
	return b[0], err
}

// Before each Command the byte begin and three descriptors go through the socket. The byte terminate, which follows
// the Command, asks for SIGTERM.
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
	c := conn{os.NewFile(uintptr(ends[0]), Tool)}
	return &Worker{pid: pid, conn: c, enc: gob.NewEncoder(c), dec: gob.NewDecoder(c)}, nil
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
	w.conn.Close()
	for w.pid != 0 {
		if _, err := unix.Wait4(w.pid, nil, 0, nil); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// Run runs the command and returns when all its processes have ended. stdout and stderr get what it prints, in the
// order it comes, on a goroutine each; the bytes are valid until they return. When the context ends, the command gets
// SIGTERM, and is killed after a moment, or when the channel kill is closed.
func (w *Worker) Run(ctx context.Context, kill <-chan struct{}, c *Command, stdin *os.File, stdout, stderr func([]byte),
) (*Ended, error) {
	if ctx.Err() != nil {
		return &Ended{Code: 128 + int(unix.SIGTERM)}, nil
	}
	out, err := newOutput(stdout)
	if err != nil {
		return nil, err
	}
	errs, err := newOutput(stderr)
	if err != nil {
		return nil, errors.Join(err, out.end())
	}
	e := &Ended{}
	rights := unix.UnixRights(int(stdin.Fd()), int(out.w.Fd()), int(errs.w.Fd()))
	err = unix.Sendmsg(int(w.conn.Fd()), []byte{begin}, rights, nil, unix.MSG_NOSIGNAL)
	if err == nil {
		err = w.enc.Encode(c)
	}
	out.w.Close() // the command has it
	errs.w.Close()
	if err == nil {
		var stopping sync.WaitGroup
		ended := make(chan struct{})
		stopping.Go(func() { w.stop(ctx, kill, ended) }) // not before: its byte must follow the whole command
		err = w.dec.Decode(e)
		close(ended)
		stopping.Wait()
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, unix.ECONNRESET) ||
		errors.Is(err, unix.EPIPE) {
		e, err = &Ended{Code: 128 + int(unix.SIGKILL), Lost: true}, nil
	}
	w.over = w.over || err != nil || e.Lost || e.Left != ""
	return e, errors.Join(err, out.end(), errs.end())
}

// stop ends the command, if it has not ended, when the context ends or kill is closed.
func (w *Worker) stop(ctx context.Context, kill, ended <-chan struct{}) {
	select {
	case <-ended:
		return
	case <-kill:
	case <-ctx.Done():
		_, _ = w.conn.Write([]byte{terminate}) // the end of the worker is seen elsewhere
		select {
		case <-ended:
			return
		case <-kill:
		case <-time.After(grace):
		}
	}
	w.over = true
	_ = unix.Shutdown(int(w.conn.Fd()), unix.SHUT_WR) // as if this process had ended
}

// output is a pipe.
type output struct {
	r, w *os.File
	err  error
	done sync.WaitGroup
}

// newOutput makes a pipe whose content goes to a function.
func newOutput(to func([]byte)) (o *output, err error) {
	o = &output{}
	if o.r, o.w, err = os.Pipe(); err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	o.done.Go(func() {
		buf := make([]byte, 32<<10)
		for o.err == nil {
			var n int
			if n, o.err = o.r.Read(buf); n > 0 {
				to(buf[:n])
			}
		}
		if errors.Is(o.err, os.ErrDeadlineExceeded) {
			o.err = o.rest(buf, to)
		}
	})
	return o, nil
}

// maxPipe is more than a pipe holds.
const maxPipe = 1 << 20

// rest passes on what is in the pipe, without waiting for more.
func (o *output) rest(buf []byte, to func([]byte)) error {
	conn, err := o.r.SyscallConn()
	if err != nil {
		return err
	}
	rerr := io.EOF
	err = conn.Control(func(fd uintptr) {
		for left := maxPipe; left > 0; {
			n, err := unix.Read(int(fd), buf)
			switch {
			case n > 0:
				to(buf[:n])
				left -= n
			case errors.Is(err, unix.EINTR):
			default:
				if err != nil && !errors.Is(err, unix.EAGAIN) {
					rerr = err
				}
				return
			}
		}
	})
	return errors.Join(err, rerr)
}

// end returns when what is in the pipe was read. It does not wait for the pipe's end: the command's processes are gone,
// but another process may have got the pipe from one of them.
func (o *output) end() error {
	o.w.Close()
	_ = o.r.SetReadDeadline(time.Unix(1, 0))
	o.done.Wait()
	o.r.Close()
	if errors.Is(o.err, io.EOF) {
		return nil
	}
	return fmt.Errorf("read a command's output: %w", o.err)
}
