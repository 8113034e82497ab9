package facts

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/hexmage/hexmage/internal/version"
	"github.com/hexmage/hexmage/qnn"
)

// Verdict is what the rules say of a release, or of releases together, for a SoC.
type Verdict struct {
	Works    bool          `json:"works"`              // no rule says that it will fail
	Doubtful bool          `json:"doubtful,omitempty"` // a rule says so on inferred grounds only, or says that it is unknown
	Findings []qnn.Finding `json:"findings,omitempty"`
}

// ReleaseVerdict is a release by itself.
type ReleaseVerdict struct {
	Version      string `json:"version"`
	ToolsVersion string `json:"tools_version,omitempty"`
	Verdict
}

// PairVerdict is a QAIRT with a Hexagon SDK: what each says by itself, and both together.
type PairVerdict struct {
	QAIRT   string `json:"qairt"`
	Hexagon string `json:"hexagon"`
	Verdict
}

// Matrix says what of the catalogue works with what for a SoC. Releases are newest first.
type Matrix struct {
	SoC     *qnn.SoC         `json:"-"`
	Target  []qnn.Finding    `json:"target,omitempty"` // of the SoC itself, whatever is used
	QAIRT   []ReleaseVerdict `json:"qairt"`
	Hexagon []ReleaseVerdict `json:"hexagon"`
	NDK     []ReleaseVerdict `json:"ndk"`
	Pairs   []PairVerdict    `json:"pairs"` // every QAIRT with every Hexagon SDK; findings are those of both together only
}

func verdict(found []qnn.Finding) Verdict {
	v := Verdict{Works: true, Findings: found}
	for _, f := range found {
		v.Works = v.Works && f.Severity != qnn.SeverityError
		v.Doubtful = v.Doubtful || f.Doubt || f.Severity == qnn.SeverityWarning && f.Confidence == qnn.Inferred
	}
	return v
}

// Matrix asks the rules about the SoC with all releases of qairt, hexagon and ndk, one by one and in pairs.
func (s *Set) Matrix(soc *qnn.SoC) (*Matrix, hcl.Diagnostics) {
	m := &Matrix{SoC: soc}
	var diags hcl.Diagnostics
	ask := func(about string, known ...qnn.Known) Verdict {
		found, ds := s.Ask(Subject{Target: soc.Target(), Toolchains: known}, about)
		diags = append(diags, ds...)
		return verdict(found)
	}
	m.Target = ask(AtTarget).Findings
	known := map[string][]qnn.Known{}
	for name, to := range map[string]*[]ReleaseVerdict{"qairt": &m.QAIRT, "hexagon": &m.Hexagon, "ndk": &m.NDK} {
		t := s.SDK(name)
		if t == nil {
			continue
		}
		for _, r := range t.Sorted() {
			k := t.Known(r)
			known[name] = append(known[name], k)
			*to = append(*to, ReleaseVerdict{r.Version, r.ToolsVersion, ask(name, k)})
		}
	}
	for i, q := range m.QAIRT {
		for j, h := range m.Hexagon {
			both := ask(AtStep, known["qairt"][i], known["hexagon"][j])
			both.Works, both.Doubtful = both.Works && q.Works && h.Works, both.Doubtful || q.Doubtful || h.Doubtful
			m.Pairs = append(m.Pairs, PairVerdict{q.Version, h.Version, both})
		}
	}
	return m, diags
}

// Needs is the least that a SoC needs, as far as the catalogue knows.
type Needs struct {
	SoC     string `json:"soc"`
	QAIRT   string `json:"qairt,omitempty"`   // the first release of which no rule doubts that it works
	Hexagon string `json:"hexagon,omitempty"` // the first Hexagon SDK whose tools can build for its arch
	Tools   string `json:"tools,omitempty"`   // the first series of tools that can
}

// Needs asks the rules for the oldest releases that work for the SoC beyond doubt.
func (s *Set) Needs(soc *qnn.SoC) (Needs, hcl.Diagnostics) {
	n := Needs{SoC: soc.Name}
	var diags hcl.Diagnostics
	oldest := func(name string) string {
		t := s.SDK(name)
		if t == nil {
			return ""
		}
		best := ""
		for _, r := range t.Sorted() {
			found, ds := s.Ask(Subject{Target: soc.Target(), Toolchains: []qnn.Known{t.Known(r)}}, name)
			diags = append(diags, ds...)
			if v := verdict(found); v.Works && !v.Doubtful {
				best = r.Version
			}
		}
		return best
	}
	n.QAIRT, n.Hexagon = oldest("qairt"), oldest("hexagon")
	if a := s.FindArch(soc.Arch); a != nil {
		n.Tools = a.Since["tools"]
	}
	if n.Tools == "" {
		n.Hexagon = ""
	}
	return n, diags
}

// Best returns the release of an SDK with which the rules find least fault for a target: no error or warning, then no doubt. Of equals
// it is the preferred one, else the oldest that is newer, else the newest. It is "" if among has none.
func (s *Set) Best(sdk string, target *qnn.Target, preferred string, among func(*qnn.Release) bool) (string, hcl.Diagnostics) {
	record := s.SDK(sdk)
	if record == nil {
		return "", nil
	}
	var diags hcl.Diagnostics
	best, least := "", [3]int{}
	for i, r := range record.Sorted() { // newest first
		if !among(r) {
			continue
		}
		found, ds := s.Ask(Subject{Target: target, Toolchains: []qnn.Known{record.Known(r)}}, sdk)
		diags = append(diags, ds...)
		rank := [3]int{fault(found), 1, -i}
		if version.Older(r.Version, preferred) {
			rank[1], rank[2] = 2, i
		} else if r.Version == preferred {
			rank[1] = 0
		}
		if best == "" || slices.Compare(rank[:], least[:]) < 0 {
			best, least = r.Version, rank
		}
	}
	return best, diags
}

// fault ranks findings: 0 for none but notes, 1 for a doubt, 2 for a warning or error.
func fault(found []qnn.Finding) int {
	worst := 0
	for _, f := range found {
		switch {
		case f.Severity == qnn.SeverityError || f.Severity == qnn.SeverityWarning:
			return 2
		case f.Doubt:
			worst = 1
		}
	}
	return worst
}
