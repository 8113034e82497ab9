package ssh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/hexmage/hexmage/runner/layout"
	"github.com/hexmage/hexmage/runner/transport"
)

// folder is the name of hexmage's folder in the user's home on a board.
const folder = ".hexmage-device"

// Board is a transport.Device that connects through ssh.
type Board struct {
	options Options
	serial  string
	folder  layout.Folder
}

// Dial returns the board at an address "ssh://USER@HOST:PORT". Later commands do not depend on ctx.
func Dial(ctx context.Context, serial string, o Options) (*Board, error) {
	if err := Check(serial); err != nil {
		return nil, err
	}
	if err := o.prepare(); err != nil {
		return nil, err
	}
	b := &Board{options: o, serial: serial}
	var err error
	b.folder, err = b.home(ctx)
	return b, err
}

// Place implements transport.Device.
func (b *Board) Place() transport.Place { return transport.Place{Serial: b.serial, Folder: b.folder} }

// Reconnect implements transport.Device. It checks that the board runs a command.
func (b *Board) Reconnect(ctx context.Context) error {
	_, err := transport.Output(ctx, b, "true", nil)
	return err
}

// home returns hexmage's folder. It checks that the login shell passes commands and output on unchanged.
func (b *Board) home(ctx context.Context) (layout.Folder, error) {
	const marker = "hexmage's home, \\\\ ! and \"$HOME\":\n"
	out, err := transport.Output(ctx, b, "printf %s "+transport.Quote(marker)+" && cd && pwd -P", nil)
	if exit, ok := errors.AsType[*transport.ExitError](err); ok {
		return "", fmt.Errorf("%s: the user has no home folder (exit code %d): %s", b.serial, exit.Code, exit.Said)
	}
	if err != nil {
		return "", err
	}
	said, home, ok := strings.Cut(strings.TrimSuffix(out, "\n"), marker)
	switch {
	case !ok && strings.HasPrefix(out, "hexmage's home"):
		return "", fmt.Errorf("%s: the login shell is not a POSIX shell; run `chsh -s /bin/sh` on the board",
			b.serial)
	case said != "" || !ok:
		return "", fmt.Errorf("%s: the login shell prints %.80q before a command's output; correct ~/.bashrc on the "+
			"board", b.serial,
			said)
	case !path.IsAbs(home) || strings.Trim(home,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+-/") != "":
		return "", fmt.Errorf("%s: unsupported home folder %.80q; use a path of letters, digits and ._+-/",
			b.serial, home)
	}
	return layout.Folder(path.Join(home, folder)), nil
}

// wrapper runs a command, $2, as the leader of a process group. It prints the mark, $1, before the command, and the
// mark with the exit code after it. Without the second mark the link broke; ssh's exit code 255 is ambiguous, because
// commands use it too. The wrapper discards its own standard error, where a shell reports commands that a signal
// ended.
const wrapper = `exec 3>&2 2>/dev/null; printf %srun "$1" >&3; (setsid /bin/sh -c "$2" 2>&3 3>&-); ` +
	`printf %s%03d "$1" $? >&3`

// Shell implements transport.Device. /bin/sh runs the command, even if the user has another login shell.
func (b *Board) Shell(ctx context.Context, command string, s transport.Streams) (int, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var mu sync.Mutex
	errOut := &marked{mark: "hexmage-" + layout.NewID() + "-", to: output{&mu, s.Stderr, stop}}
	cmd := b.options.command(ctx, b.serial, []string{"-o", "ClearAllForwardings=yes"},
		"exec /bin/sh -c "+transport.Quote(wrapper)+" sh "+errOut.mark+" "+transport.Quote(command))
	cmd.Stdout, cmd.Stderr = output{&mu, s.Stdout, stop}, errOut
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("%s: %w; install OpenSSH's client", b.serial, err)
	}
	go feed(in, s.Stdin, stop)
	_ = cmd.Wait() // the marks have the exit code
	errOut.end()
	if cause := context.Cause(ctx); cause != nil { // also an error of a local reader or writer
		return 0, fmt.Errorf("%s: %w", b.serial, cause)
	}
	if errOut.ended {
		return errOut.code, nil
	}
	return 0, failure(b.serial, errOut.began, cmd.ProcessState.ExitCode(), errOut.said.String())
}

// feed copies a command's input. If the reader fails, feed stops the command: else the command would see a regular
// end of input.
func feed(to io.WriteCloser, from io.Reader, failed func(error)) {
	buf := make([]byte, 64<<10)
	for from != nil {
		n, err := from.Read(buf)
		if _, e := to.Write(buf[:n]); e != nil || err == io.EOF {
			break // the command, its link or the input has ended
		}
		if err != nil {
			failed(fmt.Errorf("standard input: %w", err))
			return
		}
	}
	_ = to.Close() // fails only after the command ended
}

// output is a writer with a lock. An error stops the command.
type output struct {
	mu     *sync.Mutex
	to     io.Writer // nil: discard
	failed func(error)
}

// Write implements io.Writer.
func (o output) Write(p []byte) (int, error) {
	if o.to == nil {
		return len(p), nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.to.Write(p)
	if err != nil {
		o.failed(fmt.Errorf("output: %w", err))
	}
	return n, err
}

// marked parses the standard error of a wrapper: ssh's messages, a mark, the command's output, a mark, the exit code.
type marked struct {
	mark         string
	to           io.Writer
	held         []byte // may be the start of a mark
	said         bytes.Buffer
	began, ended bool
	code         int
}

// word is the length of the text after a mark: "run", or an exit code.
const word = 3

// Write implements io.Writer.
func (m *marked) Write(p []byte) (int, error) {
	text := append(m.held, p...)
	m.held = nil
	for {
		at := bytes.Index(text, []byte(m.mark))
		if at < 0 || len(text) < at+len(m.mark)+word {
			break
		}
		if err := m.pass(text[:at]); err != nil {
			return 0, err
		}
		rest := text[at+len(m.mark):]
		if m.began {
			m.code, _ = strconv.Atoi(string(rest[:word]))
			m.ended = true
		}
		m.began, text = true, rest[word:]
	}
	hold := len(m.mark) + word - 1
	for hold = min(hold, len(text)); hold > 0; hold-- {
		if tail := string(text[len(text)-hold:]); strings.HasPrefix(tail, m.mark) || strings.HasPrefix(m.mark, tail) {
			break
		}
	}
	m.held = bytes.Clone(text[len(text)-hold:])
	return len(p), m.pass(text[:len(text)-hold])
}

// maxSaid limits ssh's messages, in bytes.
const maxSaid = 16 << 10

func (m *marked) pass(text []byte) error {
	if !m.began {
		m.said.Write(text[:min(len(text), max(0, maxSaid-m.said.Len()))])
		return nil
	}
	_, err := m.to.Write(text)
	return err
}

// end passes on the held bytes.
func (m *marked) end() {
	_ = m.pass(m.held) // an error stopped the command
	m.held = nil
}
