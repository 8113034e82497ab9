// Package deb downloads Debian packages without root privileges and without installing them.
//
// apt-get, the distribution's own client, gives the address and digest of each package. So apt verifies the signatures
// of the package lists. hexmage downloads each package and compares its digest with the pin or with the signed lists.
// The package writes only to its own folder. It does not unpack the Debian packages or know their purpose.
package deb

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// Package identifies one Debian package file.
type Package struct {
	Name    string `json:"name"`
	Version string `json:"version"` // in a request, "" means the version in the index
	Arch    string `json:"arch,omitempty"`
	Size    int64  `json:"size,omitempty"`   // in bytes
	SHA256  string `json:"sha256,omitempty"` // 64 hexadecimal digits
}

// Client downloads packages into a folder.
type Client struct {
	Dir     string // folder for packages and hexmage's own package lists; created if missing
	AptGet  string // "": apt-get in PATH
	System  bool   // whether to use the system's package lists if they have the packages
	Offline bool
	// Architecture is the packages' architecture in Debian's words, such as "arm64". "" is this machine's.
	Architecture string
	// Suite is a suite that this machine is not configured for, such as "trixie-backports". apt-get requests it from
	// the distribution's server. "" means this machine's suites.
	Suite string
	// Pinned is the suite of the pinned versions, if this machine has another release of the distribution. Client
	// searches this suite, its updates and its security fixes for versions that this machine's suites lack. "" means
	// none.
	Pinned   string
	HTTP     fetch.Client
	Mirrors  []fetch.Mirror
	Progress func(done, total int64, what string) // may be nil
}

// Errors that Get and Index return wrapped.
var (
	ErrNoClient  = errors.New("apt-get is missing")
	ErrNoPackage = errors.New("the distribution does not have the package")
)

// Result is the outcome of Get.
type Result struct {
	Files    []string  // the package files, in the order of the request
	Packages []Package // names, versions and digests
	Warnings []string  // differences from the pins
}

// listed is a package in a package list.
type listed struct {
	Package
	urls []string
}

// Get returns the files of the packages, and downloads missing files. For a package with a SHA256, Get returns a file
// with this digest, or an error.
//
// If the distribution has removed a pinned version, Get adds a warning, and takes all requested packages from the
// signed index. Their versions belong together.
func (c *Client) Get(ctx context.Context, want []Package) (*Result, error) {
	if err := validate(want); err != nil {
		return nil, err
	}
	if files, ok := c.downloaded(want); ok {
		return &Result{Files: files, Packages: want}, nil
	}
	if c.Offline {
		return nil, fmt.Errorf("packages %s: %w", names(want), fetch.ErrOffline)
	}
	for again := false; ; again = true {
		var got []listed
		var warnings []string
		fresh := false
		err := c.withApt(ctx, func(a *apt) (err error) {
			if again { // old lists may name deleted files
				if err = c.update(ctx, a); err != nil {
					return err
				}
			}
			got, warnings, err = c.choose(ctx, a, want)
			fresh = a.fresh
			return err
		})
		if err != nil {
			return nil, err
		}
		res, err := c.download(ctx, got)
		if err == nil {
			res.Warnings = warnings
			return res, nil
		}
		if fresh || ctx.Err() != nil || fetch.Unreachable(err) || errors.Is(err, syscall.ENOSPC) {
			return nil, err
		}
	}
}

// Downloaded returns the path of the downloaded package with this digest.
func (c *Client) Downloaded(sum string) string { return filepath.Join(c.Dir, sum+".deb") }

// downloaded returns the files of the packages if all of them are pinned and intact in the folder.
func (c *Client) downloaded(ps []Package) (files []string, ok bool) {
	for _, p := range ps {
		file := c.Downloaded(p.SHA256)
		if p.SHA256 == "" || fetch.Check(file, fetch.Source{Size: p.Size, SHA256: p.SHA256}) != nil {
			return nil, false
		}
		files = append(files, file)
	}
	return files, true
}

func (c *Client) download(ctx context.Context, ps []listed) (*Result, error) {
	res := &Result{}
	for _, p := range ps {
		var urls []string
		for _, u := range p.urls {
			urls = append(urls, fetch.Rewrite(u, c.Mirrors))
		}
		with := c.HTTP
		with.Progress = func(done, total int64) { c.progress(done, total, p.Name) }
		file := c.Downloaded(p.SHA256)
		if _, err := with.Fetch(ctx, fetch.Source{URLs: urls, Size: p.Size, SHA256: p.SHA256}, file); err != nil {
			return nil, fmt.Errorf("package %s %s: %w", p.Name, p.Version, err)
		}
		res.Files, res.Packages = append(res.Files, file), append(res.Packages, p.Package)
	}
	return res, nil
}

// addresses returns the download addresses for an address that apt-get printed. For
// mirror+file:/etc/apt/mirrors.txt/pool/x.deb, the file mirrors.txt lists the servers.
func addresses(printed string) ([]string, error) {
	scheme, place, _ := strings.Cut(printed, ":")
	switch scheme {
	case "http", "https":
		return []string{printed}, nil
	case "file", "copy":
		return []string{"file://" + strings.TrimPrefix(place, "//")}, nil
	case "mirror+file":
		for list := filepath.Dir(place); list != filepath.Dir(list); list = filepath.Dir(list) {
			if info, err := os.Stat(list); err == nil && info.Mode().IsRegular() {
				return mirrors(list, strings.TrimPrefix(place, list))
			}
		}
	}
	return nil, fmt.Errorf("invalid address %.200q in /etc/apt/sources.list; use http, https, file or mirror+file",
		printed)
}

