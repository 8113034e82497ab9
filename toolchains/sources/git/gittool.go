// Package git puts the files of one commit into a folder, as a built-in tool: `hexmage tool git-checkout`.
//
// It needs no git program, runs no hooks and no filters, and leaves no .git behind: the result depends on the commit
// alone. It takes submodules at the commits that the commit names, and refuses a commit with pointers of Git LFS.
// It does not know branches: a commit is named by its id.
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
	"slices"
	"strings"
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
	URL        string   `json:"url"`                                   // an address, or the path of a repository
	Commit     string   `arg:"commit,required" json:"commit"`          // 40 hexadecimal digits
	Sub        string   `arg:"sub" json:"sub,omitempty"`               // take this folder only
	Others     []string `arg:"mirrors" json:"others,omitempty"`        // more addresses of the repository, in order
	Submodules bool     `arg:"submodules" json:"submodules,omitempty"` // take the files of submodules, too
	// Only has the paths of the submodules to take, with the submodules in them. Empty is all.
	Only []string `arg:"submodule_paths" json:"submodule_paths,omitempty"`
	Out  string   `json:"out"` // folder to make
}

// Options are a Spec, and how to carry it out.
type Options struct {
	Spec
	fetch.Machine
	Progress io.Writer // lines of the server; may be nil
	MaxFiles int       // limit of files, folders and links; 0 is a million
	MaxBytes int64     // limit of all files together; 0 is none
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
	c := &checkout{links: map[string]string{}, held: map[string]*git.Repository{}}
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
	links map[string]string // to make last
	lfs   []string          // files that are pointers
	files int
	bytes int64
	done  []func()                   // calls for the end
	held  map[string]*git.Repository // with a lock of this process
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
	var dir string
	var err error
	if o.Downloads == "" {
		if dir, err = os.MkdirTemp("", "hexmage-git-*"); err != nil {
			return nil, err
		}
		c.done = append(c.done, func() { os.RemoveAll(dir) })
	} else {
		sum := sha256.Sum256([]byte(o.URL))
		dir = filepath.Join(o.Downloads, "git", hex.EncodeToString(sum[:8]))
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
	c.held[dir] = repo
	return repo, fetchCommit(ctx, o, repo)
}

// fetchCommit makes the repository hold the commit, from the first address that has it.
func fetchCommit(ctx context.Context, o Options, repo *git.Repository) error {
	hash := plumbing.NewHash(o.Commit)
	if complete(repo, hash) {
		return nil
	}
	if o.Offline {
		return ErrOffline
	}
	var errs []error
	away := true // no address answered
	for _, addr := range append([]string{o.URL}, o.Others...) {
		addr = fetch.Rewrite(addr, o.Mirrors)
		err := fetchFrom(ctx, o, repo, addr)
		for try := 1; try < tries && broken(err) && ctx.Err() == nil && !complete(repo, hash); try++ {
			err = fetchFrom(ctx, o, repo, addr)
		}
		if complete(repo, hash) {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		away = away && unreachable(err)
		if err == nil {
			err = errors.New("it has no such commit: check `commit`")
		}
		errs = append(errs, fmt.Errorf("%s: %w", redact(addr), err))
	}
	if err := errors.Join(errs...); !away {
		return err
	}
	return fetch.OutOfReach(errors.Join(errs...))
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

const tries = 3 // of an address whose connection breaks

// go-git keeps only the text of some errors.
var (
	brokenRE = lazyregexp.New(`EOF|connection reset|broken pipe|i/o timeout`)
	awayRE   = lazyregexp.New(`connection refused|no such host|network is unreachable|no route to host|status code: 5..`)
)

// broken tells whether a connection broke on the way.
func broken(err error) bool {
	var timeout net.Error
	return err != nil && (brokenRE.MatchString(err.Error()) || errors.As(err, &timeout) && timeout.Timeout())
}

// unreachable tells whether the network caused an error, or a server that is out of order.
func unreachable(err error) bool {
	return broken(err) || fetch.Unreachable(err) || errors.As(err, new(*net.OpError)) ||
		err != nil && awayRE.MatchString(err.Error())
}

// fetchFrom asks for the commit alone. If the server refuses that, it asks for all branches and tags.
func fetchFrom(ctx context.Context, o Options, repo *git.Repository, addr string) error {
	remote := git.NewRemote(repo.Storer, &config.RemoteConfig{Name: "origin", URLs: []string{addr}})
	ask := func(depth int, tags git.TagMode, ref string) error {
		return remote.FetchContext(ctx, &git.FetchOptions{Depth: depth, Tags: tags, Progress: o.Progress,
			Auth: o.auth(addr), RefSpecs: []config.RefSpec{config.RefSpec(ref)}})
	}
	first := ask(1, git.NoTags, o.Commit+":refs/heads/at-"+o.Commit)
	if ctx.Err() != nil || complete(repo, plumbing.NewHash(o.Commit)) {
		return first
	}
	if refused(first) {
		return loginError(first)
	}
	err := ask(0, git.AllTags, "+refs/heads/*:refs/heads/*")
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

// sayings turns lines of the server into lines of progress.
type sayings struct {
	w    io.Writer
	line []byte
	last time.Time
}

// Write never fails.
func (s *sayings) Write(b []byte) (int, error) {
	for _, c := range b {
		end := c == '\n' || c == '\r'
		if !end && c >= ' ' && c < 0x7f && len(s.line) < 200 {
			s.line = append(s.line, c)
		}
		if end && len(s.line) > 0 && time.Since(s.last) > 200*time.Millisecond {
			s.last = time.Now()
			fmt.Fprintf(s.w, "progress 0 0 %s\n", s.line)
		}
		if end {
			s.line = s.line[:0]
		}
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
