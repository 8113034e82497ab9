// Package pypi finds files in Python package indexes: PyPI, a mirror of it, a company's own.
//
//	name, version, tags ─► Client.Find ─► the index that the machine's own configuration names (ReadConfig, as pip reads it)
//	                                        │ its page of the project: PEP 691, else PEP 503
//	                                        ▼ the file that fits best: name, size, sha256, and for now its address
//
// No address of it goes into a lock, a key or a log: messages call an index by who names it. The package downloads pages and nothing
// else; what a wheel becomes is not its business, nor which packages belong together.
package pypi

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// Wheel is a file of a project, as a catalogue asks for it, and as a lock names it.
type Wheel struct {
	Project string `json:"project"`
	Version string `json:"version"`
	Tags    string `json:"tags,omitempty"`  // the most specific that is taken: cp311-cp311-manylinux_2_35_x86_64
	File    string `json:"file,omitempty"`  // "" is the one that fits best
	Index   string `json:"index,omitempty"` // an address that the catalogue gives; "" asks what the machine names
}

// What Find returns, wrapped.
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
	Fetch   fetch.Client  // how pages are got
	Until   time.Time     // what was uploaded later is not there; zero: all is
	SHA256  string        // of the file that is wanted, where it is known
}

// Found is a file, and how it is had now.
type Found struct {
	File
	From  string       // who names its index
	Fetch fetch.Client // with what the index wants to know
	Notes []string     // for people
}

