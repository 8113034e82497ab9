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

// Worker controls a process that runs commands.
type Worker struct {
	pid  int
	conn conn
	enc  *gob.Encoder
	dec  *gob.Decoder
	over bool // the worker does not take another command
}

// conn is one end of a socket.
type conn struct{ *os.File }

// ReadByte makes conn an io.ByteReader, so that gob reads only one message at a time.
func (c conn) ReadByte() (byte, error) {
	var b [1]byte
	_, err := c.Read(b[:])
	return b[0], err
}

// hexmage sends the byte begin with three descriptors, then the Command. The byte terminate after it asks for SIGTERM.
const begin, terminate = 'b', 't'

// Start starts a worker process. The parameter self is the path of hexmage's binary, and all commands run in folders
// below dir. If hold is not nil, the worker keeps the file hold open. The file's locks then last as long as the
// commands, even if this process is killed.
func Start(self, dir string, hold *os.File) (*Worker, error) {
	w, err := start(self, dir, hold)
	if errors.Is(err, unix.EAGAIN) {
		err = fmt.Errorf("%w; raise the process limit of this user (ulimit -u)", err)
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
		Sys: &syscall.SysProcAttr{Setsid: true}, // a signal to this process's group does not reach the worker
	})
	if err != nil {
		unix.Close(ends[0])
		return nil, &os.PathError{Op: "fork/exec", Path: self, Err: err}
	}
	c := conn{os.NewFile(uintptr(ends[0]), Tool)}
	return &Worker{pid: pid, conn: c, enc: gob.NewEncoder(c), dec: gob.NewDecoder(c)}, nil
}

// Usable reports whether the worker can run another command.
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

// Close ends the worker process and waits until it has ended.
func (w *Worker) Close() {
	w.conn.Close()
	for w.pid != 0 {
		if _, err := unix.Wait4(w.pid, nil, 0, nil); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// Run runs a command, and returns after all processes of the command have ended. It calls stdout and stderr with the
// output, from two goroutines; the bytes are valid only during the call. When ctx ends, Run sends SIGTERM to the
// command. A moment later, or when kill is closed, Run sends SIGKILL.
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
	rights := unix.UnixRights(int(stdin.Fd()), out.w, errs.w)
	err = unix.Sendmsg(int(w.conn.Fd()), []byte{begin}, rights, nil, unix.MSG_NOSIGNAL)
	if err == nil {
		err = w.enc.Encode(c)
	}
	out.close() // the command has it
	errs.close()
	if err == nil {
		var stopping sync.WaitGroup
		ended := make(chan struct{})
		stopping.Go(func() { w.stop(ctx, kill, ended) }) // its byte must follow the whole command
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

// stop signals the command when the context ends or kill is closed, unless the command ends first.
func (w *Worker) stop(ctx context.Context, kill, ended <-chan struct{}) {
	select {
	case <-ended:
		return
	case <-kill:
	case <-ctx.Done():
		_, _ = w.conn.Write([]byte{terminate}) // Run sees the error if the worker has ended
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
	r    *os.File
	w    int // a descriptor; as an os.File it would wake the poller, since an empty pipe is ready for writing
	err  error
	done sync.WaitGroup
}

// newOutput makes a pipe and calls a function with its content.
func newOutput(to func([]byte)) (*output, error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return nil, fmt.Errorf("create a pipe: %w", err)
	}
	_ = unix.SetNonblock(ends[0], true) // so that end can interrupt a read
	o := &output{r: os.NewFile(uintptr(ends[0]), "pipe"), w: ends[1]}
	o.done.Go(func() {
		buf := make([]byte, 4<<10)
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

// maxPipe is the largest capacity of a pipe, in bytes.
const maxPipe = 1 << 20

// rest reads the pipe until it is empty, without waiting for more.
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

// close closes the end for writing.
func (o *output) close() {
	if o.w >= 0 {
		unix.Close(o.w)
		o.w = -1
	}
}

// end empties the pipe and closes it. It does not wait for the end of the pipe: a process outside of the command may
// have received the other end.
func (o *output) end() error {
	o.close()
	_ = o.r.SetReadDeadline(time.Unix(1, 0))
	o.done.Wait()
	o.r.Close()
	if errors.Is(o.err, io.EOF) {
		return nil
	}
	return fmt.Errorf("read a command's output: %w", o.err)
}
