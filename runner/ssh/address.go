package ssh

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// Scheme is how the serial of a board begins.
const Scheme = "ssh://"

// Is tells whether a serial is the address of a board.
func Is(serial string) bool { return strings.HasPrefix(serial, Scheme) }

// address is where a board listens, and as whom it is asked.
type address struct{ user, host, port string }

// maxAddress is longer than any address.
const maxAddress = 512

// Check says what is wrong with the address of a board.
func Check(serial string) error {
	_, err := parse(serial)
	return err
}

// parse reads "ssh://USER@HOST" or "ssh://USER@HOST:PORT".
func parse(serial string) (address, error) {
	wrong := func(why string) (address, error) {
		return address{}, fmt.Errorf("%.80q is no ssh address: %s; want ssh://USER@HOST or ssh://USER@HOST:PORT", Shown(serial), why)
	}
	if !Is(serial) || len(serial) > maxAddress || strings.ContainsFunc(serial, unprintable) {
		return wrong("it is not of that form")
	}
	if Shown(serial) != serial {
		return wrong("it has a password, which would be in logs: use a key")
	}
	u, err := url.Parse(serial)
	switch {
	case err != nil:
		return wrong("it cannot be read")
	case u.User == nil || u.User.Username() == "":
		return wrong("it does not say as which user")
	case strings.HasPrefix(u.User.Username(), "-") || strings.ContainsAny(u.User.Username(), "/:@") || strings.ContainsFunc(u.User.Username(), unprintable):
		return wrong("its user is none")
	case u.Hostname() == "" || strings.HasPrefix(u.Hostname(), "-") || strings.ContainsAny(u.Hostname(), "/@,*?!|") || strings.ContainsFunc(u.Hostname(), unprintable):
		return wrong("it names no host")
	case u.Path != "" || u.RawQuery != "" || u.Fragment != "":
		return wrong("something follows the host")
	}
	a := address{u.User.Username(), strings.ToLower(u.Hostname()), u.Port()} // as ssh writes it into its list of known hosts
	if a.port == "" {
		a.port = "22"
	}
	if n, err := strconv.ParseUint(a.port, 10, 16); err != nil || n == 0 {
		return wrong("its port is none")
	}
	return a, nil
}

// Shown is a serial as people may see it: of a board's address, without what may be a password.
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

func unprintable(r rune) bool { return r <= ' ' || r > '~' }

// dial is what package net and lists of known hosts call it.
func (a address) dial() string { return net.JoinHostPort(a.host, a.port) }
