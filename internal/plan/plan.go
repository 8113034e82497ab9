// Package plan describes the work of a pipeline as data. A Plan is an immutable list of instances (of steps and
// toolchains) in dependency order. The planner makes plans, the engine executes plans, and a Resolver completes
// deferred parts. The package does not import HCL or cty, even indirectly. It runs nothing, hashes nothing and does not
// know the cache.
package plan

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/suggest"
)

// Plan is the work of a pipeline. A Plan is immutable, so Select returns a new Plan.
type Plan struct {
	Pipeline    string `json:"pipeline"` // such as "demo"
	Description string `json:"description,omitempty"`
	Profile     string `json:"profile,omitempty"` // the chosen profile, "" if the pipeline has none
	// topological order: an instance comes after all of its Deps
	Instances []*Instance `json:"-"`
	Outputs   []Output    `json:"outputs,omitempty"`
	Checks    []Check     `json:"-"`
	Reads     Reads       `json:"reads,omitempty"` // files and variables read by planning
}

// Reads lists everything on this machine that planning read, in addition to the planner's options. If the options and
// everything in Reads are unchanged, planning produces the same plan. Paths are slash paths, relative to the workspace
// or absolute. Lists are sorted and have no duplicates.
type Reads struct {
	// existing files and links that planning read or tested for existence
	Files []string `json:"files,omitempty"`
	// folders that planning listed or tested for existence
	Dirs   []string `json:"-"`
	Absent []string `json:"-"`               // paths that were tested and do not exist
	Globs  []Glob   `json:"globs,omitempty"` // folders listed by fileset(); Dirs omits their content
	Env    []string `json:"-"`               // names of environment variables that kinds read, even if not set
}

// Glob is a call of fileset() with the paths that it found.
type Glob struct {
	Dir      string   `json:"dir"` // slash path, relative to the workspace or absolute
	Patterns []string `json:"patterns"`
	Found    []string `json:"found"` // slash paths that start with Dir, sorted
	// Dirs are the folders that fileset listed, sorted. If lstat of every folder in Dirs is unchanged, fileset finds
	// the same files. If a pattern names a missing folder, Dirs contains the nearest existing parent. If a pattern
	// contains a symbolic link, Dirs contains the link and the target.
	Dirs []string `json:"-"`
}

// Instance is a step or toolchain, or one of its for_each instances.
type Instance struct {
	At          addrs.Instance `json:"address"`
	Description string         `json:"description,omitempty"`
	Where       string         `json:"where"` // position of the block: "pipelines/x.hcl:12"
	Source      string         `json:"-"`     // the block's lines, for failure reports

	// Deps are the instances that this instance may need, according to the references in its block. Needs returns all
	// needed instances.
	Deps []addrs.Instance `json:"-"`

	// After are the instances in depends_on. All of their actions run before the actions of this instance. The address
	// of a for_each step without a key stands for all instances of the step.
	After []addrs.Instance `json:"-"`

	Specs   []action.Spec              `json:"actions,omitempty"`
	Outputs map[string]action.Artifact `json:"-"` // by output name
	// class of every output, known even if Outputs is deferred
	Classes map[string]action.Class `json:"outputs,omitempty"`

	// Waits is the reason why Specs and Outputs are deferred. Until a Resolver has completed the instance, Specs and
	// Outputs hold a preview or nothing.
	Waits       DeferReason    `json:"-"`
	AwaitValues []addrs.Output `json:"-"`                  // of ForValues: values that an argument depends on
	Await       []action.Input `json:"-"`                  // of ForListing: trees whose files determine the specs
	Deferred    string         `json:"deferred,omitempty"` // the reason for waiting, in words; "" for ForNothing

	Explains bool     `json:"-"`                 // its kind has hints for failed specs
	Missing  []string `json:"missing,omitempty"` // requirements that this machine lacks, and how to get them
	Programs []string `json:"-"`                 // host programs that it needs beside argv[0]
	Version  string   `json:"-"`                 // of a toolchain: its release

	OutputBytes int64 `json:"-"` // minimum size of its outputs; 0: unknown

	Timeout time.Duration `json:"-"`                 // of the step; also in each of Specs without its own timeout
	Retries int           `json:"retries,omitempty"` // maximum number of retries of a failed spec
	// RetryExitCodes are exit codes that cause a retry. hexmage also retries after transient infrastructure errors.
	// Each element of Specs has the same codes.
	RetryExitCodes []int          `json:"retry_exit_codes,omitempty"`
	Resources      map[string]int `json:"resources,omitempty"`
	// one of the Cache constants; for CacheOff, each element of Specs has NoCache
	Cache string `json:"cache,omitempty"`
	// SideEffects marks a step that changes more than its outputs, such as a step that uploads a file. A cached
	// result is valid only if the last run on this machine succeeded with the same inputs. Results stay on this
	// machine.
	SideEffects bool `json:"side_effects,omitempty"`
}

