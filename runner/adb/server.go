package adb

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/execute"
)

// Options configure a private server.
type Options struct {
	Path        string // the official adb program
	LibraryPath string // its LD_LIBRARY_PATH, if it needs one
	Dir         string // an existing private folder for the server's socket
	Home        string // an existing folder for the server's key (.android/adbkey), kept between runs; empty: Dir
	USB         bool   // use USB devices, which other servers then lose
}

// Server is a private adb server. Its process ends when you call Close or when this process ends. If the server
// crashes, it restarts, and Reconnect connects its devices again.
type Server struct {
	*Client
	options Options
	done    chan struct{} // closed when the server will not start again
	log     execute.HeadTailBuffer

	mu  sync.Mutex // guards the fields below
	cmd *exec.Cmd
	up  bool // it answered, and Close was not called
}

const (
	socketName    = "adb.sock"
	maxSocketPath = 100 // sun_path holds 108 bytes
	startWait     = 15 * time.Second
	pollEvery     = 3 * time.Millisecond
	maxRestarts   = 8
	restartPause  = 10 * time.Millisecond // doubled each time
)

// Start starts a private server on a socket in o.Dir, and returns when the server answers.
func Start(ctx context.Context, o Options) (*Server, error) {
	socket, err := filepath.Abs(filepath.Join(o.Dir, socketName))
	if err != nil {
		return nil, fmt.Errorf("adb: cannot make the server's folder: %w", err)
	}
	if err := os.Remove(socket); err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("adb: cannot remove the socket of an earlier server: %w", err)
	}
	s := &Server{Client: NewClient("unix", socket), options: o, done: make(chan struct{})}
	if err := s.run(); err != nil {
		return nil, fmt.Errorf("adb: cannot start %s: %w", o.Path, err)
	}
	if err := s.await(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// environ inherits no variable: ADB_* and ANDROID_* variables would lead the server to other devices.
func (o Options) environ() []string {
	home := o.Home
	if home == "" {
		home = o.Dir
	}
	// Do not look for other simulated phones or wireless devices.
	env := []string{"HOME=" + home, "PATH=/usr/bin:/bin", "ADB_EMU=0", "ADB_MDNS=0"}
	if !o.USB {
		env = append(env, "ADB_USB=0")
	}
	if o.LibraryPath != "" {
		env = append(env, "LD_LIBRARY_PATH="+o.LibraryPath)
	}
	return env
}

// start starts a process of the server. With again, it does so only if the server once answered and was not closed.
func (s *Server) start(again bool) (*exec.Cmd, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if again && !s.up {
		return nil, os.ErrClosed
	}
	cmd := exec.Command(s.options.Path, "-L", "localfilesystem:"+socketName, "nodaemon", "server")
	cmd.Dir = s.options.Dir // the socket is named relative to Dir, because socket paths are short
	cmd.Env = s.options.environ()
	cmd.Stdout, cmd.Stderr = &s.log, &s.log
	cmd.WaitDelay = time.Second
	dieWithParent(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s.cmd = cmd
	return cmd, nil
}

// run starts processes from a thread that lives as long as they do. The kernel sends a parent-death signal when the
// thread that started the child ends, not only when this process does.
func (s *Server) run() error {
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer close(s.done)
		for n := 0; n <= maxRestarts; n++ {
			cmd, err := s.start(n > 0)
			if n == 0 {
				started <- err
			}
			if err != nil {
				return
			}
			_ = cmd.Wait()           // the log has the reason
			_ = os.Remove(s.address) // the next process cannot listen at an existing socket, and logs that
			time.Sleep(restartPause << n)
		}
	}()
	return <-started
}

// await polls until the server answers.
func (s *Server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	for {
		if _, err := os.Stat(s.address); err == nil {
			if _, err := s.Version(ctx); err == nil {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.up = true
				return nil
			}
		}
		select {
		case <-s.done:
			return fmt.Errorf("adb: the server exited at once: %s", s.Log())
		case <-ctx.Done():
			return fmt.Errorf("adb: the server did not answer: %w: %s", context.Cause(ctx), s.Log())
		case <-time.After(pollEvery):
		}
	}
}

// Log returns the server's output.
func (s *Server) Log() string { return string(bytes.TrimSpace(s.log.Bytes())) }

// Close ends the server and the links to its devices.
func (s *Server) Close() error {
	s.mu.Lock()
	s.up = false
	_ = s.cmd.Process.Kill() // fails only after the process ended
	s.mu.Unlock()
	<-s.done
	if err := os.Remove(s.address); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("adb: cannot remove the server's socket: %w", err)
	}
	return nil
}
