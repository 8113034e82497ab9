package git_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/toolchains/sources/git"
)

func key(t *testing.T) (ed25519.PrivateKey, ssh.Signer) {
	t.Helper()
	_, k, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ssh.NewSignerFromKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return k, s
}

// sshServer serves the repositories of this machine to the holder of a key, by git's own upload-pack.
func sshServer(t *testing.T, host ssh.Signer, user ssh.PublicKey) (addr string) {
	t.Helper()
	conf := &ssh.ServerConfig{PublicKeyCallback: func(c ssh.ConnMetadata, k ssh.PublicKey) (*ssh.Permissions, error) {
		if c.User() != "git" || string(k.Marshal()) != string(user.Marshal()) {
			return nil, fmt.Errorf("%s is nobody here", c.User())
		}
		return nil, nil
	}}
	conf.AddHostKey(host)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	session := func(c ssh.Channel, reqs <-chan *ssh.Request) {
		defer c.Close()
		for r := range reqs {
			if r.Type != "exec" {
				_ = r.Reply(false, nil)
				continue
			}
			_ = r.Reply(true, nil)
			var cmd struct{ Line string }
			_ = ssh.Unmarshal(r.Payload, &cmd)
			status := uint32(0)
			repo, ok := strings.CutPrefix(cmd.Line, "git-upload-pack '")
			p := exec.Command("git", "upload-pack", strings.TrimSuffix(repo, "'"))
			p.Stdin, p.Stdout, p.Stderr = c, c, c.Stderr()
			if !ok || p.Run() != nil {
				status = 1
			}
			_, _ = c.SendRequest("exit-status", false, ssh.Marshal(struct{ S uint32 }{status}))
			return
		}
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, chans, reqs, err := ssh.NewServerConn(conn, conf)
				if err != nil {
					return
				}
				go ssh.DiscardRequests(reqs)
				for n := range chans {
					if c, r, err := n.Accept(); err == nil {
						go session(c, r)
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}

// TestSSH: a repository behind ssh, for who has the key in an agent, and knows the host.
func TestSSH(t *testing.T) {
	dir, commits := repository(t)
	mine, signer := key(t)
	_, host := key(t)
	addr := sshServer(t, host, signer.PublicKey())
	ring := agent.NewKeyring()
	if err := ring.Add(agent.AddedKey{PrivateKey: mine}); err != nil {
		t.Fatal(err)
	}
	tmp := t.TempDir()
	sock, err := net.Listen("unix", filepath.Join(tmp, "agent"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sock.Close() })
	go func() {
		for {
			c, err := sock.Accept()
			if err != nil {
				return
			}
			go func() { _ = agent.ServeAgent(ring, c); c.Close() }()
		}
	}()
	known := func(k ssh.PublicKey) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(tmp, "known"), []byte(knownhosts.Line([]string{addr}, k)+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	known(host.PublicKey())
	t.Setenv("SSH_AUTH_SOCK", sock.Addr().String())
	t.Setenv("SSH_KNOWN_HOSTS", filepath.Join(tmp, "known"))
	o := git.Options{Spec: git.Spec{URL: "ssh://git@" + addr + dir}, Machine: fetch.Machine{Downloads: tmp}}
	o.Commit = commits[1]
	out := filepath.Join(tmp, "out")
	if err := git.Checkout(t.Context(), o, out); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(out, "a.txt")); err != nil || string(b) != "two\n" {
		t.Errorf("%q, %v", b, err)
	}
	known(signer.PublicKey()) // another host than before
	o.Downloads = t.TempDir()
	if err := git.Checkout(t.Context(), o, out+"2"); err == nil || !strings.Contains(err.Error(), "key mismatch") {
		t.Errorf("another host: %v", err)
	}
}
