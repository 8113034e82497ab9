package toolchains

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/toolchains/sources/deb"
	"github.com/hexmage/hexmage/toolchains/sources/pypi"
)

// LockFile is the name of the lock file in a workspace and in the embedded files.
const LockFile = "hexmage.lock.hcl"

// Lock pins the exact bytes of downloaded releases. hexmage downloads a file only if the lock or the catalog contains
// its digest.
type Lock struct {
	Entries []*Locked

	base    *Lock // entries that Entries lacks; nil: none
	shipped bool  // whether the lock of the shipped pipelines follows
}

// Locked is a lock entry for one release and source.
type Locked struct {
	Name    string
	Version string

	// Source is archive, maven, pypi, python, qpm, qsc, deb or embedded. A simulated SDK has its own entry.
	Source   string        `hcl:"source"`
	URL      string        `hcl:"url,optional"`  // address of a file, if the catalog has it
	File     string        `hcl:"file,optional"` // for pypi: file name of the wheel
	Size     int64         `hcl:"size,optional"`
	SHA256   string        `hcl:"sha256,optional"`
	Tree     string        `hcl:"tree,optional"`  // digest of the unpacked tree, if known
	Trust    string        `hcl:"trust,optional"` // TrustOnFirstUse: the publisher does not publish a digest
	Packages []deb.Package // for deb: packages

	Directory string        `hcl:"directory,optional"` // for a zip with parts: Directory of sources.Parts
	Parts     []*LockedPart `hcl:"part,block"`

	Asked  string       `hcl:"asked,optional"` // for python: python.Asked.Digest of the request
	Wheels []pypi.Wheel // for python: wheels
}

// LockedPart pins the zip members that match the patterns in Only.
type LockedPart struct {
	Only []string `hcl:"only"`
	Size int64    `hcl:"size"` // compressed bytes
	Tree string   `hcl:"tree"` // digest of the unpacked members

	Trust string `hcl:"trust,optional"` // TrustRanges: not compared with the whole zip
}

// Part returns the part with exactly these patterns, or nil.
func (e *Locked) Part(only []string) *LockedPart {
	for _, p := range e.Parts {
		if slices.Equal(p.Only, only) {
			return p
		}
	}
	return nil
}

const (
	TrustOnFirstUse = "first use" // Trust of a file whose publisher publishes no digest
	TrustRanges     = "ranges"    // Trust of parts that were not compared with the whole zip
)

// ParseLock reads a lock file.
func ParseLock(src []byte, name string) (*Lock, hcl.Diagnostics) {
	f, diags := lang.ParseManifest(src, name, lang.NewBudget())
	return decodeLock(f, diags)
}

// lockFile is the HCL schema of a lock file.
type lockFile struct {
	Entries []*lockedBlock `hcl:"locked,block"`
}

type lockedBlock struct {
	Name     string    `hcl:"name,label"`
	Version  string    `hcl:"version,label"`
	Packages []string  `hcl:"packages,optional"`
	Wheels   []string  `hcl:"wheels,optional"`
	Place    hcl.Range `hcl:",def_range"`
	Rest     hcl.Body  `hcl:",remain"`
}

func decodeLock(f *hcl.File, diags hcl.Diagnostics) (*Lock, hcl.Diagnostics) {
	if diags.HasErrors() {
		return nil, diags
	}
	var file lockFile
	diags = append(diags, gohcl.DecodeBody(f.Body, nil, &file)...)
	l := &Lock{}
	seen := map[string]bool{}
	for _, b := range file.Entries {
		e := &Locked{Name: b.Name, Version: b.Version}
		diags = append(diags, gohcl.DecodeBody(b.Rest, nil, e)...)
		err := errors.Join(e.readLines(b), e.check())
		key := e.Name + " " + e.Version + " " + e.Source
		if seen[key] {
			err = errors.New("duplicate block")
		}
		seen[key] = true
		if err != nil {
			diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Invalid lock " +
				"file", Subject: &b.Place,
				Detail: fmt.Sprintf("%s %s: %v. Remove the block, and run `hexmage lock` to write it again.",
					e.Name, e.Version, err)})
		}
		l.Entries = append(l.Entries, e)
	}
	if diags.HasErrors() {
		return nil, diags
	}
	return l, diags
}

// check rejects invalid digests.
func (e *Locked) check() error {
	if e.Source != "deb" && e.Source != "python" && !isHex(e.SHA256, 64) &&
		(e.SHA256 != "" || !isHex(e.Tree, 64) && len(e.Parts) == 0) {
		return fmt.Errorf("invalid sha256 %q", e.SHA256)
	}
	if len(e.Parts) > 0 && !isHex(e.Directory, 64) {
		return fmt.Errorf("invalid digest %q of the zip directory", e.Directory)
	}
	for _, p := range e.Parts {
		if len(p.Only) == 0 || p.Size < 0 || !isHex(p.Tree, 64) {
			return fmt.Errorf("invalid part: files %q, %d bytes, tree digest %q", p.Only, p.Size, p.Tree)
		}
	}
	if e.Tree != "" && !isHex(e.Tree, 64) {
		return fmt.Errorf("invalid tree digest %q", e.Tree)
	}
	return nil
}

