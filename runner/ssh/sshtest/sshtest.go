//go:build linux

// Package sshtest starts a board for a test: a real sshd on this machine's loopback, with its own keys and home folder.
// The board has this machine's processor and system. The package does not know the tests that use it.
package sshtest

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	board "github.com/hexmage/hexmage/runner/ssh"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// User is the login name.
const User = "board"

// Options configure the server.
type Options struct {
	Shell string   // shell of the user; empty: /bin/sh
	Disk  int64    // size of the user's home in memory; 0: a folder of this machine
	Path  []string // folders at the start of PATH
}

// Server is a running sshd.
type Server struct {
	Home string // the user's home folder; with Options.Disk, its files are visible only on the board
	Pid  int    // process id of the server
	root string // of the toolchain
	dir  string
	addr string
	log  *os.File
	done chan struct{} // closed when the server has ended
}

const (
	startWait = 10 * time.Second
	endWait   = 5 * time.Second
)

// Start starts a server. It skips the test if this machine does not allow user namespaces.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	root := toolchaintest.Root(t, "sshd")
	dir, err := os.MkdirTemp("", "board") // t.TempDir can be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &Server{root: root, dir: dir, Home: filepath.Join(dir, "home")}
	if err := os.Mkdir(s.Home, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"host_key", "id"} {
		cmd := exec.Command(filepath.Join(root, "usr/bin/ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, name))
		cmd.Env = []string{"LD_LIBRARY_PATH=" + s.libraries()}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	shell := o.Shell
	if shell == "" {
		shell = "/bin/sh"
	}
	s.write(t, "passwd", fmt.Sprintf("root:x:0:0::/:/bin/sh\n%s:x:1000:1000::%s:%s\n", User, s.Home, shell))
	s.write(t, "group", "root:x:0:\n"+User+":x:1000:\n")
	for try := 0; ; try++ {
		err := s.start(t, root, o)
		if err == nil {
			t.Cleanup(s.stop)
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("sshd:\n%s", s.Log())
				}
			})
			return s
		}
		s.stop()
		if try == 2 || !strings.Contains(err.Error(), "Address already in use") {
			t.Fatal(err)
		}
	}
}

func (s *Server) write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// freePort returns an unused port.
func freePort(t testing.TB) int {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().(*net.TCPAddr).Port
}

// start starts sshd as a user that does not exist on this machine. As root, sshd would need an account for privilege
// separation. As the test's user, it would see that user's home.
func (s *Server) start(t testing.TB, root string, o Options) error {
	port := freePort(t)
	s.addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	path := strings.Join(append(slices.Clone(o.Path), "/usr/local/bin", "/usr/bin", "/bin"), ":")
	s.write(t, "config", strings.Join([]string{
		"ListenAddress 127.0.0.1", "Port " + strconv.Itoa(port), "HostKey " + filepath.Join(s.dir, "host_key"), "PidFile " + filepath.Join(s.dir, "pid"),
		"AuthorizedKeysFile " + filepath.Join(s.dir, "id.pub"), "PasswordAuthentication no", "KbdInteractiveAuthentication no", "UsePAM no", "StrictModes no",
		"PrintMotd no", "SetEnv PATH=" + path, "",
	}, "\n"))
	argv := []string{filepath.Join(root, "usr/sbin/sshd"), "-D", "-e", "-f", filepath.Join(s.dir, "config")}
	if o.Disk > 0 {
		argv = append([]string{"unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
			fmt.Sprintf(`mount -t tmpfs -o size=%d,mode=755 tmpfs "$BOARD_HOME" && exec unshare --user --map-user=1000 --map-group=1000 "$@"`, o.Disk), "sh"}, argv...)
	} else {
		argv = append([]string{"unshare", "--user", "--map-user=1000", "--map-group=1000"}, argv...)
	}
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, log, log
	cmd.Env = []string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin", "BOARD_HOME=" + s.Home, "LD_LIBRARY_PATH=" + s.libraries(), "LD_PRELOAD=" + filepath.Join(root, "usr/lib/x86_64-linux-gnu/libnss_wrapper.so"),
		"NSS_WRAPPER_PASSWD=" + filepath.Join(s.dir, "passwd"), "NSS_WRAPPER_GROUP=" + filepath.Join(s.dir, "group")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.Pid, s.log, s.done = cmd.Process.Pid, log, make(chan struct{})
	go func() {
		_ = cmd.Wait() // the log has the reason
		close(s.done)
	}()
	for end := time.Now().Add(startWait); ; time.Sleep(20 * time.Millisecond) {
		if nc, err := net.Dial("tcp", s.addr); err == nil {
			nc.Close()
			return nil
		}
		select {
		case <-s.done:
			said := s.Log()
			if strings.Contains(said, "unshare: ") {
				t.Skipf("not tried: this machine does not allow user namespaces: %s", said)
			}
			return fmt.Errorf("sshd ended: %s", said)
		default:
		}
		if time.Now().After(end) {
			return fmt.Errorf("sshd does not listen: %s", s.Log())
		}
	}
}

// Log returns the server's log.
func (s *Server) Log() string {
	b, _ := os.ReadFile(s.log.Name()) // empty if the file is gone
	return string(b)
}

// stop ends the server and the processes of its sessions.
func (s *Server) stop() {
	all := descendants(s.Pid)
	_ = syscall.Kill(s.Pid, syscall.SIGTERM) // it may have ended
	select {
	case <-s.done:
	case <-time.After(endWait):
		_ = syscall.Kill(s.Pid, syscall.SIGKILL)
		<-s.done
	}
	for _, pid := range all {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended, too
	}
	s.log.Close()
}

