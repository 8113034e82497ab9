package qpm

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// Error is a failed call of a client.
type Error struct {
	Command string
	How     string   // "exit status 1"
	Said    []string // its last lines
	Log     string   // path of its log; "" when none was found
	LogSaid []string // the log's lines that speak of errors, or its last ones
	Remedy  string   // "" when nothing is known

	kind error
}

// Error says all of it, over several lines.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v: %s: %s", e.kind, e.Command, e.How)
	for _, l := range e.Said {
		b.WriteString("\n  it says: " + l)
	}
	if e.Log != "" {
		b.WriteString("\n  its log is " + e.Log)
		for _, l := range e.LogSaid {
			b.WriteString("\n  log: " + l)
		}
	}
	if e.Remedy != "" {
		b.WriteString("\n" + e.Remedy)
	}
	return b.String()
}

// Unwrap returns ErrFailed or ErrRefused.
func (e *Error) Unwrap() error { return e.kind }

// explain finds out from what was printed and logged what went wrong.
func (e *Error) explain(name, text string) {
	text = strings.ToLower(text)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(text, w) {
				return true
			}
		}
		return false
	}
	login := loginCommand(name)
	switch {
	case has("not logged in", "please login", "please log in", "session expired", "token expired", "username:"):
		e.kind = ErrRefused
		e.Remedy = "Nobody is logged in, or the login has expired: run `" + login + "` and try again."
	case has("login failed", "agreement"):
		e.kind = ErrRefused
		e.Remedy = "The vendor wants its agreements accepted again: do so at https://www.qualcomm.com/agreements with the account's browser login, run `" + login + "`, and try again."
	case deniedRE.MatchString(text), has("unauthorized", "403 forbidden", "access denied", "access is denied", "not entitled", "no entitlement"):
		e.kind = ErrRefused
		e.Remedy = "The vendor's server does not give this product to this account (401). Run `" + login + "` again; accept the agreements at https://www.qualcomm.com/agreements; " +
			"open the product's page in a browser to see whether the account may have it. Some accounts, private ones above all, never may: then take a release that needs no account (use = \"archive\"), " +
			"or a copy that somebody may give you (use = \"installed\", path = …)."
	case has("licen"):
		e.kind = ErrRefused
		e.Remedy = "The product's licence is not active: open its page in a browser, accept the licence, and try again; or say in the catalogue which licence is to be activated (activate = …)."
	case has("no such product", "product not found", "not found in the catalog", "invalid product", "version not found", "no matching version"):
		e.Remedy = "The vendor's client does not know the product or the version: `" + map[string]string{"qsc-cli": "qsc-cli sdk info", "qpm-cli": "qpm-cli --product-list"}[name] + "` shows what this account is offered."
	case has("no space left"):
		e.Remedy = "A disk is full: the clients need room for the package and for what is in it, also below /tmp and /var/tmp."
	case has("could not resolve", "name resolution", "connection refused", "timed out", "proxy"):
		e.Remedy = "The vendor's servers can't be reached: check the network and the proxy settings (HTTPS_PROXY)."
	case has("dpkg"):
		e.Remedy = "Another installation runs on this machine and holds its lock: wait for it, and try again."
	}
}

// found is a log and what it says.
type found struct {
	file string
	text []string
	all  string
}

const (
	maxLog      = 64 << 10 // bytes of a log that are read, the last ones
	maxLogFiles = 10_000
)

// pathRE finds paths of logs in what a client prints.
var pathRE = lazyregexp.New(`/[\w./+-]+\.(?:log|txt)\b|/[\w./+-]*logs?\b`)

var deniedRE = lazyregexp.New(`\b401\b`)

var errorRE = lazyregexp.New(`(?i)error|fail|exception|denied|unauthor|40[13]|refus|expired`)

// logs finds the log of a call that began at started: the newest file that was written since, in the folders of the
// client's logs or where it said they are.
func (c Client) logs(name string, started time.Time, said string) found {
	folders := c.Logs
	if folders == nil {
		folders = logFolders()
	}
	folders = append(append([]string(nil), pathRE.Get().FindAllString(said, 20)...), folders...)
	var newest string
	var when time.Time
	files := 0
	for _, f := range folders {
		if rest, ok := strings.CutPrefix(f, "~/"); ok {
			f = filepath.Join(c.Home, rest)
		}
		_ = filepath.WalkDir(f, func(p string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil // a log that can't be read is none
			}
			if files++; files > maxLogFiles {
				return fs.SkipAll
			}
			if info, err := d.Info(); err == nil && !info.ModTime().Before(started.Add(-time.Second)) && info.ModTime().After(when) {
				newest, when = p, info.ModTime()
			}
			return nil
		})
	}
	if newest == "" {
		return found{}
	}
	b := tail(newest)
	return found{file: newest, text: errorLines(string(b)), all: string(b)}
}

func tail(name string) []byte {
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	b := make([]byte, min(info.Size(), maxLog))
	n, _ := f.ReadAt(b, info.Size()-int64(len(b)))
	return bytes.ToValidUTF8(b[:n], nil)
}

// errorLines are the last lines that speak of errors, or the last lines.
func errorLines(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if errorRE.MatchString(line) {
			lines = append(lines, clean(line))
		}
	}
	if len(lines) == 0 {
		return lastLines(text, 5)
	}
	return lines[max(0, len(lines)-5):]
}

func lastLines(text string, n int) []string {
	var lines []string
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if line = clean(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines[max(0, len(lines)-n):]
}
