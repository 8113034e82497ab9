package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
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
	if err := c.measure(ctx, o, tree); err != nil {
		return err
	}
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
		if c.files++; c.files > maxFiles {
			return fmt.Errorf("more than %d files", maxFiles)
		}
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
			var b []byte
			if b, err = link(tree, &entry, inTree); err == nil {
				c.links[name] = string(b)
			}
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
	m, err := moduleAt(text, path.Join(strings.Trim(o.Sub, "/"), inTree))
	if err != nil || m.never {
		return err
	}
	sub := o
	sub.Sub, sub.Commit, sub.Others, sub.Only = "", commit.String(), nil, nil
	if sub.URL, err = subURL(o.URL, m.url); err != nil {
		return err
	}
	subTree, err := c.tree(ctx, sub)
	if err == nil {
		err = c.measure(ctx, sub, subTree)
	}
	if err != nil {
		return fmt.Errorf("submodule %s: %w", redact(sub.URL), err)
	}
	return c.fill(ctx, sub, subTree, root, name, depth+1)
}

// module is what a .gitmodules says of one submodule.
type module struct {
	url   string
	never bool // "update = none": git itself leaves its folder empty
}

// moduleAt finds the submodule whose path is want.
func moduleAt(gitmodules, want string) (module, error) {
	cfg := format.New()
	if err := format.NewDecoder(strings.NewReader(gitmodules)).Decode(cfg); err != nil {
		return module{}, fmt.Errorf(".gitmodules: %w", err)
	}
	for _, s := range cfg.Section("submodule").Subsections {
		if path.Clean(s.Option("path")) == want {
			return module{s.Option("url"), s.Option("update") == "none"}, nil
		}
	}
	return module{}, errors.New("it is a submodule that .gitmodules does not speak of")
}

var remoteRE = lazyregexp.New(`^(https?|ssh|git)://|^[\w.-]+@[\w.-]+:`)

// subURL is the address of a submodule, which may be relative to that of the repository it is in.
func subURL(parent, addr string) (string, error) {
	if strings.HasPrefix(addr, "./") || strings.HasPrefix(addr, "../") {
		base, rest := parent, ""
		if m := regexp.MustCompile(`^([a-z]+://[^/]*|[\w.-]+@[\w.-]+:)/?(.*)$`).FindStringSubmatch(parent); m != nil {
			base, rest = m[1], m[2]
		} else {
			return filepath.Join(parent, filepath.FromSlash(addr)), nil // a folder of this machine
		}
		at := path.Join("/", rest, addr)
		if strings.HasSuffix(base, ":") {
			at = strings.TrimPrefix(at, "/")
		}
		return base + at, nil
	}
	if !remoteRE.MatchString(addr) && remoteRE.MatchString(parent) {
		return "", fmt.Errorf("its address %q is no server's, and what comes from a server names nothing of this machine", addr)
	}
	return addr, nil
}

func lfsError(names []string) error {
	some := names[:min(len(names), 5)]
	more := ""
	if n := len(names) - len(some); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Errorf("the commit keeps files in Git LFS, and has only pointers to them: %s%s. Take a folder without them (sub), a release archive of the project, "+
		"or get those files with step fetch; if nothing needs them, say lfs_pointers = true", strings.Join(some, ", "), more)
}

func checkName(name string) error {
	for _, e := range strings.Split(name, "/") {
		if e == "" || e == "." || e == ".." || strings.EqualFold(e, ".git") {
			return fmt.Errorf("the commit has an unsafe path: %q", name)
		}
	}
	return nil
}

func reader(tree *object.Tree, entry *object.TreeEntry) (io.ReadCloser, error) {
	f, err := tree.TreeEntryFile(entry)
	if err != nil {
		return nil, err
	}
	return f.Reader()
}

// measure looks whether a tree is as large as it may be, before any file of it is read: what is packed small may be large.
func (c *checkout) measure(ctx context.Context, o Options, tree *object.Tree) error {
	if o.MaxFiles == 0 && o.MaxBytes == 0 {
		return nil
	}
	walker := object.NewTreeWalker(tree, true, nil)
	defer walker.Close()
	sizes := map[plumbing.Hash]int64{}
	for {
		name, entry, err := walker.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if c.measured.files++; o.MaxFiles > 0 && c.measured.files > o.MaxFiles {
			return fmt.Errorf("%w: more than %d files", fetch.ErrTooLarge, o.MaxFiles)
		}
		if entry.Mode == filemode.Dir || entry.Mode == filemode.Submodule {
			continue
		}
		size, ok := sizes[entry.Hash]
		if !ok {
			if size, err = tree.Size(name); err != nil {
				return err
			}
			sizes[entry.Hash] = size
		}
		if c.measured.bytes += size; o.MaxBytes > 0 && c.measured.bytes > o.MaxBytes {
			return fmt.Errorf("%w: its files have more than %s", fetch.ErrTooLarge, bytesize.Decimal(o.MaxBytes))
		}
	}
}

// link returns where a symbolic link leads.
func link(tree *object.Tree, entry *object.TreeEntry, inTree string) ([]byte, error) {
	size, err := tree.Size(inTree)
	if err != nil {
		return nil, err
	}
	if size > maxLink {
		return nil, fmt.Errorf("a link of %d bytes", size)
	}
	r, err := reader(tree, entry)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// lfsMark is how a pointer of Git LFS begins; pointers are small.
const (
	lfsMark = "version https://git-lfs.github.com/spec/v1\n"
	lfsSize = 1024
)

// file writes a regular file, and notices a pointer of Git LFS.
func (c *checkout) file(o Options, tree *object.Tree, entry *object.TreeEntry, root *os.Root, name string) error {
	body, err := reader(tree, entry)
	if err != nil {
		return err
	}
	defer body.Close()
	r := bufio.NewReaderSize(body, 64<<10)
	if head, err := r.Peek(lfsSize + 1); err == io.EOF && strings.HasPrefix(string(head), lfsMark) && strings.Contains(string(head), "\noid sha256:") && !o.LFSPointers {
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