// mirrors returns the addresses of a file on the servers of a mirror list.
func mirrors(list, file string) (urls []string, err error) {
	f, err := os.Open(list)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if fields := strings.Fields(lines.Text()); len(fields) > 0 && !strings.HasPrefix(fields[0], "#") {
			urls = append(urls, strings.TrimSuffix(fields[0], "/")+file)
		}
	}
	return urls, lines.Err()
}

// withApt calls do while this process has the package lists to itself.
func (c *Client) withApt(ctx context.Context, do func(a *apt) error) error {
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return err
	}
	unlock, err := atomicfile.Lock(ctx, filepath.Join(c.Dir, "lock"))
	if err != nil {
		return err
	}
	defer unlock()
	a, err := c.apt(ctx)
	if err != nil {
		return err
	}
	return a.outOfReach(ctx, do(a))
}

// Index returns the current version, size and digest of each package in the distribution's signed index.
func (c *Client) Index(ctx context.Context, want []Package) (ps []Package, err error) {
	if err := validate(want); err != nil {
		return nil, err
	}
	if c.Offline {
		return nil, fmt.Errorf("packages %s: %w", names(want), fetch.ErrOffline)
	}
	err = c.withApt(ctx, func(a *apt) error {
		found, err := c.resolve(ctx, a, unpinned(want))
		ps = plain(found)
		return err
	})
	return ps, err
}

// choose returns the packages to download.
func (c *Client) choose(ctx context.Context, a *apt, want []Package) ([]listed, []string, error) {
	pinned := !slices.ContainsFunc(want, func(p Package) bool { return p.Version == "" })
	got, err := c.resolve(ctx, a, want)
	if errors.Is(err, ErrNoPackage) && c.Pinned != "" && pinned {
		other := *c
		other.Suite, other.Pinned, other.System = c.Pinned, "", false
		if b, e := other.apt(ctx); e == nil {
			if there, e := other.resolve(ctx, b, want); e == nil {
				got, err = there, nil
			}
		}
	}
	var warnings []string
	some := slices.ContainsFunc(want, func(p Package) bool { return p.Version != "" })
	if was := err; some && errors.Is(err, ErrNoPackage) {
		got, err = c.resolve(ctx, a, unpinned(want))
		warnings = append(warnings, fmt.Sprintf("%v. hexmage uses versions from the distribution's signed index: %s. "+
			"To pin these versions, run `hexmage lock`.", was, strings.Join(arguments(plain(got)), ", ")))
	}
	if err != nil {
		return nil, nil, err
	}
	for i, w := range want {
		g := got[i]
		if got[i].urls, err = addresses(g.urls[0]); err != nil {
			return nil, nil, fmt.Errorf("package %s: %w", g.Name, err)
		}
		switch {
		case w.SHA256 == "" || w.Version != g.Version:
		case w.Arch != "" && w.Arch != g.Arch:
			warnings = append(warnings, fmt.Sprintf("%s %s is pinned for %s, not for %s, so hexmage uses the digest "+
				"from the distribution's signed index. To pin the digest, run `hexmage lock`.",
				w.Name, w.Version, w.Arch, g.Arch))
		case w.SHA256 != g.SHA256:
			return nil, nil, fmt.Errorf("package %s %s: the distribution's index has sha256 %s, but hexmage.lock.hcl "+
				"pins %s. The distribution replaced the package without a new version; to pin the new package, run "+
				"`hexmage lock`",
				w.Name, w.Version, g.SHA256, w.SHA256)
		}
	}
	return got, warnings, nil
}

func plain(found []listed) (ps []Package) {
	for _, p := range found {
		ps = append(ps, p.Package)
	}
	return ps
}

func unpinned(ps []Package) []Package {
	out := make([]Package, len(ps))
	for i, p := range ps {
		out[i] = Package{Name: p.Name}
	}
	return out
}

func names(ps []Package) string {
	return strings.Join(arguments(unpinned(ps)), ", ")
}

var (
	nameRE    = lazyregexp.New(`^[a-z0-9][a-z0-9+.-]+$`)
	versionRE = lazyregexp.New(`^[A-Za-z0-9.+~:-]*$`)
	archRE    = lazyregexp.New(`^[a-z0-9-]*$`) // also of suites
	digestRE  = lazyregexp.New(`^([0-9a-f]{64})?$`)
)

func validate(ps []Package) error {
	if len(ps) == 0 {
		return errors.New("the request names no packages")
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
		return fmt.Errorf("invalid Debian package: name %.100q, version %.100q, architecture %.100q, sha256 %.100q",
			p.Name, p.Version, p.Arch, p.SHA256)
	}
	return nil
}

// parseURIs reads the output of `apt-get download --print-uris`: lines of 'URL' FILE SIZE SHA256:HEX.
func parseURIs(out string) ([]listed, error) {
	var ps []listed
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, "'") {
			continue
		}
		addr, rest, _ := strings.Cut(line[1:], "'")
		f := append(strings.Fields(rest), "", "", "")
		size, err := strconv.ParseInt(f[1], 10, 64)
		parts := append(strings.Split(strings.TrimSuffix(f[0], ".deb"), "_"), "", "")
		version, verr := url.PathUnescape(parts[1])
		p := Package{Name: parts[0], Version: version, Arch: parts[2], Size: size, SHA256: strings.TrimPrefix(f[2], "SHA256:")}
		if err = errors.Join(err, verr, p.Check()); err != nil || size < 0 || p.SHA256 == "" {
			return nil, fmt.Errorf("apt-get printed an unknown line %.300q: %w", line, err)
		}
		ps = append(ps, listed{p, []string{addr}})
	}
	return ps, nil
}