// descendants returns the processes below a process, except orphans.
func descendants(of int) (all []int) {
	children := map[int][]int{}
	names, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is valid
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // the process has ended
		}
		_, rest, ok := bytes.Cut(b, []byte(") "))
		words := strings.Fields(string(rest))
		if !ok || len(words) < 2 {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		parent, _ := strconv.Atoi(words[1])
		children[parent] = append(children[parent], pid)
	}
	for left := []int{of}; len(left) > 0; left = left[1:] {
		all, left = append(all, children[left[0]]...), append(left, children[left[0]]...)
	}
	return all
}

// Address returns the board's address for hexmage.
func (s *Server) Address() string { return address(s.addr) }

func address(at string) string { return "ssh://" + User + "@" + at }

// libraries returns the library path of the programs.
func (s *Server) libraries() string {
	return filepath.Join(s.root, "usr/lib/x86_64-linux-gnu") + ":" + filepath.Join(s.root, "lib/x86_64-linux-gnu")
}

// Program creates a folder with an ssh program that knows the server's host key and has a valid key. The parameter own
// lists options that precede the caller's options. The program ignores the test user's configuration.
func (s *Server) Program(t testing.TB, own ...string) (dir string) {
	t.Helper()
	return s.Client(t, "* "+s.HostKey(t), append(own, "-i", filepath.Join(s.dir, "id"))...)
}

// HostKey returns the server's public host key.
func (s *Server) HostKey(t testing.TB) string {
	t.Helper()
	key, err := os.ReadFile(filepath.Join(s.dir, "host_key.pub"))
	if err != nil {
		t.Fatal(err)
	}
	return string(key)
}

// Client is like Program, but its ssh program has no key and trusts the host keys in the parameter known.
func (s *Server) Client(t testing.TB, known string, own ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	hosts := filepath.Join(dir, "known_hosts")
	if err := os.WriteFile(hosts, []byte(known), 0o600); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s -F none -o IdentityAgent=none -o IdentitiesOnly=yes -o GlobalKnownHostsFile=none -o UserKnownHostsFile=%s %s \"$@\"\n",
		s.libraries(), filepath.Join(s.root, "usr/bin/ssh"), hosts, strings.Join(own, " "))
	if err := os.WriteFile(filepath.Join(dir, "ssh"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Options returns options for a client that knows the server's host key and has a valid key.
func (s *Server) Options(t testing.TB, own ...string) board.Options {
	t.Helper()
	return s.Sharing(t, s.Program(t, own...))
}

// Sharing returns options that share connections. The parameter program is a folder from Program or Client.
func (s *Server) Sharing(t testing.TB, program string) board.Options {
	t.Helper()
	dir, err := os.MkdirTemp(s.dir, "s") // t.TempDir can be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	return board.Options{Program: filepath.Join(program, "ssh"), Dir: dir}
}

// Cable is a proxy to a server. It can cut connections.
type Cable struct {
	listener net.Listener
	to       string

	mu     sync.Mutex
	conns  map[net.Conn]bool
	left   int64 // bytes to the server until the next cut; 0: no limit
	again  int64 // the next value of left
	frozen bool
	cuts   int
}

// Cable starts a proxy to the server.
func (s *Server) Cable(t testing.TB) *Cable {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &Cable{listener: ln, to: s.addr, conns: map[net.Conn]bool{}}
	go c.accept()
	t.Cleanup(func() {
		ln.Close()
		c.Cut()
	})
	return c
}

// At returns the proxy's address, such as "127.0.0.1:40000".
func (c *Cable) At() string { return c.listener.Addr().String() }

// Address returns the board's address through the proxy.
func (c *Cable) Address() string { return address(c.At()) }

// CutAfter cuts all connections after n more bytes to the board. If every is true, it repeats the cut after each
// further n bytes.
func (c *Cable) CutAfter(n int64, every bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left, c.again = n, 0; every {
		c.again = n
	}
}

// Cuts returns the number of cuts by CutAfter.
func (c *Cable) Cuts() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cuts
}

// Freeze silently drops all further data of the existing connections.
func (c *Cable) Freeze() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.frozen = true
}

// Cut breaks all connections.
func (c *Cable) Cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut()
}

// Sever breaks all connections and rejects new ones.
func (c *Cable) Sever() {
	c.listener.Close()
	c.Cut()
}

func (c *Cable) cut() {
	for nc := range c.conns {
		if tcp, ok := nc.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // lose data on its way
		}
		nc.Close()
	}
	clear(c.conns)
}

func (c *Cable) accept() {
	for {
		from, err := c.listener.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", c.to)
		if err != nil {
			from.Close()
			continue
		}
		c.mu.Lock()
		c.conns[from], c.conns[to], c.frozen = true, true, false
		c.mu.Unlock()
		go c.carry(to, from, true)
		go c.carry(from, to, false)
	}
}

// carry copies data from one end to the other.
func (c *Cable) carry(to, from net.Conn, counts bool) {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		to.Close()
		from.Close()
		delete(c.conns, to)
		delete(c.conns, from)
	}()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		c.mu.Lock()
		if c.frozen {
			n = 0
		}
		if counts && c.left > 0 {
			if c.left -= int64(n); c.left <= 0 {
				c.left = c.again
				c.cuts++
				c.cut()
			}
		}
		c.mu.Unlock()
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}
