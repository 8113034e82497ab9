// Package plan has what a pipeline will do as data: a Plan, an immutable list of instances (of steps and toolchains)
// in dependency order, and what people and programs read of it (Text, JSON, Mermaid).
//
// The planner makes plans, the engine carries them out, and both meet here. The package knows no HCL and no cty, even
// indirectly; it runs nothing, hashes nothing and does not know whether a result is cached. A plan can be written to
// a file and built by another process. What it cannot say yet it waits for, and an Extender says more of it then.
package plan

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/nearest"
)

// Plan is what a pipeline will do. Nothing changes it once it is made; Select returns another.
type Plan struct {
	Pipeline    string `json:"pipeline"` // its name: "demo"
	Description string `json:"description,omitempty"`
	Profile     string `json:"profile,omitempty"` // the chosen profile, "" when the pipeline has none
	// in topological order: an instance comes after all of its Deps
	Instances []*Instance `json:"-"`
	Outputs   []Output    `json:"outputs,omitempty"`
	Checks    []Check     `json:"-"`
	Reads     Reads       `json:"reads,omitempty"` // what planning read: a plan is as fresh as these
}

// Reads is what of this machine a plan was made from, beside what the planner was told. As long as nothing of it has
// changed, the same choices give the same plan. Paths are slash paths, relative to the workspace or absolute; lists
// are sorted, without duplicates.
type Reads struct {
	// there, and no folders: their content was read, or that there is a file was noticed; or links
	Files []string `json:"files,omitempty"`
	// folders of which the names in them were read, or that there is a folder was noticed
	Dirs   []string `json:"-"`
	Absent []string `json:"-"`               // looked for, and not there
	Globs  []Glob   `json:"globs,omitempty"` // folders that were listed by fileset(); what they list is not in Dirs
	Env    []string `json:"-"`               // names of variables of the environment that kinds looked at, set or not
}

// Glob is a folder listed by fileset().
type Glob struct {
	Dir      string   `json:"dir"` // slash path, relative to the workspace or absolute
	Patterns []string `json:"patterns"`
	Found    []string `json:"found"` // slash paths that start with Dir, sorted
	// Dirs are the folders whose names were read, sorted. While lstat of none of them has changed, Found is what
	// fileset would find. Folders that patterns name and that are not there are told by the nearest one that is; of
	// symbolic links both the link and what it leads to are there.
	Dirs []string `json:"-"`
}

// Instance is a step or toolchain, or one of the copies that for_each makes of it.
type Instance struct {
	At          addrs.Instance `json:"address"`
	Description string         `json:"description,omitempty"`
	Where       string         `json:"where"` // of the block: "pipelines/x.hcl:12"
	Source      string         `json:"-"`     // the block's lines, for failure reports

	// Deps are the instances it may need, from static references; of one that Waits for nothing those that Specs and
	// Outputs take from may be left out: see Needs.
	Deps []addrs.Instance `json:"-"`

	// After are those of depends_on: all of their actions come before any of the instance's own. A step with for_each
	// stands, without a key, for all its copies.
	After []addrs.Instance `json:"-"`

	Specs   []action.Spec              `json:"actions,omitempty"`
	Outputs map[string]action.Artifact `json:"-"` // by output name
	// of every output, also while Outputs is not known yet
	Classes map[string]action.Class `json:"outputs,omitempty"`

	// Waits is what has to be known before an Extender gives the specs and outputs. While it is not, Specs and
	// Outputs hold only a preview, or nothing.
	Waits       Waits          `json:"-"`
	AwaitValues []addrs.Output `json:"-"`                  // of ForValues: what an argument depends on
	Await       []action.Input `json:"-"`                  // of ForListing: the trees whose files make the specs
	Deferred    string         `json:"deferred,omitempty"` // what it waits for, in words; "" for ForNothing

	Explains bool     `json:"-"`                 // its kind has hints for a failed spec
	Missing  []string `json:"missing,omitempty"` // what this machine lacks to run it, and how to get it
	Programs []string `json:"-"`                 // programs of the host that it needs beside argv[0]
	Version  string   `json:"-"`                 // of a toolchain: its release

	OutputBytes int64 `json:"-"` // size of its outputs, at least; 0: not known

	Timeout time.Duration `json:"-"`                 // the step's; already in each of Specs that has none of its own
	Retries int           `json:"retries,omitempty"` // how many more times a failed spec is tried
	// RetryExitCodes are those after which it is tried again, beside reasons for which it could not run; in each of
	// Specs.
	RetryExitCodes []int          `json:"retry_exit_codes,omitempty"`
	Resources      map[string]int `json:"resources,omitempty"`
	// one of the Cache constants; CacheOff is already NoCache in each of Specs
	Cache string `json:"cache,omitempty"`
}

// Output returns the address of an output of the instance.
func (n *Instance) Output(name string) addrs.Output { return addrs.Output{Instance: n.At, Name: name} }

