// Package pypi finds files in Python package indexes: PyPI, a mirror of it, an index of a company.
//
//	name, version, tags ─► Client.Find ─► the index of the machine's own configuration (ReadConfig, as pip reads it)
//	                                        │ its page of the project: PEP 691, else PEP 503
//	                                        ▼ the file: name, size, sha256, and its present address
//
// An index's address is in no lock, key or log: messages name the variable or file that configures the index. The
// package downloads pages and nothing else. It does not know how to install a wheel, nor which packages fit together.
package pypi

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// Wheel is a file of a project, as a catalog or a lock names it.
type Wheel struct {
	Project string `json:"project"`
	Version string `json:"version"`
	Tags    string `json:"tags,omitempty"`  // end of the file's name: cp311-cp311-manylinux_2_35_x86_64, none-any
	File    string `json:"file,omitempty"`  // "" is the file with these tags
	Index   string `json:"index,omitempty"` // an address of the catalog; "" is the machine's own indexes
	Size    int64  `json:"size,omitempty"`  // bytes, of a locked one; 0 if it is not known
	SHA256  string `json:"sha256,omitempty"`
}

// Errors of Find wrap one of these.
var (
	ErrNotFound = errors.New("no package index has it")
	ErrLogin    = errors.New("the package index wants a login")
)

// Client asks indexes.
type Client struct {
	Getenv  func(string) string // for pip's variables
	Home    string
	Mirrors []fetch.Mirror
	Logins  []fetch.Login // of hosts, as ~/.netrc has them
	Fetch   fetch.Client  // downloads pages
	SHA256  string        // of the file; "" if unknown
}

// Found is a file and the way to download it.
type Found struct {
	File
	From  string       // variable, file or folder that names its index
	Fetch fetch.Client // with the index's login, certificates and proxy
}

