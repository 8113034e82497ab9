// Package ssh reaches boards, which are computers with Linux, and sockets of other computers, by OpenSSH's client.
//
// The ways in are Dial, for a Board, and Options.Connect, for a socket. Keys, known hosts, passphrases, jump hosts
// and aliases are those of the user's ~/.ssh/config. Commands to one host share a connection. The package does not
// know what a command does, or which protocol a socket speaks.
package ssh

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/hexmage/hexmage/runner/link"
)

// Options say how OpenSSH's client runs.
type Options struct {
	Program string   // path of the client; empty: ssh of PATH
	Env     []string // its environment; nil: that of this process
	Dir     string   // folder for the sockets of shared connections, made when needed; empty: nothing is shared
}

const (
	maxSocket = 80 // bytes of a socket's path: an address holds 108, and ssh appends 17 while it makes the socket
	noSocket  = "none"
	pipeWait  = 3 * time.Second // for output of a client that has ended: another process may hold the pipe
)

// socket returns the path of a socket, or noSocket.
func (o Options) socket(of ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(of, "\n")))
	at := filepath.Join(o.Dir, hex.EncodeToString(sum[:8]))
	if o.Dir == "" || len(at) > maxSocket || runtime.GOOS == "windows" { // whose client shares no connections
		return noSocket
	}
	return at
}

// command returns a client for a host. It asks nobody for a password. The first client of a host leaves a process
// behind that owns the connection, and ends a minute after its last use, or when the host gives no sign of life for
// 30 seconds.
func (o Options) command(ctx context.Context, serial string, flags []string, remote ...string) *exec.Cmd {
	args := []string{"-T", "-x", "-S", strings.ReplaceAll(o.socket(serial), "%", "%%")}
	for _, option := range []string{"BatchMode=yes", "LogLevel=ERROR", "ConnectTimeout=10", "ServerAliveInterval=10",
		"ServerAliveCountMax=3", "ControlMaster=auto", "ControlPersist=60", "StreamLocalBindUnlink=yes"} {
		args = append(args, "-o", option)
	}
	args = append(append(append(args, flags...), "--", serial), remote...)
	program := o.Program
	if program == "" {
		program = "ssh"
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.SysProcAttr, cmd.WaitDelay = o.Env, attributes(), pipeWait
	return cmd
}

// prepare makes the folder of the sockets.
func (o Options) prepare() error {
	if o.Dir == "" {
		return nil
	}
	return os.MkdirAll(o.Dir, 0o700)
}

// Connect connects to a socket of a host, as ssh -L does: at is "127.0.0.1:5037" or the path of a socket there. If
// nothing listens there, the connection ends at once.
func (o Options) Connect(ctx context.Context, serial, at string) (net.Conn, error) {
	local, d := o.socket(serial, at), net.Dialer{}
	if local == noSocket {
		return nil, fmt.Errorf("%s: the path of the folder %q is too long for a socket: set XDG_RUNTIME_DIR to a "+
			"shorter one", Shown(serial), o.Dir)
	}
	if c, err := d.DialContext(ctx, "unix", local); err == nil {
		return c, nil
	}
	if _, err := Dial(ctx, serial, o); err != nil { // which leaves a connection that takes forwardings
		return nil, err
	}
	cmd := o.command(ctx, serial, []string{"-O", "forward", "-L", local + ":" + at})
	if out, err := cmd.CombinedOutput(); err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("%s: forward to %s: %s (%w)", Shown(serial), at, link.Words(string(out)), err)
	}
	c, err := d.DialContext(ctx, "unix", local)
	if err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("%s: forward to %s: %w", Shown(serial), at, err)
	}
	return c, err
}

// failure returns the error of a client that ended before its command did; said is what the client said before that.
func failure(serial string, began bool, code int, said string) error {
	said = link.Words(said)
	const failed = 255 // exit code of a client that has no link; any other is the host's
	switch {
	case began && said == "":
		return fmt.Errorf("%s: %w", serial, link.ErrDropped)
	case began, code < 0, code == failed && !refused(said):
		return fmt.Errorf("%s: %w: %s", serial, link.ErrDropped, said)
	case code == failed:
		return fmt.Errorf("%s: %s; run `ssh %s` and correct what it reports", serial, said, serial)
	}
	return fmt.Errorf("%s: the login shell runs no command (exit code %d): %s", serial, code, said)
}

// refused reports whether the client says that another try is in vain.
func refused(said string) bool {
	for _, words := range []string{"Host key verification failed", "Permission denied", "Too many authentication",
		"no matching", "Bad configuration", "Bad owner", "not known by any"} {
		if strings.Contains(said, words) {
			return true
		}
	}
	return false
}
