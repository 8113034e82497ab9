package deb

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// updateTime is the timeout of apt-get update, which may otherwise wait forever. It allows for slow links.
const updateTime = 15 * time.Minute

// apt calls apt-get with the system's package lists, or with our own.
type apt struct {
	path    string
	system  string // configuration file for the system's lists; "" if unused
	private string // configuration file for our own lists
	fresh   bool   // our own lists were updated in this run
	away    string // apt-get's last message about a server that it did not reach
}

func (c *Client) apt(ctx context.Context) (*apt, error) {
	if !archRE.MatchString(c.Architecture) {
		return nil, fmt.Errorf("invalid architecture %q; use a Debian name, such as arm64", c.Architecture)
	}
	if !archRE.MatchString(c.Suite) {
		return nil, fmt.Errorf("invalid suite %q; use a Debian name, such as bookworm", c.Suite)
	}
	path, err := exec.LookPath(cmp.Or(c.AptGet, "apt-get"))
	if err != nil {
		return nil, fmt.Errorf("%w (%v). On a system other than Debian or Ubuntu, install the tool and write `source "+
			"= \"installed\"` in its toolchain block", ErrNoClient, err)
	}
	a := &apt{path: path}
	if a.private, err = c.configure("apt.conf", true); err != nil {
		return nil, err
	}
	if c.Suite != "" {
		if err := c.only(ctx, a); err != nil {
			return nil, err
		}
	}
	if c.System && c.Architecture == "" && c.Suite == "" {
		if a.system, err = c.configure("system.conf", false); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// configure writes a configuration file that makes apt write only to our own folder.
func (c *Client) configure(name string, ownLists bool) (string, error) {
	dir, err := filepath.Abs(c.lists())
	if err != nil {
		return "", err
	}
	cache := "cache"
	if ownLists {
		cache = "cache-own"
	}
	for _, d := range []string{"lists/partial", cache + "/archives/partial", "state"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			return "", err
		}
	}
	status := filepath.Join(dir, "state", "status")
	if err := os.WriteFile(status, nil, 0o644); err != nil {
		return "", err
	}
	q := func(s string) string { return `"` + strings.ReplaceAll(s, `"`, "") + `"` }
	var b strings.Builder
	// The system's hooks (clean-ups, software catalogs) are for the system's own updates.
	b.WriteString("#clear APT::Update::Post-Invoke;\n#clear APT::Update::Post-Invoke-Success;\n" +
		"#clear APT::Update::Pre-Invoke;\n")
	b.WriteString("APT::Sandbox::User \"root\";\n") // apt keeps the caller's user, who owns the folder
	b.WriteString("Acquire::AllowInsecureRepositories \"false\";\nAPT::Get::AllowUnauthenticated \"false\";\n")
	b.WriteString("Acquire::Retries \"3\";\nAcquire::Languages \"none\";\n")
	for _, target := range []string{"DEP-11", "DEP-11-icons", "DEP-11-icons-small", "DEP-11-icons-hidpi",
		"DEP-11-icons-large", "Contents-deb"} {
		fmt.Fprintf(&b, "Acquire::IndexTargets::deb::%s::DefaultEnabled \"false\";\n", target)
	}
	if c.Architecture != "" {
		fmt.Fprintf(&b, "APT::Architecture %s;\nAPT::Architectures { %s; };\n", q(c.Architecture), q(c.Architecture))
	}
	if ownLists {
		fmt.Fprintf(&b, "Dir::State %s;\nDir::State::lists %s;\n", q(filepath.Join(dir, "state")),
			q(filepath.Join(dir, "lists")))
	}
	fmt.Fprintf(&b, "Dir::State::status %s;\nDir::Cache %s;\n", q(status), q(filepath.Join(dir, cache)))
	conf := filepath.Join(dir, name)
	return conf, os.WriteFile(conf, []byte(b.String()), 0o644)
}

// keyring is the file of Debian's package debian-archive-keyring: the keys of all supported releases.
const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"

// only restricts our own lists to the suite, on the server from which this machine has its distribution.
func (c *Client) only(ctx context.Context, a *apt) error {
	// With release information, apt-get leaves out suites without lists, and our own folder has no lists yet.
	out, err := a.run(ctx, a.private, c.Dir, "indextargets", "--no-release-info",
		"--format", "$(COMPONENT) $(RELEASE) $(REPO_URI)", "Created-By: Packages")
	if err != nil {
		return fmt.Errorf("cannot find the package server of this machine: %w", err)
	}
	var server, fixes string
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) != 3 || f[0] != "main" {
			continue
		}
		// Updates are on the server of the release itself; security fixes and other publishers are not.
		if strings.HasSuffix(f[1], "-security") {
			fixes = f[2]
		}
		if strings.HasSuffix(f[1], "-updates") || server == "" && !strings.Contains(f[1], "-") {
			server = f[2]
		}
	}
	if server == "" {
		return fmt.Errorf("suite %s: %w; add a server of the distribution to /etc/apt/sources.list",
			c.Suite, ErrNoPackage)
	}
	signed := ""
	if _, err := os.Stat(keyring); err == nil {
		signed = "[signed-by=" + keyring + "] "
	}
	dir, err := filepath.Abs(c.lists())
	if err != nil {
		return err
	}
	list := filepath.Join(dir, "sources.list")
	parts := []string{server + " " + c.Suite}
	if !strings.Contains(c.Suite, "-") { // a release, not its backports
		parts = append(parts, server+" "+c.Suite+"-updates")
		if fixes != "" {
			parts = append(parts, fixes+" "+c.Suite+"-security")
		}
	}
	text := ""
	for _, p := range parts {
		text += "deb " + signed + p + " main\n"
	}
	if err := os.WriteFile(list, []byte(text), 0o644); err != nil {
		return err
	}
	conf, err := os.OpenFile(a.private, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(conf, "Dir::Etc::sourcelist %q;\nDir::Etc::sourceparts \"-\";\n", list)
	return errors.Join(err, conf.Close())
}

