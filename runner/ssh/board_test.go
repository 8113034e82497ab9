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

	cryptossh "golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/hexmage/hexmage/runner/link"
	"github.com/hexmage/hexmage/runner/link/linktest"
	"github.com/hexmage/hexmage/runner/ssh"
	"github.com/hexmage/hexmage/runner/ssh/sshtest"
)

func dial(t *testing.T, address string, o ssh.Options) *ssh.Board {
	t.Helper()
	b, err := ssh.Dial(t.Context(), address, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// TestBoard holds a board, a real sshd, to what package link promises of devices.
func TestBoard(t *testing.T) {
	t.Parallel()
	s := sshtest.Start(t, sshtest.Options{})
	c := s.Cable(t)
	b := dial(t, c.Address(), s.Options(t, c.At()))
	if got, want := string(b.Place().Folder), filepath.Join(s.Home, ".hexmage-device"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	linktest.Run(t, "ssh.Board", b, c.Cut)
}

// refused dials in vain, and returns what was said.
func refused(t *testing.T, address string, o ssh.Options) string {
	t.Helper()
	b, err := ssh.Dial(t.Context(), address, o)
	if err == nil {
		b.Close()
		t.Fatal("it was taken")
	}
	if link.Retryable(err) {
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

// TestHostKeys has hexmage believe nobody whom the user does not know.
func TestHostKeys(t *testing.T) {
	t.Parallel()
	s := sshtest.Start(t, sshtest.Options{})
	o := s.Options(t)
	at := strings.TrimPrefix(s.Address(), "ssh://board@")
	name := knownhosts.Normalize(at)
	shown := "ssh-ed25519 " + cryptossh.FingerprintSHA256(s.HostKey())
	other := sshtest.NewKey(t, filepath.Join(t.TempDir(), "other"), "")
	known := func(text string) ssh.Options {
		k := o
		k.Known = []string{filepath.Join(t.TempDir(), "known_hosts")}
		if err := os.WriteFile(k.Known[0], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return k
	}
	unknown := known("# nobody\n")
	says(t, refused(t, s.Address(), unknown), "the host key of "+name+" ("+shown+") is not known", "it is not in "+unknown.Known[0], "ssh-keygen -lf", "ssh -p ")
	nowhere := o
	nowhere.Known = []string{filepath.Join(t.TempDir(), "nothing")}
	says(t, refused(t, s.Address(), nowhere), "is not known")
	changed := known("# first\n" + sshtest.Known(other, at))
	says(t, refused(t, s.Address(), changed), "is another than "+changed.Known[0]+":2 has", "somebody may be in between", "ssh-keygen -f "+changed.Known[0]+" -R '"+name+"'")
	says(t, refused(t, s.Address(), known("@revoked * "+string(cryptossh.MarshalAuthorizedKey(s.HostKey()))+sshtest.Known(s.HostKey(), at))), "is revoked by")
	says(t, refused(t, s.Address(), known("nonsense\n")), "read the known hosts", ":1", "make it a comment")
	for _, text := range []string{
		knownhosts.HashHostname(name) + " " + string(cryptossh.MarshalAuthorizedKey(s.HostKey())),
		"# comment\n\n" + sshtest.Known(s.HostKey(), "elsewhere:22", at),
	} {
		dial(t, s.Address(), known(text))
	}
	if n := strings.Count(s.Log(), "Accepted publickey"); n != 2 {
		t.Errorf("a key was shown %d times, to two who were believed:\n%s", n, s.Log())
	}
}

// TestKeys has a board take the keys that it knows, and no others; what is said names where keys were looked for, and shows none.
func TestKeys(t *testing.T) {
	t.Parallel()
	s := sshtest.Start(t, sshtest.Options{})
	o := s.Options(t)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	sshtest.NewKey(t, at("wrong"), "")
	sshtest.NewKey(t, at("locked"), "hunter2")
	if err := os.WriteFile(at("none"), []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	with := func(names ...string) ssh.Options {
		k := o
		k.Keys = names
		return k
	}
	says(t, refused(t, s.Address(), with(at("wrong"))), "does not let user board in", "takes none of the keys of "+at("wrong"), "ssh-copy-id -p ")
	says(t, refused(t, s.Address(), with(at("nowhere"))), "there is no key to show", at("nowhere"))
	says(t, refused(t, s.Address(), with(at("locked"))), at("locked")+" has a passphrase", "ssh-add")
	says(t, refused(t, s.Address(), with(at("none"), at("wrong"))), at("none")+" cannot be used", "takes none of the keys of "+at("wrong"))
	silent := with()
	silent.Agent = at("no.sock")
	says(t, refused(t, s.Address(), silent), "the agent of SSH_AUTH_SOCK does not answer")
	says(t, refused(t, strings.Replace(s.Address(), "board@", "somebody@", 1), o), "does not let user somebody in")
	dial(t, s.Address(), with(at("wrong"), s.Key))

	held := with()
	held.Agent = at("agent.sock")
	ln, err := net.Listen("unix", held.Agent)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	text, err := os.ReadFile(s.Key)
	if err != nil {
		t.Fatal(err)
	}
	key, err := cryptossh.ParseRawPrivateKey(text)
	if err != nil {
		t.Fatal(err)
	}
	ring := agent.NewKeyring()
	if err := ring.Add(agent.AddedKey{PrivateKey: key}); err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			go func() { _ = agent.ServeAgent(ring, nc) }() // until its client has what it wants
		}
	}()
	dial(t, s.Address(), held)
}

// TestStrangeShells refuses a board whose shell says more than what it is asked for.
func TestStrangeShells(t *testing.T) {
	t.Parallel()
	noisy := filepath.Join(t.TempDir(), "noisy")
	if err := os.WriteFile(noisy, []byte("#!/bin/sh\necho Welcome\nexec /bin/sh \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := sshtest.Start(t, sshtest.Options{Shell: noisy})
	says(t, refused(t, s.Address(), s.Options(t)), `its shell prints "Welcome\n"`, "bashrc")
	other := filepath.Join(t.TempDir(), "other") // reads a backslash within quotes as fish does
	if err := os.WriteFile(other, []byte("#!/bin/sh\nexec /bin/sh -c \"$(printf %s \"$2\" | "+`sed 's/\\\\/\\/g'`+")\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s = sshtest.Start(t, sshtest.Options{Shell: other})
	says(t, refused(t, s.Address(), s.Options(t)), "does not read quotes as a POSIX shell does", "chsh")
	s = sshtest.Start(t, sshtest.Options{Shell: "/bin/false"})
	refused(t, s.Address(), s.Options(t))
}

// TestUnreachable says of a board that is not there that it may come back.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := ln.Addr().String()
	go func() { // no ssh, but an answer
		for {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			_, _ = nc.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
			nc.Close()
		}
	}()
	_, err = ssh.Dial(t.Context(), "ssh://board@"+at, ssh.Options{})
	if err == nil || !link.Retryable(err) {
		t.Errorf("no ssh: %v", err)
	} else {
		says(t, err.Error(), "does not answer as ssh does")
	}
	ln.Close()
	_, err = ssh.Dial(t.Context(), "ssh://board@"+at, ssh.Options{})
	if err == nil || !link.Retryable(err) || !errors.Is(err, link.ErrDropped) {
		t.Errorf("nobody listens: %v", err)
	} else {
		says(t, err.Error(), "cannot be reached", "connection refused")
	}
}

// TestSilence has a link that carries nothing any more be found dead when somebody asks.
func TestSilence(t *testing.T) {
	t.Parallel()
	s := sshtest.Start(t, sshtest.Options{})
	c := s.Cable(t)
	b := dial(t, c.Address(), s.Options(t, c.At()))
	c.Freeze()
	begun := time.Now()
	if err := b.Reconnect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took < 4*time.Second || took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
	var out bytes.Buffer
	if code, err := b.Shell(t.Context(), "echo back", link.Streams{Stdout: &out}); err != nil || code != 0 || out.String() != "back\n" {
		t.Errorf("%d, %v, %q", code, err, out.String())
	}
}

// TestSessions: a board that opens no more sessions, as sshd does not beyond ten, is asked again for a while: others end. What it says then is an error.
func TestSessions(t *testing.T) {
	t.Parallel()
	s := sshtest.Start(t, sshtest.Options{})
	c := s.Cable(t)
	b := dial(t, c.Address(), s.Options(t, c.At()))
	run := func(n int, command string) (failed []error) {
		errs := make(chan error, n)
		for range n {
			go func() {
				code, err := b.Shell(t.Context(), command, link.Streams{})
				if err == nil && code != 0 {
					err = fmt.Errorf("exit code %d", code)
				}
				errs <- err
			}()
		}
		for range n {
			if err := <-errs; err != nil {
				failed = append(failed, err)
			}
		}
		return failed
	}
	if failed := run(15, "sleep 0.5"); failed != nil {
		t.Errorf("%d failed: %v", len(failed), failed[0])
	}
	failed := run(12, "sleep 8")
	if len(failed) != 2 {
		t.Fatalf("%d failed: %v", len(failed), failed)
	}
	says(t, failed[0].Error(), "the board opens no more sessions")
}
