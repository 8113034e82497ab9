// Package qpm gets products through the vendor's own clients, qpm-cli and qsc-cli.
//
// It calls them so that they work without a person: always with absolute paths, without a terminal, with the licence
// activated first; it believes neither an exit code of zero nor an empty folder; and where they fail it finds their log and
// says what is known to help. Who is logged in is the clients' business: the package asks for no password and sees none. It
// does not know what the products are, nor whether they are the right ones: that is verified afterwards.
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
	"sync"
	"time"
	"unicode"
)

// Product is what to get.
type Product struct {
	Name    string `json:"name"` // as the client calls it: "hexagonsdk6.x", "Qualcomm_AI_Runtime_Community"
	Version string `json:"version"`

	Licence string `json:"licence,omitempty"` // of qpm: what to activate before; "" is Name, "-" nothing
	Extract bool   `json:"extract,omitempty"` // of qpm: unpack it, rather than install it
	Adds    []Add  `json:"adds,omitempty"`    // of qpm: unpacked into folders of it
}

// Add is a product that is unpacked below another.
type Add struct {
	Name    string `hcl:"product,label" json:"name"`
	Version string `hcl:"version" json:"version"`
	Path    string `hcl:"path" json:"path"` // slash path in the product's folder
}

// Client calls the vendor's clients.
type Client struct {
	Search []string // folders in which the programs are looked for
	Home   string   // the user's, where the clients keep who is logged in
	Env    []string // of the programs, beside PATH and HOME; such as proxies
	Logs   []string // folders of the clients' logs; nil is where they are known to be

	Progress func(text string) // told what the client says; may be nil
}

// Errors of the package wrap one of these.
var (
	ErrNoClient = errors.New("the vendor's client is not there")
	ErrRefused  = errors.New("the vendor refuses the account")
	ErrFailed   = errors.New("the vendor's client failed")
)

// logFolders are where the clients write their logs; "~" is the home.
func logFolders() []string {
	return []string{"/var/tmp/qcom/qik/logs", "/var/tmp/qcom/qpm3/logs", "/var/tmp/qcom/qsc/logs", "~/.qpm/logs", "~/.qsc/logs"}
}

// Install makes dir, which must be an absolute path of a folder that is empty or not there, the product: with qpm-cli.
func (c Client) Install(ctx context.Context, p Product, dir string) error {
	if err := absolute(dir); err != nil {
		return err
	}
	licence := p.Licence
	if licence == "" {
		licence = p.Name
	}
	if licence != "-" {
		_, err := c.run(ctx, "qpm-cli", "", "--license-activate", licence)
		var e *Error
		if errors.As(err, &e) && strings.Contains(strings.ToLower(strings.Join(e.Said, " ")), "already") {
			err = nil // it is active
		}
		if err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	verb := "--install"
	if p.Extract {
		verb = "--extract"
	}
	if _, err := c.run(ctx, "qpm-cli", dir, verb, p.Name, "--version", p.Version, "--path", dir, "--silent"); err != nil {
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
		if _, err := c.run(ctx, "qpm-cli", sub, "--extract", a.Name, "--version", a.Version, "--path", sub, "--silent"); err != nil {
			return err
		}
	}
	return nil
}

// Download makes the client qsc-cli put the product's archive into dir, which must be an absolute path, and returns the
// archive's path.
func (c Client) Download(ctx context.Context, p Product, dir string) (string, error) {
	if err := absolute(dir); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if _, err := c.run(ctx, "qsc-cli", dir, "sdk", "download", "--name", p.Name, "--required-version", p.Version, "--path", dir, "--force"); err != nil {
		return "", err
	}
	var found []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			for _, suffix := range []string{".zip", ".tar.gz", ".tar.xz", ".tgz"} {
				if strings.HasSuffix(strings.ToLower(name), suffix) {
					found = append(found, name)
				}
			}
		}
		return err
	})
	if err != nil {
		return "", err
	}
	if len(found) != 1 {
		return "", fmt.Errorf("%w: qsc-cli left %d archives in %s, expected is one: %s", ErrFailed, len(found), dir, strings.Join(found, ", "))
	}
	return found[0], nil
}

