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

// updateTime is long enough for the lists over a slow line; apt-get itself may wait for ever.
const updateTime = 15 * time.Minute

// apt is one way of calling the client: with the system's package lists, or with lists of our own.
type apt struct {
	path    string
	system  string // configuration file for use with the system's lists; "" when they are not to be used
	private string // configuration file for use with our own
	fresh   bool   // our own lists were updated in this run
	away    string // what the client said last of a server that it did not reach
}

func (c *Client) apt(ctx context.Context) (*apt, error) {
	name := c.AptGet
	if name == "" {
		name = "apt-get"
	}
	if !archRE.MatchString(c.Architecture) {
		return nil, fmt.Errorf("%q is not what Debian calls an architecture", c.Architecture)
	}
	if !archRE.MatchString(c.Suite) {
		return nil, fmt.Errorf("%q is not what Debian calls a suite", c.Suite)
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return nil, fmt.Errorf("%w (%v): packages come from Debian or Ubuntu; on another system install the tool yourself and write `use = \"installed\"` in its toolchain block",
			ErrNoClient, err)
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

// configure writes a configuration file that keeps all that apt writes in our own folder.
func (c *Client) configure(name string, ownLists bool) (string, error) {
	dir, err := filepath.Abs(c.lists())
	if err != nil {
		return "", err
	}
	for _, d := range []string{"lists/partial", "cache/archives/partial", "state"} {
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
	// The system's hooks (clean-ups, software catalogues) are for the system's own updates.
	b.WriteString("#clear APT::Update::Post-Invoke;\n#clear APT::Update::Post-Invoke-Success;\n#clear APT::Update::Pre-Invoke;\n")
	b.WriteString("APT::Sandbox::User \"root\";\n") // no change of user: the folder is the caller's
	b.WriteString("Acquire::AllowInsecureRepositories \"false\";\nAPT::Get::AllowUnauthenticated \"false\";\n")
	b.WriteString("Acquire::Retries \"3\";\nAcquire::Languages \"none\";\n")
	for _, target := range []string{"DEP-11", "DEP-11-icons", "DEP-11-icons-small", "DEP-11-icons-hidpi", "DEP-11-icons-large", "Contents-deb"} {
		fmt.Fprintf(&b, "Acquire::IndexTargets::deb::%s::DefaultEnabled \"false\";\n", target)
	}
	if c.Architecture != "" {
		fmt.Fprintf(&b, "APT::Architecture %s;\nAPT::Architectures { %s; };\n", q(c.Architecture), q(c.Architecture))
	}
	cache := "cache"
	if ownLists {
		fmt.Fprintf(&b, "Dir::State %s;\nDir::State::lists %s;\n", q(filepath.Join(dir, "state")), q(filepath.Join(dir, "lists")))
		cache = "cache-own"
		if err := os.MkdirAll(filepath.Join(dir, cache, "archives", "partial"), 0o755); err != nil {
			return "", err
		}
	}
	fmt.Fprintf(&b, "Dir::State::status %s;\nDir::Cache %s;\n", q(status), q(filepath.Join(dir, cache)))
	conf := filepath.Join(dir, name)
	return conf, os.WriteFile(conf, []byte(b.String()), 0o644)
}

// keyring has the keys of all releases of Debian that are not over, where its package is installed.
const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"

// only makes our own lists those of the suite, from the server from which this machine has the distribution.
func (c *Client) only(ctx context.Context, a *apt) error {
	// Without what releases say of themselves: of suites whose lists are not there, as in ours, nothing would be said.
	out, err := a.run(ctx, a.private, c.Dir, "indextargets", "--no-release-info", "--format", "$(COMPONENT) $(RELEASE) $(REPO_URI)", "Created-By: Packages")
	if err != nil {
		return fmt.Errorf("ask where this machine has its packages from: %w", err)
	}
	var server, fixes string
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) != 3 || f[0] != "main" {
			continue
		}
		// Suites with updates lie where the release itself does; those of security fixes, and of others than the distribution, lie elsewhere.
		if strings.HasSuffix(f[1], "-security") {
			fixes = f[2]
		}
		if strings.HasSuffix(f[1], "-updates") || server == "" && !strings.Contains(f[1], "-") {
			server = f[2]
		}
	}
	if server == "" {
		return fmt.Errorf("suite %s: %w: no server of the distribution's is in /etc/apt/sources.list, nor in files beside it", c.Suite, ErrNoPackage)
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
	text := "deb " + signed + server + " " + c.Suite + " main\n"
	if c.fixes {
		text += "deb " + signed + server + " " + c.Suite + "-updates main\n"
	}
	if c.fixes && fixes != "" {
		text += "deb " + signed + fixes + " " + c.Suite + "-security main\n"
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
	cmd.Env = append(slices.DeleteFunc(cmd.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "HEXMAGE_") }), "LC_ALL=C", "LANG=C")
	cmd.WaitDelay = 5 * time.Second
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if said := awayRE.FindString(errOut.String()); said != "" { // also where it goes on, with lists that are old
		a.away = said
	}
	if err != nil {
		return "", fmt.Errorf("apt-get %s: %w: %s", args[0], err, tail(errOut.String()))
	}
	return out.String(), nil
}

// outOfReach makes an error one of the network, if the client said that it did not reach a server: what failed may have failed for that.
func (a *apt) outOfReach(ctx context.Context, err error) error {
	if err == nil || a.away == "" || ctx.Err() != nil || full(err) {
		return err
	}
	return fetch.OutOfReach(fmt.Errorf("%w (a server of the distribution does not answer: %s)", err, a.away))
}

// awayRE is how the client says that a server did not answer.
var awayRE = lazyregexp.New(`(?i)temporary failure resolving[^\n]*|could not (?:resolve|connect to)[^\n]*|unable to connect to[^\n]*|connection (?:timed out|refused|failed)[^\n]*|network is unreachable[^\n]*|\s50[0-9]\s\s+[a-z][^\n]*`)

// tail returns the error lines, or the last lines, of what apt-get wrote.
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
	if err := room(c.Dir, listsNeed, "package lists"); err != nil {
		return err
	}
	c.progress(0, 0, "package lists")
	ctx, cancel := context.WithTimeoutCause(ctx, updateTime, fmt.Errorf("apt-get update did not end within %s: look at the network and at /etc/apt/sources.list", updateTime))
	defer cancel()
	if _, err := a.run(ctx, a.private, c.Dir, "update"); err != nil {
		err = fmt.Errorf("update the package lists: %w", err)
		if c.Suite != "" {
			err = fmt.Errorf("%w; where this machine's server has no suite %s, install the tool yourself and write `use = \"installed\"` in its toolchain block", err, c.Suite)
		}
		return err
	}
	a.fresh = true
	return nil
}

