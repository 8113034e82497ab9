package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/memory"

	"github.com/hexmage/hexmage/internal/fetch"
)

// listTime is how long a server may take to say which branches and tags it has.
const listTime = 2 * time.Minute

// Resolve asks which commit a tag, a branch or HEAD of the repository is now; a commit's id is itself.
func Resolve(ctx context.Context, o Options, ref string) (commit string, err error) {
	if commitRE.MatchString(ref) {
		return ref, nil
	}
	if info, e := os.Stat(o.URL); e == nil && info.IsDir() {
		commit, err = resolveHere(o.URL, ref)
	} else {
		commit, err = resolveThere(ctx, o, ref)
	}
	if err != nil {
		return "", fmt.Errorf("find %s of %s: %w", ref, redact(o.URL), err)
	}
	return commit, nil
}

// spellings are the full names that a ref may be short for, those first that git takes first.
func spellings(ref string) []plumbing.ReferenceName {
	if ref == "HEAD" {
		return []plumbing.ReferenceName{plumbing.HEAD}
	}
	return []plumbing.ReferenceName{plumbing.NewTagReferenceName(ref), plumbing.NewBranchReferenceName(ref)}
}

var errNoRef = errors.New("the repository has no such tag or branch: check `ref`")

// resolveHere looks into a repository of this machine.
func resolveHere(dir, ref string) (string, error) {
	repo, err := git.PlainOpen(dir)
	if err != nil {
		return "", err
	}
	for _, name := range spellings(ref) {
		r, err := repo.Reference(name, true)
		if errors.Is(err, plumbing.ErrReferenceNotFound) {
			continue
		}
		if err != nil {
			return "", err
		}
		hash := r.Hash()
		if tag, err := repo.TagObject(hash); err == nil { // one with a message
			c, err := tag.Commit()
			if err != nil {
				return "", err
			}
			hash = c.Hash
		}
		return hash.String(), nil
	}
	return "", errNoRef
}

// resolveThere asks a server.
func resolveThere(ctx context.Context, o Options, ref string) (string, error) {
	if o.Offline {
		return "", ErrOffline
	}
	addr := fetch.Rewrite(o.URL, o.Mirrors)
	ctx, stop := context.WithTimeout(ctx, listTime)
	defer stop()
	remote := git.NewRemote(memory.NewStorage(), &config.RemoteConfig{Name: "origin", URLs: []string{addr}})
	refs, err := remote.ListContext(ctx, &git.ListOptions{Auth: o.auth(addr), PeelingOption: git.AppendPeeled})
	switch {
	case refused(err):
		return "", loginError(err)
	case unreachable(err):
		return "", fetch.OutOfReach(err)
	case err != nil:
		return "", err
	}
	found := map[plumbing.ReferenceName]*plumbing.Reference{}
	for _, r := range refs {
		found[r.Name()] = r
	}
	for _, name := range spellings(ref) {
		r := found[name]
		if r != nil && r.Type() == plumbing.SymbolicReference {
			r = found[r.Target()]
		}
		if r == nil {
			continue
		}
		if peeled := found[name+"^{}"]; peeled != nil { // of a tag with a message
			r = peeled
		}
		return r.Hash().String(), nil
	}
	return "", errNoRef
}