var (
	projectRE = lazyregexp.New(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,200}[A-Za-z0-9])?$`)
	versionRE = lazyregexp.New(`^[0-9A-Za-z][0-9A-Za-z.!+_-]{0,100}$`)
)

// Check says what is wrong with the name of a wheel.
func (w Wheel) Check() error {
	if !projectRE.MatchString(w.Project) {
		return fmt.Errorf("%q is no name of a Python package", w.Project)
	}
	if !versionRE.MatchString(w.Version) {
		return fmt.Errorf("%q is no version of a Python package: name one, such as 1.16.0", w.Version)
	}
	if w.File != "" {
		n, ok := parseName(w.File)
		if !ok || n.project != Normalize(w.Project) || !sameVersion(n.version, w.Version) {
			return fmt.Errorf("%.200q is no wheel of %s %s", w.File, w.Project, w.Version)
		}
		return nil
	}
	_, err := ParseTags(w.Tags)
	return err
}

// ParseFile returns the wheel that has the name of the file, by PEP 427. Its project is normalized.
func ParseFile(name string) (Wheel, error) {
	n, ok := parseName(name)
	if !ok {
		return Wheel{}, fmt.Errorf("invalid file name of a wheel %.200q", name)
	}
	w := Wheel{Project: n.project, Version: n.version, File: name}
	return w, w.Check()
}

// Find returns the file. The first index that has one counts; of one that is not pinned yet, no other may have another file of that name.
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
	if f := w.inFolders(cfg.Folders); f != nil {
		return f, nil
	}
	var found *Found
	var errs []error
	var asked []string
	for _, i := range cfg.Indexes {
		f, err := c.ask(ctx, i, w)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			errs = append(errs, err)
		case f == nil:
		case c.SHA256 != "":
			return f, nil
		case found == nil:
			found, w.File = f, f.Name
		case f.SHA256 != "" && found.SHA256 != "" && f.SHA256 != found.SHA256:
			return nil, fmt.Errorf("%w: the package indexes of %s and of %s have each its own %s, sha256 %s and %s: find out which is right, and name its index in the toolchain's block (index = \"https://…\"), "+
				"or take the other out of pip's configuration", fetch.ErrMismatch, found.From, i.From, f.Name, found.SHA256, f.SHA256)
		}
		asked = append(asked, i.From)
	}
	if found != nil { // what an index shows nobody without a login is not taken for it; some say so of all that they do not have
		errs = slices.DeleteFunc(errs, func(err error) bool { return errors.Is(err, ErrLogin) })
	}
	if err := errors.Join(errs...); err != nil { // one that did not answer may have it
		return nil, err
	}
	if found != nil {
		return found, nil
	}
	if len(asked) == 0 {
		return nil, fmt.Errorf("%w: %s: pip's configuration names none (no-index)", ErrNotFound, w)
	}
	why := ""
	if !c.Until.IsZero() {
		why = " from before " + c.Until.Format(time.DateOnly)
	}
	return nil, fmt.Errorf("%w: %s%s: asked was the index of %s; where it is in another one, name that in pip's configuration (PIP_EXTRA_INDEX_URL)",
		ErrNotFound, w, why, strings.Join(asked, ", "))
}

// String says which wheel it is.
func (w Wheel) String() string {
	if w.File != "" {
		return w.File
	}
	return fmt.Sprintf("a wheel of %s %s for %s", w.Project, w.Version, w.Tags)
}

// inFolders looks for the file in folders of this machine.
func (w Wheel) inFolders(folders []string) *Found {
	for _, dir := range folders {
		names, _ := filepath.Glob(filepath.Join(dir, "*.whl"))
		var files []File
		for _, name := range names {
			u := url.URL{Scheme: "file", Path: name}
			files = append(files, File{Name: filepath.Base(name), URL: u.String()})
		}
		if f := w.choose(files, time.Time{}); f != nil {
			return &Found{File: *f, From: "the folder " + dir}
		}
	}
	return nil
}

// choose returns the file of a page that is meant, nil when none is. What is yanked is taken where nothing else is left.
func (w Wheel) choose(files []File, until time.Time) *File {
	files = slices.DeleteFunc(slices.Clone(files), func(f File) bool {
		n, ok := parseName(f.Name)
		return !ok || n.project != Normalize(w.Project) || !sameVersion(n.version, w.Version) || w.File != "" && w.File != f.Name ||
			!until.IsZero() && (f.Upload.IsZero() || !f.Upload.Before(until))
	})
	if w.File == "" {
		tags, err := ParseTags(w.Tags)
		if err != nil {
			return nil
		}
		files = tags.best(files)
	}
	for _, yanked := range []bool{false, true} {
		for _, f := range files {
			if (f.Yanked != "") == yanked {
				return &f
			}
		}
	}
	return nil
}

// ask looks into one index; nil when it does not have the file.
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
	b, at, err := get.Small(ctx, fetch.Source{URLs: []string{addr}, Accept: forms, Label: label}, maxPage)
	switch fetch.Status(err) {
	case http.StatusNotFound, http.StatusGone:
		return nil, nil
	case http.StatusUnauthorized, http.StatusForbidden:
		return nil, fmt.Errorf("%w: that of %s answers %d: put the login of its host into ~/.netrc, or into its address in pip's configuration (https://USER:PASSWORD@…)",
			ErrLogin, i.From, fetch.Status(err))
	}
	if err != nil {
		return nil, err
	}
	files, err := parsePage(b, at)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", label, err)
	}
	f := w.choose(files, c.Until)
	if f == nil {
		return nil, nil
	}
	if c.SHA256 != "" && f.SHA256 != "" && f.SHA256 != c.SHA256 {
		return nil, fmt.Errorf("%w: the package index of %s has a file %s with sha256 %s, pinned is %s: it was replaced, or is another project's; find out which is right",
			fetch.ErrMismatch, i.From, f.Name, f.SHA256, c.SHA256)
	}
	f.URL = fetch.Rewrite(f.URL, c.Mirrors)
	found := &Found{File: *f, From: i.From, Fetch: get}
	if f.Yanked != "" {
		found.Notes = append(found.Notes, fmt.Sprintf("%s was yanked by its authors: %s", f.Name, f.Yanked))
	}
	return found, nil
}

// client adds to a client what pip's configuration says of certificates and proxies.
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
