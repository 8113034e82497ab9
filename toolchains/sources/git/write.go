package git

import (
	"bufio"
	"cmp"
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
	"github.com/hexmage/hexmage/internal/bytesize"
	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/internal/lazyregexp"
)

const (
	maxFiles = 1_000_000
	maxLink  = 4096 // bytes of where a link leads
)

// write puts the tree's files into a folder beside out and renames it. Links are made last, so nothing is written
// through one.
func (c *checkout) write(ctx context.Context, o Options, tree *object.Tree, out string) error {
	if names, err := os.ReadDir(out); err == nil && len(names) > 0 {
		return fmt.Errorf("the folder %s is not empty: remove it first", out)
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(out), ".checkout-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	root, err := os.OpenRoot(tmp)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := c.fill(ctx, o, tree, root, ".", 0); err != nil {
		return err
	}
	if len(c.lfs) > 0 {
		return lfsError(c.lfs)
	}
	if err := c.makeLinks(root); err != nil {
		return err
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return err
	}
	_ = os.Remove(out) // an empty folder
	return os.Rename(tmp, out)
}

// fill writes the files of one tree below at.
func (c *checkout) fill(ctx context.Context, o Options, tree *object.Tree, root *os.Root, at string, depth int) error {
	walker := object.NewTreeWalker(tree, true, nil)
	defer walker.Close()
	for {
		inTree, entry, err := walker.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if most := cmp.Or(o.MaxFiles, maxFiles); c.files >= most {
			return fmt.Errorf("%w: more than %d files", fetch.ErrTooLarge, most)
		}
		c.files++
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := checkName(inTree); err != nil {
			return err
		}
		name := path.Join(at, inTree)
		switch entry.Mode {
		case filemode.Dir:
			err = root.MkdirAll(name, 0o755)
		case filemode.Submodule:
			// Without its files it is an empty folder, as `git clone` leaves it.
			if err = root.MkdirAll(name, 0o755); err == nil && o.wants(inTree) {
				err = c.submodule(ctx, o, inTree, entry.Hash, root, name, depth)
			}
		case filemode.Symlink:
			c.links[name], err = link(tree, &entry)
		default:
			err = c.file(o, tree, &entry, root, name)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
}

// wants tells whether the submodule at a path of the tree is to be taken.
func (o Options) wants(inTree string) bool {
	return o.Submodules && (len(o.Only) == 0 || slices.Contains(o.Only, path.Join(strings.Trim(o.Sub, "/"), inTree)))
}

// makeLinks makes the symbolic links, when all else is there.
func (c *checkout) makeLinks(root *os.Root) error {
	if err := archive.CheckLinks(c.links); err != nil {
		return err
	}
	for name, target := range c.links {
		if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
			return err
		}
		if err := root.Symlink(target, name); err != nil {
			return err
		}
	}
	return nil
}

const (
	maxDepth   = 8       // submodules in submodules
	maxModules = 1 << 20 // bytes of a .gitmodules
)

// submodule writes the files of the submodule that is at inTree of the tree of o.
func (c *checkout) submodule(ctx context.Context, o Options, inTree string, commit plumbing.Hash, root *os.Root, name string, depth int) error {
	if depth >= maxDepth {
		return fmt.Errorf("submodules lie in submodules %d times", maxDepth)
	}
	whole := o
	whole.Sub = ""
	tree, err := c.tree(ctx, whole)
	if err != nil {
		return err
	}
	f, err := tree.File(".gitmodules")
	if err != nil {
		return fmt.Errorf("it is a submodule, and the commit has no .gitmodules that says where it is: %w", err)
	}
	if f.Size > maxModules {
		return fmt.Errorf(".gitmodules has %d bytes", f.Size)
	}
	text, err := f.Contents()
	if err != nil {
		return err
	}
	cfg := format.New()
	if err := format.NewDecoder(strings.NewReader(text)).Decode(cfg); err != nil {
		return fmt.Errorf(".gitmodules: %w", err)
	}
	at, modules := path.Join(strings.Trim(o.Sub, "/"), inTree), cfg.Section("submodule").Subsections
	i := slices.IndexFunc(modules, func(m *format.Subsection) bool { return path.Clean(m.Option("path")) == at })
	if i < 0 {
		return errors.New("it is a submodule without an entry in .gitmodules")
	}
	if modules[i].Option("update") == "none" { // git leaves its folder empty
		return nil
	}
	sub := o
	sub.Sub, sub.Commit, sub.Others, sub.Only = "", commit.String(), nil, nil
	if sub.URL, err = subURL(o.URL, modules[i].Option("url")); err != nil {
		return err
	}
	subTree, err := c.tree(ctx, sub)
	if err != nil {
		return fmt.Errorf("submodule %s: %w", redact(sub.URL), err)
	}
	return c.fill(ctx, sub, subTree, root, name, depth+1)
}

var (
	remoteRE = lazyregexp.New(`^(https?|ssh|git)://|^[\w.-]+@[\w.-]+:`)
	baseRE   = lazyregexp.New(`^([a-z]+://[^/]*|[\w.-]+@[\w.-]+:)/?(.*)$`)
)

// subURL is the address of a submodule, which may be relative to that of the repository it is in.
func subURL(parent, addr string) (string, error) {
	if strings.HasPrefix(addr, "./") || strings.HasPrefix(addr, "../") {
		m := baseRE.FindStringSubmatch(parent)
		if m == nil {
			return filepath.Join(parent, filepath.FromSlash(addr)), nil // a folder of this machine
		}
		at := path.Join("/", m[2], addr)
		if strings.HasSuffix(m[1], ":") {
			at = strings.TrimPrefix(at, "/")
		}
		return m[1] + at, nil
	}
	if !remoteRE.MatchString(addr) && remoteRE.MatchString(parent) {
		return "", fmt.Errorf("its address %q is no server's, and what comes from a server names nothing of this machine", addr)
	}
	return addr, nil
}

func lfsError(names []string) error {
	more := ""
	if n := len(names) - 5; n > 0 {
		names, more = names[:5], fmt.Sprintf(" and %d more", n)
	}
	return fmt.Errorf("the commit keeps files in Git LFS, and has only pointers to them: %s%s. Take a folder without "+
		"them (sub), a release archive of the project, or get those files with step fetch", strings.Join(names, ", "), more)
}

func checkName(name string) error {
	for _, e := range strings.Split(name, "/") {
		if e == "" || e == "." || e == ".." || strings.EqualFold(e, ".git") {
			return fmt.Errorf("the commit has an unsafe path: %q", name)
		}
	}
	return nil
}

// link returns the target of a symbolic link.
func link(tree *object.Tree, entry *object.TreeEntry) (string, error) {
	f, err := tree.TreeEntryFile(entry)
	if err != nil {
		return "", err
	}
	if f.Size > maxLink {
		return "", fmt.Errorf("a link of %d bytes", f.Size)
	}
	return f.Contents()
}

// lfsMark is how a pointer of Git LFS begins; pointers are small.
const (
	lfsMark = "version https://git-lfs.github.com/spec/v1\n"
	lfsSize = 1024
)

// file writes a regular file, and notices a pointer of Git LFS.
func (c *checkout) file(o Options, tree *object.Tree, entry *object.TreeEntry, root *os.Root, name string) error {
	blob, err := tree.TreeEntryFile(entry)
	if err != nil {
		return err
	}
	if c.bytes += blob.Size; o.MaxBytes > 0 && c.bytes > o.MaxBytes {
		return fmt.Errorf("%w: its files have more than %s", fetch.ErrTooLarge, bytesize.Decimal(o.MaxBytes))
	}
	body, err := blob.Reader()
	if err != nil {
		return err
	}
	defer body.Close()
	r := bufio.NewReaderSize(body, 64<<10)
	head, err := r.Peek(lfsSize + 1)
	if text := string(head); err == io.EOF && strings.HasPrefix(text, lfsMark) && strings.Contains(text, "\noid sha256:") {
		c.lfs = append(c.lfs, name)
		return nil
	}
	perm := os.FileMode(0o644)
	if entry.Mode == filemode.Executable {
		perm = 0o755
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}
