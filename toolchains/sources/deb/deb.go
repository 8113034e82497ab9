// Package deb gets Debian packages without root and without installing them.
//
// It asks the distribution's own client (apt-get) what there is and lets it download, so mirrors, proxies and signatures
// are the distribution's business; every package is then checked against a digest, pinned or from the signed index. It
// writes to a folder of its own and changes nothing of the system. It does not know what the packages are for, and does
// not unpack them.
package deb

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// Package is one package file.
type Package struct {
	Name    string `json:"name"`
	Version string `json:"version"` // "" in a request: what the index names
	Arch    string `json:"arch,omitempty"`
	Size    int64  `json:"size,omitempty"`   // bytes
	SHA256  string `json:"sha256,omitempty"` // 64 hexadecimal digits
}

// Client gets packages into a folder.
type Client struct {
	Dir     string // where packages and the client's own lists are kept; made when missing
	AptGet  string // the client; "" is apt-get, looked up in PATH
	System  bool   // use the system's package lists where they have the packages
	Offline bool   // never ask the network
	// Architecture is Debian's name of the machine that the packages are for, "arm64"; "" is this one. Those of another one have lists of their own: no
	// system has them.
	Architecture string
	// Suite is another suite of the distribution than those that this machine is configured for, such as "trixie-backports"; "" is none. It is asked
	// for where this machine has the distribution from, and has lists of its own.
	Suite string
	// Pinned is the suite in which packages were pinned, where this machine has another release of the distribution; "" is none. It is asked, with its updates and
	// security fixes, for what is pinned and not in this machine's own suites.
	Pinned   string
	Progress func(done, total int64, what string) // may be nil

	// A download is given up when no byte of it comes for First, or over Stall less than Floor bytes a second. Zero values are the defaults: five
	// minutes, one minute, 1024.
	First, Stall time.Duration
	Floor        int64

	fixes bool // of Suite also the updates and security fixes
}

// ErrNoClient is what Get and Index return, wrapped, where there is no apt-get.
var ErrNoClient = errors.New("apt-get is not there")

// ErrNoPackage is what Get and Index return, wrapped, when the index has no such package or not in this version.
var ErrNoPackage = errors.New("the distribution does not have the package")

// ErrOffline is what Get and Index return, wrapped, when the network is needed and may not be used.
var ErrOffline = errors.New("hexmage is offline")

// Result is what Get got.
type Result struct {
	Files    []string  // the package files, in the order of the request
	Packages []Package // what they are
	Warnings []string  // for people: what is not as it was pinned
}

// Get returns the files of the packages, downloading those that are not in the folder yet. A package with a SHA256 is
// pinned: it is that file or an error, but for one case. When the distribution no longer serves a pinned version, all
// packages of the request are taken as its signed index names them now, and Warnings says so: versions of one request
// belong together.
func (c *Client) Get(ctx context.Context, want []Package) (res *Result, err error) {
	if err := validate(want); err != nil {
		return nil, err
	}
	if files, ok := c.cached(want); ok {
		return &Result{Files: files, Packages: want}, nil
	}
	if c.Offline {
		return nil, fmt.Errorf("packages %s: %w and not all of them were downloaded before: run once without --offline", names(want), ErrOffline)
	}
	unlock, err := c.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	c.adopt(want)
	if files, ok := c.cached(want); ok {
		return &Result{Files: files, Packages: want}, nil
	}
	a, err := c.apt(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = a.outOfReach(ctx, err) }()
	// Of packages that are all pinned the digests tell whether they are right: the index need not be asked first.
	if !slices.ContainsFunc(want, func(p Package) bool { return p.SHA256 == "" || p.Version == "" }) && c.download(ctx, a, want, false) == nil {
		files, _ := c.cached(want)
		return &Result{Files: files, Packages: want}, nil
	}
	if files, err := c.fromPinned(ctx, a, want); err != nil || files != nil {
		return &Result{Files: files, Packages: want}, err
	}
	got, warnings, err := c.choose(ctx, a, want)
	if err != nil {
		return nil, err
	}
	if err := c.download(ctx, a, got, true); err != nil {
		if ctx.Err() != nil || !a.fresh {
			return nil, err
		}
		// The lists were old and are new now: what they name may be another version.
		if got, warnings, err = c.choose(ctx, a, want); err != nil {
			return nil, err
		}
		if err := c.download(ctx, a, got, true); err != nil {
			return nil, err
		}
	}
	files, _ := c.cached(got)
	return &Result{Files: files, Packages: got, Warnings: warnings}, nil
}

// fromPinned returns the files of packages that are pinned and not in this machine's own suites, from the suite in which they were pinned; nil, if that has not all of
// them either.
func (c *Client) fromPinned(ctx context.Context, a *apt, want []Package) ([]string, error) {
	if c.Pinned == "" || slices.ContainsFunc(want, func(p Package) bool { return p.SHA256 == "" || p.Version == "" }) {
		return nil, nil
	}
	if _, err := c.resolve(ctx, a, want); !errors.Is(err, ErrNoPackage) {
		return nil, nil // they are there, or something else is wrong, which is said when they are chosen
	}
	there := *c
	there.Suite, there.System, there.fixes = c.Pinned, false, true
	b, err := there.apt(ctx)
	if err == nil {
		err = there.download(ctx, b, want, true)
	}
	if full(err) || ctx.Err() != nil {
		return nil, err
	}
	files, _ := c.cached(want)
	return files, nil
}

