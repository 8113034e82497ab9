package qnn

import (
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/version"
)

// Confidence of a fact. A contradiction of an inferred fact is a warning, of any other an error.
const (
	Documented = "documented" // by Qualcomm
	Observed   = "observed"
	Inferred   = "inferred"
	Declared   = "declared" // by the user: a record of the workspace without a block fact, or a flag
)

// Fact says of an attribute of a record where it is known from, and with which confidence.
type Fact struct {
	Attribute  string `hcl:"attribute,label"` // "min_sdk"; of an arch also "since.qairt"
	Confidence string `hcl:"confidence"`      // documented, observed, inferred
	Source     string `hcl:"source"`
}

// DefaultProvenance is the Fact of all shipped records of a kind that have none of their own.
type DefaultProvenance struct {
	Kind       string `hcl:"kind,label"` // "soc", "arch"
	Attribute  string `hcl:"attribute,label"`
	Confidence string `hcl:"confidence"`
	Source     string `hcl:"source"`
}

// Fact says how an attribute of a SoC's record is known.
func (s *SoC) Fact(f *Facts, attribute string) Fact { return f.fact("soc", s.Facts, s.From, attribute) }

// Fact says how an attribute of an arch's record is known.
func (a *Arch) Fact(f *Facts, attribute string) Fact {
	return f.fact("arch", a.Facts, a.From, attribute)
}

// fact returns the record's own Fact of the attribute, else the default of the shipped records of its kind. An attribute
// of a workspace's record is declared.
func (f *Facts) fact(kind string, own []*Fact, from, attribute string) Fact {
	if x := find(own, func(x *Fact) bool { return x.Attribute == attribute }); x != nil {
		return *x
	}
	if from != "" {
		return Fact{attribute, Declared, from}
	}
	if g := find(f.Defaults, func(g *DefaultProvenance) bool { return g.Kind == kind && g.Attribute == attribute }); g != nil {
		return Fact{attribute, g.Confidence, g.Source}
	}
	return Fact{attribute, Inferred, "the catalogue"}
}

// HasHTP tells whether an arch has an HTP; one that has no record is taken to have one.
func (f *Facts) HasHTP(arch string) bool {
	a := f.FindArch(arch)
	return a == nil || a.HasHTP()
}

// ToolsArches returns the Hexagon archs that a version of the Hexagon tools can build for, nil when that is not known. exact says that it
// is what somebody wrote down of that version, and not what the archs' records say.
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

// Since returns the archs that a version of something that archs' records name ("tools", "qairt") is said to know.
func (f *Facts) Since(of, at string) []string {
	var arches []string
	for _, a := range f.Arches {
		if since := a.Since[of]; since != "" && at != "" && !version.Older(at, since) {
			arches = append(arches, a.Name)
		}
	}
	return arches
}

// Settle fills in what releases have from the archs' records, where nobody has said what is in them.
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

// since is what an arch's since says of such releases: the key, and the release's version that is to be compared. An SDK with compilers
// in it knows the archs that those know.
func (r *Release) since(sdk string) (key, at string) {
	if r.ToolsVersion != "" {
		return "tools", r.ToolsVersion
	}
	return sdk, r.Version
}

// Without says on what it rests that a release does not have an arch which is not among its Arches.
func (f *Facts) Without(k Known, arch string) Fact {
	if k.Exact {
		return Fact{Confidence: Observed, Source: "what is in " + k.Name + " " + k.Version}
	}
	if s := f.SDK(k.Name); s != nil {
		for _, r := range s.Releases {
			if r.Exact && version.Older(k.Version, r.Version) && !slices.Contains(r.Arches, arch) {
				return Fact{Confidence: Observed, Source: k.Name + " " + r.Version + " is newer and does not have it"}
			}
		}
	}
	key, _ := k.since(k.Name)
	if a := f.FindArch(arch); a != nil && a.Since[key] != "" {
		return a.Fact(f, "since."+key)
	}
	return Fact{Confidence: Inferred, Source: "no record says which release is the first that has " + arch}
}
