package qpm

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// explain returns the remedy and the kind of a failure, by the text of a client and its log.
func explain(name, text string) (remedy string, kind error) {
	login := loginCommand(name)
	list := map[string]string{"qsc-cli": "qsc-cli sdk info", "qpm-cli": "qpm-cli --product-list"}[name]
	for _, cause := range []struct {
		pattern string
		kind    error
		remedy  string
	}{
		{`not logged in|please log ?in|session expired|token expired|username:`, ErrRefused,
			"The client has no valid login: run `" + login + "` and try again."},
		{`login failed|agreement`, ErrRefused, "Accept Qualcomm's agreements again at " + agreements +
			" with the account's browser login, run `" + login + "`, and try again."},
		{`\b401\b|unauthorized|403 forbidden|access (is )?denied|not entitled|no entitlement`, ErrRefused,
			"Qualcomm's server does not give this product to this account (401). Run `" + login + "` again; accept the " +
				"agreements at " + agreements + "; open the product's page in a browser to see whether the account may " +
				"have it. Some accounts never may: then take a release that needs no account (use = \"archive\"), or a " +
				"copy (use = \"installed\", path = …)."},
		{`licen`, ErrRefused, "The product's license is not active: open its page in a browser, accept the license, and try " +
			"again."},
		{`no such product|(product|version) not found|not found in the catalog|invalid product|no matching version`,
			ErrFailed, "The client does not know the product or the version: `" + list + "` lists the account's products."},
		{`no space left`, ErrFailed, "A disk is full: the clients need room for the package and its content, also below " +
			"/tmp and /var/tmp."},
		{`could not resolve|name resolution|connection refused|timed out|proxy`, ErrFailed,
			"Qualcomm's servers do not answer: check the network and the proxy settings (HTTPS_PROXY)."},
	} {
		if regexp.MustCompile(`(?i)` + cause.pattern).MatchString(text) {
			return cause.remedy, cause.kind
		}
	}
	return "", ErrFailed
}

const (
	agreements  = "https://www.qualcomm.com/agreements"
	maxLog      = 64 << 10 // bytes at the end of a log
	maxLogFiles = 10_000
	maxShown    = 5 // lines
)

// log returns the newest log file written since started, and the end of its text.
func (c Client) log(started time.Time) (newest, text string) {
	folders := c.Logs
	if folders == nil {
		folders = logFolders()
	}
	when := started.Add(-time.Second)
	files := 0
	for _, f := range folders {
		if rest, ok := strings.CutPrefix(f, "~/"); ok {
			f = filepath.Join(c.Home, rest)
		}
		_ = filepath.WalkDir(f, func(p string, d fs.DirEntry, err error) error {
			if files++; files > maxLogFiles {
				return fs.SkipAll
			}
			if err != nil || !d.Type().IsRegular() {
				return nil
			}
			if info, err := d.Info(); err == nil && !info.ModTime().Before(when) {
				newest, when = p, info.ModTime()
			}
			return nil
		})
	}
	f, err := os.Open(newest)
	if err != nil {
		return "", ""
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil {
		_, _ = f.Seek(max(0, info.Size()-maxLog), io.SeekStart)
	}
	b, _ := io.ReadAll(io.LimitReader(f, maxLog))
	return newest, strings.ToValidUTF8(string(b), "")
}

var errorRE = lazyregexp.New(`(?i)error|fail|exception|denied|unauthor|40[13]|refus|expired`)

// errorLines returns the last lines about errors, else the last lines.
func errorLines(text string) []string {
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return !errorRE.MatchString(line) })
	if len(lines) == 0 {
		return lastLines(text)
	}
	return lastLines(strings.Join(lines, "\n"))
}

func lastLines(text string) []string {
	var lines []string
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if line = clean(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines[max(0, len(lines)-maxShown):]
}
