package steps

import (
	"context"
	"errors"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/toolchains/sources"
	"github.com/hexmage/hexmage/toolchains/sources/git"
)

// Reach finds out whether what an action fetches can be had, without fetching it: from where, with which logins and by which clients the action itself would have it. It
// returns false where the action fetches nothing, or has on this machine what it fetches.
func Reach(ctx context.Context, s action.Spec, o sources.Options) (asked bool, err error) {
	if spec, ok := argsOf(s, sources.Tool); ok {
		return sources.Reach(ctx, spec, o)
	}
	spec, ok := argsOf(s, git.Tool)
	if !ok || !remoteRE.MatchString(spec.URL) || git.Has(git.Options{Spec: spec, Machine: o.Machine()}) {
		return false, nil
	}
	var errs []error
	for _, addr := range append([]string{spec.URL}, spec.Others...) {
		_, err := git.Resolve(ctx, git.Options{Spec: git.Spec{URL: addr}, Machine: o.Machine()}, "HEAD")
		if err == nil {
			return true, nil
		}
		errs = append(errs, err)
	}
	return true, errors.Join(errs...)
}
