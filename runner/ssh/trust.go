package ssh

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/hexmage/hexmage/internal/boundedfile"
)

// Options say which hosts the user knows, and with which keys he is known. The zero value knows nobody.
type Options struct {
	Known []string // files of known hosts; those that are not there are left out
	Keys  []string // files with private keys; likewise
	Agent string   // socket of an agent with more of them; empty: there is none

	every, wait time.Duration // of connection.watch; 0: the constants; tests wait less
}

// User returns what ssh itself uses without being told otherwise; agent is SSH_AUTH_SOCK.
func User(home, agent string) Options {
	o := Options{Known: []string{"/etc/ssh/ssh_known_hosts"}, Agent: agent}
	if home == "" {
		return o
	}
	own := filepath.Join(home, ".ssh")
	o.Known = slices.Insert(o.Known, 0, filepath.Join(own, "known_hosts"))
	for _, name := range []string{"id_ed25519", "id_ecdsa", "id_rsa"} {
		o.Keys = append(o.Keys, filepath.Join(own, name))
	}
	return o
}

// maxKey is larger than a file with a key.
const maxKey = 64 << 10

// keys returns what the user can sign with, each key once, and for messages where it is from, and what could not be used.
func (o Options) keys() (all []ssh.Signer, from, unusable []string, done func()) {
	shown := map[string]bool{} // an agent often holds what the files have, and a board takes so many tries and no more
	add := func(keys ...ssh.Signer) {
		for _, k := range keys {
			if text := string(k.PublicKey().Marshal()); !shown[text] {
				shown[text] = true
				all = append(all, k)
			}
		}
	}
	done = func() {}
	for _, name := range o.Keys {
		text, err := boundedfile.Read(name, maxKey)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var locked *ssh.PassphraseMissingError
		var key ssh.Signer
		if err == nil {
			key, err = ssh.ParsePrivateKey(text)
		}
		switch {
		case errors.As(err, &locked):
			unusable = append(unusable, fmt.Sprintf("%s has a passphrase: add it to an agent, with ssh-add %s", name, name))
		case err != nil:
			unusable = append(unusable, fmt.Sprintf("%s cannot be used: %v", name, err))
		default:
			add(key)
			from = append(from, name)
		}
	}
	if o.Agent == "" {
		return all, from, unusable, done
	}
	nc, err := net.DialTimeout("unix", o.Agent, agentWait)
	if err != nil {
		return all, from, append(unusable, fmt.Sprintf("the agent of SSH_AUTH_SOCK does not answer: %v", err)), done
	}
	_ = nc.SetDeadline(time.Now().Add(handshakeWait)) // fails only on a closed connection, where the next use says so
	held, err := agent.NewClient(nc).Signers()
	if err != nil {
		unusable = append(unusable, fmt.Sprintf("the agent of SSH_AUTH_SOCK does not answer: %v", err))
	} else {
		add(held...)
		from = append(from, fmt.Sprintf("the agent (%d)", len(held)))
	}
	return all, from, unusable, func() { nc.Close() }
}

const agentWait = 2 * time.Second

// known are the files of known hosts that are there.
func (o Options) known() (there []string) {
	for _, name := range o.Known {
		if st, err := os.Stat(name); err == nil && st.Mode().IsRegular() {
			there = append(there, name)
		}
	}
	return there
}

// nobody is a host key that no list has: what is said of it tells which ones a list has.
type nobody struct{}

func (nobody) Type() string                        { return "none" }
func (nobody) Marshal() []byte                     { return []byte("none") }
func (nobody) Verify([]byte, *ssh.Signature) error { return errors.New("nobody signs") }

// trust makes a configuration believe the host of an address if, and only if, the user knows it. refused is what it said when it did not, believed whether
// it did.
func (o Options) trust(c *ssh.ClientConfig, at address) (refused func() error, believed func() bool, err error) {
	files := o.known()
	check, err := knownhosts.New(files...)
	if err != nil {
		return nil, nil, fmt.Errorf("read the known hosts: %w: mend that line, or make it a comment", err)
	}
	var known *knownhosts.KeyError
	if errors.As(check(at.dial(), &net.TCPAddr{IP: net.IPv4zero}, nobody{}), &known) {
		c.HostKeyAlgorithms = algorithms(known.Want)
	}
	var why error
	var taken bool
	c.HostKeyCallback = func(host string, remote net.Addr, key ssh.PublicKey) error {
		if err := check(host, remote, key); err != nil {
			why = o.distrust(at, key, err)
			return why
		}
		taken = true
		return nil
	}
	return func() error { return why }, func() bool { return taken }, nil
}

// algorithms are those by which a host can show one of the keys that are known of it. It may have keys of other kinds that the user never saw.
func algorithms(known []knownhosts.KnownKey) (all []string) {
	for _, k := range known {
		names := []string{k.Key.Type()}
		if names[0] == ssh.KeyAlgoRSA {
			names = []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256}
		}
		for _, name := range names {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// distrust says why a host is not believed, and what to do.
func (o Options) distrust(at address, key ssh.PublicKey, err error) error {
	name, shown := knownhosts.Normalize(at.dial()), key.Type()+" "+ssh.FingerprintSHA256(key)
	var unlike *knownhosts.KeyError
	var revoked *knownhosts.RevokedError
	switch {
	case errors.As(err, &revoked):
		return fmt.Errorf("the host key of %s (%s) is revoked by %s:%d: nothing was sent", name, shown, revoked.Revoked.Filename, revoked.Revoked.Line)
	case !errors.As(err, &unlike):
		return fmt.Errorf("the host key of %s (%s): %w", name, shown, err)
	case len(unlike.Want) > 0:
		had := unlike.Want[0]
		return fmt.Errorf("the host key of %s (%s) is another than %s:%d has: somebody may be in between, and nothing was sent; if it was installed anew, remove the old key: ssh-keygen -f %s -R '%s'",
			name, shown, had.Filename, had.Line, had.Filename, name)
	}
	where := "no file of known hosts is there"
	if len(o.Known) > 0 {
		where = "it is not in " + strings.Join(o.Known, ", ")
	}
	return fmt.Errorf("the host key of %s (%s) is not known: %s; compare it with what that computer says of itself (ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub), and connect once with: ssh -p %s %s@%s",
		name, shown, where, at.port, at.user, at.host)
}
