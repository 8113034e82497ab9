// Package patches changes other people's sources so that they build with the SDK at hand.
//
// A series is a folder of ranges, <from>-<to>, each with *.patch files (unified diffs, applied in order of name) and a
// rules.hcl with rename rules. What of it is needed is found by probing the headers of the SDK, so one series serves every
// SDK version. All patches come before all renames.
//
// It knows nothing of building: which files a compiler reads, which macros are set. It changes copies, never its source.
package patches

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

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
	Out        string // folder for the patched copy; it must be empty or not exist. Check leaves it alone
}

// Report says what was done to a tree. It is the same for the same sources, headers and series.
type Report struct {
	Series  string         `json:"series"`
	Patches []PatchResult  `json:"patches"`
	Renames []RenameResult `json:"renames"`
	Changed []string       `json:"changed"` // slash paths of the files that differ from the source, sorted
}

// The states of a patch or rename in a Report.
const (
	StateApplied   = "applied"
	StateAlready   = "already applied"
	StateNotNeeded = "not needed"
	StateFailed    = "does not fit"
	StateNone      = "nothing to rename" // needed, and neither spelling is there, which the rule allows
)

// PatchResult is what became of one *.patch file.
type PatchResult struct {
	Range  string   `json:"range"` // the <from>-<to> folder
	File   string   `json:"file"`
	State  string   `json:"state"`
	Reason string   `json:"reason,omitempty"`
	Files  []string `json:"files"` // slash paths it names
}

// RenameResult is what became of one rename rule.
type RenameResult struct {
	Range   string         `json:"range"`
	Rule    string         `json:"rule"`
	From    string         `json:"from"`
	To      string         `json:"to"`
	State   string         `json:"state"`
	Reason  string         `json:"reason,omitempty"`
	Changed []rename.Place `json:"changed"` // places in the tree after its patches
	Already []rename.Place `json:"already"` // places spelled To before
}

// Apply writes the patched copy of the source. An error says every rename that did not fit, or the first patch that did
// not (a *series.Conflict); then nothing is written. The report of a failed Apply holds what was found until then.
func Apply(ctx context.Context, r Request) (Report, error) {
	source, tree, report, err := work(ctx, r)
	if err != nil {
		return report, err
	}
	defer source.Close()
	if err := tree.CopyTo(ctx, r.Out); err != nil {
		return report, fmt.Errorf("patched copy of %s: %w", r.Source, err)
	}
	return report, nil
}

// Check does what Apply does without writing anything.
func Check(ctx context.Context, r Request) (Report, error) {
	source, _, report, err := work(ctx, r)
	if source != nil {
		source.Close()
	}
	return report, err
}

// work computes the changes. The source root is open when there is no error.
func work(ctx context.Context, r Request) (*os.Root, *series.Tree, Report, error) {
	report := Report{Series: r.Series, Patches: []PatchResult{}, Renames: []RenameResult{}, Changed: []string{}}
	ranges, err := Load(r.SeriesFS)
	if err != nil {
		return nil, nil, report, fmt.Errorf("patch series %s: %w", r.Series, err)
	}
	source, err := os.OpenRoot(r.Source)
	if err != nil {
		return nil, nil, report, fmt.Errorf("source tree: %w", err)
	}
	p := &prober{dir: r.SDKInclude, names: map[string]map[string]bool{}}
	defer p.close()
	tree := series.NewTree(source.FS())
	if err := apply(ctx, ranges, tree, p, &report); err != nil {
		source.Close()
		return nil, nil, report, err
	}
	return source, tree, report, nil
}

func apply(ctx context.Context, ranges []Range, tree *series.Tree, p *prober, report *Report) error {
	for _, rg := range ranges {
		for _, patch := range rg.Patches {
			if err := ctx.Err(); err != nil {
				return err
			}
			result := PatchResult{Range: rg.Name, File: patch.Name, Files: patch.Files()}
			needed, reason, err := p.needed(rg.When[patch.Name])
			if err != nil {
				return fmt.Errorf("%s/%s: %w", rg.Name, patch.Name, err)
			}
			result.Reason, result.State = reason, StateNotNeeded
			if needed {
				state, err := patch.Apply(tree)
				if err != nil {
					return fmt.Errorf("%s: %w", rg.Name, err)
				}
				result.State = string(state)
			}
			report.Patches = append(report.Patches, result)
		}
	}
	var errs []error
	for _, rg := range ranges {
		for _, rule := range rg.Renames {
			result, err := applyRename(ctx, rg.Name, rule, tree, p)
			if errors.As(err, new(*headerError)) {
				return err
			}
			if err != nil {
				result.State = StateFailed
				errs = append(errs, fmt.Errorf("%s: %w", rg.Name, err))
			}
			report.Renames = append(report.Renames, result)
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	names, _ := tree.Changes()
	report.Changed = append(report.Changed, names...)
	return nil
}

func applyRename(ctx context.Context, rangeName string, rule rename.Rule, tree *series.Tree, p *prober) (RenameResult, error) {
	result := RenameResult{
		Range: rangeName, Rule: rule.Name, From: rule.From, To: rule.To, State: StateNotNeeded,
		Changed: []rename.Place{}, Already: []rename.Place{},
	}
	needed, reason, err := p.needed(rule.When)
	if result.Reason = reason; err != nil || !needed {
		return result, err
	}
	written := map[string][]byte{}
	err = tree.Walk(func(name string) error {
		if err := ctx.Err(); err != nil || !rule.Matches(name) {
			return err
		}
		src, err := tree.Read(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		out, changed, already, err := rule.Rewrite(name, src)
		if err != nil {
			return err
		}
		if len(changed) > 0 {
			written[name] = out
		}
		result.Changed = append(result.Changed, changed...)
		result.Already = append(result.Already, already...)
		return nil
	})
	if err == nil {
		err = rule.Count(result.Changed, result.Already)
	}
	if err != nil {
		return result, err
	}
	for name, out := range written {
		if err := tree.Write(name, out); err != nil {
			return result, fmt.Errorf("%s: %w", name, err)
		}
	}
	switch {
	case len(result.Changed) > 0:
		result.State = StateApplied
	case len(result.Already) > 0:
		result.State = StateAlready
	default:
		result.State = StateNone
	}
	return result, nil
}
