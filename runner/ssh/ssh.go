// Package ssh uses OpenSSH's client to connect to boards, which are Linux computers, and to sockets on other computers.
// It uses the keys, known hosts, jump hosts and aliases in the user's ~/.ssh/config. The commands for a host share a
// connection. The package does not know the purpose of a command, or the protocol of a socket.
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

	"github.com/hexmage/hexmage/runner/transport"
)

// Options configure OpenSSH's client.
type Options struct {
	Program string   // path of the client; empty: ssh in PATH
	Env     []string // environment of the client; nil: this process's environment
	Dir     string   // folder for the sockets of shared connections, created if missing; empty: do not share
}

const (
	maxSocket = 80 // bytes of a socket's path: an address holds 108, and ssh appends 17 while it makes the socket
	noSocket  = "none"
	pipeWait  = 3 * time.Second // for output of an ended client: another process may hold the pipe
)

// socket returns the path of a socket, or noSocket.
func (o Options) socket(of ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(of, "\n")))
	at := filepath.Join(o.Dir, hex.EncodeToString(sum[:8]))
	if o.Dir == "" || len(at) > maxSocket || runtime.GOOS == "windows" { // Windows' client cannot share connections
		return noSocket
	}
	return at
}

// command returns a client for a host. The client never asks for a password. The first client of a host leaves a
// process behind that owns the connection. That process ends a minute after its last use, or when the host does not
// answer for 30 seconds.
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

// Connect connects to a socket on a host, as ssh -L does. The socket is an address such as "127.0.0.1:5037", or a path
// on the host. If no server listens, the connection ends immediately.
func (o Options) Connect(ctx context.Context, serial, at string) (net.Conn, error) {
	local, d := o.socket(serial, at), net.Dialer{}
	if local == noSocket {
		return nil, fmt.Errorf("%s: the path of folder %q is too long for a socket; set XDG_RUNTIME_DIR to a shorter "+
			"path", Shown(serial), o.Dir)
	}
	if c, err := d.DialContext(ctx, "unix", local); err == nil {
		return c, nil
	}
	if _, err := Dial(ctx, serial, o); err != nil { // leaves a connection that accepts forwardings
		return nil, err
	}
	cmd := o.command(ctx, serial, []string{"-O", "forward", "-L", local + ":" + at})
	if out, err := cmd.CombinedOutput(); err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("%s: cannot forward to %s: %s (%w)", Shown(serial), at, transport.Sanitize(string(out)), err)
	}
	c, err := d.DialContext(ctx, "unix", local)
	if err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("%s: cannot forward to %s: %w", Shown(serial), at, err)
	}
	return c, err
}

// failure returns the error of a client that ended before its command. said is the client's output.
func failure(serial string, began bool, code int, said string) error {
	said = transport.Sanitize(said)
	const failed = 255 // exit code of a client without a link; others are the host's
	switch {
	case began && said == "":
		return fmt.Errorf("%s: %w", serial, transport.ErrDropped)
	case began, code < 0, code == failed && !refused(said):
		return fmt.Errorf("%s: %w: %s", serial, transport.ErrDropped, said)
	case code == failed:
		return fmt.Errorf("%s: %s; run `ssh %s` and fix the reported problem", serial, said, serial)
	}
	return fmt.Errorf("%s: the login shell does not run commands (exit code %d): %s", serial, code, said)
}

// refused reports whether the client's message means that a retry is useless.
func refused(said string) bool {
	for _, words := range []string{"Host key verification failed", "Permission denied", "Too many authentication",
		"no matching", "Bad configuration", "Bad owner", "not known by any"} {
		if strings.Contains(said, words) {
			return true
		}
	}
	return false
}
