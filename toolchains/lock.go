package toolchains

import (
	"fmt"
	"sort"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/toolchains/sources/deb"
)

// LockFile is the lock's name, in a workspace and among the embedded files.
const LockFile = "hexmage.lock.hcl"

// Lock records, for each release that was taken, what exactly it was. Nothing is downloaded without a digest from here or
// from the catalogue.
type Lock struct {
	Entries []*Locked `hcl:"locked,block"`
}

// Locked is one release.
type Locked struct {
	Name    string `hcl:"name,label"`
	Version string `hcl:"version,label"`

	Source   string        `hcl:"source"` // archive, maven, qpm, qsc, deb, embedded: the stand-in of a release has an entry beside that of the real one
	URL      string        `hcl:"url,optional"`
	Size     int64         `hcl:"size,optional"`
	SHA256   string        `hcl:"sha256,optional"`
	Tree     string        `hcl:"tree,optional"`  // digest of the unpacked tree, where it is known
	Trust    string        `hcl:"trust,optional"` // FirstUse: nobody vouches for it
	Packages []deb.Package `hcl:"package,block"`
}

// FirstUse is the Trust of what was pinned as it came, because its vendor publishes no digest.
const FirstUse = "first use"

// ParseLock reads a lock file.
func ParseLock(src []byte, name string) (*Lock, hcl.Diagnostics) {
	parsed, diags := lang.ParseManifest(src, name, lang.NewBudget())
	if diags.HasErrors() {
		return nil, diags
	}
	l := &Lock{}
	diags = append(diags, gohcl.DecodeBody(parsed.Body, nil, l)...)
	if diags.HasErrors() {
		return nil, diags
	}
	seen := map[string]bool{}
	bad := func(e *Locked, detail string) {
		diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Lock file",
			Detail: fmt.Sprintf("%s: %s %s: %s Run `hexmage lock` to write it again.", name, e.Name, e.Version, detail)})
	}
	for _, e := range l.Entries {
		if key := e.Name + " " + e.Version + " " + e.Source; seen[key] {
			bad(e, "It is there twice.")
		} else {
			seen[key] = true
		}
		if e.Source != "deb" && !isHex(e.SHA256, 64) && (e.SHA256 != "" || !isHex(e.Tree, 64)) {
			bad(e, fmt.Sprintf("Its sha256 %q is none.", e.SHA256))
		}
		if e.Tree != "" && !isHex(e.Tree, 64) {
			bad(e, fmt.Sprintf("Its tree %q is no digest.", e.Tree))
		}
		for _, p := range e.Packages {
			if !isHex(p.SHA256, 64) {
				bad(e, fmt.Sprintf("The sha256 %q of package %s is none.", p.SHA256, p.Name))
			}
		}
	}
	return l, diags
}

func isHex(s string, n int) bool {
	return len(s) == n && strings.Trim(s, "0123456789abcdef") == ""
}

// BuiltinLock returns the lock of the shipped pipelines.
func BuiltinLock() (*Lock, hcl.Diagnostics) {
	b, err := builtin.ReadFile(LockFile)
	if err != nil {
		return nil, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Embedded lock", Detail: err.Error()}}
	}
	return ParseLock(b, "<hexmage>/toolchains/"+LockFile)
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
	return nil
}

// Over returns a lock with l's entries, and those of base that l does not have.
func (l *Lock) Over(base *Lock) *Lock {
	out := &Lock{}
	if l != nil {
		out.Entries = append(out.Entries, l.Entries...)
	}
	if base != nil {
		for _, e := range base.Entries {
			if l.Find(e.Name, e.Version, e.Source) == nil {
				out.Entries = append(out.Entries, e)
			}
		}
	}
	return out
}

// Set adds the entry, or replaces the one of the same release and source.
func (l *Lock) Set(e *Locked) {
	for i, have := range l.Entries {
		if have.Name == e.Name && have.Version == e.Version && have.Source == e.Source {
			l.Entries[i] = e
			return
		}
	}
	l.Entries = append(l.Entries, e)
}

// Encode returns the lock file: entries sorted by name and version, the same bytes for the same lock.
func (l *Lock) Encode() []byte {
	entries := append([]*Locked(nil), l.Entries...)
	sort.Slice(entries, func(i, j int) bool {
		if entries[i].Name != entries[j].Name {
			return entries[i].Name < entries[j].Name
		}
		if entries[i].Version != entries[j].Version {
			return entries[i].Version < entries[j].Version
		}
		return entries[i].Source < entries[j].Source
	})
	f := hclwrite.NewEmptyFile()
	b := f.Body()
	b.AppendUnstructuredTokens(comment("# Written by `hexmage lock`: what each release of a toolchain was, to the byte. Commit it."))
	for _, e := range entries {
		b.AppendNewline()
		body := b.AppendNewBlock("locked", []string{e.Name, e.Version}).Body()
		body.SetAttributeValue("source", cty.StringVal(e.Source))
		optional(body, "url", e.URL)
		if e.Size > 0 {
			body.SetAttributeValue("size", cty.NumberIntVal(e.Size))
		}
		optional(body, "sha256", e.SHA256)
		optional(body, "tree", e.Tree)
		if e.Trust != "" {
			body.AppendUnstructuredTokens(comment("# Its vendor publishes no digest: this is what came the first time. Compare it with what others have got."))
			optional(body, "trust", e.Trust)
		}
		for _, p := range e.Packages {
			pb := body.AppendNewBlock("package", []string{p.Name}).Body()
			pb.SetAttributeValue("version", cty.StringVal(p.Version))
			pb.SetAttributeValue("arch", cty.StringVal(p.Arch))
			pb.SetAttributeValue("size", cty.NumberIntVal(p.Size))
			pb.SetAttributeValue("sha256", cty.StringVal(p.SHA256))
		}
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
