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

// Options say how to run a private server.
type Options struct {
	Path        string // the official adb program
	LibraryPath string // LD_LIBRARY_PATH for it; empty if it needs none
	Dir         string // an existing private folder: the server's socket is made in it
	Home        string // an existing folder for the server's key (.android/adbkey), kept between runs; empty: Dir
	USB         bool   // look for devices on USB, too; takes them away from other servers
}

// Server is a private adb server: a child process that ends with Close or with this process. If a link breaks, adb
// servers sometimes crash: then a Server starts again, and Reconnect connects its devices again.
type Server struct {
	*Client
	options Options
	done    chan struct{} // closed when it has ended for good
	log     execute.Capped

	mu  sync.Mutex // guards what follows
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

// Start runs a private server on a socket in o.Dir and returns once it answers.
func Start(ctx context.Context, o Options) (*Server, error) {
	socket, err := filepath.Abs(filepath.Join(o.Dir, socketName))
	if err != nil {
		return nil, fmt.Errorf("adb: folder of the server: %w", err)
	}
	if err := os.Remove(socket); err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("adb: remove the socket of an earlier server: %w", err)
	}
	s := &Server{Client: NewClient("unix", socket), options: o, done: make(chan struct{})}
	if err := s.run(); err != nil {
		return nil, fmt.Errorf("adb: start %s: %w", o.Path, err)
	}
	if err := s.await(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// environ leaves out everything of the caller's: ADB_* and ANDROID_* variables would lead the server to other
// devices.
func (o Options) environ() []string {
	home := o.Home
	if home == "" {
		home = o.Dir
	}
	// No scan for other simulated phones or wireless devices.
	env := []string{"HOME=" + home, "PATH=/usr/bin:/bin", "ADB_EMU=0", "ADB_MDNS=0"}
	if !o.USB {
		env = append(env, "ADB_USB=0")
	}
	if o.LibraryPath != "" {
		env = append(env, "LD_LIBRARY_PATH="+o.LibraryPath)
	}
	return env
}

// start starts a process of the server: another one only if one answered, and before Close.
func (s *Server) start(again bool) (*exec.Cmd, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if again && !s.up {
		return nil, os.ErrClosed
	}
	cmd := exec.Command(s.options.Path, "-L", "localfilesystem:"+socketName, "nodaemon", "server")
	cmd.Dir = s.options.Dir // where the socket is made: by its name alone, whatever the length of the folder's path
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

// run starts processes from a thread that lives as long as they do: the kernel kills a child whose parent-death
// signal is set when the thread that started it ends, not only when this process does.
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
			_ = cmd.Wait()           // its log says how it ended
			_ = os.Remove(s.address) // or the next cannot listen, which it says
			time.Sleep(restartPause << n)
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
				defer s.mu.Unlock()
				s.up = true
				return nil
			}
		}
		select {
		case <-s.done:
			return fmt.Errorf("adb: the server ended at once: %s", s.Log())
		case <-ctx.Done():
			return fmt.Errorf("adb: the server did not answer: %w: %s", context.Cause(ctx), s.Log())
		case <-time.After(pollEvery):
		}
	}
}

// Log returns what the server printed.
func (s *Server) Log() string { return string(bytes.TrimSpace(s.log.Bytes())) }

// Close ends the server and the links to its devices.
func (s *Server) Close() error {
	s.mu.Lock()
	s.up = false
	_ = s.cmd.Process.Kill() // fails only if it has ended
	s.mu.Unlock()
	<-s.done
	if err := os.Remove(s.address); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("adb: remove the server's socket: %w", err)
	}
	return nil
}
