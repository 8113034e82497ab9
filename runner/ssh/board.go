package ssh

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/hexmage/hexmage/runner/layout"
	"github.com/hexmage/hexmage/runner/link"
)

// folder is hexmage's folder on a board, in the user's home.
const folder = ".hexmage-device"

// Board is a link.Device that is reached over ssh.
type Board struct {
	*host
	folder layout.Folder
}

// Dial connects to the board whose address is the serial, "ssh://USER@HOST:PORT". ctx bounds that, and not what is done with the board.
func Dial(ctx context.Context, serial string, o Options) (*Board, error) {
	at, err := parse(serial)
	if err != nil {
		return nil, err
	}
	b := &Board{host: newHost(serial, at, o)}
	if b.folder, err = b.home(ctx); err != nil {
		_ = b.Close() // of what was not of use
		return nil, err
	}
	return b, nil
}

// Place implements link.Device.
func (b *Board) Place() link.Place { return link.Place{Serial: b.serial, Folder: b.folder} }

// home asks for the user's home folder, and with that whether commands come to a shell as they are, and answers back as they are.
func (b *Board) home(ctx context.Context) (layout.Folder, error) {
	const marker = "hexmage's home, \\\\ ! and \"$HOME\":\n"
	out, err := link.Output(ctx, b, "printf %s "+link.Quote(marker)+" && cd && pwd -P", nil)
	if exit, ok := errors.AsType[*link.ExitError](err); ok {
		return "", fmt.Errorf("%s: it runs no commands for this user, or there is no home folder (exit code %d): %s", b.serial, exit.Code, exit.Said)
	}
	if err != nil {
		return "", err
	}
	said, home, ok := strings.Cut(strings.TrimSuffix(out, "\n"), marker)
	switch {
	case !ok && strings.HasPrefix(out, "hexmage's home"):
		return "", fmt.Errorf("%s: the shell of user %s does not read quotes as a POSIX shell does: give the user such a one, with chsh -s /bin/sh", b.serial, b.at.user)
	case said != "" || !ok:
		return "", fmt.Errorf("%s: its shell prints %.80q before what a command prints: have it print nothing when it is not interactive (see ~/.bashrc there)", b.serial, said)
	case !path.IsAbs(home) || strings.Trim(home, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+-/") != "":
		return "", fmt.Errorf("%s: its home folder is %.80q: hexmage needs one of letters, digits and ._+-/", b.serial, home)
	}
	return layout.Folder(path.Join(home, folder)), nil
}
