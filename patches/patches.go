// Package patches changes C++ sources so that they build with a given SDK.
//
// A series is a folder of ranges, <from>-<to>. Each range has *.patch files (unified diffs, applied in order of name)
// and a rules.hcl with rename and replace rules over C++ tokens. The SDK's headers decide which patches and rules are
// needed, so one series serves every SDK version. All patches precede all rules. If one needed change does not fit, the
// package writes nothing.
//
// It does not know how the sources are built, for example which files a compiler reads or which macros are set. Only
// ApplyInPlace changes the source tree.
package patches

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/safepath"
	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/patches/rules"
	"github.com/hexmage/hexmage/patches/series"
	"github.com/hexmage/hexmage/patches/srctree"
)

//go:embed mllm mllm-aot mllm-v1
var shipped embed.FS

// ShippedNames returns the sorted names of all shipped series.
func ShippedNames() (names []string) {
	entries, _ := shipped.ReadDir(".") // opening an embedded folder always succeeds
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Shipped returns a series that hexmage ships. The error for an unknown name lists the known names.
func Shipped(name string) (fs.FS, error) {
	known := ShippedNames()
	if slices.Contains(known, name) {
		return fs.Sub(shipped, name)
	}
	return nil, fmt.Errorf("unknown patch series %q: choose from %s, "+
		"or give the path of your own series, such as ./%s",
		name, strings.Join(known, ", "), name)
}

// Digest returns the digest of all shipped series. The cache key of a result that depends on a Hint must contain this
// digest.
func Digest() string {
	sum := sha256.New()
	_ = fs.WalkDir(shipped, ".", func(name string, d fs.DirEntry, _ error) error {
		text, _ := shipped.ReadFile(name) // a folder has no text
		fmt.Fprintf(sum, "%s %d\n%s", name, len(text), text)
		return nil
	})
	return hex.EncodeToString(sum.Sum(nil))
}

// Request describes the sources, the SDK and the series.
type Request struct {
	Source     string // folder of the source tree, read only
	SDKInclude string // the SDK's include/QNN folder
	Series     string // the series' name, for the report
	SeriesFS   fs.FS  // the series' folder
	Out        string // folder for the patched sources, for Apply only; it must be empty or missing
	// AllowFew accepts fewer places than a rule's expect block requires. Set AllowFew if the user did not name the
	// series.
	AllowFew bool
}

// Fitting returns the name of the shipped series that changes the most places in r.Source. If no series changes
// anything, it returns the first.
func Fitting(ctx context.Context, r Request) (string, error) {
	best, most := "", -1
	for _, name := range ShippedNames() {
		var err error
		if r.SeriesFS, err = Shipped(name); err != nil {
			return "", err
		}
		report, _ := Check(ctx, r) // the command that uses the series reports its errors
		if err := ctx.Err(); err != nil {
			return "", err
		}
		if n := report.Places(); n > most {
			best, most = name, n
		}
	}
	return best, nil
}

// Report lists the changes to a source tree. Equal sources, headers and series produce an equal report.
type Report struct {
	Series  string        `json:"series"`
	Patches []PatchResult `json:"patches"`
	Rules   []RuleResult  `json:"rules"`
	Changed []string      `json:"changed"` // slash paths of the changed files, sorted
}

// States of a patch or rule in a Report.
const (
	StateApplied   = "applied"
	StateAlready   = "already applied"
	StateNotNeeded = "not needed"
	StateFailed    = "does not fit"
	StateNone      = "nothing to do" // needed, but without a matching place, as the rule allows
	StateNotTried  = "not tried"     // an earlier patch does not fit
)

// PatchResult is the result of one *.patch file.
type PatchResult struct {
	Range  string `json:"range"` // the <from>-<to> folder
	File   string `json:"file"`
	State  string `json:"state"`
	Reason string `json:"reason,omitempty"`
	patch  *series.Patch
}

// RuleResult is the result of one rule.
type RuleResult struct {
	Range   string        `json:"range"`
	Rule    string        `json:"rule"` // kind and name
	From    string        `json:"from"`
	To      string        `json:"to"`
	State   string        `json:"state"`
	Reason  string        `json:"reason,omitempty"`
	Changed []rules.Place `json:"changed"` // changed places in the tree, after its patches and earlier rules
	Already []rules.Place `json:"already"` // places that already had the new code

	rule  rules.Rule
	files []string // files that the rule searched
	errs  []error
}

// Apply writes the patched sources to r.Out. If a needed change does not fit, it writes nothing.
//
// The error lists all rules that do not fit, or all failing hunks of the first failing patch. After an error, the
// report contains the results so far.
func Apply(ctx context.Context, r Request) (Report, error) {
	return with(ctx, r, func(tree *srctree.Tree) error {
		if err := tree.CopyTo(ctx, r.Out); err != nil {
			return fmt.Errorf("patched copy of %s: %w", r.Source, err)
		}
		return nil
	})
}

// ApplyInPlace changes the files in r.Source. After an error, the files are unchanged.
func ApplyInPlace(ctx context.Context, r Request) (Report, error) {
	return with(ctx, r, func(tree *srctree.Tree) error {
		if err := tree.WriteBack(r.Source); err != nil {
			return fmt.Errorf("%s: %w", r.Source, err)
		}
		return nil
	})
}

// Check returns the report of Apply, but writes nothing.
func Check(ctx context.Context, r Request) (Report, error) {
	return with(ctx, r, func(*srctree.Tree) error { return nil })
}

// Diff returns the changes that Apply would make, as one diff in git's format. Without changes, the diff is empty.
func Diff(ctx context.Context, r Request) (diff []byte, report Report, err error) {
	report, err = with(ctx, r, func(tree *srctree.Tree) error {
		diff, err = series.DiffTree(tree)
		return err
	})
	return diff, report, err
}

// with computes the changes and calls do if the series fits.
func with(ctx context.Context, r Request, do func(*srctree.Tree) error) (Report, error) {
	report := Report{Series: r.Series, Patches: []PatchResult{}, Rules: []RuleResult{}, Changed: []string{}}
	ranges, err := Load(r.SeriesFS)
	if err != nil {
		return report, fmt.Errorf("patch series %s: %w", r.Series, err)
	}
	source, err := os.OpenRoot(r.Source)
	if err != nil {
		return report, fmt.Errorf("source tree: %w", err)
	}
	defer source.Close()
	tree := srctree.New(source.FS())
	h := headers{dir: r.SDKInclude, names: map[string]map[string]bool{}}
	if err := applyPatches(ctx, ranges, tree, h, &report); err != nil {
		return report, err
	}
	if err := applyRules(ctx, ranges, tree, h, r.AllowFew, &report); err != nil {
		return report, err
	}
	names, _ := tree.Changes()
	report.Changed = append(report.Changed, names...)
	return report, do(tree)
}

// Tool is this tool's name and version. Raise the version whenever the output changes.
const Tool tool.Name[Spec] = "patch/5"

// Spec holds the arguments of the tool.
type Spec struct {
	Source     string `json:"source"`           // folder of the sources
	SDKInclude string `json:"sdk_include"`      // the SDK's include/QNN folder
	Series     string `json:"series"`           // the series' name, for the report
	Rules      string `json:"rules"`            // the series' folder
	Out        string `json:"out"`              // folder for the patched sources
	Report     string `json:"report,omitempty"` // file for the report, in JSON
}

// Run writes patched sources and prints the changes on stdout.
func Run(ctx context.Context, s Spec, env tool.Env) error {
	if s.Source == "" || s.Out == "" {
		return errors.New("source or out is missing: set both")
	}
	name, rules, err := OpenSeries(s.Series + "=" + s.Rules)
	if err != nil {
		return err
	}
	rep, err := Apply(ctx, Request{Source: s.Source, SDKInclude: s.SDKInclude, Series: name, SeriesFS: rules, Out: s.Out})
	fmt.Fprint(env.Stdout, rep.Text())
	if err != nil || s.Report == "" {
		return err
	}
	data, err := json.MarshalIndent(rep, "", "  ")
	if err == nil {
		err = os.WriteFile(s.Report, append(data, '\n'), 0o644)
	}
	return err
}

// OpenSeries opens a shipped series by name, or a folder given as name=folder.
func OpenSeries(arg string) (string, fs.FS, error) {
	name, dir, own := strings.Cut(arg, "=")
	if !own {
		fsys, err := Shipped(name)
		return name, fsys, err
	}
	if info, err := os.Stat(dir); err != nil {
		return "", nil, fmt.Errorf("series %s: %w", name, err)
	} else if !info.IsDir() {
		return "", nil, fmt.Errorf("series %s: %s is not a folder", name, dir)
	}
	root, err := filepath.EvalSymlinks(dir) // the folder itself is the caller's choice
	return name, safepath.FS(root), err
}

// Places returns the number of places that rules changed.
func (r Report) Places() (n int) {
	for _, one := range r.Rules {
		n += len(one.Changed)
	}
	return n
}

// Changes returns the report, but omits the patches and rules that changed nothing.
func (r Report) Changes() Report {
	idle := []string{StateNotNeeded, StateNone, StateAlready}
	r.Patches = slices.DeleteFunc(slices.Clone(r.Patches), func(p PatchResult) bool { return slices.Contains(idle, p.State) })
	r.Rules = slices.DeleteFunc(slices.Clone(r.Rules), func(one RuleResult) bool { return slices.Contains(idle, one.State) })
	return r
}

// Text returns the report for a terminal: one line for each patch, rule and changed place.
func (r Report) Text() string {
	var b strings.Builder
	line := func(rg, name, state, reason string) {
		fmt.Fprintf(&b, "%s/%s%s: %s", r.Series, rg, name, state)
		if reason != "" {
			fmt.Fprintf(&b, " (%s)", reason)
		}
	}
	for _, p := range r.Patches {
		line(p.Range, "/"+p.File, p.State, p.Reason)
		b.WriteByte('\n')
	}
	for _, one := range r.Rules {
		line(one.Range, ": "+one.Rule, one.State, one.Reason)
		switch n := len(one.Changed); {
		case n == 1:
			b.WriteString(", 1 place")
		case n > 1:
			fmt.Fprintf(&b, ", %d places", n)
		}
		b.WriteByte('\n')
		for _, p := range one.Changed {
			fmt.Fprintf(&b, "  %s: %s -> %s\n", p, one.From, one.To)
		}
	}
	return b.String()
}
