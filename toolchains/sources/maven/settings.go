package maven

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// Repository is one that the machine's own configuration names.
type Repository struct {
	URL            string
	User, Password string // "" for none
	From           string // the file that names it, for people
}

// central is Maven's own.
const central = "https://repo.maven.apache.org/maven2"

const maxSettings = 1 << 20 // bytes of a file of Maven's

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

	from string
}

// files are Maven's own: the user's, which counts first, and the installation's.
func files(getenv func(string) string, home string) []string {
	var out []string
	if home != "" {
		out = append(out, filepath.Join(home, ".m2", "settings.xml"))
	}
	for _, name := range []string{"MAVEN_HOME", "M2_HOME"} {
		if dir := getenv(name); dir != "" {
			return append(out, filepath.Join(dir, "conf", "settings.xml"))
		}
	}
	return out
}

var placed = lazyregexp.New(`\$\{env\.([A-Za-z_][A-Za-z0-9_]*)\}`)

// Variables are those that Repositories asks for: those that the files themselves name, too.
func Variables(getenv func(string) string, home string) []string {
	out := []string{"MAVEN_HOME", "M2_HOME"}
	for _, name := range files(getenv, home) {
		b, _ := read(name)
		for _, m := range placed.Get().FindAllStringSubmatch(string(b), 100) {
			out = append(out, m[1])
		}
	}
	return out
}

func read(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxSettings))
}

// Repositories are those of Maven's settings.xml, as Maven takes them: of active profiles, then Maven's own; a mirror stands in place of what it mirrors; with the
// logins of servers.
func Repositories(getenv func(string) string, home string) ([]Repository, error) {
	var all []settings
	for _, name := range files(getenv, home) {
		b, err := read(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		s := settings{from: name}
		if err := xml.Unmarshal(b, &s); err != nil {
			return nil, fmt.Errorf("%s is no settings.xml of Maven's", name) // the error itself may quote a password
		}
		all = append(all, s)
	}
	fill := func(text string) string {
		for _, m := range placed.Get().FindAllStringSubmatch(text, 100) {
			text = strings.ReplaceAll(text, m[0], getenv(m[1]))
		}
		return strings.TrimSpace(text)
	}
	type named struct{ id, url, from string }
	var repos []named
	for _, s := range all {
		for _, p := range s.Profiles {
			if !p.Always && !slices.ContainsFunc(all, func(o settings) bool { return slices.Contains(o.Active, p.ID) }) {
				continue
			}
			for _, r := range p.Repositories {
				repos = append(repos, named{r.ID, fill(r.URL), s.from})
			}
		}
	}
	if !slices.ContainsFunc(repos, func(r named) bool { return r.id == "central" }) {
		repos = append(repos, named{"central", central, "Maven's default"})
	}
	var out []Repository
	for _, r := range repos {
		for _, exact := range []bool{false, true} { // who names it alone counts
			for _, s := range slices.Backward(all) {
				for _, m := range slices.Backward(s.Mirrors) {
					if mirrors(m.MirrorOf, r.id, r.url) && (m.MirrorOf == r.id) == exact {
						r = named{r.id, fill(m.URL), s.from + "\x00" + m.ID}
					}
				}
			}
		}
		from, server, mirrored := strings.Cut(r.from, "\x00")
		if !mirrored {
			server = r.id
		}
		is := Repository{URL: r.url, From: from}
		u, err := url.Parse(is.URL)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" && u.Scheme != "file" {
			return nil, fmt.Errorf("%s: repository %q has no address of the form https://host/maven2", from, r.id)
		}
		if u.User != nil { // it is sent as a login, or not at all
			is.User = u.User.Username()
			is.Password, _ = u.User.Password()
			u.User = nil
			is.URL = u.String()
		}
		for _, s := range slices.Backward(all) {
			for _, v := range s.Servers {
				if v.ID == server {
					is.User, is.Password = fill(v.User), fill(v.Password)
				}
			}
		}
		if strings.HasPrefix(is.Password, "{") && strings.HasSuffix(is.Password, "}") {
			return nil, fmt.Errorf("%s: the password of server %q is encrypted with Maven's master password, which is not read here: put the login of its host into ~/.netrc", from, server)
		}
		if !slices.ContainsFunc(out, func(o Repository) bool { return o.URL == is.URL }) {
			out = append(out, is)
		}
	}
	return out, nil
}

// mirrors tells whether a mirror is one of the repository: mirrorOf lists names, "*", "external:*" and "!name".
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
