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
	"github.com/hexmage/hexmage/patches/rules"
	"github.com/hexmage/hexmage/patches/series"
)

// Range is one folder of a series, named <from>-<to>.
type Range struct {
	Name    string
	Patches []*series.Patch        // in order of name
	When    map[string]*rules.When // by patch name; a patch without a condition is always needed
	Rules   []rules.Rule           // in the order of application: all renames first
}

// maxRules limits a rules file in bytes.
const maxRules = 1 << 20

// RulesFile is the content of a range's rules.hcl.
type RulesFile struct {
	Renames  []rules.Rule `hcl:"rename,block"`
	Replaces []rules.Rule `hcl:"replace,block"`
	Patches  []struct {
		File        string      `hcl:"file,label"`
		Description string      `hcl:"description,optional"`
		When        *rules.When `hcl:"when,block"`
	} `hcl:"patch,block"`
}

// Load reads a series. It sorts the ranges by the versions in their names: 2.9 precedes 2.10.
func Load(fsys fs.FS) ([]Range, error) {
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
	where := map[string]string{} // range of each rule
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		rg, err := loadRange(fsys, e.Name())
		if err != nil {
			return nil, err
		}
		for _, r := range rg.Rules {
			if other, ok := where[r.String()]; ok {
				return nil, fmt.Errorf("%s: duplicate rule in folders %s and %s: remove one", r, other, rg.Name)
			}
			where[r.String()] = rg.Name
		}
		ranges = append(ranges, rg)
	}
	if len(ranges) == 0 {
		return nil, errors.New("missing <from>-<to> folder with rules.hcl or *.patch files: create one")
	}
	return ranges, nil
}

func loadRange(fsys fs.FS, dir string) (Range, error) {
	rg := Range{Name: dir, When: map[string]*rules.When{}}
	if from, to, ok := strings.Cut(dir, "-"); !ok || from == "" || to == "" {
		return rg, fmt.Errorf("folder %s: invalid name: rename it to <from>-<to>", dir)
	}
	names, err := fs.Glob(fsys, path.Join(dir, "*.patch"))
	if err != nil {
		return rg, err
	}
	for _, name := range names {
		data, err := boundedfile.ReadFS(fsys, name, series.MaxPatch)
		if err != nil {
			return rg, err
		}
		p, err := series.Parse(path.Base(name), data)
		if err != nil {
			return rg, fmt.Errorf("%s: %w", dir, err)
		}
		rg.Patches = append(rg.Patches, p)
	}
	file := path.Join(dir, "rules.hcl")
	data, err := boundedfile.ReadFS(fsys, file, maxRules)
	if errors.Is(err, fs.ErrNotExist) && len(names) > 0 {
		return rg, nil
	}
	if err != nil {
		return rg, err
	}
	var found RulesFile
	body, diags := lang.ParseManifest(data, file, lang.NewBudget())
	if !diags.HasErrors() {
		diags = append(diags, gohcl.DecodeBody(body.Body, nil, &found)...)
	}
	if diags.HasErrors() {
		return rg, errors.Join(diags.Errs()...)
	}
	for i := range found.Renames {
		found.Renames[i].Kind = "rename"
	}
	for i := range found.Replaces {
		found.Replaces[i].Kind = "replace"
	}
	rg.Rules = slices.Concat(found.Renames, found.Replaces)
	for _, r := range rg.Rules {
		if err := r.Validate(); err != nil {
			return rg, fmt.Errorf("%s: %w", file, err)
		}
	}
	for _, p := range found.Patches {
		if !slices.Contains(names, path.Join(dir, p.File)) {
			return rg, fmt.Errorf("%s: patch %q is missing from folder %s", file, p.File, dir)
		}
		if err := p.When.Validate(); err != nil {
			return rg, fmt.Errorf("%s: patch %q: %w", file, p.File, err)
		}
		rg.When[p.File] = p.When
	}
	return rg, nil
}
