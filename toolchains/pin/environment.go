package pin

import (
	"cmp"
	"context"
	"os"
	"path/filepath"

	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/toolchains"
	"github.com/hexmage/hexmage/toolchains/python"
	"github.com/hexmage/hexmage/toolchains/sources"
	"github.com/hexmage/hexmage/toolchains/sources/pypi"
)

// environment chooses the packages of an environment with uv. It downloads no package.
func environment(ctx context.Context, c *toolchains.Catalog, q toolchains.Request, ch *toolchains.Choice, o Options) (*toolchains.Locked, error) {
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
	uv := toolchains.Request{Name: "uv", Profile: toolchains.ProfileEmulator, Lock: o.Lock} // a real release in every profile
	program, err := tree(ctx, c, uv, filepath.Join(dir, "uv"), o)
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
	cfg, err := pypi.ReadConfig(o.Var, o.Home, asked.Index)
	if err != nil {
		return nil, err
	}
	if o.Offline {
		return nil, fetch.ErrOffline
	}
	env := []string{"NETRC=" + cmp.Or(o.Var(fetch.EnvNetrc), filepath.Join(o.Home, ".netrc"))}
	for _, name := range []string{"http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE"} {
		if v := o.Var(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	o.Progress(0, 0, "uv resolves packages")
	e.Wheels, err = python.Resolve(ctx, asked, filepath.Join(program, "bin", "uv"), interpreter, dir, cfg, env)
	return e, err
}

// tree gets a pinned release.
func tree(ctx context.Context, c *toolchains.Catalog, q toolchains.Request, at string, o Options) (string, error) {
	ch, err := c.Choose(q)
	if err != nil {
		return "", err
	}
	return at, sources.Fetch(ctx, ch.Spec, at, o.Options)
}
