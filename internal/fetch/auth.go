package fetch

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
)

// Login is a secret HTTP header for one host. The client sends it only to this host, and only over https or to this
// machine. After a redirect to another host, the client does not send it.
type Login struct {
	Host   string // "example.com" (any port) or "example.com:8443"; "": the hosts of the source's addresses
	Header string // "Authorization"
	Value  string
}

// transport adds logins to requests, and reads files of this machine.
type transport struct {
	http.RoundTripper
	logins []Login
	own    map[string]bool // host:port of the source's addresses: other hosts get no login
}

func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme == "file" {
		resp, err := http.NewFileTransport(http.Dir("/")).RoundTrip(req)
		resp.Request = req
		resp.ContentLength, _ = strconv.ParseInt(resp.Header.Get("Content-Length"), 10, 64)
		return resp, err
	}
	if !t.own[hostPort(req.URL)] || !Private(req.URL) {
		return t.RoundTripper.RoundTrip(req)
	}
	req = req.Clone(req.Context())
	for _, l := range t.logins {
		if l.Host != "" && !strings.EqualFold(l.Host, req.URL.Hostname()) &&
			!strings.EqualFold(l.Host, req.URL.Host) && !strings.EqualFold(l.Host, hostPort(req.URL)) {
			continue
		}
		if req.Header.Get(l.Header) == "" { // the first login wins
			req.Header.Set(l.Header, l.Value)
		}
	}
	return t.RoundTripper.RoundTrip(req)
}

// CloseIdleConnections implements an optional interface of http.Client.
func (t *transport) CloseIdleConnections() {
	if c, ok := t.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return strings.ToLower(u.Hostname()) + ":" + port
}

// Private reports whether requests to the URL are encrypted or do not leave this machine.
func Private(u *url.URL) bool {
	if u.Scheme == "https" {
		return true
	}
	ip := net.ParseIP(u.Hostname())
	return ip != nil && ip.IsLoopback() || u.Hostname() == "localhost"
}

// scrub removes secrets from a server's text.
func scrub(text string, logins []Login) string {
	for _, l := range logins {
		secrets := []string{l.Value, strings.TrimPrefix(strings.TrimPrefix(l.Value, "Bearer "), "Basic ")}
		if b, err := base64.StdEncoding.DecodeString(secrets[1]); err == nil {
			user, password, _ := strings.Cut(string(b), ":")
			if secrets = append(secrets, password); password == "" { // a token, perhaps
				secrets = append(secrets, user)
			}
		}
		for _, secret := range secrets {
			if len(secret) >= 4 {
				text = strings.ReplaceAll(text, secret, "(sensitive)")
			}
		}
	}
	return text
}

const (
	maxNetrc      = 1 << 20
	maxNetrcWords = 10_000
)

// Netrc parses a .netrc file as curl and git do. It ignores macros. It also ignores the entry "default", which would
// send a password to every host.
func Netrc(r io.Reader) ([]Login, error) {
	var logins []Login
	var host, user, password string
	end := func() {
		if host != "" && (user != "" || password != "") {
			logins = append(logins, BasicLogin(host, user, password))
		}
		host, user, password = "", "", ""
	}
	lines := bufio.NewScanner(io.LimitReader(r, maxNetrc))
	lines.Buffer(nil, maxNetrc)
	var want *string
	macro := false
	for n := 0; lines.Scan(); {
		line := lines.Text()
		if macro {
			macro = strings.TrimSpace(line) != ""
			continue
		}
		for _, word := range strings.Fields(line) {
			if n++; n > maxNetrcWords {
				return nil, fmt.Errorf("netrc: more than %d words", maxNetrcWords)
			}
			if want != nil {
				*want = strings.Trim(word, `"`)
				want = nil
				continue
			}
			if strings.HasPrefix(word, "#") {
				break
			}
			var ignored string
			switch word {
			case "machine":
				end()
				want = &host
			case "default":
				end()
			case "login":
				want = &user
			case "password":
				want = &password
			case "account":
				want = &ignored
			case "macdef":
				macro = true
			default:
				return nil,
					errors.New("netrc: unknown keyword; use machine, default, login, password, account or macdef")
			}
			if macro {
				break
			}
		}
	}
	end()
	return logins, lines.Err()
}

// NetrcFile parses the named .netrc file. It returns no logins if the file is missing or name is "".
func NetrcFile(name string) ([]Login, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	logins, err := Netrc(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return logins, nil
}

// Basic returns the user and password for a host, from the first login that has both a user and a password.
func Basic(logins []Login, host string) (user, password string, ok bool) {
	for _, l := range logins {
		code, basic := strings.CutPrefix(l.Value, "Basic ")
		if !basic || !strings.EqualFold(l.Header, "Authorization") || !strings.EqualFold(l.Host, host) {
			continue
		}
		b, err := base64.StdEncoding.DecodeString(code)
		if err != nil {
			continue
		}
		user, password, ok = strings.Cut(string(b), ":")
		return user, password, ok
	}
	return "", "", false
}

// AddressLogin returns a login that is valid only for the host and port of the URL.
func AddressLogin(u *url.URL, user, password string) Login {
	return BasicLogin(hostPort(u), user, password)
}

// BasicLogin returns a login that sends a user and a password to a host.
func BasicLogin(host, user, password string) Login {
	return Login{Host: host, Header: "Authorization",
		Value: "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))}
}