// Output returns the address of the named output of the instance.
func (n *Instance) Output(name string) addrs.Output { return addrs.Output{Instance: n.At, Name: name} }

// Needs returns all instances that must come before this instance, sorted. They are Deps, After, and the instances
// whose artifacts Specs and Outputs use.
func (n *Instance) Needs() []addrs.Instance {
	var all []addrs.Instance
	n.EachNeed(func(at addrs.Instance) { all = append(all, at) })
	return addrs.SortInstances(all)
}

// EachNeed calls f for each instance that Needs returns, in any order and possibly more than once.
func (n *Instance) EachNeed(f func(at addrs.Instance)) {
	for _, of := range [][]addrs.Instance{n.Deps, n.After} {
		for _, at := range of {
			f(at)
		}
	}
	inputs := func(of []action.Input) {
		for i := range of {
			if from := of[i].Artifact; from != nil {
				f(from.Instance)
			}
		}
	}
	for i := range n.Specs {
		inputs(n.Specs[i].Inputs)
	}
	for _, o := range n.Outputs {
		inputs(o.Parts)
	}
}

// Values of Instance.Cache.
const (
	CacheDefault = ""      // cache results locally and remotely
	CacheOff     = "off"   // run every time, cache nothing
	CacheLocal   = "local" // cache results on this machine only
)

// Output is an `output` block of the pipeline. If the value of the block is a collection of artifacts, each artifact is
// a separate Output with a name such as "models.small".
type Output struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Where       string `json:"where"`          // "pipelines/x.hcl:40"
	Show        string `json:"show,omitempty"` // format in a report: "" or "table"

	Class action.Class `json:"class,omitempty"` // File, Tree or Value for an artifact; 0 for a literal
	// artifact to export: Artifact and Sub are set, Path is ""; zero for a literal
	Artifact action.Input `json:"from,omitzero"`
	// a string as is, any other value as JSON; "(sensitive)" for a sensitive value
	Literal     string         `json:"value,omitempty"`
	Waits       DeferReason    `json:"-"`                   // ForValues: a Resolver returns the literal
	AwaitValues []addrs.Output `json:"waits_for,omitempty"` // of ForValues: outputs that the literal depends on
	// instances that the output may need; may lack the instance of Artifact
	Deps []addrs.Instance `json:"-"`
}

// EachNeed calls f for each instance that the output may need. It may call f more than once for an instance.
func (o *Output) EachNeed(f func(at addrs.Instance)) {
	for _, at := range o.Deps {
		f(at)
	}
	if o.Artifact.Artifact != nil {
		f(o.Artifact.Artifact.Instance)
	}
}

// Check is an instance of a `check` block: it tests a condition on the results of a build. A check runs no actions and
// is not part of any cache key.
type Check struct {
	At          string `json:"address"` // such as module.aot["x"].check.words
	Description string `json:"description,omitempty"`
	Where       string `json:"where"`    // "pipelines/x.hcl:40"
	Severity    string `json:"severity"` // SeverityError or SeverityWarning

	// value outputs that the check may need; a Resolver evaluates the check with the available values
	AwaitValues []addrs.Output `json:"reads,omitempty"`
	Settled     *Verdict       `json:"-"` // the verdict if the check does not depend on values of steps, else nil
}

// Values of Check.Severity.
const (
	SeverityError   = "error"   // a failed check ends the run with its own exit code
	SeverityWarning = "warning" // a failed check is only reported
)