var (
	projectRE = lazyregexp.New(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,200}[A-Za-z0-9])?$`)
	versionRE = lazyregexp.New(`^[0-9A-Za-z][0-9A-Za-z.!+_-]{0,100}$`)
	tagsRE    = lazyregexp.New(`^[a-z0-9_.]+(-[A-Za-z0-9_.]+){1,2}$`)
)

// Check returns an error for names that no index has.
func (w Wheel) Check() error {
	if !projectRE.MatchString(w.Project) {
		return fmt.Errorf("invalid name of a Python package %q", w.Project)
	}
	if !versionRE.MatchString(w.Version) {
		return fmt.Errorf("invalid version of a Python package %q: write one such as 1.16.0", w.Version)
	}
	if w.File == "" {
		if !tagsRE.MatchString(w.Tags) {
			return fmt.Errorf("tags %q: want the end of the file's name, such as py3-none-any or "+
				"cp311-cp311-manylinux_2_35_x86_64", w.Tags)
		}
		return nil
	}
	project, version, _, ok := parseName(w.File)
	if !ok || project != Normalize(w.Project) || !sameVersion(version, w.Version) {
		return fmt.Errorf("%.200q is no wheel of %s %s", w.File, w.Project, w.Version)
	}
	return nil
}

// Find returns the file from the first index that has it. If the file is not pinned yet, each index before that one must
// have answered.
func (c Client) Find(ctx context.Context, w Wheel) (*Found, error) {
	if err := w.Check(); err != nil {
		return nil, err
	}
	cfg, err := ReadConfig(c.Getenv, c.Home, w.Index)
	if err != nil {
		return nil, err
	}
	if c.Fetch, err = cfg.client(c.Fetch); err != nil {
		return nil, err
	}
	var errs []error
	var asked []string
	silent := false // an index did not answer; one that wants a login may answer so for each file that it does not have
	for _, i := range cfg.Indexes {
		f, err := c.ask(ctx, i, w)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			errs, silent = append(errs, err), silent || !errors.Is(err, ErrLogin)
		case f != nil && (c.SHA256 != "" || !silent):
			return f, nil
		}
		asked = append(asked, i.From)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if len(asked) == 0 {
		return nil, fmt.Errorf("%w: %s: pip's configuration names no index (no-index)", ErrNotFound, w)
	}
	return nil, fmt.Errorf("%w: %s: hexmage asked the index of %s; if another index has it, name that one in pip's "+
		"configuration (PIP_EXTRA_INDEX_URL)", ErrNotFound, w, strings.Join(asked, ", "))
}

// String describes the wheel in messages.
func (w Wheel) String() string {
	if w.File != "" {
		return w.File
	}
	return fmt.Sprintf("a wheel of %s %s that ends in %s", w.Project, w.Version, w.Tags)
}

// choose returns the wheel's file, nil if it is not among the files.
func (w Wheel) choose(files []File) *File {
	for _, f := range files {
		project, version, tags, ok := parseName(f.Name)
		if ok && project == Normalize(w.Project) && sameVersion(version, w.Version) &&
			(f.Name == w.File || w.File == "" && strings.HasSuffix("-"+tags, "-"+w.Tags)) {
			return &f
		}
	}
	return nil
}

// ask looks into one index. It returns nil if the index does not have the file.
func (c Client) ask(ctx context.Context, i Index, w Wheel) (*Found, error) {
	logins := append(i.login(), c.Logins...)
	get := c.Fetch
	get.Logins = append(slices.Clone(logins), get.Logins...)
	addr := i.URL
	if !i.Page {
		addr += "/" + Normalize(w.Project) + "/"
	}
	addr = fetch.Rewrite(addr, c.Mirrors)
	if err := i.Readable(addr); err != nil {
		return nil, err
	}
	label := Normalize(w.Project) + " in the package index of " + i.From
	var files []File
	if dir := i.Folder(); dir != "" {
		all, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range all {
			u := url.URL{Scheme: "file", Path: filepath.Join(dir, e.Name())}
			files = append(files, File{Name: e.Name(), URL: u.String()})
		}
	} else {
		b, at, err := get.Small(ctx, fetch.Source{URLs: []string{addr}, Accept: forms, Label: label}, maxPage)
		switch fetch.Status(err) {
		case http.StatusNotFound, http.StatusGone:
			return nil, nil
		case http.StatusUnauthorized, http.StatusForbidden:
			return nil, fmt.Errorf("%w: that of %s answers %d: put the login of its host into ~/.netrc, or into its "+
				"address in pip's configuration (https://USER:PASSWORD@…)", ErrLogin, i.From, fetch.Status(err))
		}
		if err != nil {
			return nil, err
		}
		if files, err = parsePage(b, at); err != nil {
			return nil, fmt.Errorf("%s: not a page of a package index: %w", label, err)
		}
	}
	f := w.choose(files)
	if f == nil {
		return nil, nil
	}
	if c.SHA256 != "" && f.SHA256 != "" && f.SHA256 != c.SHA256 {
		return nil, fmt.Errorf("%w: the package index of %s has a file %s with sha256 %s, pinned is %s: it was replaced, or "+
			"is another project's; find out which is right", fetch.ErrMismatch, i.From, f.Name, f.SHA256, c.SHA256)
	}
	f.URL = fetch.Rewrite(f.URL, c.Mirrors)
	return &Found{File: *f, From: i.From, Fetch: get}, nil
}

// client returns f with the certificates and the proxy of pip's configuration.
func (c Config) client(f fetch.Client) (fetch.Client, error) {
	if c.CA != "" && f.TLS == nil {
		pem, err := os.ReadFile(c.CA)
		if err != nil {
			return f, fmt.Errorf("the certificates of pip's configuration: %w", err)
		}
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		pool.AppendCertsFromPEM(pem)
		f.TLS = &tls.Config{RootCAs: pool}
	}
	if c.Proxy != "" && f.Proxy == nil {
		proxy := c.Proxy
		if !strings.Contains(proxy, "://") {
			proxy = "http://" + proxy
		}
		u, err := url.Parse(proxy)
		if err != nil {
			return f, errors.New("the proxy of pip's configuration has no address")
		}
		f.Proxy = http.ProxyURL(u)
	}
	return f, nil
}
