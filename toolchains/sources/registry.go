package sources

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/toolchains/sources/maven"
	"github.com/hexmage/hexmage/toolchains/sources/pypi"
)

// found is the present address of a registry's package.
type found struct {
	label   string       // name of its addresses in messages
	client  fetch.Client // with the registry's login and certificates
	file    string       // its name
	vouched bool
}

// registry reports whether the spec names a package of a registry in place of an address.
func (s Spec) registry() bool { return s.Wheel != nil || s.Maven != nil }

// Variables returns the names of the environment variables that configure package registries.
func Variables(home string) []string {
	return append(pypi.Variables(), maven.Variables(home)...)
}

// locate finds the addresses of a package.
func (s *work) locate(ctx context.Context) error {
	if !s.registry() {
		return nil
	}
	if s.o.Offline {
		return fetch.ErrOffline
	}
	s.o.Progress(0, 0, "query the package registry")
	if s.Maven != nil {
		return s.jar()
	}
	return s.wheel(ctx, pypi.Client{Getenv: s.o.Var, Home: s.o.Home, Mirrors: s.o.Mirrors, Logins: s.o.Logins,
		Fetch: fetch.Client{Backoff: s.o.Backoff}, SHA256: s.SHA256})
}

func (s *work) wheel(ctx context.Context, c pypi.Client) error {
	f, err := c.Find(ctx, *s.Wheel)
	if err != nil {
		return err
	}
	if s.SHA256 == "" { // without a pin, the index's digest must match
		s.found.vouched, s.SHA256, s.Size = f.SHA256 != "", f.SHA256, f.Size
	}
	s.URLs = []string{f.URL}
	s.found.label, s.found.client, s.found.file = f.Name+" from the package index of "+f.From, f.Fetch, f.Name
	return nil
}

func (s *work) jar() error {
	repos, err := maven.Repositories(s.o.Var, s.o.Home)
	if err != nil {
		return err
	}
	var from []string
	s.URLs = nil
	for _, r := range repos {
		addr := fetch.Rewrite(s.Maven.URL(r.URL), s.o.Mirrors)
		s.URLs = append(s.URLs, addr)
		if u, err := url.Parse(addr); err == nil && r.User != "" {
			if !fetch.Private(u) {
				return fmt.Errorf("the repository address of %s sends a login without encryption; use https", r.From)
			}
			s.found.client.Logins = append(s.found.client.Logins, fetch.AddressLogin(u, r.User, r.Password))
		}
		if !slices.Contains(from, r.From) {
			from = append(from, r.From)
		}
	}
	s.found.client.Logins = append(s.found.client.Logins, s.o.Logins...)
	s.found.label = fmt.Sprintf("%s from the Maven repositories of %s", s.Maven.File(), strings.Join(from, ", "))
	return nil
}
