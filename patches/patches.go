// Package patches changes other people's sources so that they build with the SDK at hand.
//
// A series is a folder of ranges, <from>-<to>, each with *.patch files (unified diffs, applied in order of name) and a
// rules.hcl with rename rules and other edits over C++ tokens. What of it is needed is found by probing the headers of the SDK,
// so one series serves every SDK version. All patches come before all rules; either everything that is needed fits, or
// nothing is written.
//
// It knows nothing of building: which files a compiler reads, which macros are set. Only ApplyInPlace
// changes its source.
package patches

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/hexmage/hexmage/internal/srctree"
	"github.com/hexmage/hexmage/patches/rename"
	"github.com/hexmage/hexmage/patches/series"
)

//go:embed mllm
var shipped embed.FS

// Shipped returns the series of that name that comes with hexmage. An unknown name is an error that lists the known ones.
func Shipped(name string) (fs.FS, error) {
	entries, err := shipped.ReadDir(".")
	if err != nil {
		return nil, err
	}
	var known []string
	for _, e := range entries {
		if e.Name() == name {
			return fs.Sub(shipped, name)
		}
		known = append(known, e.Name())
	}
	return nil, fmt.Errorf("hexmage has no patch series %q, it has %s; one of your own is a folder with ranges of patches, named with its path: ./%s", name, strings.Join(known, ", "), name)
}

// Request says what to patch.
type Request struct {
	Source     string // folder of the source tree; it is only read
	SDKInclude string // the SDK's include/QNN folder, whose headers are probed
	Series     string // the series' name, for the report
	SeriesFS   fs.FS  // the series' folder
	Out        string // folder for the patched copy; it must be empty or not exist. Only Apply uses it
	Fuzz       int    // how many lines of context at each end of a hunk may be left out
}

// Report says what was done to a tree. It is the same for the same sources, headers and series.
type Report struct {
	Series  string         `json:"series"`
	Patches []PatchResult  `json:"patches"`
	Renames []RenameResult `json:"renames"`
	Edits   []EditResult   `json:"edits"`
	Changed []string       `json:"changed"` // slash paths of the files that differ from the source, sorted
}

// The states of a patch or rename in a Report.
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
	Range  string   `json:"range"` // the <from>-<to> folder
	File   string   `json:"file"`
	State  string   `json:"state"`
	Reason string   `json:"reason,omitempty"`
	Files  []string `json:"files"` // slash paths it names
	// Moved are the hunks that were found in another place than they say, or without some of their context.
	Moved []series.Moved `json:"moved,omitempty"`
}

// RenameResult is what became of one rename rule.
type RenameResult struct {
	Range   string         `json:"range"`
	Rule    string         `json:"rule"`
	From    string         `json:"from"`
	To      string         `json:"to"`
	State   string         `json:"state"`
	Reason  string         `json:"reason,omitempty"`
	Changed []rename.Place `json:"changed"`        // places in the tree after its patches
	Already []rename.Place `json:"already"`        // places spelled To before
	Left    []rename.Place `json:"left,omitempty"` // places spelled From that are of another class than the rule's receiver
}

// EditResult is what became of a rule of another sort than rename.
type EditResult struct {
	Range   string         `json:"range"`
	Sort    string         `json:"sort"` // include, define, insert, guard or call
	Rule    string         `json:"rule"`
	From    string         `json:"from"`
	To      string         `json:"to"`
	State   string         `json:"state"`
	Reason  string         `json:"reason,omitempty"`
	Changed []rename.Place `json:"changed"` // places in the tree after its patches and the rules before
	Already []rename.Place `json:"already"`
}

// Apply writes the patched copy of the source. An error says every rule that did not fit, or every hunk of the first patch that
// did not (a *series.Conflict each); then nothing is written. The report of a failed Apply holds what was found until then.
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
	report := Report{Series: r.Series, Patches: []PatchResult{}, Renames: []RenameResult{}, Edits: []EditResult{}, Changed: []string{}}
	ranges, err := Load(r.SeriesFS)
	if err != nil {
		return report, fmt.Errorf("patch series %s: %w", r.Series, err)
	}
	source, err := os.OpenRoot(r.Source)
	if err != nil {
		return report, fmt.Errorf("source tree: %w", err)
	}
	defer source.Close()
	p := OpenHeaders(r.SDKInclude)
	defer p.Close()
	tree := srctree.New(source.FS())
	if err := applyPatches(ctx, ranges, tree, p, r.Fuzz, &report); err != nil {
		return report, err
	}
	if err := applyRules(ctx, ranges, tree, p, &report); err != nil {
		return report, err
	}
	names, _ := tree.Changes()
	report.Changed = append(report.Changed, names...)
	return report, do(tree)
}
