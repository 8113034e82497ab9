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

// LockFile is the lock's name, in a workspace and among the embedded files.
const LockFile = "hexmage.lock.hcl"

// Lock records, for each release that was taken, what exactly it was. Nothing is downloaded without a digest from here or
// from the catalogue.
type Lock struct {
	Entries []*Locked

	base    *Lock // has what Entries do not have; nil: nothing
	shipped bool  // so does the lock of the shipped pipelines
}

// Locked is one release.
type Locked struct {
	Name    string
	Version string

	// Source is archive, maven, pypi, python, qpm, qsc, deb or embedded. The simulation of a release has its own entry.
	Source   string        `hcl:"source"`
	URL      string        `hcl:"url,optional"`  // of what comes from an address that a catalogue gives
	File     string        `hcl:"file,optional"` // of pypi: the wheel's name
	Size     int64         `hcl:"size,optional"`
	SHA256   string        `hcl:"sha256,optional"`
	Tree     string        `hcl:"tree,optional"`  // digest of the unpacked tree, where it is known
	Trust    string        `hcl:"trust,optional"` // TrustOnFirstUse: nobody vouches for it
	Packages []deb.Package // of deb

	Asked  string       `hcl:"asked,optional"` // of python: python.Asked.Digest
	Wheels []pypi.Wheel // of python
}

// TrustOnFirstUse is the Trust of a file whose publisher publishes no digest.
const TrustOnFirstUse = "first use"

// ParseLock reads a lock file.
func ParseLock(src []byte, name string) (*Lock, hcl.Diagnostics) {
	f, diags := lang.ParseManifest(src, name, lang.NewBudget())
	return decodeLock(f, diags)
}

// lockFile is a lock file as HCL reads it.
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
			diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Lock file", Subject: &b.Place,
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

// check rejects digests that pin nothing.
func (e *Locked) check() error {
	if e.Source != "deb" && e.Source != "python" && !isHex(e.SHA256, 64) && (e.SHA256 != "" || !isHex(e.Tree, 64)) {
		return fmt.Errorf("invalid sha256 %q", e.SHA256)
	}
	if e.Tree != "" && !isHex(e.Tree, 64) {
		return fmt.Errorf("invalid tree digest %q", e.Tree)
	}
	return nil
}

func isHex(s string, n int) bool {
	return len(s) == n && strings.Trim(s, "0123456789abcdef") == ""
}

// BuiltinLock returns the lock of the shipped pipelines.
func BuiltinLock() (*Lock, hcl.Diagnostics) {
	return decodeLock(lang.ParseShipped([]byte(shippedLock), "<hexmage>/toolchains/"+LockFile))
}

//go:embed hexmage.lock.hcl
var shippedLock string

// findShipped is Find in the lock of the shipped pipelines. It parses only the blocks of that release, because
// parsing the whole file takes 9 ms of each plan.
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

// Find returns the entry of a release as it comes from that kind of source, nil when it has none. A nil Lock has none.
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

// OverShipped returns a lock with l's entries, and those of the lock of the shipped pipelines that l does not have.
func (l *Lock) OverShipped() *Lock {
	return &Lock{Entries: l.Entries, shipped: true}
}

// Over returns a lock with l's entries, and those of base that l does not have.
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

// sameRelease tells whether both are of one release from one kind of source.
func (e *Locked) sameRelease(o *Locked) bool {
	return e.Name == o.Name && e.Version == o.Version && e.Source == o.Source
}

// Set adds the entry, or replaces the one of the same release and source.
func (l *Lock) Set(e *Locked) {
	l.Entries = append(slices.DeleteFunc(slices.Clone(l.Entries), e.sameRelease), e) // Over shares the old ones
}

// Encode returns the lock file: entries sorted by name and version, the same bytes for the same lock.
func (l *Lock) Encode() []byte {
	entries := slices.SortedFunc(slices.Values(l.Entries), func(a, b *Locked) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Source, b.Source))
	})
	f := hclwrite.NewEmptyFile()
	b := f.Body()
	b.AppendUnstructuredTokens(comment("# Written by `hexmage lock`: what each release of a toolchain was, to the byte. Commit it."))
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
			body.AppendUnstructuredTokens(comment("# Its vendor publishes no digest: this is what came the first time. Compare it with what others have got."))
			optional(body, "trust", e.Trust)
		}
		packages, wheels := e.lines()
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