// Verdict is the result of a check.
type Verdict struct {
	Known   bool
	Passed  bool
	Message string         // why the check failed, or why it could not be evaluated; "" for Missing
	Missing []addrs.Output // outputs that it still needs
}

// FileName returns the name that an output of the pipeline has in the output folder.
func FileName(output string) (string, error) {
	name := strings.ReplaceAll(output, "/", "-")
	if name == "" || strings.HasPrefix(name, ".") || !filepath.IsLocal(name) || strings.ContainsAny(name, "\\\x00") {
		return "", fmt.Errorf("%q is not a valid file name", name)
	}
	return name, nil
}

// Missing returns the requirements that this machine does not meet. Each requirement occurs once, with the instances
// that need it.
func (p *Plan) Missing() []string {
	var all []string
	for _, n := range p.Instances {
		for _, m := range n.Missing {
			all = append(all, fmt.Sprintf("%s: %s", n.At, m))
		}
	}
	return all
}

// named maps each address to its instance, and the address of each step with for_each to its instances.
func (p *Plan) named() map[addrs.Instance][]*Instance {
	by := make(map[addrs.Instance][]*Instance, len(p.Instances))
	for _, n := range p.Instances {
		by[n.At] = []*Instance{n}
		if n.At.Keyed {
			all := addrs.Instance{Step: n.At.Step}
			by[all] = append(by[all], n)
		}
	}
	return by
}

// Instance returns the instance with the address at, or nil.
func (p *Plan) Instance(at addrs.Instance) *Instance {
	for _, n := range p.Instances {
		if n.At == at {
			return n
		}
	}
	return nil
}

// Nearest returns the address of the step most similar to s, or "". It also finds a step in a module if s omits the
// module.
func (p *Plan) Nearest(s addrs.Step) string {
	var known, plain []string
	for _, n := range p.Instances {
		known = append(known, n.At.Step.Short())
		for m := n.At.Module; s.Kind == "" && m != ""; m = m.Caller() {
			known = append(known, string(m.Written()), string(m))
		}
		plain = append(plain, addrs.Step{Kind: n.At.Kind, Name: n.At.Name}.Short())
	}
	if near := suggest.Name(s.Short(), known); near != "" {
		return near
	}
	if s.Kind == "" {
		return ""
	}
	if i := slices.Index(plain, suggest.Name(addrs.Step{Kind: s.Kind, Name: s.Name}.Short(), plain)); i >= 0 {
		at := p.Instances[i].At.Step
		at.Module = at.Module.Written()
		return at.Short()
	}
	return ""
}

// Select returns a plan with only the given steps and their dependencies. It drops outputs that need other instances,
// and fails for an unknown step.
func (p *Plan) Select(steps ...addrs.Step) (*Plan, error) {
	by := p.named()
	keep := make(map[addrs.Instance]bool)
	var visit func(at addrs.Instance)
	visit = func(at addrs.Instance) {
		if keep[at] {
			return
		}
		keep[at] = true
		for _, n := range by[at] {
			if n.At != at {
				visit(n.At)
				continue
			}
			n.EachNeed(visit)
		}
	}
	for _, s := range steps {
		found := false
		for _, n := range p.Instances {
			if s.Covers(n.At.Step) {
				found = true
				visit(n.At)
			}
		}
		if !found {
			if near := p.Nearest(s); near != "" {
				return nil, fmt.Errorf("pipeline %s has no step %s; did you mean %s?", p.Pipeline, s.Short(), near)
			}
			with := ""
			if p.Profile != "" {
				with = " in profile " + p.Profile
			}
			return nil, fmt.Errorf("pipeline %s has no step %s%s; `hexmage plan %s` lists the steps", p.Pipeline,
				s.Short(), with, p.Pipeline)
		}
	}
	out := *p
	out.Instances, out.Outputs = nil, nil
	for _, n := range p.Instances {
		if keep[n.At] {
			out.Instances = append(out.Instances, n)
		}
	}
	for _, o := range p.Outputs {
		have := true
		o.EachNeed(func(at addrs.Instance) { have = have && keep[at] })
		if have {
			out.Outputs = append(out.Outputs, o)
		}
	}
	return &out, nil
}
