package qnn

import (
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/version"
)

// Confidence of a fact. Contradicting an inferred fact is a warning; contradicting any other fact is an error.
const (
	Documented = "documented" // by Qualcomm
	Observed   = "observed"
	Inferred   = "inferred"
	Declared   = "declared" // by the user, in a flag or in a workspace record without a fact block
)

// Fact says where an attribute of a record comes from.
type Fact struct {
	Attribute  string `hcl:"attribute,label" json:"-"`     // "min_sdk"; for an arch also "since.qairt"
	Confidence string `hcl:"confidence" json:"confidence"` // documented, observed, inferred
	Source     string `hcl:"source" json:"source"`
}

// DefaultProvenance says where an attribute comes from in all records of one kind. A record's own Fact has precedence.
type DefaultProvenance struct {
	Kind       string `hcl:"kind,label"` // "soc", "arch"
	Attribute  string `hcl:"attribute,label"`
	Confidence string `hcl:"confidence"`
	Source     string `hcl:"source"`
}

// Fact returns the provenance of an attribute in the SoC's record.
func (s *SoC) Fact(f *Facts, attribute string) Fact {
	return f.fact(s.Facts, s.From, attribute, s.Basis, "soc")
}

// Fact returns the provenance of an attribute in the arch's record.
func (a *Arch) Fact(f *Facts, attribute string) Fact {
	return f.fact(a.Facts, a.From, attribute, "arch")
}

// Fact returns the provenance of an attribute in a release's record. The attribute "digest" stands for the archive's
// size and digests.
func (s *SDK) Fact(f *Facts, r *Release, attribute string) Fact {
	return f.fact(r.Facts, r.From, attribute, s.Name, "release")
}

// Default returns the provenance of an attribute in all records of a kind. A record's own Fact has precedence.
func (f *Facts) Default(kind, attribute string) Fact { return f.fact(nil, "", attribute, kind) }

// fact returns the record's own Fact of the attribute, or else the default of the first kind with one. Attributes of
// a workspace's record are declared.
func (f *Facts) fact(own []*Fact, from, attribute string, kinds ...string) Fact {
	if x := find(own, func(x *Fact) bool { return x.Attribute == attribute }); x != nil {
		return *x
	}
	if from != "" {
		return Fact{attribute, Declared, from}
	}
	for _, kind := range kinds {
		if g := find(f.Defaults, func(g *DefaultProvenance) bool { return g.Kind == kind && g.Attribute == attribute }); g != nil {
			return Fact{attribute, g.Confidence, g.Source}
		}
	}
	return Fact{attribute, Inferred, "the catalog"}
}

// HasHTP reports whether an arch has an HTP. For an arch without a record, it returns true.
func (f *Facts) HasHTP(arch string) bool {
	a := f.FindArch(arch)
	return a == nil || a.HasHTP()
}

// ToolsArches returns the archs that a version of the Hexagon tools can build for, or nil if unknown.
//
// The result exact reports whether the tools' record lists the archs. Otherwise, they come from the records of archs.
func (f *Facts) ToolsArches(tools string) (arches []string, exact bool) {
	if tools == "" {
		return nil, false
	}
	var best *Tools
	for _, s := range f.SDKs {
		for _, x := range s.Tools {
			if (tools == x.Series || strings.HasPrefix(tools, x.Series+".")) && (best == nil || len(x.Series) > len(best.Series)) {
				best = x
			}
		}
	}
	if best != nil {
		return best.Arches, true
	}
	return f.Since("tools", tools), false
}

// Since returns the archs that a version of an SDK supports, according to the archs' records. Pass an SDK name such as
// "qairt", or "tools" for the Hexagon tools.
func (f *Facts) Since(of, at string) []string {
	var arches []string
	for _, a := range f.Arches {
		if since := a.Since[of]; since != "" && at != "" && !version.Older(at, since) {
			arches = append(arches, a.Name)
		}
	}
	return arches
}

// Settle fills in missing archs of releases from the records of archs.
func (f *Facts) Settle() {
	for _, a := range f.Arches {
		a.Doubtful = a.Fact(f, "since.tools").Confidence == Inferred
		like := f.FindArch(a.CompileAs)
		if like == nil {
			continue
		}
		for _, compiler := range []string{"tools", "llvm"} {
			if a.Since[compiler] == "" && like.Since[compiler] != "" {
				if a.Since == nil {
					a.Since = map[string]string{}
				}
				a.Since[compiler] = like.Since[compiler]
			}
		}
	}
	for _, s := range f.SDKs {
		for _, r := range s.Releases {
			if r.Exact = len(r.Arches) > 0; !r.Exact && r.ToolsVersion != "" {
				if arches, exact := f.ToolsArches(r.ToolsVersion); exact {
					r.Arches, r.Exact = arches, true
				}
			}
			if !r.Exact {
				r.Arches = f.Since(r.since(s.Name))
			}
			for _, name := range r.Arches {
				if a := f.FindArch(name); r.ToolsVersion == "" || a == nil || a.CompileAs == "" {
					r.Named = append(r.Named, name)
				}
			}
		}
	}
}

// since returns the key of an arch's Since that applies to the release, and the version to compare. An SDK with
// compilers supports the archs of those compilers.
func (r *Release) since(sdk string) (key, at string) {
	if r.ToolsVersion != "" {
		return "tools", r.ToolsVersion
	}
	return sdk, r.Version
}

// Without returns the provenance of the fact that a release does not support an arch.
func (f *Facts) Without(k Known, arch string) Fact {
	if k.Exact {
		return Fact{Confidence: Observed, Source: "contents of " + k.Name + " " + k.Version}
	}
	if s := f.SDK(k.Name); s != nil {
		for _, r := range s.Releases {
			if r.Exact && OlderRelease(k.Version, r.Version) && !slices.Contains(r.Arches, arch) {
				return Fact{Confidence: Observed, Source: k.Name + " " + r.Version + " is newer and does not have " +
					"this feature"}
			}
		}
	}
	key, _ := k.since(k.Name)
	if a := f.FindArch(arch); a != nil && a.Since[key] != "" {
		return a.Fact(f, "since."+key)
	}
	return Fact{Confidence: Inferred, Source: "unknown first release with " + arch}
}
