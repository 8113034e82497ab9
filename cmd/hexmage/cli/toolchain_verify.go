package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/qnn/sdk"
	"github.com/hexmage/hexmage/toolchains/unpack"
	"github.com/hexmage/hexmage/toolchains/verify"
)

// toolchainVerifyCmd is `hexmage toolchain verify NAME|DIR`.
type toolchainVerifyCmd struct {
	What string `arg:"" help:"A toolchain of the catalogue, NAME or NAME@VERSION, or a folder."`
	As   string `placeholder:"NAME[@VERSION]" help:"The release that the folder must hold. Default: what its own files say it is."`
}

// verified is what verify says, for programs.
type verified struct {
	Name    string        `json:"name"`
	Version string        `json:"version"`
	Path    string        `json:"path"`
	OK      bool          `json:"ok"`
	Known   bool          `json:"known"`            // the catalogue has the release
	Digest  string        `json:"digest"`           // of the tree
	Stored  string        `json:"stored,omitempty"` // its digest when it was stored
	Locked  string        `json:"locked,omitempty"` // SHA-256 of the tree, where the lock knows it and it is that
	Report  verify.Report `json:"report"`
}

// Run verifies: exit code 1 when something is not as it should be.
func (c *toolchainVerifyCmd) Run(ctx context.Context, a *app) error {
	d, err := a.domain(a.here())
	if err != nil {
		return err
	}
	v := verified{}
	var checks verify.Checks
	if err := c.ambiguous(a, d); err != nil {
		return err
	}
	if dir, ok := a.folder(d, c.What); ok {
		checks, err = c.folder(d, dir, &v)
	} else if c.As != "" {
		err = usageError("--as is for folders: %q is none", c.What)
	} else {
		checks, err = c.stored(ctx, a, d, &v)
	}
	if err != nil {
		return err
	}
	if v.Report, err = verify.Examine(ctx, v.Path, checks); err != nil {
		return err
	}
	if err := a.treeDigest(ctx, &v); err != nil {
		return err
	}
	if err := lockedTree(ctx, d, &v); err != nil {
		return err
	}
	v.OK = len(v.Report.Problems) == 0
	if a.JSON {
		err = a.printJSON(v)
	} else {
		a.printVerified(v)
	}
	if err == nil && !v.OK {
		err = &exitError{Code: ExitFailed}
	}
	return err
}

// ambiguous refuses a name that both a toolchain of the catalog and a folder with an SDK have.
func (c *toolchainVerifyCmd) ambiguous(a *app, d *domain) error {
	dir := absolute(a.WorkDir, c.What)
	if _, ok := a.folder(d, c.What); ok || !isFolder(dir) {
		return nil
	}
	is, err := sdk.Identify(dir)
	found := fmt.Sprintf("%s %s in %s", is.Name, is.Version, dir)
	if err != nil {
		below := sdk.Near(dir)
		if len(below) == 0 {
			return nil
		}
		found = strings.Join(below, ", and ")
	}
	return usageError("%s is a toolchain of the catalogue, and a folder here: there is %s. For the folder, write its "+
		"path with a slash; for the toolchain, %[1]s@VERSION", c.What, found)
}

