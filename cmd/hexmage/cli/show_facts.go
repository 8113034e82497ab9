package cli

import (
	"strconv"

	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/facts"
)

// allFacts is the argument that shows all records of the catalog.
const allFacts = "facts"

// factsFormat names the format of docs/facts.schema.json.
const factsFormat = "hexmage-facts/1"

// factsFile has all facts about Qualcomm's products with their sources.
type factsFile struct {
	Format         string               `json:"format"`
	SoCs           []socFacts           `json:"socs"`
	OtherSoCs      otherFacts           `json:"other_socs"`
	Archs          []archFacts          `json:"archs"`
	Releases       []releaseFacts       `json:"releases"`
	Precisions     []*qnn.Precision     `json:"precisions"`
	UnsupportedOps []*qnn.UnsupportedOp `json:"unsupported_ops"`
	Rules          []ruleFacts          `json:"rules"`
	Defects        []ruleFacts          `json:"defects"`
	Failures       []failureShown       `json:"failures"`
}

type socFacts struct {
	socRecord
	Grounds grounds `json:"known_from"`
}

type otherFacts struct {
	qnn.OtherSoCs
	Grounds grounds `json:"known_from"`
}

type archFacts struct {
	archRecord
	Grounds grounds `json:"known_from"`
}

type releaseFacts struct {
	Toolchain string `json:"toolchain"`
	*qnn.Release
	Arches  []string `json:"arches,omitempty"` // archs with a published list
	Size    int64    `json:"size,omitempty"`
	SHA256  string   `json:"sha256,omitempty"`
	SHA1    string   `json:"sha1,omitempty"`
	Note    string   `json:"note,omitempty"`
	Grounds grounds  `json:"known_from"`
}

// ruleFacts is a compatibility rule. Its texts are in source form, with expressions in ${}.
type ruleFacts struct {
	ID         string        `json:"id"`
	Severity   string        `json:"severity"`
	Summary    string        `json:"summary,omitempty"`
	Releases   *facts.Defect `json:"releases,omitempty"`
	Each       string        `json:"each,omitempty"`
	When       string        `json:"when,omitempty"`
	Reason     string        `json:"reason,omitempty"`
	Remedy     string        `json:"remedy,omitempty"`
	Confidence string        `json:"confidence"`
	Source     string        `json:"source"`
}

// showFacts prints all records as JSON, or their numbers.
func (a *app) showFacts() error {
	f, err := a.facts()
	if err != nil {
		return err
	}
	rows := [][]string{{"facts", "records"}}
	for _, x := range []struct {
		name string
		n    int
	}{
		{"SoCs", len(f.SoCs)}, {"SoCs, numbers alone", len(f.OtherSoCs.Models) + len(f.OtherSoCs.AndroidIDs)},
		{"Hexagon archs", len(f.Archs)}, {"releases", len(f.Releases)},
		{"operations on the NPU, types", len(f.Precisions)}, {"operations off the NPU", len(f.UnsupportedOps)},
		{"compatibility rules", len(f.Rules)}, {"defects of releases", len(f.Defects)},
		{"failures and benign lines", len(f.Failures)},
	} {
		rows = append(rows, []string{x.name, strconv.Itoa(x.n)})
	}
	return a.show(f, "%s", columns(rows))
}

func (a *app) facts() (*factsFile, error) {
	d, err := a.domain()
	if err != nil {
		return nil, err
	}
	cat, err := a.failures()
	if err != nil {
		return nil, err
	}
	c := d.catalog
	f := &factsFile{Format: factsFormat, Precisions: c.Precisions, UnsupportedOps: c.UnsupportedOps,
		Failures: failuresOf(cat.Entries), OtherSoCs: otherFacts{c.Others, groundsOf(func(attribute string) qnn.Fact {
			return c.Default("other_socs", attribute)
		}, map[string]bool{"models": true, "soc_ids": true})}}
	for _, s := range c.SortedSoCs() {
		f.SoCs = append(f.SoCs, socFacts{recordOf(c, s), groundsOfSoC(c, s)})
	}
	for _, x := range c.Arches {
		f.Archs = append(f.Archs, archFacts{archRecordOf(c, x), groundsOfArch(c, x)})
	}
	for _, t := range c.Toolchains {
		for _, r := range t.Releases {
			x := releaseFacts{Toolchain: t.Name, Release: r.Release, Note: r.Note}
			if r.Exact {
				x.Arches = r.Arches
			}
			if archive := r.Source("archive"); archive != nil {
				x.Size, x.SHA256, x.SHA1 = archive.Size, archive.SHA256, archive.SHA1
			}
			x.Grounds = groundsOf(func(attribute string) qnn.Fact { return t.Fact(&c.Facts, r.Release, attribute) },
				map[string]bool{"version": true, "build_id": x.BuildID != "", "tools_version": x.ToolsVersion != "",
					"revision": x.Revision != "", "arches": len(x.Arches) > 0, "core_api": x.CoreAPI != "",
					"htp_api": x.HTPAPI != "", "system_api": x.SystemAPI != "", "context_blob": x.ContextBlob != "",
					"digest": x.SHA256+x.SHA1 != ""})
			f.Releases = append(f.Releases, x)
		}
	}
	for _, r := range c.Rules {
		x := ruleFacts{ID: r.ID, Severity: r.Severity, Summary: r.Summary, Releases: r.Defect, Each: c.Text(r.Each),
			When: c.Text(r.When), Reason: c.Text(r.Reason), Remedy: c.Text(r.Remedy)}
		x.Source, x.Confidence = r.KnownFrom()
		if r.Defect != nil {
			f.Defects = append(f.Defects, x)
		} else {
			f.Rules = append(f.Rules, x)
		}
	}
	return f, nil
}