// Needs are the instances that come before the instance, sorted: Deps, After, and those that Specs and Outputs take
// from.
func (n *Instance) Needs() []addrs.Instance {
	var all []addrs.Instance
	n.EachNeed(func(at addrs.Instance) { all = append(all, at) })
	return addrs.SortInstances(all)
}

// EachNeed calls f for all of Needs, in any order, and for some of them more than once.
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
	CacheDefault = ""      // remember results wherever a cache is
	CacheOff     = "off"   // run every time, remember nothing
	CacheLocal   = "local" // remember results on this machine only
	// CacheInputs is for what has effects beside its outputs: its result counts only while its inputs are those of
	// its last run here, which must have succeeded.
	CacheInputs = "inputs"
)

// Output is an `output` block of the pipeline. A block whose value is a collection of artifacts makes one Output for
// each, named "name.key".
type Output struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Where       string `json:"where"`          // "pipelines/x.hcl:40"
	Show        string `json:"show,omitempty"` // "" or "table": how a report shows it

	Class action.Class `json:"class,omitempty"` // File, Tree or Value for an artifact; 0 for a literal
	// what it is: Artifact and Sub are set, Path is ""; zero for a literal
	Artifact action.Input `json:"from,omitzero"`
	// text as it is, anything else as JSON; "(sensitive)" when the value is
	Literal     string         `json:"value,omitempty"`
	Waits       Waits          `json:"-"`                   // ForValues: an Extender gives the literal
	AwaitValues []addrs.Output `json:"waits_for,omitempty"` // of ForValues: what the literal depends on
	// the instances it may need; that of Artifact may be left out
	Deps []addrs.Instance `json:"-"`
}

// EachNeed calls f for the instances that the output may need, for some of them maybe twice.
func (o *Output) EachNeed(f func(at addrs.Instance)) {
	for _, at := range o.Deps {
		f(at)
	}
	if o.Artifact.Artifact != nil {
		f(o.Artifact.Artifact.Instance)
	}
}

// Check is a `check` block, or a copy of one, in one place: what must be true when all is done. It is in no key, and
// runs nothing.
type Check struct {
	At          string `json:"address"` // module.aot["x"].check.words
	Description string `json:"description,omitempty"`
	Where       string `json:"where"`    // "pipelines/x.hcl:40"
	Severity    string `json:"severity"` // SeverityError or SeverityWarning

	// whose contents it may depend on: an Extender tells what comes of it with those that are there
	AwaitValues []addrs.Output `json:"reads,omitempty"`
	Settled     *Verdict       `json:"-"` // what comes of it whatever the steps give; nil when it depends on that
}

// Values of Check.Severity.
const (
	SeverityError   = "error"   // a run in which it fails ends with an exit code of its own
	SeverityWarning = "warning" // it is shown
)

// Verdict is what came of a check.
type Verdict struct {
	Known   bool
	Passed  bool
	Message string         // of one that is known and did not pass; of one that is not known why, or "" for Missing
	Missing []addrs.Output // whose contents it would need to be known
}

// FileName is what an output of that name is called in the folder of outputs.
func FileName(output string) (string, error) {
	name := strings.ReplaceAll(output, "/", "-")
	if name == "" || strings.HasPrefix(name, ".") || !filepath.IsLocal(name) || strings.ContainsAny(name, "\\\x00") {
		return "", fmt.Errorf("%q cannot be the name of a file", name)
	}
	return name, nil
}

// Missing returns what this machine lacks to run the plan, each once, with the instances that need it.
func (p *Plan) Missing() []string {
	var all []string
	for _, n := range p.Instances {
		for _, m := range n.Missing {
			all = append(all, fmt.Sprintf("%s: %s", n.At, m))
		}
	}
	return all
}

// named has the instance of each address, and of each step with for_each, which stands for its copies.
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

// Instance returns the instance with the address, or nil.
func (p *Plan) Instance(at addrs.Instance) *Instance {
	for _, n := range p.Instances {
		if n.At == at {
			return n
		}
	}
	return nil
}

// Nearest is the step that an address was most likely meant to be, or "". That of a step in a module may lack the
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
	if near := nearest.Name(s.Short(), known); near != "" {
		return near
	}
	if s.Kind == "" {
		return ""
	}
	if i := slices.Index(plain, nearest.Name(addrs.Step{Kind: s.Kind, Name: s.Name}.Short(), plain)); i >= 0 {
		at := p.Instances[i].At.Step
		at.Module = at.Module.Written()
		return at.Short()
	}
	return ""
}

// Select returns the plan restricted to the steps and all they need. Outputs that need anything else are dropped. A
// step that the plan does not have is an error.
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
				return nil, fmt.Errorf("pipeline %s has no step %s: did you mean %s?", p.Pipeline, s.Short(), near)
			}
			with := ""
			if p.Profile != "" {
				with = " that runs with profile " + p.Profile
			}
			return nil, fmt.Errorf("pipeline %s has no step %s%s: `hexmage plan %s` lists them", p.Pipeline,
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
