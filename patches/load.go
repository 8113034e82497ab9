package patches

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/gohcl"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/version"
	"github.com/hexmage/hexmage/patches/rename"
	"github.com/hexmage/hexmage/patches/replace"
	"github.com/hexmage/hexmage/patches/series"
)

// Range is one <from>-<to> folder of a series.
type Range struct {
	Name    string
	Patches []*series.Patch         // in order of name
	When    map[string]*rename.When // by patch name; a patch without one is always needed
	Renames []rename.Rule
	Edits   []replace.Rule // applied after the renames, in the order of the file
}

// rulesName is the file of a range that has its rules.
const rulesName = "rules.hcl"

// maxRules bounds a rules file, in bytes.
const maxRules = 1 << 20

// RulesFile is what a range's rules.hcl may hold.
type RulesFile struct {
	Renames  []rename.Rule  `hcl:"rename,block"`
	Replaces []replace.Rule `hcl:"replace,block"`
	Patches  []PatchBlock   `hcl:"patch,block"`
}

// PatchBlock says when a *.patch file is needed.
type PatchBlock struct {
	File        string       `hcl:"file,label"`
	Description string       `hcl:"description,optional"`
	When        *rename.When `hcl:"when,block"`
}

// Load reads a series. Its ranges come in order of name, in which numbers count as such: 2.9 is before 2.10.
func Load(fsys fs.FS) ([]Range, error) {
	if fsys == nil {
		return nil, errors.New("no folder given")
	}
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(entries, func(a, b fs.DirEntry) int {
		fromA, toA, _ := strings.Cut(a.Name(), "-")
		fromB, toB, _ := strings.Cut(b.Name(), "-")
		return cmp.Or(version.Compare(fromA, fromB), version.Compare(toA, toB))
	})
	var ranges []Range
	rules := map[string]string{} // rule name to its range
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		rg, err := loadRange(fsys, e.Name())
		if err != nil {
			return nil, err
		}
		names := []string{}
		for _, r := range rg.Renames {
			names = append(names, fmt.Sprintf("rename %q", r.Name))
		}
		for _, r := range rg.Edits {
			names = append(names, r.String())
		}
		for _, name := range names {
			if other, ok := rules[name]; ok {
				return nil, fmt.Errorf("%s is both in %s and in %s", name, other, rg.Name)
			}
			rules[name] = rg.Name
		}
		ranges = append(ranges, rg)
	}
	if len(ranges) == 0 {
		return nil, errors.New("it has no <from>-<to> folder with rules.hcl or *.patch files")
	}
	return ranges, nil
}

func loadRange(fsys fs.FS, dir string) (Range, error) {
	rg := Range{Name: dir, When: map[string]*rename.When{}}
	names, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return rg, err
	}
	if from, to, ok := strings.Cut(dir, "-"); !ok || from == "" || to == "" {
		return rg, fmt.Errorf("folder %s is not named <from>-<to>", dir)
	}
	patches := map[string]bool{}
	for _, e := range names {
		if path.Ext(e.Name()) != ".patch" {
			continue
		}
		f, err := fsys.Open(path.Join(dir, e.Name()))
		if err != nil {
			return rg, err
		}
		p, err := series.Parse(e.Name(), f)
		f.Close()
		if err != nil {
			return rg, fmt.Errorf("%s: %w", dir, err)
		}
		rg.Patches = append(rg.Patches, p)
		patches[e.Name()] = true
	}
	file := path.Join(dir, rulesName)
	data, err := boundedfile.ReadFS(fsys, file, maxRules)
	if errors.Is(err, fs.ErrNotExist) && len(rg.Patches) > 0 {
		return rg, nil
	}
	if err != nil {
		return rg, err
	}
	rules, err := decodeRules(file, data)
	if err != nil {
		return rg, err
	}
	rg.Renames, rg.Edits = rules.Renames, rules.Replaces
	for _, p := range rules.Patches {
		if !patches[p.File] {
			return rg, fmt.Errorf("%s: patch %q is no file of %s", file, p.File, dir)
		}
		rg.When[p.File] = p.When
	}
	return rg, nil
}

func decodeRules(file string, data []byte) (RulesFile, error) {
	var rules RulesFile
	body, diags := lang.ParseManifest(data, file, lang.NewBudget())
	if !diags.HasErrors() {
		diags = append(diags, gohcl.DecodeBody(body.Body, nil, &rules)...)
	}
	if diags.HasErrors() {
		return rules, errors.Join(diags.Errs()...)
	}
	for _, r := range rules.Renames {
		if err := r.Validate(); err != nil {
			return rules, fmt.Errorf("%s: %w", file, err)
		}
	}
	for _, r := range rules.Replaces {
		if err := r.Validate(); err != nil {
			return rules, fmt.Errorf("%s: %w", file, err)
		}
	}
	for _, p := range rules.Patches {
		if err := p.When.Check(); err != nil {
			return rules, fmt.Errorf("%s: patch %q: %w", file, p.File, err)
		}
	}
	return rules, nil
}

// withoutMinimum lets the rules find fewer places than they expect.
func withoutMinimum(ranges []Range) {
	for _, rg := range ranges {
		for i := range rg.Renames {
			rg.Renames[i].Scope = rg.Renames[i].WithoutMinimum()
		}
		for i := range rg.Edits {
			rg.Edits[i].Scope = rg.Edits[i].WithoutMinimum()
		}
	}
}
