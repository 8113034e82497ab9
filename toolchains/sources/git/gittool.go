// Package git implements the built-in tool `hexmage tool git-checkout`, which writes the files of one commit to a
// folder.
//
// It needs no git program, runs no hooks or filters, and leaves no .git folder. So the result depends only on the
// commit. The tool checks out submodules at the commits that the given commit names. It rejects a commit with pointers
// of Git LFS. It accepts only the id of a commit, not a branch. The package does not know toolchains or steps.
package git

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/internal/tool"
)

// Tool is the name and version of the tool. Raise the version whenever a spec's result changes.
const Tool tool.Name[Spec] = "git-checkout/2"

// Spec describes the checkout.
type Spec struct {
	URL        string `json:"url"`                                   // address or path of a repository
	Commit     string `arg:"commit,required" json:"commit"`          // 40 hexadecimal digits
	Sub        string `arg:"sub" json:"sub,omitempty"`               // the only folder to write
	Submodules bool   `arg:"submodules" json:"submodules,omitempty"` // whether to write the files of submodules, too
	// Only lists the paths of the submodules to write. Their own submodules are included. An empty list means all.
	Only []string `arg:"submodule_paths" json:"submodule_paths,omitempty"`
	Out  string   `json:"out"` // output folder
}

// Options holds a Spec and settings that do not affect the result.
type Options struct {
	Spec
	fetch.Machine
	Progress io.Writer // receives lines from the server; may be nil
}

var commitRE = lazyregexp.New(`^[0-9a-f]{40}$`)

// Run checks out the spec's commit.
func Run(ctx context.Context, s Spec, env tool.Env) error {
	if s.URL == "" || s.Out == "" || !commitRE.MatchString(s.Commit) {
		return errors.New("url, commit (40 hexadecimal digits) and out are required")
	}
	m, err := fetch.MachineOf(env.Var)
	if err != nil {
		return err
	}
	err = Checkout(ctx, Options{Spec: s, Machine: m, Progress: progress{env.Stderr}}, s.Out)
	if fetch.Unreachable(err) {
		fmt.Fprintf(env.Stderr, "%s: %v\n", Tool, err)
		return errors.Join(tool.ErrSaid, tool.ErrUnable)
	}
	return err
}

// Checkout writes the files of the commit to the folder out, which must be missing or empty. If Checkout fails, out is
// unchanged.
func Checkout(ctx context.Context, o Options, out string) error {
	if o.Downloads == "" { // nothing is kept
		dir, err := os.MkdirTemp("", "hexmage-git-*")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		o.Downloads = dir
	}
	c := &checkout{trees: map[string]*object.Tree{}}
	tree, err := c.tree(ctx, o)
	for _, p := range o.Only {
		if err != nil {
			break
		}
		entry, missing := tree.FindEntry(strings.TrimPrefix(p, strings.Trim(o.Sub, "/")+"/"))
		if missing != nil || entry.Mode != filemode.Submodule {
			err = fmt.Errorf("submodule_paths: no submodule at %q", p)
		}
	}
	if err == nil {
		err = c.write(ctx, o, tree, out)
	}
	if err != nil {
		return fmt.Errorf("cannot check out %s of %s: %w", o.Commit, redact(o.URL), err)
	}
	return nil
}

// checkout is one call of Checkout.
type checkout struct {
	tar   *tar.Writer
	files int
	trees map[string]*object.Tree // of commits, by address and id: each submodule reads its parent's .gitmodules
}

// tree returns the files of the commit, or of the folder Sub in it.
func (c *checkout) tree(ctx context.Context, o Options) (*object.Tree, error) {
	tree := c.trees[o.URL+" "+o.Commit]
	if tree == nil {
		repo, err := open(ctx, o)
		if err != nil {
			return nil, err
		}
		commit, err := repo.CommitObject(plumbing.NewHash(o.Commit))
		if err != nil {
			return nil, fmt.Errorf("the repository has no such commit (%w); correct `commit`", err)
		}
		if tree, err = commit.Tree(); err != nil {
			return nil, err
		}
		c.trees[o.URL+" "+o.Commit] = tree
	}
	if sub := strings.Trim(o.Sub, "/"); sub != "" {
		folder, err := tree.Tree(sub)
		if err != nil {
			return nil, fmt.Errorf("the commit has no folder %q: %w", o.Sub, err)
		}
		return folder, nil
	}
	return tree, nil
}

