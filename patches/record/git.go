package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/hexmage/hexmage/patches/srctree"
)

// maxCommits bounds how many commits become patches at once.
const maxCommits = 1000

// Git returns the edits of a folder of a git work tree: with since, a revision, one for each commit after it, and then one for what is
// not committed, if there is something. Paths are as seen from the folder. Files that git ignores do not count; new ones do.
func Git(ctx context.Context, dir, since, title string) ([]Edit, error) {
	repo, err := git.PlainOpenWithOptions(dir, &git.PlainOpenOptions{DetectDotGit: true, EnableDotGitCommonDir: true})
	if err != nil {
		return nil, fmt.Errorf("%s: %w; name the tree before the edits, or a folder of a git work tree", dir, err)
	}
	work, err := repo.Worktree()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	prefix, err := inside(work.Filesystem.Root(), dir)
	if err != nil {
		return nil, err
	}
	head, err := repo.Head()
	if err != nil {
		return nil, fmt.Errorf("%s has no commit yet: %w", dir, err)
	}
	commit, err := repo.CommitObject(head.Hash())
	if err != nil {
		return nil, err
	}
	var edits []Edit
	if since != "" {
		base, err := repo.ResolveRevision(plumbing.Revision(since))
		if err != nil {
			return nil, fmt.Errorf("revision %q: %w", since, err)
		}
		if edits, err = commits(ctx, commit, *base, prefix); err != nil {
			return nil, err
		}
	}
	before, after, err := uncommitted(ctx, dir, work, prefix, commit)
	if err != nil {
		return nil, err
	}
	switch last, err := edit(title, before, after); {
	case err == nil:
		edits = append(edits, last)
	case !errors.Is(err, ErrNothing):
		return nil, err
	}
	if len(edits) == 0 {
		return nil, ErrNothing
	}
	return edits, nil
}

// inside returns the slash path of a folder under the work tree's root, "" for the root itself.
func inside(root, dir string) (string, error) {
	real := func(p string) (string, error) {
		abs, err := filepath.Abs(p)
		if err != nil {
			return "", err
		}
		return filepath.EvalSymlinks(abs)
	}
	r, err := real(root)
	if err != nil {
		return "", err
	}
	d, err := real(dir)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(r, d)
	if err != nil || strings.HasPrefix(rel, "..") {
		return "", fmt.Errorf("%s is not in the work tree %s", dir, root)
	}
	if rel == "." {
		return "", nil
	}
	return filepath.ToSlash(rel), nil
}

// commits returns an edit for each commit after base up to last that changes something under prefix.
func commits(ctx context.Context, last *object.Commit, base plumbing.Hash, prefix string) ([]Edit, error) {
	var edits []Edit
	for c, n := last, 0; c.Hash != base; n++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if n == maxCommits || c.NumParents() == 0 {
			return nil, fmt.Errorf("%s is not among the last %d commits before %s", base, n, last.Hash)
		}
		if c.NumParents() > 1 {
			return nil, fmt.Errorf("commit %.12s merges others, which no single patch tells: begin after it, or rebase", c.Hash)
		}
		parent, err := c.Parent(0)
		if err != nil {
			return nil, err
		}
		before, after, err := between(parent, c, prefix)
		if err != nil {
			return nil, fmt.Errorf("commit %.12s: %w", c.Hash, err)
		}
		title, _, _ := strings.Cut(strings.TrimSpace(c.Message), "\n")
		switch e, err := edit(title, before, after); {
		case err == nil:
			edits = append(edits, e)
		case !errors.Is(err, ErrNothing):
			return nil, fmt.Errorf("commit %.12s: %w", c.Hash, err)
		}
		c = parent
	}
	slices.Reverse(edits)
	return edits, nil
}

// listAt returns the files of a commit under prefix, which are not read yet.
func listAt(c *object.Commit, prefix string) (map[string]*object.File, error) {
	tree, err := c.Tree()
	if err == nil && prefix != "" {
		tree, err = tree.Tree(prefix)
	}
	files := map[string]*object.File{}
	if errors.Is(err, object.ErrDirectoryNotFound) {
		return files, nil
	}
	if err != nil {
		return nil, err
	}
	return files, tree.Files().ForEach(func(f *object.File) error {
		files[f.Name] = f
		return nil
	})
}

