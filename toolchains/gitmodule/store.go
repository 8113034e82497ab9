package gitmodule

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/toolchains/sources/git"
	"github.com/hexmage/hexmage/toolchains/unpack"
)

// Limits of a repository with modules, which are texts.
const (
	maxFiles = 20_000
	maxBytes = 256 << 20

	checkoutTime = 15 * time.Minute // limit of a server that sends next to nothing
)

// ErrOther says that a commit is not what was pinned.
var ErrOther = errors.New("it is not what was pinned")

// Pin says what a ref was, to the byte.
type Pin struct {
	Commit string
	Tree   string // digest of all files of the commit
}

// Store has the files of commits in a folder of the cache.
type Store struct {
	fetch.Machine                   // Downloads is the folder of all that comes from elsewhere
	Progress      func(text string) // what the server says; may be nil
	Warn          func(text string)
}

// Learn finds out what a source's ref is now, and gets it.
func (s Store) Learn(ctx context.Context, src Source) (Pin, error) {
	commit, err := git.Resolve(ctx, s.options(src, ""), src.Ref)
	if err != nil {
		return Pin{}, err
	}
	tmp, tree, err := s.checkout(ctx, src, commit)
	if err != nil {
		return Pin{}, err
	}
	defer os.RemoveAll(tmp)
	p := Pin{commit, tree}
	unlock, err := atomicfile.Lock(ctx, s.dir(src, p)+".lock")
	if err != nil {
		return p, err
	}
	defer unlock()
	if _, err := os.Lstat(s.dir(src, p)); err == nil {
		return p, nil // Open looks whether it is right
	}
	return p, os.Rename(tmp, s.dir(src, p))
}

// Open returns the folder with the files of a pinned commit: all of them, not only the source's folder. It looks whether they are what was pinned;
// what somebody changed, or is not there, is made anew, and nobody is asked for what came before.
func (s Store) Open(ctx context.Context, src Source, p Pin) (string, error) {
	dir := s.dir(src, p)
	right, err := s.right(ctx, dir, p)
	if right || err != nil {
		return dir, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	unlock, err := atomicfile.Lock(ctx, dir+".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if right, err = s.right(ctx, dir, p); right || err != nil { // another process was first
		return dir, err
	}
	if _, err := os.Lstat(dir); err == nil {
		s.Warn(fmt.Sprintf("the files of %s in the cache were changed, and are got anew", src))
		if err := os.RemoveAll(dir); err != nil {
			return "", err
		}
	}
	tmp, tree, err := s.checkout(ctx, src, p.Commit)
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	if tree != p.Tree {
		return "", fmt.Errorf("%w: commit %s has the tree %s, pinned is %s", ErrOther, p.Commit, tree, p.Tree)
	}
	return dir, os.Rename(tmp, dir)
}

// right tells whether the folder has what was pinned, and notes that it was used.
func (s Store) right(ctx context.Context, dir string, p Pin) (bool, error) {
	if info, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return false, nil
	}
	tree, err := unpack.Digest(ctx, dir)
	if err != nil {
		return false, context.Cause(ctx) // what cannot be read is not right
	}
	now := time.Now()
	_ = os.Chtimes(dir, now, now) // what was not used for long is collected; a cache that cannot be written to is not
	return tree == p.Tree, nil
}

// dir is where the files of a commit are: a name that people can read, and that tells commits apart. What is in it, its digest tells.
func (s Store) dir(src Source, p Pin) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r) {
			return r
		}
		return '_'
	}, strings.TrimSuffix(path.Base(src.URL), ".git"))
	return filepath.Join(s.Downloads, "modules", fmt.Sprintf("%.40s-%.12s-%.12s", strings.TrimLeft(name, "."), p.Commit, p.Tree))
}

func (s Store) options(src Source, commit string) git.Options {
	return git.Options{
		Spec: git.Spec{URL: src.place(), Commit: commit}, Machine: s.Machine, Progress: says{s.Progress},
		MaxFiles: maxFiles, MaxBytes: maxBytes,
	}
}

// checkout makes the files of a commit in a new folder, and returns it with their digest.
func (s Store) checkout(ctx context.Context, src Source, commit string) (dir, tree string, err error) {
	modules := filepath.Join(s.Downloads, "modules")
	if err := os.MkdirAll(modules, 0o755); err != nil {
		return "", "", err
	}
	if dir, err = os.MkdirTemp(modules, "new-*"); err != nil {
		return "", "", err
	}
	limited, stop := context.WithTimeout(ctx, checkoutTime)
	defer stop()
	if err = git.Checkout(limited, s.options(src, commit), dir); err == nil {
		tree, err = unpack.Digest(ctx, dir)
	}
	if err != nil {
		os.RemoveAll(dir)
		return "", "", err
	}
	return dir, tree, nil
}

// says passes on what a server says while it packs.
type says struct{ line func(string) }

func (s says) Write(b []byte) (int, error) {
	if s.line != nil {
		for _, l := range strings.FieldsFunc(string(b), func(r rune) bool { return r == '\r' || r == '\n' }) {
			s.line(l)
		}
	}
	return len(b), nil
}
