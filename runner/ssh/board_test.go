//go:build linux

package ssh_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/runner/ssh"
	"github.com/hexmage/hexmage/runner/ssh/sshtest"
	"github.com/hexmage/hexmage/runner/transport"
	"github.com/hexmage/hexmage/runner/transport/transporttest"
)

func dial(t *testing.T, address string, o ssh.Options) *ssh.Board {
	t.Helper()
	b, err := ssh.Dial(t.Context(), address, o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestBoard runs the tests of package transporttest on a real sshd, with and without a shared connection.
func TestBoard(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"shared connection", "connection for each command"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sshtest.Start(t, sshtest.Options{})
			c, o := s.Cable(t), s.Options(t)
			if name != "shared connection" {
				o.Dir = ""
			}
			b := dial(t, c.Address(), o)
			if got, want := string(b.Place().Folder), filepath.Join(s.Home, ".hexmage-device"); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			transporttest.Run(t, "ssh.Board", b, c.Cut)
			if n := strings.Count(s.Log(), "Accepted publickey"); o.Dir != "" && n > 3 || o.Dir == "" && n < 20 {
				t.Errorf("%d connections", n)
			}
		})
	}
}

// refused returns the error text of a Dial that must fail.
func refused(t *testing.T, address string, o ssh.Options) string {
	t.Helper()
	_, err := ssh.Dial(t.Context(), address, o)
	if err == nil {
		t.Fatal("it was taken")
	}
	if transport.Retryable(err) {
		t.Errorf("it would be tried again: %v", err)
	}
	return err.Error()
}

func says(t *testing.T, said string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(said, w) {
			t.Errorf("%q\nis not in %q", w, said)
		}
	}
}

// TestRefused: ssh refuses an unknown host, a host with another key, and a user without a key at once.
func TestRefused(t *testing.T) {
	t.Parallel()
	s, other := sshtest.Start(t, sshtest.Options{}), sshtest.Start(t, sshtest.Options{})
	says(t, refused(t, s.Address(), s.Sharing(t, s.Client(t, ""))), "Host key verification failed", "run `ssh "+s.Address()+"`")
	says(t, refused(t, s.Address(), s.Sharing(t, s.Client(t, "* "+other.HostKey(t)))),
		"REMOTE HOST IDENTIFICATION HAS CHANGED", "Host key verification failed")
	says(t, refused(t, s.Address(), s.Sharing(t, s.Client(t, "* "+s.HostKey(t)))), "Permission denied (publickey)")
	says(t, refused(t, strings.Replace(s.Address(), "board@", "somebody@", 1), s.Options(t)), "Permission denied (publickey)")
	nothing := s.Options(t)
	nothing.Program = filepath.Join(t.TempDir(), "ssh")
	says(t, refused(t, s.Address(), nothing), "install OpenSSH's client")
	if n := strings.Count(s.Log(), "Accepted publickey"); n > 0 {
		t.Errorf("%d logins", n)
	}
}

// TestStrangeShells: Dial refuses a board whose shell prints extra output.
func TestStrangeShells(t *testing.T) {
	t.Parallel()
	noisy := filepath.Join(t.TempDir(), "noisy")
	if err := os.WriteFile(noisy, []byte("#!/bin/sh\necho Welcome\nexec /bin/sh \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := sshtest.Start(t, sshtest.Options{Shell: noisy})
	says(t, refused(t, s.Address(), s.Options(t)), `the login shell prints "Welcome\n"`, "bashrc")
	other := filepath.Join(t.TempDir(), "other") // reads a backslash within quotes as fish does
	if err := os.WriteFile(other, []byte("#!/bin/sh\nexec /bin/sh -c \"$(printf %s \"$2\" | "+`sed 's/\\\\/\\/g'`+")\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s = sshtest.Start(t, sshtest.Options{Shell: other})
	says(t, refused(t, s.Address(), s.Options(t)), "the login shell is not a POSIX shell", "chsh")
	s = sshtest.Start(t, sshtest.Options{Shell: "/bin/false"})
	says(t, refused(t, s.Address(), s.Options(t)), "the login shell does not run commands (exit code 1)")
}

// TestUnreachable: the error for a missing board is retryable.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	s := sshtest.Start(t, sshtest.Options{})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := ln.Addr().String()
	go func() { // answers without ssh
		for {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			_, _ = nc.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
			nc.Close()
		}
	}()
	for _, want := range []string{"kex_exchange_identification", "Connection refused"} {
		_, err = ssh.Dial(t.Context(), "ssh://board@"+at, s.Options(t))
		if err == nil || !errors.Is(err, transport.ErrDropped) {
			t.Errorf("%v", err)
		} else {
			says(t, err.Error(), want)
		}
		ln.Close()
	}
}

// TestSilence: a command on a dead link ends, and a slow command does not. The next command has a new link.
func TestSilence(t *testing.T) {
	t.Parallel()
	s := sshtest.Start(t, sshtest.Options{})
	c := s.Cable(t)
	b := dial(t, c.Address(), s.Options(t, "-o", "ServerAliveInterval=1"))
	var out bytes.Buffer
	if code, err := b.Shell(t.Context(), "sleep 5; echo slow", transport.Streams{Stdout: &out}); err != nil || code != 0 || out.String() != "slow\n" {
		t.Fatalf("a slow command: %d, %v, %q", code, err, out.String())
	}
	time.AfterFunc(500*time.Millisecond, c.Freeze)
	begun := time.Now()
	if _, err := b.Shell(t.Context(), "sleep 60", transport.Streams{}); !errors.Is(err, transport.ErrDropped) || time.Since(begun) > 30*time.Second {
		t.Errorf("after %v: %v", time.Since(begun), err)
	}
	if err := b.Reconnect(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestSessions runs more commands at the same time than sshd allows for one connection.
func TestSessions(t *testing.T) {
	t.Parallel()
	s := sshtest.Start(t, sshtest.Options{})
	b := dial(t, s.Address(), s.Options(t))
	errs := make(chan error)
	const most = 15
	for range most {
		go func() {
			code, err := b.Shell(t.Context(), "sleep 0.5; exit 7", transport.Streams{})
			if err == nil && code != 7 {
				err = fmt.Errorf("exit code %d", code)
			}
			errs <- err
		}()
	}
	for range most {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// TestMarks runs a command that prints the start of a mark, and leaves a process behind that keeps its output open.
func TestMarks(t *testing.T) {
	t.Parallel()
	s := sshtest.Start(t, sshtest.Options{})
	b := dial(t, s.Address(), s.Options(t))
	for _, c := range []struct {
		command, errOut string
		code            int
	}{
		{"printf hexmage- >&2; exit 255", "hexmage-", 255},
		{"printf h >&2; sleep 0.1; printf exmage-000 >&2; exit 254", "hexmage-000", 254},
		{"sleep 1 & exit 3", "", 3},
	} {
		var errOut bytes.Buffer
		if code, err := b.Shell(t.Context(), c.command, transport.Streams{Stderr: &errOut}); err != nil || code != c.code || errOut.String() != c.errOut {
			t.Errorf("%s: %d, %v, %q", c.command, code, err, errOut.String())
		}
	}
}