// run calls apt-get and returns its standard output.
func (a *apt) run(ctx context.Context, conf, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, a.path, append([]string{"-q", "-c", conf}, args...)...)
	cmd.Dir = dir
	ours := func(kv string) bool { return strings.HasPrefix(kv, "HEXMAGE_") }
	cmd.Env = append(slices.DeleteFunc(cmd.Environ(), ours), "LC_ALL=C", "LANG=C")
	cmd.WaitDelay = 5 * time.Second
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if said := awayRE.FindString(errOut.String()); said != "" { // apt-get goes on with old lists
		a.away = said
	}
	if err != nil {
		return "", fmt.Errorf("apt-get %s: %w: %s", args[0], err, tail(errOut.String()))
	}
	return out.String(), nil
}

// outOfReach marks an error as one of the network if apt-get did not reach a server, because that may be the cause.
func (a *apt) outOfReach(ctx context.Context, err error) error {
	if err == nil || a.away == "" || ctx.Err() != nil {
		return err
	}
	return fetch.OutOfReach(fmt.Errorf("%w (a package server does not answer: %s)", err, a.away))
}

// awayRE matches apt-get's messages about a server that does not answer.
var awayRE = lazyregexp.New(`(?i)(?:temporary failure resolving|could not (?:resolve|connect to)|unable to connect to|` +
	`connection (?:timed out|refused|failed)|network is unreachable|\s50[0-9]\s\s+[a-z])[^\n]*`)

// tail returns the error lines of apt-get's output, or its last lines.
func tail(s string) string {
	var lines []string
	for line := range strings.Lines(s) {
		if strings.HasPrefix(line, "E:") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	if len(lines) == 0 {
		lines = strings.Split(strings.TrimSpace(s), "\n")
	}
	return strings.Join(lines[max(0, len(lines)-5):], "; ")
}

// update makes our own package lists current, once a run.
func (c *Client) update(ctx context.Context, a *apt) error {
	if a.fresh {
		return nil
	}
	c.progress(0, 0, "package lists")
	ctx, cancel := context.WithTimeoutCause(ctx, updateTime, fmt.Errorf("apt-get update did not finish within %s; "+
		"check the network, the free disk space and /etc/apt/sources.list", updateTime))
	defer cancel()
	if _, err := a.run(ctx, a.private, c.Dir, "update"); err != nil {
		err = fmt.Errorf("cannot update the package lists: %w", err)
		if c.Suite != "" {
			err = fmt.Errorf("%w. If the package server has no suite %s, install the tool and write `source = "+
				"\"installed\"` in its toolchain block", err, c.Suite)
		}
		return err
	}
	a.fresh = true
	return nil
}

// resolve finds the packages in the system's lists if they have all of them, else in our own lists. It updates our own
// lists if necessary.
func (c *Client) resolve(ctx context.Context, a *apt, want []Package) ([]listed, error) {
	if a.system != "" && !a.fresh {
		if ps, err := c.ask(ctx, a, a.system, want); err == nil {
			return ps, nil
		}
	}
	if ps, err := c.ask(ctx, a, a.private, want); err == nil {
		return ps, nil
	} else if a.fresh {
		return nil, err
	}
	if err := c.update(ctx, a); err != nil {
		return nil, err
	}
	return c.ask(ctx, a, a.private, want)
}

func (c *Client) ask(ctx context.Context, a *apt, conf string, want []Package) ([]listed, error) {
	out, err := a.run(ctx, conf, c.Dir, append([]string{"download", "--print-uris"}, arguments(want)...)...)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%w: %v", ErrNoPackage, err)
	}
	all, err := parseURIs(out)
	if err != nil {
		return nil, err
	}
	ps := make([]listed, len(want))
	for i, w := range want {
		at := slices.IndexFunc(all, func(p listed) bool { return p.Name == w.Name })
		if at < 0 {
			return nil, fmt.Errorf("%w: %s", ErrNoPackage, w.Name)
		}
		ps[i] = all[at]
		if w.Version != "" && ps[i].Version != w.Version {
			return nil, fmt.Errorf("%w: %s in version %s. Available version: %s",
				ErrNoPackage, w.Name, w.Version, ps[i].Version)
		}
	}
	return ps, nil
}

func arguments(ps []Package) []string {
	var args []string
	for _, p := range ps {
		if p.Version != "" {
			args = append(args, p.Name+"="+p.Version)
		} else {
			args = append(args, p.Name)
		}
	}
	return args
}

// lists returns the folder for the files of apt.
func (c *Client) lists() string {
	name := "apt"
	for _, s := range []string{c.Architecture, c.Suite} {
		if s != "" {
			name += "-" + s
		}
	}
	return filepath.Join(c.Dir, name)
}

func (c *Client) progress(done, total int64, what string) {
	if c.Progress != nil {
		c.Progress(done, total, what)
	}
}
