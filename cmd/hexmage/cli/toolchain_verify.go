package cli

import (
	"context"
	"errors"
	"fmt"
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
	What string `arg:"" help:"Folder of an SDK, or a toolchain in hexmage's catalog, such as ndk@r28b. A name without a version means the default release."`
	As   string `placeholder:"NAME[@VERSION]" help:"Check that the folder contains this toolchain or release. Example: qairt@2.41.0.251128. Default: the release that the SDK's own files state."`
}

// Help returns the examples of `hexmage toolchain verify --help`.
func (*toolchainVerifyCmd) Help() string {
	return `Checks that all files are present and belong to the same release. Exits with 1 if a check fails.

Examples:

    hexmage toolchain verify htp_host                       the default release, in hexmage's cache
    hexmage toolchain verify $QNN_SDK_ROOT                  an installed SDK
    hexmage toolchain verify sdk --as qairt@2.41.0.251128   the SDK in folder sdk, and its release`
}

// verified is the JSON output of verify.
type verified struct {
	Name    string        `json:"name"`
	Version string        `json:"version"`
	Path    string        `json:"path"`
	OK      bool          `json:"ok"`
	Known   bool          `json:"known"`            // whether the catalog has the release
	Digest  string        `json:"digest"`           // digest of the tree
	Stored  string        `json:"stored,omitempty"` // digest when the tree was stored
	Locked  string        `json:"locked,omitempty"` // SHA-256 of the tree, if the lock has the same digest
	Report  verify.Report `json:"report"`
}

// Run verifies toolchains. It exits with 1 if a toolchain has a problem.
func (c *toolchainVerifyCmd) Run(ctx context.Context, a *app) error {
	d, err := a.domain()
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
		err = usageError("%q is not a folder, and --as describes only folders; remove --as", c.What)
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
	if err = a.show(v, "%s", a.verifiedText(v)); err == nil && !v.OK {
		err = &exitError{Code: ExitFailed}
	}
	return err
}

// ambiguous returns an error for a name of both a toolchain and a folder with an SDK.
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
	return usageError("name %s is ambiguous: the catalog has a toolchain %[1]s, and a folder has an SDK (%s). Write "+
		"%[1]s@VERSION or ./%[1]s", c.What, found)
}

// folder returns the folder with the name, unless the catalog has a toolchain of this name.
func (a *app) folder(d *domain, what string) (string, bool) {
	if !strings.ContainsAny(what, `/\`) && what != "." && what != ".." {
		if _, _, err := d.catalog.Find(parseWanted(what).name, ""); err == nil {
			return "", false
		}
	}
	dir := absolute(a.WorkDir, what)
	return dir, isFolder(dir)
}

// stored returns the checks of a release in the store, or of an installed one.
func (c *toolchainVerifyCmd) stored(ctx context.Context, a *app, d *domain, v *verified) (verify.Checks, error) {
	if strings.ContainsAny(c.What, `/\`) {
		return verify.Checks{}, usageError("%s: no such folder", c.What)
	}
	l, err := a.find(ctx, c.What, "")
	if err != nil {
		return verify.Checks{}, err
	}
	v.Path, v.Stored = l.Path, l.Digest
	return v.release(d, wanted{name: l.Name, version: l.Version})
}

// release returns the checks of a release of the catalog.
func (v *verified) release(d *domain, w wanted) (verify.Checks, error) {
	t, r, err := d.catalog.Find(w.name, w.version)
	if err != nil {
		return verify.Checks{}, usageError("%w", err)
	}
	v.Name, v.Version, v.Known = t.Name, r.Version, true
	return t.Verify(r), nil
}

// folder returns the checks for a folder, by its required or its own release. A release without a catalog entry gets
// the checks that hold for all releases.
func (c *toolchainVerifyCmd) folder(d *domain, dir string, v *verified) (verify.Checks, error) {
	v.Path = dir
	if c.As != "" {
		return v.release(d, parseWanted(c.As))
	}
	is, err := sdk.Identify(dir)
	switch {
	case errors.Is(err, sdk.ErrUnknown) && len(sdk.Near(dir)) > 0:
		return verify.Checks{}, usageError("%w", err)
	case errors.Is(err, sdk.ErrUnknown):
		return verify.Checks{}, usageError("%w. To check the folder anyway, name the expected release with --as "+
			"NAME@VERSION", err)
	case err != nil:
		return verify.Checks{}, &exitError{Code: ExitFailed, Err: err}
	}
	t, r, known, err := d.catalog.ReleaseOf(is, dir)
	if err != nil {
		return verify.Checks{}, usageError("%w", err)
	}
	v.Name, v.Version, v.Known = t.Name, r.Version, known
	return t.Verify(r), nil
}

// treeDigest hashes the tree and compares it with the digest at storing.
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
			&verify.Problem{File: ".", Found: err.Error(), Want: "readable tree",
				Remedy: "make the files readable, or fetch the toolchain again"})
		return nil
	}
	root, _ := d.Encode(fn)
	v.Digest = root.String()
	if v.Stored != "" && v.Stored != v.Digest {
		v.Report.Problems = append(v.Report.Problems,
			&verify.Problem{File: ".", Found: "tree with digest " + v.Digest, Want: v.Stored + ", as stored",
				Remedy: fmt.Sprintf("a program wrote into the store; run `hexmage cache verify --repair`, then "+
					"`hexmage toolchain fetch %s@%s`",
					v.Name, v.Version)})
	}
	return nil
}

// lockedTree compares the tree with the lock. An installed SDK in use often has additional files.
func lockedTree(ctx context.Context, d *domain, v *verified) error {
	var want []string
	for _, e := range d.Lock.All() {
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
		&verify.Problem{File: ".", Found: "tree with SHA-256 " + sum,
			Want: strings.Join(want, " or ") + ", as in the lock file",
			Remedy: "files were added, changed or removed after unpacking; read the checks above to see whether the " +
				"changes matter"})
	return nil
}

func (a *app) verifiedText(v verified) string {
	text := fmt.Sprintf("%s %s  %s\n", a.painted("1", v.Name), v.Version, v.Path)
	line := func(color, mark, format string, args ...any) {
		text += "  " + a.painted(color, fmt.Sprintf("%-8s", mark)) + "  " + fmt.Sprintf(format, args...) + "\n"
	}
	problem := func(color, mark string, p *verify.Problem) {
		line(color, mark, "%s\n            found %s\n            want  %s%s", p.File, p.Found, p.Want,
			also(p.Remedy != "", "\n            → "+p.Remedy))
	}
	if !v.Known {
		line("33", "note", "the catalog does not contain this release, so hexmage checked only the rules for every "+
			"release")
	}
	n := v.Report.Checked
	line("32", "checked", "%d paths, %d ELF files, %d build ids; %d programs run", n.Paths, n.ELF, n.BuildIDs,
		n.Programs)
	if n.Silent > 0 && v.Locked == "" && v.Stored == "" {
		line("33", "note", "%d libraries have no build id; only a digest can verify their release",
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
		same = ", as stored"
	}
	if v.Locked != "" {
		same += ", as in the lock file"
	}
	line("32", "tree", "%s%s", v.Digest, same)
	if len(v.Report.Problems) > 0 {
		text += fmt.Sprintf("%s: %d problems\n", filepath.Base(v.Path), len(v.Report.Problems))
	}
	return text
}