// open returns a repository that holds the commit, if it exists. Only one process at a time adds to it.
func open(ctx context.Context, o Options) (*git.Repository, error) {
	if info, err := os.Stat(o.URL); err == nil && info.IsDir() {
		return git.PlainOpen(o.URL)
	}
	sum := sha256.Sum256([]byte(o.URL))
	dir := filepath.Join(o.Downloads, "git", hex.EncodeToString(sum[:8]))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	unlock, err := atomicfile.Lock(ctx, dir+".lock")
	if err != nil {
		return nil, err
	}
	defer unlock()
	repo, err := git.PlainOpen(dir)
	if errors.Is(err, git.ErrRepositoryNotExists) {
		repo, err = git.PlainInit(dir, true)
	}
	if err != nil {
		return nil, err
	}
	return repo, fetchCommit(ctx, o, repo)
}

// fetchCommit makes the repository hold the commit. It asks for the commit alone; if the server refuses that, it asks
// for all branches and tags.
func fetchCommit(ctx context.Context, o Options, repo *git.Repository) error {
	hash := plumbing.NewHash(o.Commit)
	if complete(repo, hash) {
		return nil
	}
	if o.Offline {
		return errors.New("hexmage is offline, and the commit is not in the store; run once without --offline")
	}
	addr := fetch.Rewrite(o.URL, o.Mirrors)
	remote := git.NewRemote(repo.Storer, &config.RemoteConfig{Name: "origin", URLs: []string{addr}})
	ask := func(depth int, tags git.TagMode, ref string) error {
		return remote.FetchContext(ctx, &git.FetchOptions{Depth: depth, Tags: tags, Progress: o.Progress,
			Auth: o.auth(addr), RefSpecs: []config.RefSpec{config.RefSpec(ref)}})
	}
	var err error
	for range tries {
		err = ask(1, git.NoTags, o.Commit+":refs/heads/at-"+o.Commit)
		if errors.Is(err, transport.ErrAuthenticationRequired) || errors.Is(err, transport.ErrAuthorizationFailed) {
			return fmt.Errorf("%s: the server needs a login (%w); add a login for this host to ~/.netrc",
				redact(addr), err)
		}
		if !unreachable(err) && !complete(repo, hash) {
			err = errors.Join(ask(0, git.AllTags, "+refs/heads/*:refs/heads/*"), err)
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case complete(repo, hash):
			return nil
		case !unreachable(err):
			return fmt.Errorf("%s: the repository has no such commit (%w); correct `commit`", redact(addr), err)
		}
	}
	return fetch.OutOfReach(fmt.Errorf("%s: %w", redact(addr), err))
}

// auth returns the login of the user's .netrc for an address.
func (o Options) auth(addr string) transport.AuthMethod {
	u, err := url.Parse(addr)
	if err == nil && u.User == nil && (u.Scheme == "https" || u.Scheme == "http") && fetch.Private(u) {
		if user, password, ok := fetch.Basic(o.Logins, u.Hostname()); ok {
			return &githttp.BasicAuth{Username: user, Password: password}
		}
	}
	return nil
}

const tries = 3 // of an address with a connection that fails

// go-git keeps only the text of some errors.
var awayRE = lazyregexp.New(`EOF|connection re(set|fused)|broken pipe|[Tt]imeout|no such host|` +
	`network is unreachable|no route to host|status code: 5..`)

// unreachable tells whether the network or a server that is out of order caused an error.
func unreachable(err error) bool {
	return err != nil && (fetch.Unreachable(err) || errors.As(err, new(*net.OpError)) || awayRE.MatchString(err.Error()))
}

// redact returns the address without a password.
func redact(addr string) string {
	if u, err := url.Parse(addr); err == nil {
		return u.Redacted()
	}
	return addr
}

// progress turns lines of the server into lines of progress.
type progress struct{ w io.Writer }

func (p progress) Write(b []byte) (int, error) {
	for _, line := range strings.FieldsFunc(string(b), func(r rune) bool { return r < ' ' || r > '~' }) {
		fmt.Fprintf(p.w, "progress 0 0 %.200s\n", line)
	}
	return len(b), nil
}

// complete tells whether the repository has the commit with all its trees and files: a broken fetch may leave a commit
// without them. It reads each tree once, because a few trees can name more folders than memory holds.
func complete(repo *git.Repository, hash plumbing.Hash) bool {
	c, err := repo.CommitObject(hash)
	if err != nil {
		return false
	}
	seen := map[plumbing.Hash]bool{}
	var whole func(tree plumbing.Hash) bool
	whole = func(hash plumbing.Hash) bool {
		if seen[hash] {
			return true
		}
		seen[hash] = true
		tree, err := repo.TreeObject(hash)
		return err == nil && !slices.ContainsFunc(tree.Entries, func(e object.TreeEntry) bool {
			if e.Mode == filemode.Dir {
				return !whole(e.Hash)
			}
			return e.Mode != filemode.Submodule && repo.Storer.HasEncodedObject(e.Hash) != nil
		})
	}
	return whole(c.TreeHash)
}
