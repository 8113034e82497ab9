package git

import (
	"archive/tar"
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	format "github.com/go-git/go-git/v5/plumbing/format/config"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/hexmage/hexmage/internal/archive"
	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/internal/lazyregexp"
)

const (
	maxFiles   = 1_000_000 // files, folders and links
	maxDepth   = 8         // submodules in submodules
	maxText    = 1 << 20   // bytes of a .gitmodules, or of the target of a link
	maxPointer = 1024      // bytes of a pointer of Git LFS
)

// write packs the files into a tar archive beside out and unpacks it, so the checks of archives apply to them.
func (c *checkout) write(ctx context.Context, o Options, tree *object.Tree, out string) error {
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(out), ".checkout-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	f, err := os.Create(filepath.Join(tmp, "commit.tar"))
	if err != nil {
		return err
	}
	defer f.Close()
	c.tar = tar.NewWriter(f)
	root := &tar.Header{Typeflag: tar.TypeDir, Name: "./", Mode: 0o755} // an archive without entries is not a tar archive
	if err := c.tar.WriteHeader(root); err != nil {
		return err
	}
	if err := c.add(ctx, o, tree, "", 0); err != nil {
		return err
	}
	if err := c.tar.Close(); err != nil {
		return err
	}
	return archive.Unpack(ctx, out, archive.Options{CaseMatters: true}, f.Name())
}

// add adds the files of a tree to the archive, below the folder at. go-git rejects names such as ".." and ".git".
func (c *checkout) add(ctx context.Context, o Options, tree *object.Tree, at string, depth int) error {
	walker := object.NewTreeWalker(tree, true, nil)
	defer walker.Close()
	for {
		inTree, entry, err := walker.Next()
		if err == io.EOF {
			return nil
		}
		if c.files++; err == nil && c.files > maxFiles {
			err = fmt.Errorf("%w: more than %d files", fetch.ErrTooLarge, maxFiles)
		}
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		name := at + inTree
		switch entry.Mode {
		case filemode.Dir:
		case filemode.Submodule:
			// Without its files it is an empty folder, as `git clone` leaves it.
			err = c.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755})
			if err == nil && o.wants(inTree) {
				err = c.submodule(ctx, o, inTree, entry.Hash, name, depth)
			}
		default:
			err = c.file(tree, &entry, name)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
}

// file adds a regular file or a link. It rejects a pointer of Git LFS.
func (c *checkout) file(tree *object.Tree, entry *object.TreeEntry, name string) error {
	blob, err := tree.TreeEntryFile(entry)
	if err != nil {
		return err
	}
	if entry.Mode == filemode.Symlink {
		target, err := text(blob)
		if err != nil {
			return err
		}
		return c.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: target})
	}
	body, err := blob.Reader()
	if err != nil {
		return err
	}
	defer body.Close()
	r := bufio.NewReader(body)
	head, err := r.Peek(maxPointer + 1)
	if err == io.EOF && strings.HasPrefix(string(head), "version https://git-lfs.github.com/spec/v1\n") &&
		strings.Contains(string(head), "\noid sha256:") {
		return errors.New("the commit contains only a Git LFS pointer to this file; exclude the file with `sub`, or " +
			"download the file with a step of kind fetch")
	}
	h := &tar.Header{Name: name, Size: blob.Size, Mode: 0o644}
	if entry.Mode == filemode.Executable {
		h.Mode = 0o755
	}
	if err := c.tar.WriteHeader(h); err != nil {
		return err
	}
	_, err = io.Copy(c.tar, r)
	return err
}

// text returns the content of a small file.
func text(f *object.File) (string, error) {
	if f.Size > maxText {
		return "", fmt.Errorf("%w: %d bytes", fetch.ErrTooLarge, f.Size)
	}
	return f.Contents()
}

// wants tells whether to take the submodule at a path of the tree.
func (o Options) wants(inTree string) bool {
	return o.Submodules && (len(o.Only) == 0 || slices.Contains(o.Only, o.inCommit(inTree)))
}

// inCommit returns the path in the commit of a path in the tree.
func (o Options) inCommit(inTree string) string { return path.Join(strings.Trim(o.Sub, "/"), inTree) }

// submodule adds the files of the submodule at the path inTree of the tree of o.
func (c *checkout) submodule(ctx context.Context, o Options, inTree string, commit plumbing.Hash, at string,
	depth int) error {
	if depth >= maxDepth {
		return fmt.Errorf("submodules are nested more than %d deep", maxDepth)
	}
	whole := o
	whole.Sub = ""
	tree, err := c.tree(ctx, whole)
	if err != nil {
		return err
	}
	f, err := tree.File(".gitmodules")
	if err != nil {
		return fmt.Errorf("cannot find the address of the submodule in .gitmodules: %w", err)
	}
	list, err := text(f)
	cfg := format.New()
	if err == nil {
		err = format.NewDecoder(strings.NewReader(list)).Decode(cfg)
	}
	if err != nil {
		return fmt.Errorf(".gitmodules: %w", err)
	}
	modules := cfg.Section("submodule").Subsections
	i := slices.IndexFunc(modules, func(m *format.Subsection) bool {
		return path.Clean(m.Option("path")) == o.inCommit(inTree)
	})
	if i < 0 {
		return errors.New("the submodule has no entry in .gitmodules")
	}
	if modules[i].Option("update") == "none" { // git leaves its folder empty
		return nil
	}
	sub := o
	sub.Sub, sub.Commit, sub.Only = "", commit.String(), nil
	if sub.URL, err = subURL(o.URL, modules[i].Option("url")); err != nil {
		return err
	}
	if tree, err = c.tree(ctx, sub); err != nil {
		return fmt.Errorf("submodule %s: %w", redact(sub.URL), err)
	}
	return c.add(ctx, sub, tree, at+"/", depth+1)
}

var (
	remoteRE = lazyregexp.New(`^(https?|ssh|git)://|^[\w.-]+@[\w.-]+:`)
	baseRE   = lazyregexp.New(`^([a-z]+://[^/]*/|[\w.-]+@[\w.-]+:)(.*)$`)
)

// subURL returns the address of a submodule. addr may be relative to the repository's own address.
func subURL(parent, addr string) (string, error) {
	base := baseRE.FindStringSubmatch(parent)
	if base != nil && (strings.HasPrefix(addr, "./") || strings.HasPrefix(addr, "../")) {
		return base[1] + path.Join("/", base[2], addr)[1:], nil
	}
	if !remoteRE.MatchString(addr) {
		return "", fmt.Errorf("the submodule's address %q is a local path; hexmage accepts https, http, ssh and git",
			addr)
	}
	return addr, nil
}
