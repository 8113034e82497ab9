package facts

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/hexmage/hexmage/qnn"
)

// Verdict says whether a SoC works with a release, or with several releases together.
type Verdict struct {
	Works    bool          `json:"works"`              // whether no rule reports an error
	Doubtful bool          `json:"doubtful,omitempty"` // whether a finding is inferred or a fact is unknown
	Findings []qnn.Finding `json:"findings,omitempty"`
}

// ReleaseVerdict is the verdict on one release.
type ReleaseVerdict struct {
	Version      string `json:"version"`
	ToolsVersion string `json:"tools_version,omitempty"`
	Verdict
}

// PairVerdict is the verdict on a QAIRT release and a Hexagon SDK release together.
type PairVerdict struct {
	QAIRT   string `json:"qairt"`
	Hexagon string `json:"hexagon"`
	Verdict
}

// Matrix lists the verdicts on all releases for a SoC, the newest releases first.
type Matrix struct {
	SoC     *qnn.SoC         `json:"-"`
	Target  []qnn.Finding    `json:"target,omitempty"` // findings about the SoC itself
	QAIRT   []ReleaseVerdict `json:"qairt"`
	Hexagon []ReleaseVerdict `json:"hexagon"`
	Pairs   []PairVerdict    `json:"pairs"` // each QAIRT release with each Hexagon SDK; only findings about the pair
	// Others maps each other toolchain that rules mention to the verdicts on its releases. A verdict is on one release,
	// alone and with the newest releases of all other toolchains.
	Others map[string][]ReleaseVerdict `json:"others"`
}

func verdict(found []qnn.Finding) Verdict {
	v := Verdict{Works: true, Findings: found}
	for _, f := range found {
		v.Works = v.Works && f.Severity != qnn.SeverityError
		v.Doubtful = v.Doubtful || f.Doubt || f.Severity == qnn.SeverityWarning && f.Confidence == qnn.Inferred
	}
	return v
}

// Matrix evaluates the rules for the SoC with each release. It skips toolchains that no rule mentions. It also
// evaluates each pair of a QAIRT release and a Hexagon SDK release.
func (s *Set) Matrix(soc *qnn.SoC) (*Matrix, hcl.Diagnostics) {
	m := &Matrix{SoC: soc, Others: map[string][]ReleaseVerdict{}}
	var diags hcl.Diagnostics
	works := true // no rule rejects the SoC itself
	ask := func(about string, known ...qnn.Known) Verdict {
		found, ds := s.Ask(Subject{Target: soc.Target(), Toolchains: known}, about)
		diags = append(diags, ds...)
		v := verdict(found)
		v.Works = v.Works && works
		return v
	}
	target := ask(AtTarget)
	m.Target, works = target.Findings, target.Works
	known := map[string][]qnn.Known{}
	for _, t := range s.SDKs {
		if slices.ContainsFunc(s.Rules, func(r *Rule) bool { return slices.Contains(r.needs, t.Name) }) {
			for _, r := range t.Sorted() {
				known[t.Name] = append(known[t.Name], t.Known(r))
			}
		}
	}
	pair := []string{"qairt", "hexagon"}
	for name, releases := range known {
		var newest []qnn.Known // newest releases of the other toolchains
		for other, all := range known {
			if other != name && !slices.Contains(pair, other) && !slices.Contains(pair, name) {
				newest = append(newest, all[0])
			}
		}
		var verdicts []ReleaseVerdict
		for _, k := range releases {
			v := ask(name, k)
			if len(newest) > 0 {
				both := ask(AtStep, append(slices.Clip(newest), k)...)
				v.Works, v.Doubtful = v.Works && both.Works, v.Doubtful || both.Doubtful
				v.Findings = append(v.Findings, both.Findings...)
			}
			verdicts = append(verdicts, ReleaseVerdict{k.Version, k.ToolsVersion, v})
		}
		switch name {
		case "qairt":
			m.QAIRT = verdicts
		case "hexagon":
			m.Hexagon = verdicts
		default:
			m.Others[name] = verdicts
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

// Needs holds the oldest releases that support a SoC.
type Needs struct {
	SoC     string `json:"soc"`
	QAIRT   string `json:"qairt,omitempty"`   // first release without errors, warnings and doubts
	Hexagon string `json:"hexagon,omitempty"` // first Hexagon SDK whose tools build for the SoC's arch
	Tools   string `json:"tools,omitempty"`   // first Hexagon tools series that builds for the SoC's arch
}

// Needs returns the oldest releases that certainly support the SoC.
func (s *Set) Needs(soc *qnn.SoC) (Needs, hcl.Diagnostics) {
	n := Needs{SoC: soc.Name}
	found, diags := s.Ask(Subject{Target: soc.Target()}, AtTarget)
	if !verdict(found).Works {
		return n, diags
	}
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

// Best returns the release of an SDK with the mildest findings for a target. It considers only releases that the
// function among accepts. Without such releases, Best returns "".
//
// Among equally good releases, Best returns preferred, else the oldest newer release, else the newest older release.
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
		if qnn.OlderRelease(r.Version, preferred) {
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

// fault ranks findings: 0 for notes only, 1 for a doubt, 2 for a warning or an error.
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
