package pypi

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/fetch"
)

// Index is a package index. If Page is set, the index is one page of links, or a folder with wheels.
type Index struct {
	URL  string // address without a login
	User *url.Userinfo
	Page bool
	From string // name for messages: the variable or file that configures the index
}

// Config holds the machine's configuration of package indexes.
type Config struct {
	Indexes []Index // in the order of requests
	CA      string  // file with certificates; "": the machine's certificates
	Proxy   string
}

// defaultIndex is pip's default index.
const defaultIndex = "https://pypi.org/simple"

// Variables returns the names of all variables that ReadConfig reads, except HOME.
func Variables() []string {
	return []string{"PIP_CONFIG_FILE", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX", "PIP_FIND_LINKS", "PIP_CERT", "PIP_PROXY",
		"XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "VIRTUAL_ENV"}
}

// ReadConfig reads pip's configuration as pip does on Linux. Precedence increases in this order: machine's file, user's
// file, virtual environment's file, PIP_CONFIG_FILE, variables. In a file, [install] has precedence over [global]. If
// index is not empty, it replaces the configured index.
func ReadConfig(getenv func(string) string, home, index string) (Config, error) {
	said, err := settings(getenv, home)
	if err != nil {
		return Config{}, err
	}
	get := func(name string) setting {
		if v := getenv("PIP_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))); v != "" {
			return setting{v, "PIP_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))}
		}
		return said[name]
	}
	c := Config{CA: get("cert").value, Proxy: get("proxy").value}
	add := func(text, from string, page bool) error {
		i, err := parseIndex(text, from)
		i.Page = page
		c.Indexes = append(c.Indexes, i)
		return err
	}
	if index != "" {
		return c, add(index, "the catalog", false)
	}
	links := get("find-links")
	for _, text := range strings.Fields(links.value) {
		if strings.HasPrefix(text, "~/") {
			text = filepath.Join(home, text[2:])
		}
		if filepath.IsAbs(text) {
			text = (&url.URL{Scheme: "file", Path: text}).String()
		} else if !strings.Contains(text, "://") {
			continue // relative to the working directory, which has no meaning for a tool
		}
		if err := add(text, links.from, true); err != nil {
			return c, err
		}
	}
	if v := strings.ToLower(get("no-index").value); v != "" && !slices.Contains([]string{"0", "false", "no", "off"}, v) {
		return c, nil
	}
	first := get("index-url")
	if first.value == "" {
		first = setting{defaultIndex, "pip's default"}
	}
	if err := add(first.value, first.from, false); err != nil {
		return c, err
	}
	more := get("extra-index-url")
	for _, text := range strings.Fields(more.value) {
		if err := add(text, more.from, false); err != nil {
			return c, err
		}
	}
	return c, nil
}

// Folder returns the path of an index in a local folder with wheels. For other indexes, it returns "".
func (i Index) Folder() string {
	u, err := url.Parse(i.URL)
	if err != nil || !i.Page || u.Scheme != "file" || strings.HasSuffix(u.Path, ".html") {
		return ""
	}
	return u.Path
}

// parseIndex separates the login from an index's address. Its errors do not show the address.
func parseIndex(text, from string) (Index, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Scheme != "https" && u.Scheme != "http" && u.Scheme != "file" || u.Host == "" && u.Scheme != "file" {
		return Index{}, fmt.Errorf("index of %s: invalid address; use the form https://host/simple", from)
	}
	i := Index{User: u.User, From: from}
	u.User, u.Fragment = nil, ""
	i.URL = strings.TrimSuffix(u.String(), "/")
	return i, nil
}

// login returns the login for the index's address.
func (i Index) login() []fetch.Login {
	u, err := url.Parse(i.URL)
	if i.User == nil || err != nil {
		return nil
	}
	password, _ := i.User.Password()
	return []fetch.Login{fetch.AddressLogin(u, i.User.Username(), password)}
}

// Readable returns an error if a request to addr would send the index's login unencrypted.
func (i Index) Readable(addr string) error {
	if u, err := url.Parse(addr); err == nil && i.User != nil && !fetch.Private(u) {
		return fmt.Errorf("%w: the address of %s sends a login without encryption; use https", ErrLogin, i.From)
	}
	return nil
}

// setting is a value and its origin.
type setting struct{ value, from string }

// settings reads pip's configuration files.
func settings(getenv func(string) string, home string) (map[string]setting, error) {
	own := getenv("PIP_CONFIG_FILE")
	if own == os.DevNull {
		return nil, nil
	}
	dirs := getenv("XDG_CONFIG_DIRS")
	if dirs == "" {
		dirs = "/etc/xdg"
	}
	var files []string
	for _, dir := range filepath.SplitList(dirs) {
		files = append(files, filepath.Join(dir, "pip", "pip.conf"))
	}
	files = append(files, "/etc/pip.conf")
	if _, err := os.Stat(own); (own == "" || err != nil) && home != "" {
		config := getenv("XDG_CONFIG_HOME")
		if config == "" {
			config = filepath.Join(home, ".config")
		}
		files = append(files, filepath.Join(home, ".pip", "pip.conf"), filepath.Join(config, "pip", "pip.conf"))
	}
	if venv := getenv("VIRTUAL_ENV"); venv != "" {
		files = append(files, filepath.Join(venv, "pip.conf"))
	}
	if own != "" {
		files = append(files, own)
	}
	out := map[string]setting{}
	for _, name := range files {
		b, err := boundedfile.Read(name, maxConfig)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		sections, err := parseINI(string(b))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, section := range []string{"global", "install"} {
			for key, value := range sections[section] {
				out[key] = setting{value, name}
			}
		}
	}
	return out, nil
}

const maxConfig = 1 << 20 // bytes of a configuration file of pip

// parseINI reads a file as Python's configparser does, as far as pip's files need it. Its errors show no line, because
// a line may contain a password.
func parseINI(file string) (map[string]map[string]string, error) {
	out := map[string]map[string]string{}
	section, key := "", ""
	for n, line := range strings.Split(file, "\n") {
		text := strings.TrimSpace(line)
		switch {
		case text == "" || text[0] == '#' || text[0] == ';':
		case line[0] == ' ' || line[0] == '\t':
			if key == "" {
				return nil, fmt.Errorf("line %d: indented line without a setting before it", n+1)
			}
			out[section][key] += "\n" + text
		case text[0] == '[' && strings.HasSuffix(text, "]"):
			section, key = text[1:len(text)-1], ""
			if out[section] == nil {
				out[section] = map[string]string{}
			}
		default:
			i := strings.IndexAny(text, "=:")
			if i < 0 || section == "" {
				return nil, fmt.Errorf("line %d: neither a section nor a setting", n+1)
			}
			key = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(text[:i])), "_", "-")
			out[section][key] = strings.TrimSpace(text[i+1:])
		}
	}
	return out, nil
}
