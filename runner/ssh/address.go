package ssh

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Scheme is the prefix of a board's serial.
const Scheme = "ssh://"

// Is reports whether a serial is the address of a board.
func Is(serial string) bool { return strings.HasPrefix(serial, Scheme) }

// address matches valid addresses. User and port are optional, because ~/.ssh/config may have them.
const address = `^ssh://([A-Za-z0-9_][A-Za-z0-9_.+-]*@)?([A-Za-z0-9_][A-Za-z0-9_.-]*|\[[A-Za-z0-9:.%]+\])(:([0-9]+))?$`

// maxAddress is longer than any real address.
const maxAddress = 512

// Check returns an error for an invalid address of a board.
func Check(serial string) error {
	if Shown(serial) != serial {
		return fmt.Errorf("address %.80q contains a password, which would appear in logs; use an SSH key",
			Shown(serial))
	}
	found := regexp.MustCompile(address).FindStringSubmatch(serial)
	if found != nil && found[4] != "" {
		if n, err := strconv.ParseUint(found[4], 10, 16); err != nil || n == 0 {
			found = nil
		}
	}
	if found == nil || len(serial) > maxAddress {
		return fmt.Errorf("invalid ssh address %.80q; write ssh://HOST, ssh://USER@HOST or ssh://USER@HOST:PORT",
			serial)
	}
	return nil
}

// Shown returns a serial without its password, for messages.
func Shown(serial string) string {
	rest, ok := strings.CutPrefix(serial, Scheme)
	at := strings.LastIndexByte(rest, '@')
	if !ok || at < 0 {
		return serial
	}
	user, _, secret := strings.Cut(rest[:at], ":")
	if !secret {
		return serial
	}
	return Scheme + user + ":…" + rest[at:]
}
