package python

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/internal/version"
	"github.com/hexmage/hexmage/toolchains/sources/pypi"
)

func recordLine(path string, b []byte) string {
	sum := sha256.Sum256(b)
	return fmt.Sprintf("%s,sha256=%s,%d\n", path, base64.RawURLEncoding.EncodeToString(sum[:]), len(b))
}

// Asked is a request for a Python environment.
type Asked struct {
	Python       string   // "3.11"
	Requirements []string // in pip's syntax
	Overrides    []string // requirements that replace those in package metadata
	ExcludeNewer string   // date; files uploaded on that day or later are ignored
	Index        string
}

// Platform of the wheels: the processor, and the glibc of Ubuntu 22.04, which newer systems support.
const (
	processor = "x86_64"
	glibc     = "manylinux_2_35"
)

var (
	minorRE       = lazyregexp.New(`^3\.\d{1,2}$`)
	requirementRE = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]*\s*(\[[A-Za-z0-9._, -]*\])?\s*([(=<>!~;].*)?$`)
)

// Minor returns the first two numbers of an interpreter's version: "3.11" for "3.11.7".
func Minor(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(len(parts), 2)], ".")
}

// Clean removes comments and empty lines, which users may copy from a requirements file.
func (a Asked) Clean() Asked {
	clean := func(lines []string) (out []string) {
		for _, l := range lines {
			if i := strings.Index(" "+l, " #"); i >= 0 {
				l = l[:i]
			}
			if l = strings.TrimSpace(l); l != "" {
				out = append(out, l)
			}
		}
		return out
	}
	a.Requirements, a.Overrides = clean(a.Requirements), clean(a.Overrides)
	return a
}

// Check returns an error for an invalid request.
func (a Asked) Check() error {
	if !minorRE.MatchString(a.Python) {
		return fmt.Errorf("python: invalid version %q; use a version such as \"3.11\"", a.Python)
	}
	for _, r := range slices.Concat(a.Requirements, a.Overrides) {
		if !requirementRE.MatchString(r) || strings.Contains(r, "://") || strings.ContainsAny(r, "\n\r\x00") || strings.Contains(r, "--") {
			return fmt.Errorf("requirements: invalid requirement %.100q; use the form \"numpy==2.4.6\", without "+
				"addresses, files and options",
				r)
		}
	}
	if _, err := time.Parse(time.DateOnly, a.ExcludeNewer); err != nil && a.ExcludeNewer != "" {
		return fmt.Errorf("exclude_newer: invalid date %q; use the form \"2026-11-20\"", a.ExcludeNewer)
	}
	return nil
}

// Digest identifies the request. Requests for different environments have different digests.
func (a Asked) Digest() string {
	a = a.Clean()
	all := []any{a.Python, glibc + "_" + processor, a.Requirements, a.Overrides, a.ExcludeNewer, a.Index}
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%q", all)))
}

// Resolve chooses the wheels with uv. The paths program and python name uv and an interpreter. uv uses the folder dir
// for its files and the variables in env.
func Resolve(ctx context.Context, a Asked, program, python, dir string, cfg pypi.Config, env []string) (
	[]pypi.Wheel, error,
) {
	a = a.Clean()
	if err := a.Check(); err != nil {
		return nil, err
	}
	if len(a.Requirements) == 0 {
		return nil, nil
	}
	in, over := filepath.Join(dir, "requirements.in"), filepath.Join(dir, "overrides.in")
	if err := errors.Join(os.WriteFile(in, []byte(strings.Join(a.Requirements, "\n")+"\n"), 0o600),
		os.WriteFile(over, []byte(strings.Join(a.Overrides, "\n")+"\n"), 0o600)); err != nil {
		return nil, err
	}
	args := []string{"pip", "compile", "--quiet", "--only-binary", ":all:", "--format", "pylock.toml", "--no-header",
		"--generate-hashes", "--no-python-downloads", "--python-version", a.Python,
		"--python-platform", processor + "-" + glibc}
	if a.ExcludeNewer != "" {
		args = append(args, "--exclude-newer", a.ExcludeNewer+"T00:00:00Z")
	}
	if len(a.Overrides) > 0 {
		args = append(args, "--overrides", over)
	}
	if python != "" {
		args = append(args, "--python", python)
	}
	c := uv(ctx, program, dir, append(args, in)...)
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	c.Env = append(c.Env, env...)
	for _, i := range cfg.Indexes {
		if err := i.Readable(i.URL); err != nil {
			return nil, err
		}
	}
	hide := indexes(cfg, &c.Env)
	if err := c.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, fmt.Errorf("uv found no compatible versions of the packages: %w\n%s", err,
			hide.Replace(strings.TrimSpace(said.String())))
	}
	return parse(out.Bytes())
}

// indexes passes the machine's indexes to uv in its environment, which other users cannot read. It returns a replacer
// that removes their addresses from messages.
func indexes(cfg pypi.Config, env *[]string) *strings.Replacer {
	var words, all, links []string
	if u, err := url.Parse(cfg.Proxy); err == nil && u.User != nil {
		words = append(words, u.User.String()+"@", "")
	}
	for _, i := range cfg.Indexes {
		u, err := url.Parse(i.URL)
		if err != nil {
			continue
		}
		u.User = i.User
		if password, _ := i.User.Password(); len(password) > 3 {
			words = append(words, password, "(sensitive)")
		}
		if i.User != nil { // as in the address; a user without a password may be a token
			words = append(words, i.User.String()+"@", "")
		}
		words = append(words, i.URL, "the index of "+i.From)
		if u.Host != "" {
			words = append(words, u.Host, "the index of "+i.From)
		}
		if i.Page {
			links = append(links, cmp.Or(i.Folder(), u.String()))
		} else {
			all = append(all, u.String())
		}
	}
	set := func(name, value string) {
		if value != "" {
			*env = append(*env, name+"="+value)
		}
	}
	set("UV_FIND_LINKS", strings.Join(links, ","))
	if n := len(all); n > 0 { // uv asks its default index last
		set("UV_DEFAULT_INDEX", all[n-1])
		set("UV_INDEX", strings.Join(all[:n-1], " "))
	} else {
		set("UV_NO_INDEX", "1")
	}
	set("SSL_CERT_FILE", cfg.CA)
	set("HTTPS_PROXY", cfg.Proxy)
	set("HTTP_PROXY", cfg.Proxy)
	return strings.NewReplacer(words...)
}

// parse reads a PEP 751 lock and returns one wheel per package. uv lists only wheels that fit the Python and the
// platform; parse checks the processor.
func parse(lock []byte) ([]pypi.Wheel, error) {
	var all struct {
		Packages []struct {
			Name   string `toml:"name"`
			Wheels []struct {
				URL    string            `toml:"url"`
				Size   int64             `toml:"size"`
				Hashes map[string]string `toml:"hashes"`
			} `toml:"wheels"`
		} `toml:"packages"`
	}
	if err := toml.Unmarshal(lock, &all); err != nil {
		return nil, fmt.Errorf("uv: invalid lock: %w", err)
	}
	var out []pypi.Wheel
	for _, p := range all.Packages {
		var best pypi.Wheel
		for _, w := range p.Wheels {
			u, err := url.Parse(w.URL)
			if err != nil {
				return nil, err
			}
			c := pypi.Wheel{File: path.Base(u.Path), Size: w.Size, SHA256: w.Hashes["sha256"]}
			if !strings.HasSuffix(c.File, "-any.whl") && !strings.HasSuffix(c.File, "_"+processor+".whl") {
				return nil, fmt.Errorf("uv: wheel %s does not support processor %s", c.File, processor)
			}
			if best.File == "" || cmp.Or(better(c.File, best.File), cmp.Compare(c.Size, best.Size)) > 0 {
				best = c
			}
		}
		if best.SHA256 == "" {
			return nil, fmt.Errorf("uv: package %q has no wheel with a sha256", p.Name)
		}
		w, err := pypi.ParseFile(best.File)
		if err != nil {
			return nil, err
		}
		w.Size, w.SHA256 = best.Size, best.SHA256
		out = append(out, w)
	}
	return out, nil
}

// better compares the file names of two wheels of one package. Wheels for any platform come last, and wheels for several
// Python versions come before those. Among the others, the wheel for the newer Python and platform is better.
func better(a, b string) int {
	rank := func(name string) int {
		switch {
		case strings.HasSuffix(name, "-any.whl"):
			return 0
		case strings.Contains(name, "-abi3-"):
			return 1
		}
		return 2
	}
	old := strings.NewReplacer("manylinux2014", "manylinux_2_17", "manylinux2010", "manylinux_2_12",
		"manylinux1", "manylinux_2_5")
	return cmp.Or(cmp.Compare(rank(a), rank(b)), version.Compare(old.Replace(a), old.Replace(b)))
}
