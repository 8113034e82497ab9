// Package pypi finds files in Python package indexes: PyPI, a mirror of it, an index of a company.
//
//	name, version, tags ─► Client.Find ─► the index of the machine's own configuration (ReadConfig, as pip reads it):
//	                                        │ its page of the project: PEP 691, else PEP 503
//	                                        ▼ the file: name, size, sha256, and its present address
//
// Locks, keys and logs never contain an index's address. Messages name the variable or file that configures the index.
// The package downloads only pages. It does not install wheels or resolve dependencies.
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

// Wheel identifies a wheel in a catalog or lock.
type Wheel struct {
	Project string `json:"project"`
	Version string `json:"version"`
	Tags    string `json:"tags,omitempty"`  // end of the file's name: cp311-cp311-manylinux_2_35_x86_64, none-any
	File    string `json:"file,omitempty"`  // file name; "": the file with these tags
	Index   string `json:"index,omitempty"` // address of an index in the catalog; "": the machine's indexes
	Size    int64  `json:"size,omitempty"`  // bytes of a locked file; 0: unknown
	SHA256  string `json:"sha256,omitempty"`
}

// Errors that Find returns wrapped.
var (
	ErrNotFound = errors.New("no package index has the file")
	ErrLogin    = errors.New("the package index requires a login")
)

// Client searches package indexes.
type Client struct {
	Getenv  func(string) string // returns pip's variables
	Home    string
	Mirrors []fetch.Mirror
	Logins  []fetch.Login // logins of hosts, as in ~/.netrc
	Fetch   fetch.Client  // client that downloads pages
	SHA256  string        // digest of the file; "" if unknown
}

// Found is a file, with the client that can download it.
type Found struct {
	File
	From  string       // variable, file or folder that configures its index
	Fetch fetch.Client // client with the index's login, certificates and proxy
}

var (
	projectRE = lazyregexp.New(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,200}[A-Za-z0-9])?$`)
	versionRE = lazyregexp.New(`^[0-9A-Za-z][0-9A-Za-z.!+_-]{0,100}$`)
	tagsRE    = lazyregexp.New(`^[a-z0-9_.]+(-[A-Za-z0-9_.]+){1,2}$`)
)

// Check returns an error for invalid names.
func (w Wheel) Check() error {
	if !projectRE.MatchString(w.Project) {
		return fmt.Errorf("invalid Python package name %q", w.Project)
	}
	if !versionRE.MatchString(w.Version) {
		return fmt.Errorf("invalid version %q of a Python package; use the form 1.16.0", w.Version)
	}
	if w.File == "" {
		if !tagsRE.MatchString(w.Tags) {
			return fmt.Errorf("invalid tags %q; use the end of the wheel's file name, such as py3-none-any or "+
				"cp311-cp311-manylinux_2_35_x86_64", w.Tags)
		}
		return nil
	}
	project, version, _, ok := parseName(w.File)
	if !ok || project != Normalize(w.Project) || !sameVersion(version, w.Version) {
		return fmt.Errorf("file %.200q: not a wheel of %s %s", w.File, w.Project, w.Version)
	}
	return nil
}

// Find returns the file from the first index that offers the wheel. If c.SHA256 is empty, Find fails if an earlier
// index does not answer.
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
	silent := false // whether an index did not answer; one that requires a login may refuse each file that it lacks
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
		return nil, fmt.Errorf("%w: %s. pip's configuration disables all indexes (no-index)", ErrNotFound, w)
	}
	return nil, fmt.Errorf("%w: %s. hexmage searched the index of %s; to search another index, add it to pip's "+
		"configuration (PIP_EXTRA_INDEX_URL)", ErrNotFound, w, strings.Join(asked, ", "))
}

// String returns a description for messages.
func (w Wheel) String() string {
	if w.File != "" {
		return w.File
	}
	return fmt.Sprintf("a wheel of %s %s that ends in %s", w.Project, w.Version, w.Tags)
}

// choose returns the wheel's file, or nil if files lacks it.
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

// ask searches one index. It returns nil if the index lacks the file.
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
			return nil, fmt.Errorf("%w: the index of %s answered %d; add a login for the host to ~/.netrc",
				ErrLogin, i.From, fetch.Status(err))
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
		return nil, fmt.Errorf("%w: file %[3]s in the package index of %[2]s has sha256 %[4]s, not the pinned %[5]s. "+
			"The file was replaced, or belongs to another project",
			fetch.ErrMismatch, i.From, f.Name, f.SHA256, c.SHA256)
	}
	f.URL = fetch.Rewrite(f.URL, c.Mirrors)
	return &Found{File: *f, From: i.From, Fetch: get}, nil
}

// client returns f with the certificates and the proxy from pip's configuration.
func (c Config) client(f fetch.Client) (fetch.Client, error) {
	if c.CA != "" && f.TLS == nil {
		pem, err := os.ReadFile(c.CA)
		if err != nil {
			return f, fmt.Errorf("certificates in pip's configuration: %w", err)
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
			return f, errors.New("the proxy address in pip's configuration is invalid")
		}
		f.Proxy = http.ProxyURL(u)
	}
	return f, nil
}
