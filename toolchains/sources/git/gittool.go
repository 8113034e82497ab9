// Package git puts the files of one commit into a folder, as a built-in tool: `hexmage tool git-checkout`.
//
// It needs no git program, runs no hooks and no filters, and leaves no .git behind: the result depends on the commit
// alone. Submodules are taken at the commits that it names. What Git LFS keeps elsewhere is not got: a commit with its
// pointers is refused. It does not know branches: a commit is named by its id.
package git

import (
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
	"strings"
	"syscall"
	"time"

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

// Tool is the tool's name, and its behaviour version: it changes when the same spec would give another result.
const Tool tool.Name[Spec] = "git-checkout/2"

// Spec says what to check out.
type Spec struct {
	URL         string   `json:"url"`                                             // an address, or the path of a repository (with or without a work tree)
	Commit      string   `arg:"commit,required" json:"commit"`                    // 40 hexadecimal digits
	Sub         string   `arg:"sub" json:"sub,omitempty"`                         // take only this folder
	Others      []string `arg:"mirrors" json:"others,omitempty"`                  // more addresses of the same repository, tried in order
	Submodules  bool     `arg:"submodules" json:"submodules,omitempty"`           // take the files of its submodules too, at the commits that it names
	Only        []string `arg:"submodule_paths" json:"submodule_paths,omitempty"` // only the submodules at these paths, with all that is in them
	LFSPointers bool     `arg:"lfs_pointers" json:"lfs_pointers,omitempty"`       // take Git LFS's pointers as they are, where without it they are an error
	Out         string   `json:"out"`                                             // folder to make
}

// Options are a Spec, and with what to carry it out.
type Options struct {
	Spec
	fetch.Machine
	Progress io.Writer // what the server says; may be nil
	Pace     Pace
	MaxFiles int   // files, folders and links that are made at most; 0: a million
	MaxBytes int64 // of all files together; 0: any
}

// ErrOffline says that the network would be needed.
var ErrOffline = errors.New("hexmage is offline and the commit was not fetched before: run once without --offline")

var commitRE = lazyregexp.New(`^[0-9a-f]{40}$`)

// Run is the tool.
func Run(ctx context.Context, s Spec, env tool.Env) error {
	if s.URL == "" || s.Out == "" || !commitRE.MatchString(s.Commit) {
		return errors.New("want url, commit (40 hexadecimal digits) and out")
	}
	m, err := fetch.MachineOf(env.Var)
	if err != nil {
		return err
	}
	if err = Checkout(ctx, Options{Spec: s, Machine: m, Progress: &sayings{w: env.Stderr}}, s.Out); fetch.Unreachable(err) {
		fmt.Fprintf(env.Stderr, "%s: %v\n", Tool, err)
		return errors.Join(tool.ErrSaid, tool.ErrUnable)
	}
	return err
}

// Checkout makes out the files of the commit. out must not exist or be empty; when Checkout fails it is as it was.
func Checkout(ctx context.Context, o Options, out string) error {
	c := &checkout{links: map[string]string{}}
	defer c.close()
	tree, err := c.tree(ctx, o)
	if err == nil {
		err = c.write(ctx, o, tree, out)
	}
	if err != nil {
		return fmt.Errorf("check out %s of %s: %w", o.Commit, redact(o.URL), err)
	}
	return nil
}

// checkout is one call of Checkout.
type checkout struct {
	links map[string]string // that are made last
	lfs   []string          // files that are pointers
	files int
	done  []func() // to be called when no repository is needed any more
	held  map[string]*git.Repository

	measured struct {
		files int
		bytes int64
	}
}

func (c *checkout) close() {
	for _, f := range c.done {
		f()
	}
}

// tree returns the files of the commit, or of the folder of it that is wanted.
func (c *checkout) tree(ctx context.Context, o Options) (*object.Tree, error) {
	repo, err := c.open(ctx, o)
	if err != nil {
		return nil, err
	}
	commit, err := repo.CommitObject(plumbing.NewHash(o.Commit))
	if err != nil {
		return nil, fmt.Errorf("the repository has no such commit (%w): check `commit`, or fetch it into that repository", err)
	}
	tree, err := commit.Tree()
	if err != nil {
		return nil, err
	}
	if sub := strings.Trim(o.Sub, "/"); sub != "" {
		if tree, err = tree.Tree(sub); err != nil {
			return nil, fmt.Errorf("the commit has no folder %q: %w", o.Sub, err)
		}
	}
	return tree, nil
}

// open returns a repository that holds the commit, if it exists.
func (c *checkout) open(ctx context.Context, o Options) (*git.Repository, error) {
	if info, err := os.Stat(o.URL); err == nil && info.IsDir() {
		return git.PlainOpen(o.URL)
	}
	dir := ""
	if o.Downloads == "" {
		tmp, err := os.MkdirTemp("", "hexmage-git-*")
		if err != nil {
			return nil, err
		}
		dir = tmp
		c.done = append(c.done, func() { os.RemoveAll(tmp) })
	} else {
		dir = o.keeps()
		if repo := c.held[dir]; repo != nil { // a submodule twice: the lock is ours
			return repo, fetchCommit(ctx, o, repo)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		unlock, err := atomicfile.Lock(ctx, dir+".lock")
		if err != nil {
			return nil, err
		}
		c.done = append(c.done, unlock)
	}
	repo, err := git.PlainOpen(dir)
	if errors.Is(err, git.ErrRepositoryNotExists) {
		repo, err = git.PlainInit(dir, true)
	}
	if err != nil {
		return nil, err
	}
	if c.held == nil {
		c.held = map[string]*git.Repository{}
	}
	c.held[dir] = repo
	return repo, fetchCommit(ctx, o, repo)
}

// keeps is the folder of downloads that has what was fetched of the repository.
func (o Options) keeps() string {
	sum := sha256.Sum256([]byte(o.URL))
	return filepath.Join(o.Downloads, "git", hex.EncodeToString(sum[:8]))
}

// fetchCommit makes the repository hold the commit, from the first address that has it.
func fetchCommit(ctx context.Context, o Options, repo *git.Repository) error {
	if complete(repo, plumbing.NewHash(o.Commit)) {
		return nil
	}
	if o.Offline {
		return ErrOffline
	}
	var errs []error
	away := true // no address answered
	for _, addr := range append([]string{o.URL}, o.Others...) {
		err := fetchFrom(ctx, o, repo, fetch.Rewrite(addr, o.Mirrors))
		for try := 1; try < tries && broken(err) && ctx.Err() == nil && !complete(repo, plumbing.NewHash(o.Commit)); try++ {
			err = fetchFrom(ctx, o, repo, fetch.Rewrite(addr, o.Mirrors))
		}
		if complete(repo, plumbing.NewHash(o.Commit)) {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		away = away && unreachable(err)
		if err == nil {
			err = errors.New("it has no such commit: check `commit`")
		}
		errs = append(errs, fmt.Errorf("%s: %w", redact(fetch.Rewrite(addr, o.Mirrors)), err))
	}
	err := errors.Join(errs...)
	if away {
		return fetch.OutOfReach(err)
	}
	return err
}

// auth is what the user's file of logins has for an address.
func (o Options) auth(addr string) transport.AuthMethod {
	if u, err := url.Parse(addr); err == nil && u.User == nil && (u.Scheme == "https" || u.Scheme == "http") && fetch.Private(u) {
		if user, password, ok := fetch.Basic(o.Logins, u.Hostname()); ok {
			return &githttp.BasicAuth{Username: user, Password: password}
		}
	}
	return nil
}

func refused(err error) bool {
	return errors.Is(err, transport.ErrAuthenticationRequired) || errors.Is(err, transport.ErrAuthorizationFailed)
}

func loginError(err error) error {
	return fmt.Errorf("%w: put a login for the host into ~/.netrc", err)
}

// unreachable tells whether an error is of the network, or of a server that is out of order.
func unreachable(err error) bool {
	if broken(err) || fetch.Unreachable(err) || errors.As(err, new(*net.OpError)) {
		return true
	}
	return err != nil && awayRE.MatchString(err.Error())
}

// awayRE is what go-git keeps of such errors where it keeps only their text.
var awayRE = lazyregexp.New(`connection refused|no such host|network is unreachable|no route to host|i/o timeout|status code: 5[0-9][0-9]`)

const tries = 3 // of an address whose connection breaks

// broken tells whether a connection broke on the way.
func broken(err error) bool {
	if err == nil {
		return false
	}
	var timeout net.Error
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.As(err, &timeout) && timeout.Timeout() {
		return true
	}
	text := err.Error() // go-git keeps only the text of some
	return strings.Contains(text, "EOF") || strings.Contains(text, "connection reset") || strings.Contains(text, "broken pipe")
}

// fetchFrom asks for just the commit where the server allows that, else for all branches and tags.
func fetchFrom(ctx context.Context, o Options, repo *git.Repository, addr string) error {
	auth := o.auth(addr)
	ask := func(options *git.FetchOptions) error {
		p := &pack{pace: o.Pace}
		watched, stop := p.watch(ctx)
		defer stop()
		remote := git.NewRemote(counting(repo.Storer, p), &config.RemoteConfig{Name: "origin", URLs: []string{addr}})
		options.Progress, options.Auth = o.Progress, auth
		err := remote.FetchContext(watched, options)
		if err != nil && ctx.Err() == nil && watched.Err() != nil {
			return context.Cause(watched)
		}
		return err
	}
	first := ask(&git.FetchOptions{Depth: 1, Tags: git.NoTags, RefSpecs: []config.RefSpec{config.RefSpec(o.Commit + ":refs/heads/at-" + o.Commit)}})
	if ctx.Err() != nil || complete(repo, plumbing.NewHash(o.Commit)) {
		return first
	}
	if refused(first) {
		return loginError(first)
	}
	if fetch.Unreachable(first) || errors.Is(first, fetch.ErrTooLarge) { // more would be slower, and larger
		return first
	}
	err := ask(&git.FetchOptions{Tags: git.AllTags, RefSpecs: []config.RefSpec{"+refs/heads/*:refs/heads/*"}})
	if err != nil && !errors.Is(err, git.NoErrAlreadyUpToDate) {
		return errors.Join(err, first)
	}
	return nil
}

// redact returns the address without a password.
func redact(addr string) string {
	if u, err := url.Parse(addr); err == nil && u.User != nil {
		u.User = url.User(u.User.Username())
		return u.String()
	}
	return addr
}

// sayings turns what a server says while it packs into lines of progress.
type sayings struct {
	w    io.Writer
	line []byte
	last time.Time
}

// Write never fails.
func (s *sayings) Write(b []byte) (int, error) {
	for _, c := range b {
		if c != '\n' && c != '\r' {
			if c >= ' ' && c < 0x7f && len(s.line) < 200 {
				s.line = append(s.line, c)
			}
			continue
		}
		if now := time.Now(); len(s.line) > 0 && now.Sub(s.last) > 200*time.Millisecond {
			s.last = now
			fmt.Fprintf(s.w, "progress 0 0 %s\n", s.line)
		}
		s.line = s.line[:0]
	}
	return len(b), nil
}

// complete tells whether the commit is there with all its trees and files: a broken fetch may leave a commit without them. Each tree is looked
// into once, in however many places it is: a few of them could name more folders than anybody can go through.
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
		if err != nil {
			return false
		}
		for _, e := range tree.Entries {
			switch {
			case e.Mode == filemode.Submodule:
			case e.Mode == filemode.Dir:
				if !whole(e.Hash) {
					return false
				}
			case repo.Storer.HasEncodedObject(e.Hash) != nil:
				return false
			}
		}
		return true
	}
	return whole(c.TreeHash)
}