// Offered asks a client, "qpm-cli" or "qsc-cli", which products it offers to the account that is logged in. That is how the vendor has
// people see whether they are: an error wraps ErrRefused when nobody is, ErrNoClient when there is no client.
func (c Client) Offered(ctx context.Context, name string) ([]string, error) {
	said, err := c.run(ctx, name, "", map[string][]string{"qpm-cli": {"--product-list"}, "qsc-cli": {"sdk", "info"}}[name]...)
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(said) { // among "---- List of products ----" and "[Info]: …"
		if line = clean(line); line != "" && !strings.ContainsAny(line, " [:") {
			names = append(names, line)
		}
	}
	if len(names) == 0 {
		e := &Error{Command: name, How: "it lists no product", Said: lastLines(said, 5), kind: ErrFailed}
		e.explain(name, said)
		return nil, e
	}
	return names, nil
}

// Refused says why the vendor refused the last call of a client, by the newest log on this machine: nil when it did not, or nothing is known.
func (c Client) Refused(name string) *Error {
	logs := c.logs(name, time.Time{}, "")
	e := &Error{Command: name, How: "its last call", Log: logs.file, LogSaid: logs.text, kind: ErrFailed}
	if e.explain(name, logs.all); !errors.Is(e, ErrRefused) {
		return nil
	}
	return e
}

// absolute refuses what the clients answer with "unexpected error".
func absolute(dir string) error {
	if !filepath.IsAbs(dir) || strings.ContainsAny(dir, "\n\x00") {
		return fmt.Errorf("%w: %q is no absolute path, and the clients take no other", ErrFailed, dir)
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
	return "", fmt.Errorf("%w: %s is not in PATH: install %s and log in with `%s`, or take the release from another source (use = \"archive\" or \"installed\")",
		ErrNoClient, name, what, loginCommand(name))
}

func loginCommand(name string) string {
	if name == "qsc-cli" {
		return "qsc-cli login -u USER"
	}
	return "qpm-cli --login USER"
}

// run calls a client, and returns the end of what it prints. After it the folder into, if given, must hold something.
func (c Client) run(ctx context.Context, name, into string, args ...string) (string, error) {
	program, err := c.find(name)
	if err != nil {
		return "", err
	}
	started := time.Now()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = "/" // a relative path in what they print would mean nothing
	cmd.Env = append([]string{"PATH=" + strings.Join(c.Search, string(os.PathListSeparator)), "HOME=" + c.Home, "LC_ALL=C.UTF-8"}, c.Env...)
	cmd.WaitDelay = 10 * time.Second
	out := &output{say: c.Progress, name: name}
	cmd.Stdout, cmd.Stderr = out, out
	err = cmd.Run()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	text := out.text()
	if err == nil && !failed(text) && (into == "" || !empty(into)) {
		return text, nil
	}
	logs := c.logs(name, started, text)
	e := &Error{Command: name + " " + strings.Join(args, " "), Said: lastLines(text, 5), Log: logs.file, LogSaid: logs.text, kind: ErrFailed}
	switch {
	case err != nil:
		e.How = err.Error()
	case failed(text):
		e.How = "exit code 0, but it speaks of an error"
	default:
		e.How = "exit code 0, but " + into + " is empty"
	}
	e.explain(name, text+"\n"+logs.all)
	return "", e
}

// failed tells whether what a client printed speaks of a failure: their exit code does not always.
func failed(text string) bool {
	text = strings.ToLower(text)
	for _, s := range []string{"unexpected error", "login failed", "access denied", "[error]", "error:", "401 unauthorized", "status code 401", "not logged in", "no such product", "failed to "} {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}

func empty(dir string) bool {
	names, err := os.ReadDir(dir)
	return err != nil || len(names) == 0
}

const maxTail = 64 << 10 // bytes of what a client prints, the last ones

// output keeps the end of what a client prints, and tells each line.
type output struct {
	mu   sync.Mutex
	say  func(string)
	name string
	tail []byte
	line []byte
}

// Write never fails.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tail = append(o.tail, b...)
	if over := len(o.tail) - maxTail; over > 0 {
		o.tail = o.tail[over:]
	}
	o.line = append(o.line, b...)
	for {
		i := bytes.IndexAny(o.line, "\r\n") // they draw progress on one line
		if i < 0 {
			break
		}
		if line := clean(string(o.line[:i])); line != "" && o.say != nil {
			o.say(o.name + ": " + line)
		}
		o.line = o.line[i+1:]
	}
	if len(o.line) > 4096 {
		o.line = nil
	}
	return len(b), nil
}

func (o *output) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.tail)
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
