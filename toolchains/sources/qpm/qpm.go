// Package qpm downloads products with Qualcomm's own clients, qpm-cli and qsc-cli.
//
// The package calls the clients without a terminal and with absolute paths, and activates the license first. It treats
// exit code 0 with an error message or an empty folder as a failure. If a client fails, the error has the client's log
// and the known remedy. The clients keep the login, so the package sees no password. It does not know the products.
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

// Product identifies a Qualcomm product.
type Product struct {
	Name    string `json:"name"` // product name in the client: "hexagonsdk6.x", "Qualcomm_AI_Runtime_Community"
	Version string `json:"version"`
}

// Client runs Qualcomm's package managers.
type Client struct {
	Search []string // folders to search for the clients
	Home   string   // the user's home, with the clients' login
	Env    []string // more variables for the clients, such as proxies
	Logs   []string // folders of the clients' logs; nil: the default folders

	Progress func(text string) // receives each line that a client prints; may be nil
}

// Install installs the product with qpm-cli. The absolute path dir names a missing or empty folder.
func (c Client) Install(ctx context.Context, p Product, dir string) error {
	said, err := c.run(ctx, "qpm-cli", "", "--license-activate", p.Name)
	if err != nil && !strings.Contains(strings.ToLower(said), "already") { // "already": the license is active
		return err
	}
	_, err = c.run(ctx, "qpm-cli", dir, "--install", p.Name, "--version", p.Version, "--path", dir, "--silent")
	return err
}

// Download downloads the product's archive with qsc-cli into dir, an absolute path, and returns the archive's path.
func (c Client) Download(ctx context.Context, p Product, dir string) (string, error) {
	args := []string{"sdk", "download", "--name", p.Name, "--required-version", p.Version, "--path", dir, "--force"}
	if _, err := c.run(ctx, "qsc-cli", dir, args...); err != nil {
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
		return "", fmt.Errorf("qsc-cli left %d archives in %s, expected one: %s", len(found), dir,
			strings.Join(found, ", "))
	}
	return found[0], nil
}

var archiveRE = lazyregexp.New(`(?i)\.(zip|tgz|tar\.[gx]z)$`)

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
	label := map[string]string{"qpm-cli": "the Qualcomm Package Manager", "qsc-cli": "the Qualcomm Software " +
		"Center"}[name]
	return "", fmt.Errorf("%s is not in PATH. Install %s and run `%s`, or use another source (source = \"archive\" "+
		"or \"installed\")", name, label, loginCommand(name))
}

func loginCommand(name string) string {
	if name == "qsc-cli" {
		return "qsc-cli login -u USER"
	}
	return "qpm-cli --login USER"
}

// run calls a client and returns the end of its output. The folder into, unless "", is an absolute path; run creates
// it, and fails if it is empty afterwards.
func (c Client) run(ctx context.Context, name, into string, args ...string) (string, error) {
	program, err := c.find(name)
	if err != nil {
		return "", err
	}
	if into != "" {
		if !filepath.IsAbs(into) {
			return "", fmt.Errorf("path %q is not absolute; use an absolute path", into)
		}
		if err := os.MkdirAll(into, 0o755); err != nil {
			return "", err
		}
	}
	started := time.Now()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = "/" // relative paths in the output would be wrong
	cmd.Env = append([]string{"PATH=" + strings.Join(c.Search, string(os.PathListSeparator)), "HOME=" + c.Home,
		"LC_ALL=C.UTF-8"}, c.Env...)
	cmd.WaitDelay = 10 * time.Second
	out := &output{say: c.Progress, name: name}
	cmd.Stdout, cmd.Stderr = out, out
	err = cmd.Run()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	said := string(out.tail)
	switch {
	case err != nil:
	case failedRE.MatchString(said): // the exit code may be 0 then
		err = errors.New("the client reported an error, although its exit code is 0")
	case into != "" && empty(into):
		err = fmt.Errorf("the client wrote nothing into %s, although its exit code is 0", into)
	default:
		return said, nil
	}
	lines := []string{fmt.Sprintf("%s %s: %v", name, strings.Join(args, " "), err)}
	for _, l := range lastLines(said, false) {
		lines = append(lines, "  output: "+l)
	}
	log, logged := c.log(started)
	if log != "" {
		lines = append(lines, "  log file: "+log)
	}
	for _, l := range lastLines(logged, true) {
		lines = append(lines, "  log: "+l)
	}
	if remedy := explain(name, said+"\n"+logged); remedy != "" {
		lines = append(lines, remedy)
	}
	return said, errors.New(strings.Join(lines, "\n"))
}

var failedRE = lazyregexp.New(`(?i)unexpected error|login failed|access denied|\[error\]|error:|401 unauthorized|` +
	`status code 401|not logged in|no such product|failed to `)

func empty(dir string) bool {
	names, err := os.ReadDir(dir)
	return err != nil || len(names) == 0
}

const maxTail = 64 << 10 // bytes at the end of a client's output

// output keeps the end of a client's output, and passes each line on.
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

// clean returns a short, single line without control characters of terminals.
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
