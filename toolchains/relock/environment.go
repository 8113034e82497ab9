package relock

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/toolchains"
	"github.com/hexmage/hexmage/toolchains/python"
	"github.com/hexmage/hexmage/toolchains/sources"
	"github.com/hexmage/hexmage/toolchains/sources/pypi"
)

// asking is how many indexes' pages are read at once.
const asking = 6

// environment chooses the packages of an environment: uv, which is pinned itself, says which versions, the index which
// files. It downloads only files whose index does not give their size and sha256.
func environment(ctx context.Context, c *toolchains.Catalogue, q toolchains.Request, ch *toolchains.Choice, o Options) (*toolchains.Locked, error) {
	asked := ch.Packages.Asked
	e := &toolchains.Locked{Name: ch.Toolchain.Name, Version: ch.Release.Version, Source: ch.Source.Kind, Asked: asked.Digest()}
	if err := os.MkdirAll(o.Downloads, 0o755); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(o.Downloads, "locking-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	program, err := tree(ctx, c, toolchains.Request{Name: "uv", Profile: q.Profile, Lock: o.Lock}, filepath.Join(dir, "uv"), o)
	if err != nil {
		return nil, err
	}
	interpreter := ""
	if ps := ch.Packages.Interpreter.Spec.Programs; len(ps) > 0 {
		interpreter = ps[0].Target
	} else {
		at, err := tree(ctx, c, toolchains.Request{Name: "python", Version: ch.Source.Python, Profile: toolchains.ProfileEmulator, Lock: o.Lock, Machine: q.Machine}, filepath.Join(dir, "python"), o)
		if err != nil {
			return nil, err
		}
		interpreter = filepath.Join(at, "bin", "python3")
	}
	getenv := o.Getenv
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	cfg, err := pypi.ReadConfig(getenv, o.Home, asked.Index)
	if err != nil {
		return nil, err
	}
	if o.Offline {
		return nil, fetch.ErrOffline
	}
	env := []string{"NETRC=" + netrc(getenv, o.Home)}
	for _, name := range []string{"http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE"} {
		if v := getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	o.say("uv chooses packages")
	chosen, err := python.Resolve(ctx, asked, filepath.Join(program, "bin", "uv"), interpreter, dir, cfg, env)
	if err != nil {
		return nil, err
	}
	e.Wheels = make([]*toolchains.Wheel, len(chosen))
	var done atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(asking)
	for i, p := range chosen {
		g.Go(func() (err error) {
			if e.Wheels[i], err = wheel(ctx, p, asked, getenv, o); err != nil {
				return err
			}
			o.say(fmt.Sprintf("%d of %d packages found", done.Add(1), len(chosen)))
			return nil
		})
	}
	return e, g.Wait()
}

func netrc(getenv func(string) string, home string) string {
	if name := getenv(fetch.EnvNetrc); name != "" {
		return name
	}
	return filepath.Join(home, ".netrc")
}

func (o Options) say(text string) {
	if o.Progress != nil {
		o.Progress(0, 0, text)
	}
}

// tree gets a release that is pinned.
func tree(ctx context.Context, c *toolchains.Catalogue, q toolchains.Request, at string, o Options) (string, error) {
	ch, err := c.Choose(q)
	if err != nil {
		return "", err
	}
	return at, sources.Fetch(ctx, ch.Spec, at, o.Options)
}

// wheel finds the file of a package that fits.
func wheel(ctx context.Context, p python.Chosen, a python.Asked, getenv func(string) string,
	o Options) (*toolchains.Wheel, error) {
	c := pypi.Client{Getenv: getenv, Home: o.Home, Mirrors: o.Mirrors, Logins: o.Logins, Fetch: fetch.Client{Backoff: o.Backoff}}
	if a.Until != "" {
		var err error
		if c.Until, err = time.Parse(time.DateOnly, a.Until); err != nil {
			return nil, err
		}
	}
	f, err := c.Find(ctx, pypi.Wheel{Project: p.Project, Version: p.Version, Tags: a.Tags(), Index: a.Index})
	if err != nil {
		return nil, err
	}
	for _, n := range f.Notes {
		if o.Warn != nil {
			o.Warn(n)
		}
	}
	size, sum := f.Size, f.SHA256
	if size == 0 || sum == "" {
		if size, sum, err = download(ctx, f, o); err != nil {
			return nil, err
		}
	}
	if !slices.Contains(p.SHA256, sum) {
		return nil, fmt.Errorf("%w: uv and the package index of %s do not mean the same file by %s: "+
			"sha256 %s is none of those that uv found", fetch.ErrMismatch, f.From, f.Name, sum)
	}
	return toolchains.NewWheel(f.Name, size, sum)
}

// download gets a file whose index does not give its size or its sha256, and returns them. It keeps the file.
func download(ctx context.Context, f *pypi.Found, o Options) (size int64, sum string, err error) {
	get := f.Fetch
	get.Logins = append(get.Logins, o.Logins...)
	name := filepath.Join(o.Downloads, cmp.Or(f.SHA256, f.Name))
	r, err := get.Fetch(ctx, fetch.Source{URLs: []string{f.URL}, Size: f.Size, SHA256: f.SHA256, Archive: true,
		Label: f.Name + " from the package index of " + f.From}, name)
	if err != nil {
		return 0, "", err
	}
	if kept := filepath.Join(o.Downloads, r.SHA256); kept != name {
		err = os.Rename(name, kept)
	}
	return r.Size, r.SHA256, err
}
