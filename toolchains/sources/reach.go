package sources

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/toolchains/sources/deb"
)

// Reach finds out whether what the spec names can be had, by asking for it as Fetch would, for its beginning. It returns false where nothing has to be asked: it
// is here already. Of the distribution's packages the smallest that is missing is fetched, and kept: only its own client knows its servers.
func Reach(ctx context.Context, s Spec, o Options) (asked bool, err error) {
	if s.File != "" || s.Kind == KindPrograms || s.Kind == KindCheck || s.downloaded(o.Downloads) {
		return false, nil
	}
	if err := s.check(); err != nil {
		return true, err
	}
	w := &work{Spec: s, o: o.withDefaults()}
	switch s.Kind {
	case KindDeb:
		err = w.reachPackages(ctx)
	case KindVendor:
		err = w.reachVendor(ctx)
	default:
		err = w.reachFile(ctx)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", s.Name, err)
	}
	return true, err
}

// downloaded tells whether the folder of downloads has what the spec names.
func (s Spec) downloaded(downloads string) bool {
	if s.Kind == KindDeb {
		return len(s.missing(downloads)) == 0
	}
	return s.filePinned() && keeps(filepath.Join(downloads, keptName(s)), s.Size)
}

// missing are the packages that the folder of downloads does not have, the smallest first.
func (s Spec) missing(downloads string) []deb.Package {
	client := deb.Client{Dir: filepath.Join(downloads, "deb")}
	ps := slices.DeleteFunc(slices.Clone(s.Packages), func(p deb.Package) bool { return p.SHA256 != "" && keeps(client.Downloaded(p.SHA256), p.Size) })
	slices.SortStableFunc(ps, func(a, b deb.Package) int { return int(min(1, max(-1, a.Size-b.Size))) })
	return ps
}

func (s *work) reachFile(ctx context.Context) error {
	if err := s.locate(ctx); err != nil {
		return err
	}
	c, lacks := s.client()
	err := c.Ask(ctx, s.source())
	if errors.Is(err, fetch.ErrOffline) && lacks != nil && !s.o.Offline {
		err = lacks
	}
	return err
}

func (s *work) reachPackages(ctx context.Context) error {
	s.Packages = s.missing(s.o.Downloads)[:1]
	_, err := s.packages(ctx)
	return err
}

func (s *work) reachVendor(ctx context.Context) error {
	if s.o.Offline {
		return fetch.ErrOffline
	}
	offered, err := s.o.Vendor.Offered(ctx, s.Vendor.Client+"-cli")
	if err == nil && !slices.ContainsFunc(offered, func(p string) bool { return strings.EqualFold(p, s.Vendor.Name) }) {
		err = fmt.Errorf("the account that %s-cli is logged in with is not offered %s: accept its licence on its page", s.Vendor.Client, s.Vendor.Name)
	}
	return err
}
