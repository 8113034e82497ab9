// Package failures reads catalogs of known failures: the shipped one, merged with files of a workspace.
//
// The package converts blocks to data for package diagnose, which finds failures and does not know HCL. It reads only
// the bytes that it receives.
package failures

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"

	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/runner/diagnose"
)

// Dir is the workspace folder for *.hcl files that extend the shipped catalog of failures.
const Dir = "diagnosis"

// content is the HCL schema of a file.
type content struct {
	Failures []*diagnose.Entry `hcl:"failure,block"`
	Benign   []*benign         `hcl:"benign,block"`
	Codes    []*codes          `hcl:"codes,block"`
}

type benign struct {
	ID       string   `hcl:",label"`
	Where    []string `hcl:"where"`
	Patterns []string `hcl:"patterns"`
	Why      string   `hcl:"why"`
	Source   string   `hcl:"source"`
	Examples []string `hcl:"examples"`
}

type codes struct {
	Family string            `hcl:",label"`
	Base   uint32            `hcl:"base,optional"`
	Mask   uint32            `hcl:"mask,optional"`
	Near   []string          `hcl:"near,optional"`
	Least  uint32            `hcl:"least,optional"`
	Names  map[string]string `hcl:"names"`
}

// Load returns the shipped catalog merged with workspace files (name → content), in the order of their names. A failure
// in a file replaces an earlier failure with the same ID.
func Load(files map[string][]byte) (*diagnose.Catalog, hcl.Diagnostics) {
	var entries []*diagnose.Entry
	var families diagnose.Codes
	var diags hcl.Diagnostics
	add := func(name string, src []byte) {
		e, f, ds := parse(name, src)
		entries, families, diags = append(entries, e...), append(families, f...), append(diags, ds...)
	}
	shipped, err := fs.Glob(diagnose.Shipped, "*.hcl")
	for _, name := range shipped {
		b, readErr := diagnose.Shipped.ReadFile(name)
		err = errors.Join(err, readErr)
		add("<hexmage>/"+Dir+"/"+name, b)
	}
	if err != nil {
		return nil, wrong(err)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		add(name, files[name])
	}
	if diags.HasErrors() {
		return nil, diags
	}
	c, err := diagnose.New(entries, families)
	if err != nil {
		return nil, wrong(err)
	}
	return c, diags
}

func wrong(err error) hcl.Diagnostics {
	return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Invalid catalog of failures", Detail: err.Error()}}
}

func parse(name string, src []byte) (entries []*diagnose.Entry, families diagnose.Codes, diags hcl.Diagnostics) {
	f, diags := lang.ParseManifest(src, name, lang.NewBudget())
	if diags.HasErrors() {
		return nil, nil, diags
	}
	var c content
	if diags = append(diags, gohcl.DecodeBody(f.Body, nil, &c)...); diags.HasErrors() {
		return nil, nil, diags
	}
	for _, e := range c.Failures {
		e.File = name
		entries = append(entries, e)
	}
	for _, x := range c.Benign {
		entries = append(entries, &diagnose.Entry{ID: x.ID, File: name, Where: x.Where, Patterns: x.Patterns,
			Benign: true, Cause: x.Why, Source: x.Source, Examples: x.Examples})
	}
	for _, x := range c.Codes {
		names := map[uint32]string{}
		for digits, text := range x.Names {
			v, err := strconv.ParseUint(digits, 0, 32)
			if err != nil {
				diags = append(diags, wrong(fmt.Errorf("%s: codes %q: invalid number %q", name, x.Family, digits))...)
			}
			names[uint32(v)] = text
		}
		families = append(families, diagnose.Family{Name: x.Family, Base: x.Base, Mask: x.Mask, Near: x.Near,
			Least: x.Least, Names: names})
	}
	return entries, families, diags
}
