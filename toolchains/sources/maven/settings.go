package maven

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// Repository is a repository in the machine's configuration.
type Repository struct {
	URL            string
	User, Password string // "": none
	From           string // file that configures the repository
}

// central is Maven's default repository.
const central = "https://repo.maven.apache.org/maven2"

const maxSettings = 1 << 20 // bytes

type settings struct {
	Mirrors []struct {
		ID       string `xml:"id"`
		URL      string `xml:"url"`
		MirrorOf string `xml:"mirrorOf"`
	} `xml:"mirrors>mirror"`
	Servers []struct {
		ID       string `xml:"id"`
		User     string `xml:"username"`
		Password string `xml:"password"`
	} `xml:"servers>server"`
	Profiles []struct {
		ID           string `xml:"id"`
		Always       bool   `xml:"activation>activeByDefault"`
		Repositories []struct {
			ID  string `xml:"id"`
			URL string `xml:"url"`
		} `xml:"repositories>repository"`
	} `xml:"profiles>profile"`
	Active []string `xml:"activeProfiles>activeProfile"`
}

func file(home string) string { return filepath.Join(home, ".m2", "settings.xml") }

var placed = lazyregexp.New(`\$\{env\.([A-Za-z_][A-Za-z0-9_]*)\}`)

// Variables returns the names of the environment variables that the user's settings.xml uses.
func Variables(home string) (names []string) {
	b, _ := boundedfile.Read(file(home), maxSettings)
	for _, m := range placed.Get().FindAllStringSubmatch(string(b), 100) {
		names = append(names, m[1])
	}
	return names
}

// Repositories returns the repositories of active profiles in the user's settings.xml, with logins. Maven's default
// repository is last. A mirror replaces the repositories that it mirrors.
func Repositories(getenv func(string) string, home string) ([]Repository, error) {
	var s settings
	b, err := boundedfile.Read(file(home), maxSettings)
	if err == nil && xml.Unmarshal(b, &s) != nil {
		err = fmt.Errorf("%s: not a Maven settings.xml", file(home)) // the original error may quote a password
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	fill := func(text string) string {
		for _, m := range placed.Get().FindAllStringSubmatch(text, 100) {
			text = strings.ReplaceAll(text, m[0], getenv(m[1]))
		}
		return strings.TrimSpace(text)
	}
	type named struct{ id, url, from string }
	var repos []named
	for _, p := range s.Profiles {
		if p.Always || slices.Contains(s.Active, p.ID) {
			for _, r := range p.Repositories {
				repos = append(repos, named{r.ID, fill(r.URL), file(home)})
			}
		}
	}
	if !slices.ContainsFunc(repos, func(r named) bool { return r.id == "central" }) {
		repos = append(repos, named{"central", central, "Maven's default"})
	}
	var out []Repository
	for _, r := range repos {
		of := r.id
		for _, exact := range []bool{false, true} { // an exact name takes precedence
			for _, m := range slices.Backward(s.Mirrors) {
				if mirrors(m.MirrorOf, of, r.url) && (m.MirrorOf == of) == exact {
					r = named{m.ID, fill(m.URL), file(home)}
				}
			}
		}
		is := Repository{URL: r.url, From: r.from}
		u, err := url.Parse(is.URL)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" && u.Scheme != "file" {
			return nil, fmt.Errorf("%s: repository %q has an invalid address; use the form https://host/maven2",
				r.from, of)
		}
		if u.User != nil { // sent only as a login
			is.User = u.User.Username()
			is.Password, _ = u.User.Password()
			u.User = nil
			is.URL = u.String()
		}
		for _, v := range s.Servers {
			if v.ID == r.id {
				is.User, is.Password = fill(v.User), fill(v.Password)
			}
		}
		if strings.HasPrefix(is.Password, "{") && strings.HasSuffix(is.Password, "}") {
			return nil, fmt.Errorf("%s: hexmage cannot read the password of server %q, which Maven's master password "+
				"encrypts; add a login for the host to ~/.netrc", r.from, r.id)
		}
		if !slices.ContainsFunc(out, func(o Repository) bool { return o.URL == is.URL }) {
			out = append(out, is)
		}
	}
	return out, nil
}

// mirrors reports whether mirrorOf covers the repository: mirrorOf lists names, "*", "external:*" and "!name".
func mirrors(of, id, address string) bool {
	u, err := url.Parse(address)
	external := err == nil && u.Scheme != "file" && u.Hostname() != "localhost" && u.Hostname() != "127.0.0.1"
	is := false
	for _, word := range strings.Split(of, ",") {
		switch word = strings.TrimSpace(word); {
		case word == "!"+id:
			return false
		case word == id, word == "*", word == "external:*" && external, word == "external:http:*" && external && u.Scheme == "http":
			is = true
		}
	}
	return is
}
