// Package gitmodule has modules of git repositories: what their sources mean, which commit they are, and their files in the cache.
//
// One enters it with Parse, and with a Store. What is in a repository is data: nothing of it is run, it has no submodules and no hooks here, and
// no link leads out of it. The package does not know the lock's file, nor what a module is.
package gitmodule

import (
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// Prefix begins the sources that are of git.
const Prefix = "git::"

// Source is what a module's source says: git::URL//FOLDER?ref=REF.
type Source struct {
	URL    string // of the repository
	Folder string // slash path in it; "." is all of it
	Ref    string // a tag, a branch, a commit's id, or HEAD
}

// SecretError is what is wrong with a source that may have a password in it, so that its line is not to be shown. It does not repeat that.
type SecretError string

func (e SecretError) Error() string { return string(e) }

const forms = `want git::https://HOST/REPOSITORY//FOLDER?ref=TAG, or the same with ssh, http or file; //FOLDER and ?ref= may be left out`

var refRE = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_./@+-]*$`)

// Parse reads a source that begins with Prefix.
func Parse(text string) (Source, error) {
	rest := strings.TrimPrefix(text, Prefix)
	u, err := url.Parse(rest)
	if err != nil || u.Opaque != "" || u.Scheme == "" || u.Path == "" {
		if strings.Contains(rest, "@") {
			return Source{}, SecretError("a source of git cannot be read: " + forms + "; git@HOST:PATH is written ssh://git@HOST/PATH")
		}
		return Source{}, fmt.Errorf("%q cannot be read: %s", text, forms)
	}
	_, password := u.User.Password()
	switch u.Scheme {
	case "ssh":
	case "https", "http", "file":
		password = u.User != nil // of a token, the user's part is the secret
	default:
		return Source{}, fmt.Errorf("the scheme %q of a source is none of https, ssh, http and file: %s", u.Scheme, forms)
	}
	if password {
		return Source{}, SecretError("the address of a module at " + u.Host + " has a user or password, which everybody would see who sees the file or the lock: " +
			"put it into ~/.netrc, and leave it out here")
	}
	query, err := url.ParseQuery(u.RawQuery)
	ref := "HEAD"
	if query.Has("ref") {
		ref = query.Get("ref")
		query.Del("ref")
	}
	if err != nil || len(query) > 0 || strings.Count(u.RawQuery, "ref=") > 1 || u.Fragment != "" {
		return Source{}, SecretError("the address of a module at " + u.Host + " has more behind it than ?ref=: " + forms)
	}
	if !refRE.MatchString(ref) || strings.Contains(ref, "..") || strings.Contains(ref, "//") {
		return Source{}, fmt.Errorf("ref %q of %q is no tag, branch or commit", ref, text)
	}
	repo, folder, _ := strings.Cut(u.Path, "//")
	if folder == "" {
		folder = "."
	}
	for _, e := range strings.Split(folder, "/") {
		if e == ".." || e == "" || strings.Contains(e, `\`) {
			return Source{}, fmt.Errorf("the folder %q of %q is no path in the repository", folder, text)
		}
	}
	if (u.Scheme == "file") != (u.Host == "") || strings.Trim(repo, "/") == "" {
		return Source{}, fmt.Errorf("%q names no repository: %s", text, forms)
	}
	u.Path, u.RawPath, u.RawQuery = repo, "", ""
	return Source{URL: u.String(), Folder: path.Clean(folder), Ref: ref}, nil
}

// String is the source without its folder, for people.
func (s Source) String() string { return Prefix + s.URL + "?ref=" + s.Ref }

// place is what the repository is opened by: one of this machine is a folder, not an address, for which no program of git is needed.
func (s Source) place() string {
	if u, err := url.Parse(s.URL); err == nil && u.Scheme == "file" {
		return u.Path
	}
	return s.URL
}