func load(f *object.File) (srctree.File, error) {
	if f.Mode != filemode.Regular && f.Mode != filemode.Executable && f.Mode != filemode.Deprecated {
		return srctree.File{}, fmt.Errorf("%s is a symbolic link or a submodule, which patches do not change here", f.Name)
	}
	if f.Size > srctree.MaxFile {
		return srctree.File{}, fmt.Errorf("%s is larger than %d bytes", f.Name, srctree.MaxFile)
	}
	r, err := f.Reader()
	if err != nil {
		return srctree.File{}, err
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	return srctree.File{Data: data, Mode: srctree.Mode(fs.FileMode(f.Mode))}, err
}

// between returns the files that differ between two commits, as each has them.
func between(old, new *object.Commit, prefix string) (before, after map[string]srctree.File, err error) {
	a, err := listAt(old, prefix)
	if err != nil {
		return nil, nil, err
	}
	b, err := listAt(new, prefix)
	if err != nil {
		return nil, nil, err
	}
	before, after = map[string]srctree.File{}, map[string]srctree.File{}
	for name, f := range a {
		if g, ok := b[name]; ok && g.Hash == f.Hash && g.Mode == f.Mode {
			delete(b, name)
			continue
		}
		if before[name], err = load(f); err != nil {
			return nil, nil, err
		}
	}
	for name, g := range b {
		if after[name], err = load(g); err != nil {
			return nil, nil, err
		}
	}
	return before, after, nil
}

// uncommitted returns the files that differ between a commit and the folder, as each has them. New files count unless git
// ignores them.
func uncommitted(ctx context.Context, dir string, work *git.Worktree, prefix string, c *object.Commit) (before, after map[string]srctree.File, err error) {
	tracked, err := listAt(c, prefix)
	if err != nil {
		return nil, nil, err
	}
	folders := map[string]bool{} // that have tracked files
	for name := range tracked {
		for d := path.Dir(name); d != "." && !folders[d]; d = path.Dir(d) {
			folders[d] = true
		}
	}
	patterns, err := gitignore.ReadPatterns(work.Filesystem, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: .gitignore: %w", dir, err)
	}
	ignored := gitignore.NewMatcher(append(patterns, excludes(work)...))
	after, err = readFolder(ctx, dir, func(name string, folder bool) bool {
		return !folders[name] && tracked[name] == nil && ignores(ignored, path.Join(prefix, name), folder)
	})
	if err != nil {
		return nil, nil, err
	}
	before = map[string]srctree.File{}
	for name, f := range tracked {
		now, there := after[name]
		if there && plumbing.ComputeHash(plumbing.BlobObject, now.Data) == f.Hash && now.Mode == srctree.Mode(fs.FileMode(f.Mode)) {
			delete(after, name)
			continue
		}
		if !there && (f.Mode == filemode.Symlink || f.Mode == filemode.Submodule) {
			continue
		}
		if before[name], err = load(f); err != nil {
			return nil, nil, err
		}
	}
	return before, after, nil
}

// excludes returns what .git/info/exclude has.
func excludes(work *git.Worktree) (out []gitignore.Pattern) {
	data, err := os.ReadFile(filepath.Join(work.Filesystem.Root(), ".git/info/exclude"))
	if err != nil {
		return nil // there need not be one
	}
	for line := range bytes.Lines(data) {
		if s := strings.TrimSpace(string(line)); s != "" && !strings.HasPrefix(s, "#") {
			out = append(out, gitignore.ParsePattern(s, nil))
		}
	}
	return out
}

// ignores says whether a file, or a folder that it is in, is ignored.
func ignores(m gitignore.Matcher, name string, folder bool) bool {
	parts := strings.Split(name, "/")
	for i := range parts {
		if m.Match(parts[:i+1], folder || i+1 < len(parts)) {
			return true
		}
	}
	return false
}
