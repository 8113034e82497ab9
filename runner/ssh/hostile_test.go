//go:build linux

package ssh_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	cryptossh "golang.org/x/crypto/ssh"

	"github.com/hexmage/hexmage/runner/link"
	"github.com/hexmage/hexmage/runner/ssh"
	"github.com/hexmage/hexmage/runner/ssh/sshtest"
)

// flooding is a board of our own making: it runs a first command as a board does; to each later one it sends what nobody asked for, and never answers.
func flooding(t *testing.T) (string, ssh.Options) {
	dir := t.TempDir()
	o := ssh.Options{Known: []string{filepath.Join(dir, "known_hosts")}, Keys: []string{filepath.Join(dir, "key")}}
	sshtest.NewKey(t, o.Keys[0], "")
	sshtest.NewKey(t, filepath.Join(dir, "host"), "")
	text, err := os.ReadFile(filepath.Join(dir, "host"))
	if err != nil {
		t.Fatal(err)
	}
	host, err := cryptossh.ParsePrivateKey(text)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	at := ln.Addr().String()
	if err := os.WriteFile(o.Known[0], []byte(sshtest.Known(host.PublicKey(), at)), 0o600); err != nil {
		t.Fatal(err)
	}
	config := &cryptossh.ServerConfig{PublicKeyCallback: func(cryptossh.ConnMetadata, cryptossh.PublicKey) (*cryptossh.Permissions, error) { return nil, nil }}
	config.AddHostKey(host)
	serve := func(nc net.Conn) {
		_, channels, requests, err := cryptossh.NewServerConn(nc, config)
		if err != nil {
			return
		}
		go cryptossh.DiscardRequests(requests)
		first := true
		for c := range channels {
			ch, asked, err := c.Accept()
			if err != nil {
				return
			}
			r := <-asked
			if first {
				first = false
				var command struct{ Text string }
				_ = cryptossh.Unmarshal(r.Payload, &command) // an empty command fails
				_ = r.Reply(true, nil)
				cmd := exec.Command("/bin/sh", "-c", command.Text)
				cmd.Env, cmd.Stdout = []string{"HOME=" + dir, "PATH=/usr/bin:/bin"}, ch
				if err := cmd.Run(); err == nil {
					_, _ = ch.SendRequest("exit-status", false, cryptossh.Marshal(struct{ Code uint32 }{0}))
				}
				ch.Close()
				continue
			}
			for range 100 {
				_, _ = ch.SendRequest("what nobody asked for", false, nil)
			}
		}
	}
	go func() {
		for {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			go serve(nc)
		}
	}()
	return "ssh://board@" + at, o
}

// TestFlood has a board that sends requests in the place of an answer hold up nobody for longer than he would wait.
func TestFlood(t *testing.T) {
	t.Parallel()
	address, o := flooding(t)
	b := dial(t, address, o)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	begun := time.Now()
	if _, err := b.Shell(ctx, "true", link.Streams{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a command that nobody runs: %v", err)
	}
	if err := b.Reconnect(t.Context()); err != nil {
		t.Errorf("the link itself works: %v", err)
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestManyKeys has more keys refused than a board listens to.
func TestManyKeys(t *testing.T) {
	t.Parallel()
	s := sshtest.Start(t, sshtest.Options{})
	o := s.Options(t)
	o.Keys = nil
	for i := range 8 {
		o.Keys = append(o.Keys, filepath.Join(t.TempDir(), strings.Repeat("k", i+1)))
		sshtest.NewKey(t, o.Keys[i], "")
	}
	says(t, refused(t, s.Address(), o), "does not let user board in", "takes none of the keys of "+o.Keys[0], "Too many authentication failures")
	o.Keys = []string{o.Keys[0], o.Keys[0], o.Keys[0], o.Keys[0], o.Keys[0], o.Keys[0], o.Keys[0], s.Key}
	dial(t, s.Address(), o)
}

// TestAskedInVain has one who does not wait leave the link to the others.
func TestAskedInVain(t *testing.T) {
	t.Parallel()
	s := sshtest.Start(t, sshtest.Options{})
	b := dial(t, s.Address(), s.Options(t))
	running, over := make(chan struct{}), make(chan error, 1)
	go func() {
		code, err := b.Shell(t.Context(), "echo runs; sleep 2; exit 7", link.Streams{Stdout: begins{running}})
		if err == nil && code != 7 {
			err = errors.New("another exit code")
		}
		over <- err
	}()
	<-running
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Reconnect(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if err := <-over; err != nil {
		t.Errorf("the command of another: %v", err)
	}
}

// begins closes a channel with the first write.
type begins struct{ at chan struct{} }

func (b begins) Write(p []byte) (int, error) {
	close(b.at)
	return len(p), nil
}

// TestWatch ends a command whose link carries nothing any more, and none that only takes its time.
func TestWatch(t *testing.T) {
	t.Parallel()
	s := sshtest.Start(t, sshtest.Options{})
	c := s.Cable(t)
	b := dial(t, c.Address(), ssh.Impatient(s.Options(t, c.At()), 200*time.Millisecond, time.Second))
	var out bytes.Buffer
	if code, err := b.Shell(t.Context(), "sleep 3; echo slow", link.Streams{Stdout: &out}); err != nil || code != 0 || out.String() != "slow\n" {
		t.Fatalf("a slow command: %d, %v, %q", code, err, out.String())
	}
	time.AfterFunc(500*time.Millisecond, c.Freeze)
	begun := time.Now()
	if _, err := b.Shell(t.Context(), "sleep 60", link.Streams{}); !errors.Is(err, link.ErrDropped) || time.Since(begun) > 30*time.Second {
		t.Errorf("after %v: %v", time.Since(begun), err)
	}
}
