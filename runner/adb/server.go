package adb

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"time"
)

// Options say how to run a private server.
type Options struct {
	Path        string    // the official adb program
	LibraryPath string    // LD_LIBRARY_PATH for it; empty if it needs none
	Dir         string    // an existing private folder: the server's socket is made in it
	Home        string    // an existing folder for the server's key (.android/adbkey); kept between runs it saves making a key; empty: Dir
	USB         bool      // look for devices on USB, too; takes them away from other servers
	Log         io.Writer // what the server prints; nil discards it
}

// Server is a private adb server: a child process that ends with Close or with this process. One that crashes, as servers do now and then
// when links break, is started again; its devices then have to be connected again, as after any break.
type Server struct {
	*Client
	options Options
	done    chan struct{} // closed when no server runs and none will
	log     *tail

	mu     sync.Mutex // guards what follows
	cmd    *exec.Cmd
	up     bool // it answered once
	closed bool
}

const (
	socketName    = "adb.sock"
	maxSocketPath = 100 // sun_path holds 108 bytes
	startWait     = 15 * time.Second
	pollEvery     = 3 * time.Millisecond

	maxRestarts  = 8 // of a server that crashes
	restartPause = 10 * time.Millisecond
)

// Start runs a server of its own on a socket in o.Dir and returns once it answers.
func Start(ctx context.Context, o Options) (*Server, error) {
	socket, err := filepath.Abs(filepath.Join(o.Dir, socketName))
	if err != nil {
		return nil, fmt.Errorf("adb: folder of the server: %w", err)
	}
	if err := os.Remove(socket); err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("adb: remove the socket of an earlier server: %w", err)
	}
	s := &Server{Client: NewClient("unix", socket), options: o, done: make(chan struct{}), log: &tail{next: orDiscard(o.Log)}}
	if err := s.run(); err != nil {
		return nil, fmt.Errorf("adb: start %s: %w", o.Path, err)
	}
	if err := s.await(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// environ leaves out everything of the caller's: ADB_* and ANDROID_* variables would lead the server to other devices.
func (o Options) environ() []string {
	home := o.Home
	if home == "" {
		home = o.Dir
	}
	env := []string{"HOME=" + home, "PATH=/usr/bin:/bin", "ADB_EMU=0", "ADB_MDNS=0"} // no scan for other emulators or wireless devices
	if !o.USB {
		env = append(env, "ADB_USB=0")
	}
	if o.LibraryPath != "" {
		env = append(env, "LD_LIBRARY_PATH="+o.LibraryPath)
	}
	return env
}

// command is what starts a server.
func (s *Server) command() *exec.Cmd {
	cmd := exec.Command(s.options.Path, "-L", "localfilesystem:"+socketName, "nodaemon", "server")
	cmd.Dir = s.options.Dir // where the socket is made: by its name alone, whatever the length of the folder's path
	cmd.Env = s.options.environ()
	cmd.Stdout, cmd.Stderr = s.log, s.log
	cmd.WaitDelay = time.Second
	dieWithParent(cmd)
	return cmd
}

// run starts servers from a thread that lives as long as they do: the kernel kills a child whose parent-death signal is set when the
// thread that started it ends, not only when the process does.
func (s *Server) run() error {
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer close(s.done)
		for n := 0; ; n++ {
			cmd := s.command()
			s.mu.Lock()
			if s.closed {
				s.mu.Unlock()
				return
			}
			err := cmd.Start()
			if err == nil {
				s.cmd = cmd
			}
			s.mu.Unlock()
			if n == 0 {
				started <- err
			}
			if err != nil {
				return
			}
			err = cmd.Wait()
			s.mu.Lock()
			again := s.up && !s.closed && n < maxRestarts
			s.mu.Unlock()
			if !again {
				return
			}
			s.restarts.Add(1)
			fmt.Fprintf(s.log, "the adb server ended (%v) and is started again\n", err)
			_ = os.Remove(s.address)      // or the next cannot listen, which it says
			time.Sleep(restartPause << n) // one that crashes at once must not take the machine
		}
	}()
	return <-started
}

// await asks until the server answers.
func (s *Server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	for {
		if _, err := os.Stat(s.address); err == nil {
			if _, err := s.Version(ctx); err == nil {
				s.mu.Lock()
				s.up = true
				s.mu.Unlock()
				return nil
			}
		}
		select {
		case <-s.done:
			return fmt.Errorf("adb: the server ended at once: %s", s.log)
		case <-ctx.Done():
			return fmt.Errorf("adb: the server did not answer: %w: %s", context.Cause(ctx), s.log)
		case <-time.After(pollEvery):
		}
	}
}

// Log returns the last lines that the server printed.
func (s *Server) Log() string { return s.log.String() }

// Close ends the server and the links to its devices.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	_ = s.cmd.Process.Kill() // one that has ended needs none
	s.mu.Unlock()
	<-s.done
	if err := os.Remove(s.address); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("adb: remove the server's socket: %w", err)
	}
	return nil
}

// tail keeps the end of what was printed.
type tail struct {
	next io.Writer
	mu   sync.Mutex
	last []byte
}

const tailSize = 8 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, p...)
	if extra := len(t.last) - tailSize; extra > 0 {
		t.last = append(t.last[:0], t.last[extra:]...)
	}
	return t.next.Write(p)
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.last))
}