// lock lets one process at a time in: apt's lists and the partial downloads are shared by all.
func (c *Client) lock() (unlock func(), err error) {
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return nil, err
	}
	return lockedfile.MutexAt(filepath.Join(c.Dir, "lock")).Lock()
}

// Index returns the packages as the distribution's signed index names them now: version, size and digest.
func (c *Client) Index(ctx context.Context, want []Package) (ps []Package, err error) {
	if err := validate(want); err != nil {
		return nil, err
	}
	if c.Offline {
		return nil, fmt.Errorf("packages %s: %w: the index can't be asked", names(want), ErrOffline)
	}
	unlock, err := c.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	a, err := c.apt(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = a.outOfReach(ctx, err) }()
	return c.resolve(ctx, a, unpinned(want))
}

// choose settles which files to download.
func (c *Client) choose(ctx context.Context, a *apt, want []Package) ([]Package, []string, error) {
	got, err := c.resolve(ctx, a, want)
	var warnings []string
	if errors.Is(err, ErrNoPackage) && slices.ContainsFunc(want, func(p Package) bool { return p.Version != "" }) {
		was := err
		if got, err = c.resolve(ctx, a, unpinned(want)); err != nil {
			return nil, nil, err
		}
		warnings = append(warnings, fmt.Sprintf(
			"%v. Taken instead, with the digests of the distribution's signed index: %s. Run `hexmage lock` to pin them.", was, versions(got)))
	}
	if err != nil {
		return nil, nil, err
	}
	for i, w := range want {
		g := got[i]
		switch {
		case w.SHA256 == "" || w.Version != g.Version:
		case w.Arch != "" && w.Arch != g.Arch:
			warnings = append(warnings, fmt.Sprintf("%s %s is pinned for %s and not for %s: taken with the digest of the distribution's signed index. Run `hexmage lock` here to pin it.",
				w.Name, w.Version, w.Arch, g.Arch))
		case w.SHA256 != g.SHA256:
			return nil, nil, fmt.Errorf("package %s %s: the distribution's index names sha256 %s, hexmage.lock.hcl pins %s: "+
				"the package was replaced under the same version; if that is right, run `hexmage lock`", w.Name, w.Version, g.SHA256, w.SHA256)
		}
	}
	return got, warnings, nil
}

func unpinned(ps []Package) []Package {
	out := make([]Package, len(ps))
	for i, p := range ps {
		out[i] = Package{Name: p.Name}
	}
	return out
}

func names(ps []Package) string {
	var ss []string
	for _, p := range ps {
		ss = append(ss, p.Name)
	}
	return strings.Join(ss, ", ")
}

func versions(ps []Package) string {
	var ss []string
	for _, p := range ps {
		ss = append(ss, p.Name+" "+p.Version)
	}
	return strings.Join(ss, ", ")
}

var (
	nameRE    = lazyregexp.New(`^[a-z0-9][a-z0-9+.-]+$`)
	versionRE = lazyregexp.New(`^[A-Za-z0-9.+~:-]*$`)
	archRE    = lazyregexp.New(`^[a-z0-9-]*$`) // also of suites
	digestRE  = lazyregexp.New(`^([0-9a-f]{64})?$`)
)

func validate(ps []Package) error {
	if len(ps) == 0 {
		return errors.New("no packages are named")
	}
	for _, p := range ps {
		if err := p.Check(); err != nil {
			return err
		}
	}
	return nil
}

// Check returns an error for values that Debian does not allow. Version, Arch and SHA256 may be empty.
func (p Package) Check() error {
	if !nameRE.MatchString(p.Name) || !versionRE.MatchString(p.Version) || !archRE.MatchString(p.Arch) ||
		!digestRE.MatchString(p.SHA256) {
		return fmt.Errorf("package %.100q, version %.100q, architecture %.100q, sha256 %.100q: "+
			"not what Debian calls a package", p.Name, p.Version, p.Arch, p.SHA256)
	}
	return nil
}

// parseURIs reads what `apt-get download --print-uris` prints: 'URL' FILE SIZE SHA256:HEX, one a line.
func parseURIs(out string) ([]Package, error) {
	var ps []Package
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, "'") {
			continue
		}
		_, rest, ok := strings.Cut(line[1:], "'")
		f := strings.Fields(rest)
		if !ok || len(f) != 3 {
			return nil, fmt.Errorf("apt-get printed a line that is not understood: %q", line)
		}
		size, err := strconv.ParseInt(f[1], 10, 64)
		sum, isSHA := strings.CutPrefix(f[2], "SHA256:")
		if err != nil || !isSHA || !digestRE.MatchString(sum) || sum == "" {
			return nil, fmt.Errorf("apt-get names no size or no SHA256 for a package: %q", line)
		}
		parts := strings.Split(strings.TrimSuffix(f[0], ".deb"), "_")
		if len(parts) != 3 {
			return nil, fmt.Errorf("apt-get names a file that is no package: %q", f[0])
		}
		version, err := url.PathUnescape(parts[1])
		if err != nil {
			return nil, fmt.Errorf("apt-get names a file that is no package: %q", f[0])
		}
		p := Package{Name: parts[0], Version: version, Arch: parts[2], Size: size, SHA256: sum}
		if err := validate([]Package{p}); err != nil {
			return nil, err
		}
		ps = append(ps, p)
	}
	return ps, nil
}
