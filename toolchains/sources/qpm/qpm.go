// Package qpm gets products through Qualcomm's own clients, qpm-cli and qsc-cli.
//
// It calls them without a terminal, with absolute paths, and with the license activated first. It trusts neither exit
// code 0 nor an empty folder. If a client fails, the error has the client's log and the known remedy. The clients keep
// the login: the package sees no password. It does not know what the products are.
package qpm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// Product is what to get.
type Product struct {
	Name    string `json:"name"` // as the client calls it: "hexagonsdk6.x", "Qualcomm_AI_Runtime_Community"
	Version string `json:"version"`
	Adds    []Add  `json:"adds,omitempty"` // of qpm: unpacked into folders of it
}

// Add is a product that is unpacked below another.
type Add struct {
	Name    string `hcl:"product,label" json:"name"`
	Version string `hcl:"version" json:"version"`
	Path    string `hcl:"path" json:"path"` // slash path in the product's folder
}

// Client calls Qualcomm's clients.
type Client struct {
	Search []string // folders with the programs
	Home   string   // the user's home, where the clients keep the login
	Env    []string // more variables for the programs, such as proxies
	Logs   []string // folders of the clients' logs; nil is the usual ones

	Progress func(text string) // receives each line that a client prints; may be nil
}

// Errors of the package wrap one of these.
var (
	ErrNoClient = errors.New("missing client")
	ErrRefused  = errors.New("account refused")
	ErrFailed   = errors.New("client failed")
)

// logFolders returns the folders in which the clients write their logs; "~" is the home.
func logFolders() []string {
	return []string{"/var/tmp/qcom/qik/logs", "/var/tmp/qcom/qpm3/logs", "/var/tmp/qcom/qsc/logs", "~/.qpm/logs",
		"~/.qsc/logs"}
}

// Install installs the product into dir with qpm-cli. dir must be an absolute path; the folder must be empty or missing.
func (c Client) Install(ctx context.Context, p Product, dir string) error {
	if err := absolute(dir); err != nil {
		return err
	}
	err := c.run(ctx, "qpm-cli", "", "--license-activate", p.Name)
	var e *Error
	if errors.As(err, &e) && strings.Contains(strings.ToLower(strings.Join(e.Said, " ")), "already") {
		err = nil // the license is active
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	install := []string{"--install", p.Name, "--version", p.Version, "--path", dir, "--silent"}
	if err := c.run(ctx, "qpm-cli", dir, install...); err != nil {
		return err
	}
	for _, a := range p.Adds {
		sub := filepath.Join(dir, filepath.FromSlash(a.Path))
		if !filepath.IsLocal(filepath.FromSlash(a.Path)) {
			return fmt.Errorf("the folder %q of %s leaves that of %s", a.Path, a.Name, p.Name)
		}
		if err := os.MkdirAll(sub, 0o755); err != nil {
			return err
		}
		extract := []string{"--extract", a.Name, "--version", a.Version, "--path", sub, "--silent"}
		if err := c.run(ctx, "qpm-cli", sub, extract...); err != nil {
			return err
		}
	}
	return nil
}

// Download downloads the product's archive into dir with qsc-cli, and returns the archive's path. dir must be an absolute
// path.
func (c Client) Download(ctx context.Context, p Product, dir string) (string, error) {
	if err := absolute(dir); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	args := []string{"sdk", "download", "--name", p.Name, "--required-version", p.Version, "--path", dir, "--force"}
	if err := c.run(ctx, "qsc-cli", dir, args...); err != nil {
		return "", err
	}
	var found []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && archiveRE.MatchString(name) {
			found = append(found, name)
		}
		return err
	})
	if err != nil {
		return "", err
	}
	if len(found) != 1 {
		return "", fmt.Errorf("%w: qsc-cli left %d archives in %s, want one: %s", ErrFailed, len(found), dir,
			strings.Join(found, ", "))
	}
	return found[0], nil
}

var archiveRE = lazyregexp.New(`(?i)\.(zip|tgz|tar\.[gx]z)$`)

