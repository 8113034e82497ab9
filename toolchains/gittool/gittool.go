// Package gittool puts the files of one commit into a folder, as a built-in tool: `hexmage tool git-checkout`.
//
// It needs no git program, runs no hooks and no filters, and leaves no .git behind: the result depends on the commit
// alone. It does not know branches: a commit is named by its id.
package gittool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/rogpeppe/go-internal/lockedfile"
)

// Name is the tool's name, and Version its behaviour version: it changes when the same arguments would give another result.
const (
	Name    = "git-checkout"
	Version = "1"
)

// Options say what to check out and with what.
type Options struct {
	URL       string // an address, or the path of a repository (with or without a work tree)
	Commit    string // 40 hexadecimal digits
	Sub       string // take only this folder
	Downloads string // folder that keeps clones between runs; "" keeps none
	Offline   bool
	Progress  io.Writer // what the server says; may be nil
}

var commitRE = regexp.MustCompile(`^[0-9a-f]{40}$`)

// Run is the tool's main. It returns the exit code: 0, 1 when it failed, 2 for wrong arguments.
func Run(ctx context.Context, args []string, _ io.Reader, _, stderr io.Writer) int {
	flags := flag.NewFlagSet(Name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	var o Options
	flags.StringVar(&o.URL, "url", "", "`address` or path of the repository")
	flags.StringVar(&o.Commit, "commit", "", "commit `id`")
	flags.StringVar(&o.Sub, "sub", "", "only this `folder`")
	flags.StringVar(&o.Downloads, "downloads", "", "`folder` that keeps clones")
	flags.BoolVar(&o.Offline, "offline", false, "ask no network")
	out := flags.String("out", "", "`folder` to make")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if o.URL == "" || *out == "" || flags.NArg() > 0 || !commitRE.MatchString(o.Commit) {
		fmt.Fprintln(stderr, "usage: hexmage tool "+Name+" --url URL --commit ID --out FOLDER [--sub FOLDER]")
		return 2
	}
	if err := Checkout(ctx, o, *out); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

// Checkout makes out the files of the commit. out must not exist or be empty; when Checkout fails it is as it was.
func Checkout(ctx context.Context, o Options, out string) error {
	fail := func(err error) error { return fmt.Errorf("check out %s of %s: %w", o.Commit, o.URL, err) }
	repo, done, err := open(ctx, o)
	if err != nil {
		return fail(err)
	}
	defer done()
	commit, err := repo.CommitObject(plumbing.NewHash(o.Commit))
	if err != nil {
		return fail(fmt.Errorf("the repository has no such commit (%w): check `commit`, or fetch it into that repository", err))
	}
	tree, err := commit.Tree()
	if err != nil {
		return fail(err)
	}
	if sub := strings.Trim(o.Sub, "/"); sub != "" {
		if tree, err = tree.Tree(sub); err != nil {
			return fail(fmt.Errorf("the commit has no folder %q: %w", o.Sub, err))
		}
	}
	if err := write(ctx, tree, out); err != nil {
		return fail(err)
	}
	return nil
}

// open returns a repository that holds the commit, if it exists; done ends its use.
func open(ctx context.Context, o Options) (*git.Repository, func(), error) {
	nothing := func() {}
	if info, err := os.Stat(o.URL); err == nil && info.IsDir() {
		repo, err := git.PlainOpen(o.URL)
		return repo, nothing, err
	}
	dir, done := "", nothing
	if o.Downloads == "" {
		tmp, err := os.MkdirTemp("", "hexmage-git-*")
		if err != nil {
			return nil, nothing, err
		}
		dir, done = tmp, func() { os.RemoveAll(tmp) }
	} else {
		sum := sha256.Sum256([]byte(o.URL))
		dir = filepath.Join(o.Downloads, "git", hex.EncodeToString(sum[:8]))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, nothing, err
		}
		unlock, err := lockedfile.MutexAt(dir + ".lock").Lock()
		if err != nil {
			return nil, nothing, err
		}
		done = unlock
	}
	repo, err := clone(ctx, o, dir)
	if err != nil {
		done()
		return nil, nothing, err
	}
	return repo, done, nil
}

// clone makes the bare repository in dir hold the commit: by asking for just this commit where the server allows that,
// else by fetching all branches and tags.
func clone(ctx context.Context, o Options, dir string) (*git.Repository, error) {
	repo, err := git.PlainOpen(dir)
	if errors.Is(err, git.ErrRepositoryNotExists) {
		repo, err = git.PlainInit(dir, true)
	}
	if err != nil {
		return nil, err
	}
	hash := plumbing.NewHash(o.Commit)
	if complete(repo, hash) {
		return repo, nil
	}
	if o.Offline {
		return nil, errors.New("hexmage is offline and the commit was not fetched before: run once without --offline")
	}
	remote := git.NewRemote(repo.Storer, &config.RemoteConfig{Name: "origin", URLs: []string{o.URL}})
	first := remote.FetchContext(ctx, &git.FetchOptions{Depth: 1, Tags: git.NoTags, Progress: o.Progress,
		RefSpecs: []config.RefSpec{config.RefSpec(o.Commit + ":refs/heads/at-" + o.Commit)}})
	if complete(repo, hash) {
		return repo, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	err = remote.FetchContext(ctx, &git.FetchOptions{Tags: git.AllTags, Progress: o.Progress,
		RefSpecs: []config.RefSpec{"+refs/heads/*:refs/heads/*"}})
	if err != nil && !errors.Is(err, git.NoErrAlreadyUpToDate) {
		return nil, errors.Join(err, first)
	}
	return repo, nil
}

// complete tells whether the commit and its trees are there: a broken fetch may leave a commit without its files.
func complete(repo *git.Repository, hash plumbing.Hash) bool {
	c, err := repo.CommitObject(hash)
	if err != nil {
		return false
	}
	tree, err := c.Tree()
	if err != nil {
		return false
	}
	return tree.Files().ForEach(func(f *object.File) error { return nil }) == nil
}
