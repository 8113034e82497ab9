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
	"github.com/hexmage/hexmage/runner/link"
)

// folder is hexmage's folder on a board, in the user's home.
const folder = ".hexmage-device"

// Board is a link.Device that is reached over ssh.
type Board struct {
	options Options
	serial  string
	folder  layout.Folder
}

// Dial returns the board at an address, "ssh://USER@HOST:PORT". ctx bounds that, and not later commands.
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

// Place implements link.Device.
func (b *Board) Place() link.Place { return link.Place{Serial: b.serial, Folder: b.folder} }

// Reconnect implements link.Device: each command makes a connection if there is none.
func (b *Board) Reconnect(ctx context.Context) error {
	_, err := link.Output(ctx, b, "true", nil)
	return err
}

// home asks for the user's home folder, and checks that the login shell passes commands and output on unchanged.
func (b *Board) home(ctx context.Context) (layout.Folder, error) {
	const marker = "hexmage's home, \\\\ ! and \"$HOME\":\n"
	out, err := link.Output(ctx, b, "printf %s "+link.Quote(marker)+" && cd && pwd -P", nil)
	if exit, ok := errors.AsType[*link.ExitError](err); ok {
		return "", fmt.Errorf("%s: the user has no home folder (exit code %d): %s", b.serial, exit.Code, exit.Said)
	}
	if err != nil {
		return "", err
	}
	said, home, ok := strings.Cut(strings.TrimSuffix(out, "\n"), marker)
	switch {
	case !ok && strings.HasPrefix(out, "hexmage's home"):
		return "", fmt.Errorf("%s: the login shell does not read quotes as a POSIX shell does: run chsh -s /bin/sh there",
			b.serial)
	case said != "" || !ok:
		return "", fmt.Errorf("%s: the login shell prints %.80q before a command's output: see ~/.bashrc there", b.serial,
			said)
	case !path.IsAbs(home) || strings.Trim(home,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+-/") != "":
		return "", fmt.Errorf("%s: unusable home folder %.80q: its path may have letters, digits and ._+-/", b.serial, home)
	}
	return layout.Folder(path.Join(home, folder)), nil
}

// wrapper runs a command, $2, as the leader of a process group. It prints the mark, $1, before the command, and the
// mark with the exit code after it. Without the second mark the link broke: ssh itself ends with 255 then, as a
// command may. What a shell says of a command that a signal ended goes to the wrapper's own standard error, and so
// nowhere.
const wrapper = `exec 3>&2 2>/dev/null; printf %srun "$1" >&3; (setsid /bin/sh -c "$2" 2>&3 3>&-); ` +
	`printf %s%03d "$1" $? >&3`

// Shell implements link.Device. The command is run by /bin/sh, whatever the login shell is.
func (b *Board) Shell(ctx context.Context, command string, s link.Streams) (int, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var mu sync.Mutex
	errOut := &marked{mark: "hexmage-" + layout.NewID() + "-", to: output{&mu, s.Stderr, stop}}
	cmd := b.options.command(ctx, b.serial, []string{"-o", "ClearAllForwardings=yes"},
		"exec /bin/sh -c "+link.Quote(wrapper)+" sh "+errOut.mark+" "+link.Quote(command))
	cmd.Stdout, cmd.Stderr = output{&mu, s.Stdout, stop}, errOut
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("%s: %w; install OpenSSH's client", b.serial, err)
	}
	go feed(in, s.Stdin, stop)
	_ = cmd.Wait() // the marks tell what came of the command
	errOut.end()
	if cause := context.Cause(ctx); cause != nil { // also a local reader's or writer's
		return 0, fmt.Errorf("%s: %w", b.serial, cause)
	}
	if errOut.ended {
		return errOut.code, nil
	}
	return 0, failure(b.serial, errOut.began, cmd.ProcessState.ExitCode(), errOut.said.String())
}

// feed gives a command its input. If the reader fails, it stops the command, which else sees a regular end of input.
func feed(to io.WriteCloser, from io.Reader, failed func(error)) {
	buf := make([]byte, 64<<10)
	for from != nil {
		n, err := from.Read(buf)
		if _, e := to.Write(buf[:n]); e != nil || err == io.EOF {
			break // the command or its link has ended, or the input
		}
		if err != nil {
			failed(fmt.Errorf("standard input: %w", err))
			return
		}
	}
	_ = to.Close() // fails only after the command
}

// output is written by one goroutine at a time. An error stops the command.
type output struct {
	mu     *sync.Mutex
	to     io.Writer // nil: nothing is kept
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

// marked reads the standard error of a wrapper: what ssh says, a mark, what the command says, a mark, the exit code.
type marked struct {
	mark         string
	to           io.Writer
	held         []byte // may be the start of a mark
	said         bytes.Buffer
	began, ended bool
	code         int
}

// word is what follows a mark: "run", or an exit code.
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

// maxSaid bounds what of ssh's words is kept.
const maxSaid = 16 << 10

func (m *marked) pass(text []byte) error {
	if !m.began {
		m.said.Write(text[:min(len(text), max(0, maxSaid-m.said.Len()))])
		return nil
	}
	_, err := m.to.Write(text)
	return err
}

// end passes on what was held back.
func (m *marked) end() {
	_ = m.pass(m.held) // an error stopped the command
	m.held = nil
}