// absolute rejects paths to which the clients answer "unexpected error".
func absolute(dir string) error {
	if !filepath.IsAbs(dir) || strings.ContainsAny(dir, "\n\x00") {
		return fmt.Errorf("%w: %q: the clients want an absolute path", ErrFailed, dir)
	}
	return nil
}

// find returns the program's absolute path.
func (c Client) find(name string) (string, error) {
	for _, dir := range c.Search {
		if !filepath.IsAbs(dir) {
			continue
		}
		if p, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return p, nil
		}
	}
	what := map[string]string{"qpm-cli": "the Qualcomm Package Manager", "qsc-cli": "the Qualcomm Software Center"}[name]
	return "", fmt.Errorf("%w: %s is not in PATH: install %s and log in with `%s`, or take the release from another "+
		"source (use = \"archive\" or \"installed\")", ErrNoClient, name, what, loginCommand(name))
}

func loginCommand(name string) string {
	if name == "qsc-cli" {
		return "qsc-cli login -u USER"
	}
	return "qpm-cli --login USER"
}

// run calls a client. It fails if the folder into, unless "", is empty afterwards.
func (c Client) run(ctx context.Context, name, into string, args ...string) error {
	program, err := c.find(name)
	if err != nil {
		return err
	}
	started := time.Now()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = "/" // a relative path in what they print would mean nothing
	cmd.Env = append([]string{"PATH=" + strings.Join(c.Search, string(os.PathListSeparator)), "HOME=" + c.Home,
		"LC_ALL=C.UTF-8"}, c.Env...)
	cmd.WaitDelay = 10 * time.Second
	out := &output{say: c.Progress, name: name}
	cmd.Stdout, cmd.Stderr = out, out
	err = cmd.Run()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	text := string(out.tail)
	if err == nil && !failed(text) && (into == "" || !empty(into)) {
		return nil
	}
	log, logged := c.log(started)
	e := &Error{Command: name + " " + strings.Join(args, " "), Said: lastLines(text), Log: log,
		LogSaid: errorLines(logged)}
	switch {
	case err != nil:
		e.How = err.Error()
	case failed(text):
		e.How = "exit code 0, but it prints an error"
	default:
		e.How = "exit code 0, but " + into + " is empty"
	}
	e.Remedy, e.kind = explain(name, text+"\n"+logged)
	return e
}

var failedRE = lazyregexp.New(`(?i)unexpected error|login failed|access denied|\[error\]|error:|401 unauthorized|` +
	`status code 401|not logged in|no such product|failed to `)

// failed tells whether a client printed a failure. Its exit code may be 0 then.
func failed(text string) bool { return failedRE.MatchString(text) }

func empty(dir string) bool {
	names, err := os.ReadDir(dir)
	return err != nil || len(names) == 0
}

const maxTail = 64 << 10 // bytes at the end of a client's output

// output keeps the end of the text that a client prints, and passes each line on.
type output struct {
	say  func(string)
	name string
	tail []byte
	line []byte
}

func (o *output) Write(b []byte) (int, error) {
	o.tail = append(o.tail, b...)
	o.tail = o.tail[max(0, len(o.tail)-maxTail):]
	o.line = append(o.line, b...)
	for i := bytes.IndexAny(o.line, "\r\n"); i >= 0; i = bytes.IndexAny(o.line, "\r\n") { // progress is one line
		if line := clean(string(o.line[:i])); line != "" && o.say != nil {
			o.say(o.name + ": " + line)
		}
		o.line = o.line[i+1:]
	}
	o.line = o.line[max(0, len(o.line)-maxTail):]
	return len(b), nil
}

const maxLine = 200

// clean makes text safe to show: one line, not long, nothing that a terminal obeys.
func clean(text string) string {
	text = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsPrint(r) && r != unicode.ReplacementChar:
			return r
		}
		return -1
	}, text)), " ")
	if r := []rune(text); len(r) > maxLine {
		return string(r[:maxLine]) + "…"
	}
	return text
}
