// Package patches changes other people's sources so that they build with the SDK at hand.
//
// A series is a folder of ranges, <from>-<to>, each with *.patch files (unified diffs, applied in order of name) and a
// rules.hcl with rename and replace rules over C++ tokens. The headers of the SDK decide which of them are needed, so
// one series serves every SDK version. All patches come before all rules. Either everything that is needed fits, or
// nothing is written.
//
// It knows nothing of building: which files a compiler reads, which macros are set. Only ApplyInPlace
// changes its source.
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

	"github.com/hexmage/hexmage/internal/rooted"
	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/patches/rules"
	"github.com/hexmage/hexmage/patches/series"
	"github.com/hexmage/hexmage/patches/srctree"
)

//go:embed mllm mllm-aot mllm-v1
var shipped embed.FS

// ShippedNames returns the names of the series that come with hexmage, in order.
func ShippedNames() (names []string) {
	entries, _ := shipped.ReadDir(".") // an embedded folder always opens
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Shipped returns a series that comes with hexmage. The error for an unknown name lists the known ones.
func Shipped(name string) (fs.FS, error) {
	known := ShippedNames()
	if slices.Contains(known, name) {
		return fs.Sub(shipped, name)
	}
	return nil, fmt.Errorf("hexmage has no patch series %q. There are: %s; name one of your own, which is a folder "+
		"with ranges of patches, with its path: ./%s", name, strings.Join(known, ", "), name)
}

// Digest returns the digest of the shipped series. A result that depends on a Hint depends on it.
func Digest() string {
	sum := sha256.New()
	_ = fs.WalkDir(shipped, ".", func(name string, d fs.DirEntry, _ error) error {
		text, _ := shipped.ReadFile(name) // a folder has none
		fmt.Fprintf(sum, "%s %d\n%s", name, len(text), text)
		return nil
	})
	return hex.EncodeToString(sum.Sum(nil))
}

// Request says what to patch.
type Request struct {
	Source     string // folder of the source tree; it is only read
	SDKInclude string // the SDK's include/QNN folder, whose headers are probed
	Series     string // the series' name, for the report
	SeriesFS   fs.FS  // the series' folder
	Out        string // folder for the patched copy; it must be empty or not exist. Only Apply uses it
	// AllowFew accepts fewer places than a rule's expect block asks for. Set it if the user did not name the series.
	AllowFew bool
}

// Fitting returns the shipped series that changes most places in r.Source, the first one if none changes any.
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

// Report says what was done to a tree. It is the same for the same sources, headers and series.
type Report struct {
	Series  string        `json:"series"`
	Patches []PatchResult `json:"patches"`
	Rules   []RuleResult  `json:"rules"`
	Changed []string      `json:"changed"` // slash paths of the files that differ from the source, sorted
}

// The states of a patch or rule in a Report.
const (
	StateApplied   = "applied"
	StateAlready   = "already applied"
	StateNotNeeded = "not needed"
	StateFailed    = "does not fit"
	StateNone      = "nothing to do" // needed, and nothing of it is there, which the rule allows
	StateNotTried  = "not tried"     // because a patch before it does not fit
)

// PatchResult is what became of one *.patch file.
type PatchResult struct {
	Range  string `json:"range"` // the <from>-<to> folder
	File   string `json:"file"`
	State  string `json:"state"`
	Reason string `json:"reason,omitempty"`
	patch  *series.Patch
}

// RuleResult is what became of one rule.
type RuleResult struct {
	Range   string        `json:"range"`
	Rule    string        `json:"rule"` // kind and name
	From    string        `json:"from"`
	To      string        `json:"to"`
	State   string        `json:"state"`
	Reason  string        `json:"reason,omitempty"`
	Changed []rules.Place `json:"changed"` // places in the tree after its patches and the rules before
	Already []rules.Place `json:"already"` // places that were To before

	rule  rules.Rule
	files []string // that the rule looked at
	errs  []error
}

// Apply writes the patched copy of the source. An error lists every rule that does not fit, or the hunks of the first
// patch that do not; then nothing is written. The report of a failed Apply has the results until then.
func Apply(ctx context.Context, r Request) (Report, error) {
	return with(ctx, r, func(tree *srctree.Tree) error {
		if err := tree.CopyTo(ctx, r.Out); err != nil {
			return fmt.Errorf("patched copy of %s: %w", r.Source, err)
		}
		return nil
	})
}

// ApplyInPlace changes the source itself. On an error it is as it was.
func ApplyInPlace(ctx context.Context, r Request) (Report, error) {
	return with(ctx, r, func(tree *srctree.Tree) error {
		if err := tree.WriteBack(r.Source); err != nil {
			return fmt.Errorf("%s: %w", r.Source, err)
		}
		return nil
	})
}

// Check does what Apply does without writing anything.
func Check(ctx context.Context, r Request) (Report, error) {
	return with(ctx, r, func(*srctree.Tree) error { return nil })
}

// Diff returns what Apply would do as one unified diff in git's form, empty if that is nothing.
func Diff(ctx context.Context, r Request) (diff []byte, report Report, err error) {
	report, err = with(ctx, r, func(tree *srctree.Tree) error {
		diff, err = series.DiffTree(tree)
		return err
	})
	return diff, report, err
}

// with computes the changes and calls do with them, if the series fits.
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

// Tool is the tool's name, and its behaviour version: it changes when what it writes for the same input does.
const Tool tool.Name[Spec] = "patch/5"

// Spec says what to patch.
type Spec struct {
	Source     string `json:"source"`           // folder of the sources
	SDKInclude string `json:"sdk_include"`      // the SDK's include/QNN folder
	Series     string `json:"series"`           // the series' name, for the report
	Rules      string `json:"rules"`            // the series' folder
	Out        string `json:"out"`              // folder for the patched copy
	Report     string `json:"report,omitempty"` // file for the report, in JSON
}

// Run is the tool: it writes a patched copy of a source tree, and says on stdout what it has done.
func Run(ctx context.Context, s Spec, env tool.Env) error {
	if s.Source == "" || s.Out == "" {
		return errors.New("source and out are needed")
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

// OpenSeries opens a series that comes with hexmage, by its name, or name=folder.
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
	return name, rooted.FS(root), err
}

// Places returns the number of places that rules changed.
func (r Report) Places() (n int) {
	for _, one := range r.Rules {
		n += len(one.Changed)
	}
	return n
}

// Changes returns the report without patches and rules that have nothing to do.
func (r Report) Changes() Report {
	idle := []string{StateNotNeeded, StateNone, StateAlready}
	r.Patches = slices.DeleteFunc(slices.Clone(r.Patches), func(p PatchResult) bool { return slices.Contains(idle, p.State) })
	r.Rules = slices.DeleteFunc(slices.Clone(r.Rules), func(one RuleResult) bool { return slices.Contains(idle, one.State) })
	return r
}

// Text shows a report to people, one line for each patch and rule and one for each place that was changed.
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