// folder returns the folder that what names, if it names none of the catalogue's toolchains.
func (a *app) folder(d *domain, what string) (string, bool) {
	if !strings.ContainsAny(what, `/\`) && what != "." && what != ".." {
		if _, _, err := d.catalogue().Find(parseWanted(what).name, ""); err == nil {
			return "", false
		}
	}
	dir := absolute(a.WorkDir, what)
	info, err := os.Stat(dir)
	return dir, err == nil && info.IsDir()
}

// stored returns the checks of a release that is in the store, or installed.
func (c *toolchainVerifyCmd) stored(ctx context.Context, a *app, d *domain, v *verified) (verify.Checks, error) {
	if strings.ContainsAny(c.What, `/\`) {
		return verify.Checks{}, usageError("%s: no such folder", c.What)
	}
	l, err := a.find(ctx, c.What, "")
	if err != nil {
		return verify.Checks{}, err
	}
	t, r, err := d.catalogue().Find(l.Name, l.Version)
	if err != nil {
		return verify.Checks{}, &exitError{Code: ExitUsage, Err: err}
	}
	v.Name, v.Version, v.Path, v.Stored, v.Known = l.Name, l.Version, l.Path, l.Digest, true
	return t.Verify(r), nil
}

// folder returns the checks for a folder: those of the release that it must be, or says it is. Of a release that the
// catalogue does not have it is checked what holds for every release.
func (c *toolchainVerifyCmd) folder(d *domain, dir string, v *verified) (verify.Checks, error) {
	v.Path = dir
	w := parseWanted(c.As)
	if c.As == "" {
		is, err := sdk.Identify(dir)
		if errors.Is(err, sdk.ErrUnknown) && len(sdk.Near(dir)) > 0 {
			return verify.Checks{}, usageError("%w", err)
		}
		if errors.Is(err, sdk.ErrUnknown) {
			return verify.Checks{}, usageError("%w. To check it all the same, say what it must be: --as NAME@VERSION",
				err)
		}
		if err != nil {
			return verify.Checks{}, &exitError{Code: ExitFailed, Err: err}
		}
		t, r, known, err := d.catalogue().ReleaseOf(is, dir)
		if err != nil {
			return verify.Checks{}, &exitError{Code: ExitUsage, Err: err}
		}
		v.Name, v.Version, v.Known = t.Name, r.Version, known
		return t.Verify(r), nil
	}
	t, r, err := d.catalogue().Find(w.name, w.version)
	if err != nil {
		return verify.Checks{}, &exitError{Code: ExitUsage, Err: err}
	}
	v.Name, v.Version, v.Known = t.Name, r.Version, true
	return t.Verify(r), nil
}

// treeDigest hashes the whole tree and compares it with what it was when it was stored.
func (a *app) treeDigest(ctx context.Context, v *verified) error {
	fn, err := a.digestFunction()
	if err != nil {
		return err
	}
	d, err := merkle.Scan(ctx, merkle.HashFiles(fn), v.Path, merkle.ScanOptions{})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		v.Report.Problems = append(v.Report.Problems,
			&verify.Problem{File: ".", Found: err.Error(), Want: "a tree that can be hashed",
				Remedy: "remove what is at fault"})
		return nil
	}
	root, _ := d.Encode(fn)
	v.Digest = root.String()
	if v.Stored != "" && v.Stored != v.Digest {
		v.Report.Problems = append(v.Report.Problems,
			&verify.Problem{File: ".", Found: "a tree with digest " + v.Digest, Want: v.Stored + ", as it was stored",
				Remedy: fmt.Sprintf("something has written into the store: `hexmage cache verify --repair` removes "+
					"what is damaged, and `hexmage toolchain fetch %s@%s` brings it back", v.Name, v.Version)})
	}
	return nil
}

// lockedTree compares the tree with what the lock says of the release. A copy that people use has often grown a file
// or two.
func lockedTree(ctx context.Context, d *domain, v *verified) error {
	var want []string
	for _, e := range d.lock.All() {
		if e.Name == v.Name && e.Version == v.Version && e.Tree != "" {
			want = append(want, e.Tree)
		}
	}
	if len(want) == 0 || v.Digest == "" {
		return nil
	}
	sum, err := unpack.Digest(ctx, v.Path)
	if err != nil {
		return engineError(err)
	}
	if slices.Contains(want, sum) {
		v.Locked = sum
		return nil
	}
	v.Report.Warnings = append(v.Report.Warnings,
		&verify.Problem{File: ".", Found: "a tree with SHA-256 " + sum,
			Want: strings.Join(want, " or ") + ", as the lock says",
			Remedy: "files were added, changed or removed since it was unpacked; what was checked above says " +
				"whether it matters"})
	return nil
}

func (a *app) printVerified(v verified) {
	w := a.Env.Stdout
	fmt.Fprintf(w, "%s %s  %s\n", a.painted("1", v.Name), v.Version, v.Path)
	line := func(colour, mark, format string, args ...any) {
		fmt.Fprintf(w, "  %s  %s\n", a.painted(colour, fmt.Sprintf("%-8s", mark)), fmt.Sprintf(format, args...))
	}
	problem := func(colour, mark string, p *verify.Problem) {
		line(colour, mark, "%s", p.File)
		fmt.Fprintf(w, "            found %s\n            want  %s\n", p.Found, p.Want)
		if p.Remedy != "" {
			fmt.Fprintf(w, "            → %s\n", p.Remedy)
		}
	}
	if !v.Known {
		line("33", "note", "the catalogue does not have this release: only what holds for every release was checked")
	}
	n := v.Report.Checked
	line("32", "checked", "%d paths, %d ELF files, %d build ids; %d programs run", n.Paths, n.ELF, n.BuildIDs,
		n.Programs)
	if n.Silent > 0 && v.Locked == "" && v.Stored == "" {
		line("33", "note", "%d libraries have no build id: only a digest tells whether they are of this release",
			n.Silent)
	}
	for _, p := range v.Report.Problems {
		problem("31", "problem", p)
	}
	for _, p := range v.Report.Warnings {
		problem("33", "warning", p)
	}
	same := ""
	if v.Stored != "" && v.Stored == v.Digest {
		same = ", as it was stored"
	}
	if v.Locked != "" {
		same += ", as the lock says"
	}
	line("32", "tree", "%s%s", v.Digest, same)
	if len(v.Report.Problems) > 0 {
		fmt.Fprintf(w, "%s: %d problems\n", filepath.Base(v.Path), len(v.Report.Problems))
	}
}