func isHex(s string, n int) bool {
	return len(s) == n && strings.Trim(s, "0123456789abcdef") == ""
}

// BuiltinLock returns the lock for the pipelines that hexmage ships.
func BuiltinLock() (*Lock, hcl.Diagnostics) {
	return decodeLock(lang.ParseShipped([]byte(shippedLock), "<hexmage>/toolchains/"+LockFile))
}

//go:embed hexmage.lock.hcl
var shippedLock string

// findShipped is Find in the lock of the shipped pipelines. It parses only the blocks of that release, because parsing
// the whole file would add 9 ms to each plan.
func findShipped(name, version, source string) *Locked {
	head := fmt.Sprintf("\nlocked %q %q {\n", name, version)
	for _, block := range strings.Split(shippedLock, head)[1:] {
		block, _, _ = strings.Cut(block, "\n}\n")
		l, diags := decodeLock(lang.ParseShipped([]byte(head+block+"\n}\n"), "<hexmage>/toolchains/"+LockFile))
		if diags.HasErrors() { // a test reads the whole file
			return nil
		}
		if e := l.Find(name, version, source); e != nil {
			return e
		}
	}
	return nil
}

// Find returns the entry for a release and a kind of source, or nil. A nil Lock has no entries.
func (l *Lock) Find(name, version, source string) *Locked {
	if l == nil {
		return nil
	}
	for _, e := range l.Entries {
		if e.Name == name && e.Version == version && e.Source == source {
			return e
		}
	}
	switch {
	case l.base != nil:
		return l.base.Find(name, version, source)
	case l.shipped:
		return findShipped(name, version, source)
	}
	return nil
}

// OverShipped returns a lock with the entries of l and the shipped lock. Entries of l have precedence.
func (l *Lock) OverShipped() *Lock {
	return &Lock{Entries: l.Entries, shipped: true}
}

// Over returns a lock with the entries of l and base. Entries of l have precedence.
func (l *Lock) Over(base *Lock) *Lock {
	return &Lock{Entries: l.Entries, base: base}
}

// All returns all entries.
func (l *Lock) All() []*Locked {
	if l == nil {
		return nil
	}
	all, base := slices.Clip(l.Entries), l.base
	if l.shipped {
		base, _ = BuiltinLock() // a test reads it
	}
	for _, e := range base.All() {
		if !slices.ContainsFunc(l.Entries, e.sameRelease) {
			all = append(all, e)
		}
	}
	return all
}

// sameRelease reports whether both entries are of one release and one kind of source.
func (e *Locked) sameRelease(o *Locked) bool {
	return e.Name == o.Name && e.Version == o.Version && e.Source == o.Source
}

// Set adds the entry. It replaces an entry with the same release and source.
func (l *Lock) Set(e *Locked) {
	l.Entries = append(slices.DeleteFunc(slices.Clone(l.Entries), e.sameRelease), e) // a copy, because Over shares the slice
}

// Encode returns the content of the lock file, with entries sorted by name and version. Equal locks produce equal
// bytes.
func (l *Lock) Encode() []byte {
	entries := slices.SortedFunc(slices.Values(l.Entries), func(a, b *Locked) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Source, b.Source))
	})
	f := hclwrite.NewEmptyFile()
	b := f.Body()
	b.AppendUnstructuredTokens(comment("# Written by `hexmage lock`: the exact bytes of each toolchain release. " +
		"Commit this file."))
	for _, e := range entries {
		b.AppendNewline()
		body := b.AppendNewBlock("locked", []string{e.Name, e.Version}).Body()
		body.SetAttributeValue("source", cty.StringVal(e.Source))
		optional(body, "url", e.URL)
		optional(body, "file", e.File)
		if e.Size > 0 {
			body.SetAttributeValue("size", cty.NumberIntVal(e.Size))
		}
		optional(body, "sha256", e.SHA256)
		optional(body, "tree", e.Tree)
		optional(body, "asked", e.Asked)
		if e.Trust != "" {
			body.AppendUnstructuredTokens(comment("# The publisher provides no digest. This digest is from the first " +
				"download; compare it with a second download."))
			optional(body, "trust", e.Trust)
		}
		packages, wheels := e.lines()
		optional(body, "directory", e.Directory)
		for _, p := range e.Parts {
			part := body.AppendNewBlock("part", nil).Body()
			setLines(part, "only", p.Only)
			part.SetAttributeValue("size", cty.NumberIntVal(p.Size))
			optional(part, "tree", p.Tree)
			optional(part, "trust", p.Trust)
		}
		setLines(body, "packages", packages)
		setLines(body, "wheels", wheels)
	}
	return hclwrite.Format(f.Bytes())
}

func optional(b *hclwrite.Body, name, value string) {
	if value != "" {
		b.SetAttributeValue(name, cty.StringVal(value))
	}
}

func comment(text string) hclwrite.Tokens {
	return hclwrite.Tokens{{Type: hclsyntax.TokenComment, Bytes: []byte(text + "\n")}}
}