// resolve asks the index for the packages: the system's lists if they have all of them, else our own, as they are or
// updated.
func (c *Client) resolve(ctx context.Context, a *apt, want []Package) ([]Package, error) {
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

func (c *Client) ask(ctx context.Context, a *apt, conf string, want []Package) ([]Package, error) {
	out, err := a.run(ctx, conf, c.Dir, append([]string{"download", "--print-uris"}, arguments(want)...)...)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%w: %v", ErrNoPackage, err)
	}
	listed, err := parseURIs(out)
	if err != nil {
		return nil, err
	}
	ps := make([]Package, len(want))
	for i, w := range want {
		for _, p := range listed {
			if p.Name == w.Name {
				ps[i] = p
			}
		}
		if ps[i].Name == "" {
			return nil, fmt.Errorf("%w: %s", ErrNoPackage, w.Name)
		}
		if w.Version != "" && ps[i].Version != w.Version {
			return nil, fmt.Errorf("%w: %s in version %s; it has %s", ErrNoPackage, w.Name, w.Version, ps[i].Version)
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

// lists is the folder of all that apt writes.
func (c *Client) lists() string {
	name := "apt"
	for _, s := range []string{c.Architecture, c.Suite} {
		if s != "" {
			name += "-" + s
		}
	}
	return filepath.Join(c.Dir, name)
}

// hasLists tells whether our own package lists are there.
func (c *Client) hasLists() bool {
	entries, _ := os.ReadDir(filepath.Join(c.lists(), "lists"))
	for _, e := range entries {
		if !e.IsDir() && e.Name() != "lock" {
			return true
		}
	}
	return false
}

// errOther says that a download went well and did not give the package.
var errOther = errors.New("apt-get said it downloaded them, but what it wrote is something else than its index names")

// errNoLists says that there are no lists yet by which to download.
var errNoLists = errors.New("there are no package lists")

// download lets apt-get write those packages that are missing into the partial folder, and takes them over: by the system's lists, which may be
// old and name files that are gone, then by our own, and if update is set by our own made current.
func (c *Client) download(ctx context.Context, a *apt, ps []Package, update bool) error {
	dir := c.partial()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var need []Package
	var total int64
	for _, p := range ps {
		if _, ok := c.cached([]Package{p}); !ok {
			need = append(need, p)
			total += p.Size
		}
	}
	if err := room(dir, total, "packages "+names(need)); err != nil {
		return err
	}
	ctx, stop := c.watch(ctx, dir, total, names(need))
	defer stop()
	get := func(conf string) error {
		_, err := a.run(ctx, conf, dir, append([]string{"download"}, arguments(need)...)...)
		c.adopt(need)
		if _, ok := c.cached(need); ok {
			return nil
		}
		return cmp.Or(err, errOther)
	}
	var errs []error
	for _, conf := range []string{a.system, a.private} {
		if conf == "" || conf == a.system && a.fresh || conf == a.private && !c.hasLists() {
			continue
		}
		err := get(conf)
		if err == nil || full(err) || ctx.Err() != nil {
			return err
		}
		errs = append(errs, err)
	}
	if !update {
		return cmp.Or(errors.Join(errs...), errNoLists)
	}
	if err := c.update(ctx, a); err != nil {
		return errors.Join(append(errs, err)...)
	}
	return get(a.private)
}

// watch reports the size of what is in dir until stop is called. The context that it returns ends when too little comes.
func (c *Client) watch(ctx context.Context, dir string, total int64, what string) (paced context.Context, stop func()) {
	paced, cancel := context.WithCancelCause(ctx)
	first, stall, floor := cmp.Or(c.First, 5*time.Minute), cmp.Or(c.Stall, time.Minute), cmp.Or(c.Floor, 1<<10)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(min(300*time.Millisecond, stall/4))
		defer tick.Stop()
		began := sizeIn(dir)
		last, since := began, time.Now()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				sum := sizeIn(dir)
				c.progress(min(sum, total), total, what)
				patience := stall
				if sum == began {
					patience = first
				}
				if waited := time.Since(since); waited >= patience {
					if sum-last < int64(waited.Seconds()*float64(floor)) {
						cancel(fetch.OutOfReach(fmt.Errorf("download %s: %d bytes came in %s, less than %d a second: try again later, or use another mirror in /etc/apt/sources.list",
							what, sum-last, waited.Round(time.Second/10), floor)))
						return
					}
					last, since = sum, time.Now()
				}
			}
		}
	}()
	return paced, func() { close(done); <-ended; cancel(nil) }
}

// sizeIn is the size of the files in a folder.
func sizeIn(dir string) (sum int64) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			sum += info.Size()
		}
	}
	return sum
}

func (c *Client) progress(done, total int64, what string) {
	if c.Progress != nil {
		c.Progress(done, total, what)
	}
}
